"""The only door to what pytest does not publish: a test's phases, and marker expressions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from _pytest.mark import expression as expressions
from _pytest.runner import call_and_report

_NO_EXPRESSION = (SyntaxError, getattr(expressions, "ParseError", SyntaxError))
"""pytest 8 has an error of its own."""


def phase(item: pytest.Item, when: str, **more: Any) -> pytest.TestReport:
    """Run one phase of a test; its report, which nobody was told of yet."""
    return call_and_report(item, when, log=False, **more)  # type: ignore[arg-type]


def begin(item: pytest.Item) -> None:
    """Make a test ready to run, for the first time or anew, as pytest's own protocol does."""
    if hasattr(item, "_request") and not item._request:
        item._initrequest()  # type: ignore[attr-defined]


def end(item: pytest.Item) -> None:
    """Let go of what a run of the test held."""
    if hasattr(item, "_request"):
        item._request = False
        item.funcargs = None  # type: ignore[attr-defined]


def captured(item: pytest.Item) -> list[tuple[str, str, str]]:
    """What was captured while the test ran; the list may be changed."""
    return item._report_sections


def truth(expression: str, holds: Callable[[str], bool]) -> bool:
    """What a marker expression says where these markers hold; false where it is none."""
    try:
        compiled = expressions.Expression.compile(expression)
    except _NO_EXPRESSION:
        return False
    return compiled.evaluate(lambda name, /, **_: holds(name))
