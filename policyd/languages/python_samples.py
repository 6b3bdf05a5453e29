"""Inputs and results that Python tests and doctests give: tables of cases, and `>>>`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import Final

from policyd.core.sheet import Sample
from policyd.languages.python_cases import Table, cells
from policyd.languages.python_constants import constants
from policyd.languages.python_dotted import Dotted
from policyd.languages.python_outline import Outline
from policyd.languages.python_uses import spots
from policyd.languages.python_worth import Ground, Names

_RESULTS: Final = re.compile(r"expect|want|result|output|answer|correct|^(out|res|ret|exp)$|golden")
_DOCTEST: Final = re.compile(r"^[ \t]*>>>[ \t](.+)\n[ \t]*(?!>>>|\.\.\.)(\S.*)$", re.MULTILINE)
_MOST_DOCTESTS: Final = 300
_LONGEST: Final = 500


class Cases:
    """The rows of a table as samples, and the cells that are expected results."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self.answers: list[ast.expr] = []

    def of(self, table: Table, wanted: Sequence[str]) -> Iterator[Sample]:
        """`wanted`: the columns that the test holds something against."""
        results = [name for name in table.columns if name in wanted] or [
            name for name in table.columns if _RESULTS.search(name.lower())]
        if len(results) == len(table.columns):
            results = []
        for row in table.rows or ():
            values = dict(zip(table.columns, cells(row, table.columns), strict=False))
            self.answers += [node for name, node in values.items() if name in results]
            given = tuple(form for name, node in values.items() if name not in results
                          if (form := self._form(node)))
            if given:
                told = [self._form(values[name]) for name in results if name in values]
                yield Sample(row.lineno if hasattr(row, "lineno") else 1, given,
                             told[0] if len(told) == 1 else "")

    def _form(self, node: ast.expr) -> str:
        if isinstance(node, ast.Name) and (held := self._names.ground.known(node.id)) is not None:
            return held.answer
        return self._names.answer(node)


def doctests(outline: Outline) -> Iterator[Sample]:
    """`>>> total([1, 2])` and the line below it, in any docstring."""
    left = _MOST_DOCTESTS
    for scope in outline.scopes:
        match scope.node.body[:1]:
            case [ast.Expr(value=ast.Constant(value=str() as text, lineno=line))] if ">>>" in text:
                for found in _DOCTEST.finditer(text):
                    left -= 1
                    if left < 0:
                        return
                    at = line + text.count("\n", 0, found.start(1))
                    yield from _doctest(found[1], found[2], at)


def _doctest(called: str, printed: str, line: int) -> Iterator[Sample]:
    if len(called) > _LONGEST or len(printed) > _LONGEST:
        return
    try:
        tree = ast.parse(f"call = {called.strip()}\nresult = {printed.strip()}\n")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return
    outline = Outline(tree)
    parts = {part.key: part for part in constants(spots(tree))}
    names = Names(Ground(Dotted(outline), parts, frozenset()))
    match tree.body:
        case [ast.Assign(value=call), ast.Assign(value=result)]:
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and (
                    call.func.id == "print") and len(call.args) == 1:
                call = call.args[0]
            if isinstance(call, ast.Call):
                args = [*call.args, *(keyword.value for keyword in call.keywords)]
                given, wanted = tuple(map(names.answer, args)), names.answer(result)
                if given and all(given) and wanted:
                    yield Sample(line, given, wanted)
