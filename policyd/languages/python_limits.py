"""Limits of time and difference in Python tests that no assertion holds."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from policyd.core.sheet import Mark, Marker
from policyd.languages.literal import bounded
from policyd.languages.python_dotted import Dotted, ascii_name, last_name
from policyd.languages.python_helpers import is_fixture
from policyd.languages.python_outline import Outline, Scope
from policyd.languages.python_spelling import finished, spelled
from policyd.languages.python_worth import Names

_TIMEOUT = re.compile(r"(^|_)timeout(_?s(ec(ond)?s?)?|_?ms)?$|(^|_)deadline$", re.IGNORECASE)
_TOLERANCE = re.compile(r"(^|_)([ra]?tol(erance)?|eps(ilon)?|max_?(diff|delta|error))(_|$)",
                        re.IGNORECASE)
_WAITING: Final[Mapping[str, int]] = {
    "asyncio.wait_for": 1, "asyncio.timeout": 0, "async_timeout.timeout": 0, "signal.alarm": 0,
    "trio.fail_after": 0, "anyio.fail_after": 0, "trio.move_on_after": 0,
    "anyio.move_on_after": 0}
"""Which argument of a call is a limit of time."""
_LAST_NAMES = {name.rpartition(".")[2] for name in _WAITING}
_NOBODY: Final = [""]
_OF_TIME = re.compile(r"_?(?:[A-Z]\w*)?Timeouts?(?:[A-Z]\w*)?")
"""A class of limits: one of it counts where it is given."""


class Limits:
    """One for a file. `tests`: the names of the tests that a function is, by its id."""

    def __init__(self, outline: Outline, dotted: Dotted, names: Names,
                 tests: Mapping[int, Sequence[str]]) -> None:
        self._outline = outline
        self._dotted = dotted
        self._names = names
        self._tests = tests
        self._limits: dict[str, bool] = {}
        """Whether a keyword is a limit of time, by its name."""

    def _is_limit(self, name: str) -> bool:
        known = self._limits.get(name)
        if known is None:
            known = self._limits[name] = _TIMEOUT.search(name) is not None
        return known

    def found(self) -> Iterator[Marker]:
        is_testing = bool(self._tests)
        for scope in self._outline.scopes:
            if scope.is_function:
                is_testing = is_testing or is_fixture(scope)
            else:
                for statement in scope.statements:
                    yield from self._constant(statement, scope)
        for scope in self._outline.scopes if is_testing else ():
            ons = self._ons(scope)
            for statement in scope.statements:
                for call in self._outline.calls.get(id(statement), ()):
                    yield from self._call(call, scope, ons)

    def _ons(self, scope: Scope) -> Sequence[str]:
        one: Scope | None = scope
        while one is not None:
            if id(one) in self._tests:
                return self._tests[id(one)]
            one = one.parent
        return _NOBODY

    def _constant(self, statement: ast.AST, scope: Scope) -> Iterator[Marker]:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                pass
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                pass
            case _:
                return
        mark = Mark.TIMEOUT if _TIMEOUT.search(name) else (
            Mark.TOLERANCE if _TOLERANCE.search(name) else None)
        amount = self._names.number(value) if mark is not None else None
        if mark is None or amount is None:
            return
        if mark is Mark.TIMEOUT and name.lower().endswith("ms"):
            amount /= 1000
        on = ascii_name(scope.path)
        yield Marker(mark, value.lineno, on, bounded(ascii_name(name)), "", amount)

    def _call(self, call: ast.Call, scope: Scope, ons: Sequence[str]) -> Iterator[Marker]:
        given = [(one.value, one.arg) for one in call.keywords
                 if one.arg and self._is_limit(one.arg)]
        if not given and last_name(call.func) not in _LAST_NAMES:
            return
        if _OF_TIME.fullmatch(last_name(call.func)):
            return
        whole = self._dotted.of(call.func)
        position = _WAITING.get(whole)
        if position is not None and len(call.args) > position:
            given.append((call.args[position], ""))
        for node, name in given:
            if ".mark." in whole or whole.endswith("settings"):
                continue
            if ons == _NOBODY and isinstance(node, ast.Name) and node.id in scope.params:
                continue
            amount = self._amount(_local(node, scope), name)
            told = finished(spelled(node, self._names.texts))
            says = f"{whole or 'call'}({name}{'=' if name else ''}{told})"
            for on in ons:
                yield Marker(Mark.TIMEOUT, node.lineno, on, bounded(says), "", amount)

    def _amount(self, node: ast.expr, name: str) -> float | None:
        """In seconds. None as a value means that there is no limit."""
        if isinstance(node, ast.Constant) and node.value is None:
            return 0.0
        if isinstance(node, ast.Call) and _OF_TIME.fullmatch(last_name(node.func)):
            return self._longest([*node.args, *(one.value for one in node.keywords)])
        amount = self._names.number(node)
        return amount / 1000 if amount is not None and name.lower().endswith("ms") else amount


    def _longest(self, given: Sequence[ast.expr]) -> float | None:
        """Of several limits; not known where one of them is not, none where one of them is none."""
        amounts = [self._amount(one, "") for one in given]
        known = [amount for amount in amounts if amount is not None]
        if not amounts or len(known) < len(amounts):
            return None
        return 0.0 if 0.0 in known else max(known)


def _local(node: ast.expr, scope: Scope) -> ast.expr:
    """What a local of a function is set to, where that happens once."""
    if not isinstance(node, ast.Name) or scope.stored.get(node.id) != 1:
        return node
    for statement in scope.statements:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name == node.id:
                return value
    return node
