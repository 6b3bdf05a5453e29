"""Marks and decorators that take the edge off a Python test, whatever they are called here."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from policyd.core.sheet import Mark
from policyd.languages.python_conditions import ALWAYS, OTHER, Conditions
from policyd.languages.python_dotted import Dotted, last_name
from policyd.languages.python_spelling import finished, spelled, told
from policyd.languages.python_worth import Names

_SAYS: Final = re.compile(
    r"skip|xfail|expected_?fail|flaky|rerun|retry|slow|needs|requires?|quarantine|disabled|broken|"
    r"only_?(on|if)|unless", re.IGNORECASE)
_OWN_MARKS: Final = re.compile(r"skip|xfail|flaky|rerun|quarantine|disabled", re.IGNORECASE)
_RERUNS = ("reruns", "max_runs", "retries", "times", "n", "tries")
UNITTEST: Mapping[str, Mark] = {
    "skip": Mark.SKIP, "skipIf": Mark.SKIP, "skipUnless": Mark.SKIP,
    "expectedFailure": Mark.XFAIL}
_ONLY_UNITTEST = frozenset(["skipIf", "skipUnless", "expectedFailure"])


class Effect(NamedTuple):
    """A mark without the place that it is on."""

    mark: Mark
    line: int
    says: str
    condition: str = ""
    amount: float | None = None


class Marks:
    """Reads what an expression marks a test with."""

    def __init__(self, dotted: Dotted, conditions: Conditions, names: Names) -> None:
        self._dotted = dotted
        self._conditions = conditions
        self._names = names

    def pointed(self, node: ast.Attribute, call: ast.Call | None) -> Iterator[Effect]:
        """Of `pytest.mark.X`, called or not."""
        attr, line = node.attr, node.lineno
        says = f"pytest.mark.{attr}"
        if attr in ("skip", "skipif", "xfail"):
            yield from self._conditional(attr, says, call, line)
        elif attr == "timeout":
            yield Effect(Mark.TIMEOUT, line, f"{says}({self._told(call)})", "", self._limit(call))
        elif attr in ("flaky", "rerun", "reruns", "repeat", "retry"):
            yield self._rerun(says, call, line)
        elif attr == "parametrize" and call is not None and self._is_empty(call):
            yield Effect(Mark.SKIP, line, f"{says} over nothing")
        elif _OWN_MARKS.search(attr):
            yield Effect(_named(attr), line, says, OTHER)

    def decorated(self, node: ast.expr) -> Iterator[Effect]:
        """Of a decorator that is no mark of pytest and no function of the file."""
        call = node if isinstance(node, ast.Call) else None
        func = call.func if call is not None else node
        whole = self._dotted.of(func)
        name = whole.rpartition(".")[2]
        if (whole.startswith("unittest.") and name in UNITTEST) or name in _ONLY_UNITTEST:
            yield from self._of_unittest(name, call, node.lineno)
        elif whole.partition(".")[0] in ("pytest", "unittest"):
            return
        elif name == "settings":
            yield from self._deadline(call, node.lineno)
        elif name == "timeout":
            yield Effect(Mark.TIMEOUT, node.lineno, f"{name}({self._told(call)})", "",
                         self._limit(call))
        elif self._is_foreign(func) and _SAYS.search(name):
            mark = _named(name)
            if mark is Mark.RERUN:
                yield self._rerun(name, call, node.lineno)
            else:
                yield Effect(mark, node.lineno, name, OTHER)

    def _is_foreign(self, func: ast.expr) -> bool:
        """Whether it is imported, from wherever."""
        while isinstance(func, ast.Attribute):
            func = func.value
        return isinstance(func, ast.Name) and func.id in self._dotted.bound

    def _conditional(
        self, attr: str, says: str, call: ast.Call | None, line: int
    ) -> Iterator[Effect]:
        """skipif and xfail take conditions, as text too; xfail also how strict it is."""
        tests = _conditions_of(call) if attr != "skip" and call is not None else []
        conditions = [self._conditions.of(test) for test in tests]
        if conditions and all(one is None for one in conditions):
            return
        given = [told(test, self._names.texts) for test in tests]
        given += self._said(call, ("strict", "run", "raises")) if attr == "xfail" else []
        held = {one for one in conditions if one is not None}
        condition = ALWAYS if not held or ALWAYS in held else held.pop() if len(held) == 1 else (
            OTHER)
        says += f"({', '.join(given)})" if given else ""
        yield Effect(Mark.XFAIL if attr == "xfail" else Mark.SKIP, line, says, condition)

    def _said(self, call: ast.Call | None, asked: Sequence[str]) -> Iterator[str]:
        for keyword in call.keywords if call is not None else ():
            usual = {"strict": "False", "run": "True"}.get(keyword.arg or "")
            value = told(keyword.value, self._names.texts)
            if keyword.arg in asked and value != usual:
                yield f"{keyword.arg}={value}"

    def _of_unittest(self, name: str, call: ast.Call | None, line: int) -> Iterator[Effect]:
        says, condition = f"unittest.{name}", ALWAYS
        if name in ("skipIf", "skipUnless") and call is not None and (tests := _conditions_of(
                call)):
            test = tests[0] if name == "skipIf" else ast.UnaryOp(ast.Not(), tests[0])
            depends = self._conditions.of(test)
            if depends is None:
                return
            condition = depends
            says += f"({told(tests[0], self._names.texts)})"
        yield Effect(UNITTEST[name], line, says, condition)

    def _rerun(self, says: str, call: ast.Call | None, line: int) -> Effect:
        nodes = [one.value for one in call.keywords if one.arg in _RERUNS] if call else []
        nodes += call.args[:1] if call else []
        amount = self._names.number(nodes[0]) if nodes else None
        return Effect(Mark.RERUN, line, f"{says}({self._told(call)})", "", amount)

    def _deadline(self, call: ast.Call | None, line: int) -> Iterator[Effect]:
        """Of hypothesis: milliseconds, or none at all."""
        for keyword in call.keywords if call is not None else ():
            if keyword.arg == "deadline":
                amount = self._names.number(keyword.value)
                is_none = isinstance(keyword.value, ast.Constant) and keyword.value.value is None
                limit = told(keyword.value, self._names.texts)
                yield Effect(Mark.TIMEOUT, line, f"settings(deadline={limit})", "",
                             0.0 if is_none else None if amount is None else amount / 1000)

    def _limit(self, call: ast.Call | None) -> float | None:
        if call is None:
            return None
        nodes = [one.value for one in call.keywords if one.arg in ("timeout", "seconds")]
        nodes = [*call.args[:1], *nodes]
        return self._names.number(nodes[0]) if nodes else None

    def _told(self, call: ast.Call | None) -> str:
        """The arguments of a limit, without its reason."""
        if call is None:
            return ""
        nodes: list[ast.AST] = [*call.args, *(
            one for one in call.keywords if one.arg not in ("reason", "condition"))]
        return finished(", ".join(spelled(node, self._names.texts) for node in nodes))

    def _is_empty(self, call: ast.Call) -> bool:
        values = call.args[1:2] or [one.value for one in call.keywords if one.arg == "argvalues"]
        seen = self._dotted.seen(values[0]) if values else None
        return isinstance(seen, ast.List | ast.Tuple) and not seen.elts


def _conditions_of(call: ast.Call) -> list[ast.expr]:
    named = [one.value for one in call.keywords if one.arg == "condition"]
    return named or call.args[:2] if last_name(call.func) == "skipif" else named or call.args[:1]


def _named(name: str) -> Mark:
    lower = name.lower()
    if "xfail" in lower or "expected" in lower:
        return Mark.XFAIL
    if any(word in lower for word in ("flaky", "rerun", "retry")):
        return Mark.RERUN
    return Mark.SKIP
