"""Where running Python code skips a test, or lets it fail: calls and raised errors."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Final

from policyd.core.sheet import Mark
from policyd.languages.python_conditions import ALWAYS, OTHER, Conditions, is_missing, package
from policyd.languages.python_dotted import Dotted, ascii_name, last_name
from policyd.languages.python_marks import Effect
from policyd.languages.python_outline import Outline
from policyd.languages.python_spelling import finished, spelled, told

_CALLS: Final[Mapping[str, Mark]] = {
    "pytest.skip": Mark.SKIP, "pytest.xfail": Mark.XFAIL, "pytest.importorskip": Mark.SKIP,
    "pytest.exit": Mark.SKIP, "self.skipTest": Mark.SKIP, "cls.skipTest": Mark.SKIP,
    "_pytest.outcomes.skip": Mark.SKIP, "_pytest.outcomes.xfail": Mark.XFAIL,
}
_SAYS = re.compile(r"(maybe_|check_)?(skip|xfail)(_|[A-Z])|require(s|d)?_")
_LAST_NAMES = {name.rpartition(".")[2] for name in _CALLS}
_ERRORS: Final[Mapping[str, Mark]] = {
    "SkipTest": Mark.SKIP, "pytest.skip.Exception": Mark.SKIP, "Skipped": Mark.SKIP,
    "pytest.xfail.Exception": Mark.XFAIL, "XFailed": Mark.XFAIL, "ResourceDenied": Mark.SKIP}
_MOST_AROUND = 100


class Skips:
    """One for a file."""

    def __init__(self, outline: Outline, dotted: Dotted, conditions: Conditions) -> None:
        self._outline = outline
        self._dotted = dotted
        self._conditions = conditions

    def of(self, statement: ast.AST) -> Iterator[Effect]:
        """What one statement does, apart from calls of functions of the file."""
        if isinstance(statement, ast.Raise) and statement.exc is not None:
            yield from self._raised(statement, statement.exc)
        for call in self._outline.calls.get(id(statement), ()):
            name = last_name(call.func)
            if name not in _LAST_NAMES and call.func.__class__ is not ast.Name and (
                    "skip" not in name):
                continue
            whole = self._dotted.of(call.func)
            mark = _CALLS.get(whole) or self._told(whole, call.func)
            if mark is None or (around := self._around(statement)) is None:
                continue
            condition, said = around
            if whole not in _CALLS and name not in _LAST_NAMES:
                yield Effect(mark, call.lineno, f"{name}(){said}", OTHER)
                continue
            name = ".".join(whole.split(".")[-2:])
            if name.endswith("importorskip"):
                condition = package(call.args[:1])
                given = finished(spelled(call.args[0])) if call.args else ""
                yield Effect(mark, call.lineno, f"{name}({given})", condition)
            else:
                yield Effect(mark, call.lineno, f"{name}(){said}", condition)

    def _told(self, whole: str, func: ast.expr) -> Mark | None:
        """What a function from elsewhere says by its name: `skip_if_offline()`."""
        name = whole.rpartition(".")[2]
        if name in ("skipTest", "importorskip"):
            return Mark.SKIP
        while isinstance(func, ast.Attribute):
            func = func.value
        is_foreign = isinstance(func, ast.Name) and func.id in self._dotted.bound
        if not is_foreign or whole.startswith(("pytest.", "unittest.")):
            return None
        found = _SAYS.match(name)
        return None if found is None else Mark.XFAIL if "xfail" in found[0] else Mark.SKIP

    def _raised(self, statement: ast.Raise, exc: ast.expr) -> Iterator[Effect]:
        made = exc.func if isinstance(exc, ast.Call) else exc
        whole = self._dotted.of(made)
        mark = _ERRORS.get(whole) or _ERRORS.get(last_name(made))
        if mark is not None and (around := self._around(statement)) is not None:
            yield Effect(mark, statement.lineno, f"raise {last_name(made)}{around[1]}", around[0])

    def _around(self, statement: ast.AST) -> tuple[str, str] | None:
        """What has to hold for a statement to run, and how that is written; None: it never is."""
        depends: list[str] = []
        said: list[str] = []
        for index, (around, within) in enumerate(self._outline.outer(statement)):
            if index >= _MOST_AROUND:
                break
            match around:
                case ast.If(test=test, body=body):
                    holds = any(one is within for one in body)
                    condition = self._conditions.of(
                        test if holds else ast.UnaryOp(ast.Not(), test))
                    if condition is None:
                        return None
                    depends.append(condition)
                    said.append(told(test) if holds else f"not {finished(spelled(test))}")
                case ast.ExceptHandler():
                    depends.append(self._missing(around))
                case ast.For() | ast.AsyncFor() | ast.While() | ast.match_case():
                    depends.append(OTHER)
        known = [one for one in depends if one not in (OTHER, ALWAYS)]
        says = " if " + " and ".join(said) if said else ""
        return (known[0] if known else OTHER if OTHER in depends else ALWAYS), says

    def _missing(self, handler: ast.ExceptHandler) -> str:
        """The package that is not there, in a handler of an import."""
        around = self._outline.inside.get(id(handler))
        if isinstance(around, ast.Try) and is_missing(handler):
            for one in around.body:
                match one:
                    case ast.Import(names=[alias, *_]):
                        return f"package:{ascii_name(alias.name.split('.')[0])[:64]}"
                    case ast.ImportFrom(module=str() as module):
                        return f"package:{ascii_name(module.split('.')[0])[:64]}"
        return OTHER

    def defined(self, node: ast.AST) -> Iterator[Effect]:
        """That a test is only there under a condition."""
        around = self._around(node)
        if around is not None and around[0] != ALWAYS and around[1]:
            yield Effect(Mark.SKIP, getattr(node, "lineno", 1), around[1].strip(), around[0])
