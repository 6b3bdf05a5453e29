"""Puts what takes the edge off Python tests onto the tests: marks, helpers, fixtures, files."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from policyd.core.sheet import Marker
from policyd.languages.literal import bounded
from policyd.languages.python_conditions import Conditions
from policyd.languages.python_dotted import Dotted, ascii_name, last_name
from policyd.languages.python_helpers import Helpers, is_fixture
from policyd.languages.python_marks import UNITTEST, Effect, Marks
from policyd.languages.python_outline import FIELDS, Outline, Scope
from policyd.languages.python_skips import Skips

_DEEPEST: Final = 3
_MOST_EFFECTS = 50
"""Of one function."""
_SET_UP: Final = frozenset([
    "setUp", "setUpClass", "asyncSetUp", "setup_method", "setup_class", "setUpTestData", "setup",
    "tearDown", "tearDownClass", "teardown_method", "teardown_class"])
_DEFINING: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class _On(NamedTuple):
    """An effect and what it is on."""

    effect: Effect
    on: str


_ASKED = re.compile(r"if\((?:not )?([A-Za-z_]\w*)\)$", re.ASCII)
"""A condition that is one name."""


class Markers:
    """One for a file. `names`: the names of the tests that a function is, by its id."""

    def __init__(self, outline: Outline, dotted: Dotted, helpers: Helpers, marks: Marks,
                 conditions: Conditions, names: Mapping[int, Sequence[str]]) -> None:
        self._outline = outline
        self._dotted = dotted
        self._helpers = helpers
        self._marks = marks
        self._skips = Skips(outline, dotted, conditions)
        self._names = names
        self._own: dict[int, list[Effect]] = {}
        """What functions that are no tests do, by their id."""
        self._aliases: dict[str, list[Effect]] = {}
        self._asked: dict[str, set[str]] = {}
        """Fixtures that a test, a class or all of the file asks for by a mark."""
        self._used: set[int] = set()
        self._known: dict[tuple[int, int], list[Effect]] = {}
        self._used_aliases: set[str] = set()
        self._found: list[_On] = []

    def found(self) -> Iterator[Marker]:
        for node, statement, scope in self._outline.marks:
            self._pointed(node, statement, scope)
        for scope in self._outline.scopes:
            self._statements(scope)
        for scope in self._outline.scopes[1:]:
            self._decorators(scope)
            self._definition(scope)
        for scope in self._outline.scopes[1:]:
            if scope.is_function:
                self._references(scope)
        self._left_over()
        for effect, on in dict.fromkeys(self._found):
            yield Marker(effect.mark, effect.line, on, bounded(effect.says), effect.condition,
                         effect.amount, self._imported(effect))

    def _imported(self, effect: Effect) -> str:
        found = _ASKED.search(effect.says)
        return found[1] if found and found[1] in self._dotted.bound else ""

    def _ons(self, scope: Scope) -> Sequence[str] | None:
        """The names of what a scope is or belongs to; None: a function that is no test."""
        while scope.parent is not None and scope.parent.is_function:
            scope = scope.parent
        if id(scope) in self._names:
            return self._names[id(scope)]
        if scope.is_function and scope.name in _SET_UP and scope.parent and scope.parent.is_class:
            return [ascii_name(scope.parent.path)]
        if scope.is_function and scope.name in ("setup_module", "setUpModule"):
            return [""]
        return None if scope.is_function else [ascii_name(scope.path)]

    def _put(self, effects: Iterable[Effect], scope: Scope) -> None:
        ons = self._ons(scope)
        if ons is None:
            top = self._top(scope)
            self._own.setdefault(id(top), []).extend(effects)
            return
        self._found += [_On(effect, on) for effect in effects for on in ons]

    def _top(self, scope: Scope) -> Scope:
        while scope.parent is not None and scope.parent.is_function:
            scope = scope.parent
        return scope

    def _pointed(self, node: ast.Attribute, statement: ast.AST, scope: Scope) -> None:
        call = next((one for one in self._outline.calls.get(id(statement), ())
                     if one.func is node), None)
        if node.attr == "usefixtures" and call is not None:
            for on in self._ons(scope) or ():
                self._asked.setdefault(on, set()).update(_texts(call.args))
            return
        is_decorator = isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        effects = [effect._replace(says=f"@{effect.says}" if is_decorator else effect.says)
                   for effect in self._marks.pointed(node, call)]
        name = _set_name(statement)
        if name and name != "pytestmark" and scope is self._outline.module:
            if name.startswith(("test", "Test")):
                self._found += [_On(effect, ascii_name(name)) for effect in effects]
            else:
                self._aliases.setdefault(name, []).extend(effects)
            return
        self._put(effects, scope)

    def _statements(self, scope: Scope) -> None:
        for statement in scope.statements:
            calls = self._outline.calls.get(id(statement), ())
            if type(statement) not in _DEFINING and (calls or isinstance(statement, ast.Raise)):
                effects = [*self._skips.of(statement)]
                effects += [one for call in calls for one in self._given_marks(call)]
                if effects:
                    self._put(effects, scope)
            if not scope.is_function and _set_name(statement) == "pytestmark":
                self._put(list(self._named_marks(getattr(statement, "value", None))), scope)

    def _given_marks(self, call: ast.Call) -> Iterator[Effect]:
        """`unittest.skip(...)(function)`, and `marks=` by a name."""
        if last_name(call.func) in UNITTEST and self._dotted.of(call.func).startswith("unittest."):
            yield from self._marks.decorated(call)
        for keyword in call.keywords:
            if keyword.arg == "marks":
                yield from self._named_marks(keyword.value)

    def _named_marks(self, node: ast.AST | None) -> Iterator[Effect]:
        """The aliases in an expression, and names from elsewhere that say what they do."""
        stack: list[Any] = [node]
        while stack:
            node = stack.pop()
            if isinstance(node, ast.Name) and (
                    node.id in self._aliases or node.id in self._dotted.bound):
                yield from self._of_name(node, node.id)
            elif not isinstance(node, ast.Attribute):
                for name in FIELDS.get(node.__class__, ()):
                    child = getattr(node, name)
                    stack += child if child.__class__ is list else [child]

    def _of_name(self, node: ast.expr, name: str) -> Iterator[Effect]:
        if name in self._aliases:
            self._used_aliases.add(name)
            for effect in self._aliases[name]:
                yield effect._replace(line=node.lineno, says=f"@{effect.says}")
        elif name in self._dotted.bound:
            for effect in self._marks.decorated(node):
                yield effect._replace(says=f"@{effect.says}")

    def _decorators(self, scope: Scope) -> None:
        for node in scope.node.decorator_list:
            base = node.func if isinstance(node, ast.Call) else node
            name = base.id if isinstance(base, ast.Name) else ""
            if name in self._aliases:
                self._put(self._of_name(node, name), scope)
            elif name in self._helpers.functions:
                helper = self._helpers.functions[name]
                self._put([_from(effect, node, f"@{name}: ") for effect in self._effects(helper)],
                          scope)
            else:
                seen = self._dotted.seen(node)
                effects = [one._replace(says=f"@{one.says}", line=node.lineno)
                           for one in self._marks.decorated(seen)]
                if effects and self._ons(scope) is not None:
                    self._put(effects, scope)
            for call in self._outline.calls.get(id(scope.node), ()):
                if last_name(call.func) == "param":
                    self._put(list(self._given_marks(call)), scope)

    def _definition(self, scope: Scope) -> None:
        if id(scope) in self._names or (scope.is_class and scope.name.startswith("Test")):
            self._put(list(self._skips.defined(scope.node)), scope)

    def _effects(self, scope: Scope, depth: int = _DEEPEST) -> list[Effect]:
        """What calling a function of the file does, by what it calls too."""
        self._used.add(id(scope))
        known = self._known.get((id(scope), depth))
        if known is not None:
            return known
        found = list(self._own.get(id(scope), ()))
        if depth:
            for helper, _ in self._called(scope):
                if helper is not scope:
                    found += self._effects(helper, depth - 1)
        found = list(dict.fromkeys(found))[:_MOST_EFFECTS]
        self._known[id(scope), depth] = found
        return found

    def _called(self, scope: Scope) -> Iterator[tuple[Scope, ast.Call]]:
        owner = scope.parent if scope.parent and scope.parent.is_class else None
        for statement in scope.statements:
            for call in self._outline.calls.get(id(statement), ()):
                helper = self._helpers.called(call, scope, owner)
                if helper is not None and id(helper) not in self._names:
                    yield helper, call

    def _references(self, scope: Scope) -> None:
        """What a test, or what is set up for it, gets from helpers and fixtures."""
        ons = self._ons(scope)
        if ons is None or (scope.parent is not None and scope.parent.is_function):
            return
        for helper, call in self._called(scope):
            self._put([_from(effect, call, f"{helper.name}(): ")
                       for effect in self._effects(helper)], scope)
        asked = set(scope.params)
        for on in ons:
            asked |= self._asked.get(on, set()) | self._asked.get(on.rpartition("::")[0], set())
        for name in sorted(asked | self._asked.get("", set())):
            fixture = self._fixture(name, scope)
            if fixture is not None:
                self._put([_from(effect, scope.node, f"{name}: ")
                           for effect in self._effects(fixture)], scope)

    def _fixture(self, name: str, scope: Scope) -> Scope | None:
        held = self._helpers.functions.get(name)
        if scope.parent is not None and scope.parent.is_class:
            held = self._helpers.methods(scope.parent).get(name, held)
        return held if held is not None and is_fixture(held) else None

    def _left_over(self) -> None:
        """What nothing in the file calls counts for all of it, and for others."""
        for scope in self._outline.scopes[1:]:
            if id(scope) in self._own and id(scope) not in self._used:
                self._found += [_On(effect, "") for effect in self._own[id(scope)]]
        for name in self._aliases.keys() - self._used_aliases:
            self._found += [_On(effect, "") for effect in self._aliases[name]]


def _from(effect: Effect, node: ast.AST, said: str) -> Effect:
    return effect._replace(line=getattr(node, "lineno", effect.line), says=said + effect.says)


def _set_name(statement: ast.AST) -> str:
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return name
        case ast.AugAssign(target=ast.Name(id=name)):
            return name
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id="pytestmark")))):
            return "pytestmark"
    return ""


def _texts(nodes: Iterable[ast.expr]) -> Iterator[str]:
    return (node.value for node in nodes
            if isinstance(node, ast.Constant) and isinstance(node.value, str))
