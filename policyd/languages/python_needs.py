"""Which imports a Python test needs, by itself and by what it calls in its file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from policyd.languages.python_dotted import Dotted
from policyd.languages.python_helpers import Helpers, is_fixture
from policyd.languages.python_outline import Outline, Scope

_SET_UP: Final = frozenset([
    "setUp", "tearDown", "setUpClass", "tearDownClass", "setup_method", "teardown_method",
    "setup_class", "teardown_class", "asyncSetUp", "asyncTearDown", "setUpTestData", "setup",
])
_MOST = 2000
_MOST_USES = 500


class Needs:
    """One for a file. What is needed by each of its functions is found once."""

    def __init__(self, outline: Outline, helpers: Helpers, dotted: Dotted) -> None:
        self._helpers = helpers
        self._dotted = dotted
        self._own: dict[int, frozenset[str]] = {}
        self._around: dict[int, Sequence[Scope]] = {}
        self._constants = _constants(outline)
        self._always = [scope for scope in helpers.functions.values() if scope.name in (
            "setUpModule", "setup_module", "setup_function") or _runs_by_itself(scope)]

    def of(self, scope: Scope, owner: Scope | None) -> tuple[str, ...]:
        """`shop.app` and `shop.app.total`, in order of the alphabet."""
        found: set[str] = set()
        seen: set[str] = set()
        waiting = [scope, *self._always, *self._set_up(owner)]
        visited = {id(one) for one in waiting}
        while waiting and len(visited) < _MOST:
            one = waiting.pop()
            names = set(self._names(one))
            while fresh := names - seen:
                seen |= fresh
                names = {name for known in fresh for name in self._constants.get(known, ())}
                for name in fresh:
                    found.update(self._imported(name))
                    waiting += self._inside(name, visited)
            if owner is not None:
                methods = self._helpers.methods(owner)
                asked = one.attributes | set(one.params)
                for name in asked & methods.keys():
                    waiting += _first_time(methods[name], visited)
        return tuple(sorted(found)[:_MOST_USES])

    def _names(self, scope: Scope) -> frozenset[str]:
        """All names in a function, those of functions within it and of its parameters too."""
        if id(scope) not in self._own:
            names: set[str] = set()
            stack = [scope]
            while stack:
                one = stack.pop()
                names |= one.names
                names.update(one.params)
                stack += one.inner
            self._own[id(scope)] = frozenset(names)
        return self._own[id(scope)]

    def _imported(self, name: str) -> Iterator[str]:
        if name in self._dotted.bound:
            yield self._dotted.bound[name]
            yield from self._dotted.plain.get(name, ())

    def _inside(self, name: str, visited: set[int]) -> Iterator[Scope]:
        for held in (self._helpers.functions, self._helpers.classes):
            if name in held:
                yield from _first_time(held[name], visited)

    def _set_up(self, owner: Scope | None) -> Sequence[Scope]:
        """The methods of a class that run before and after each of its tests."""
        if owner is None:
            return ()
        if id(owner) not in self._around:
            self._around[id(owner)] = [
                scope for name, scope in self._helpers.methods(owner).items()
                if name in _SET_UP or _runs_by_itself(scope)]
        return self._around[id(owner)]


def _first_time(scope: Scope, visited: set[int]) -> Iterator[Scope]:
    if id(scope) not in visited:
        visited.add(id(scope))
        yield scope


def _runs_by_itself(scope: Scope) -> bool:
    """Whether it is a fixture that says `autouse`."""
    return bool(scope.node.decorator_list) and is_fixture(scope) and any(
        keyword.arg == "autouse" for node in scope.node.decorator_list
        for keyword in getattr(node, "keywords", ()))


def _constants(outline: Outline) -> dict[str, set[str]]:
    """The names that an assignment of the module needs, by the names that it sets."""
    found: dict[str, set[str]] = {}
    for statement in outline.module.statements:
        names = outline.names.get(id(statement), set())
        for target in getattr(statement, "targets", None) or [getattr(statement, "target", None)]:
            name = getattr(target, "id", None)
            if isinstance(name, str):
                found.setdefault(name, set()).update(names - {name})
    return found
