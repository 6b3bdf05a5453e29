"""Relation tests: which runs are about them, and that such a run tried at least one."""

from __future__ import annotations

import re
from itertools import product

from policyd.pytest import inner

MARK = "relation"

_NAME = re.compile(r"[\w:+\-.\[\]\\/]+")
_WORDS = frozenset({"and", "or", "not", "True", "False", "None"})
_MOST_NAMES = 10


def selects(expression: str) -> bool:
    """Whether a marker expression takes tests in because they are relations.

    `relation and not slow` and `relation or smoke` do, `not relation` does not. One with more
    names than can be tried is taken to do so.
    """
    others = sorted(set(_NAME.findall(expression)) - _WORDS - {MARK})
    if not re.search(rf"\b{MARK}\b", expression):
        return False
    if len(others) > _MOST_NAMES:
        return True
    return any(_turns(expression, frozenset(n for n, held in zip(others, values, strict=True)
                                            if held))
               for values in product((False, True), repeat=len(others)))


def _turns(expression: str, held: frozenset[str]) -> bool:
    """Whether the mark turns a no into a yes, the others being as they are."""
    return (inner.truth(expression, (held | {MARK}).__contains__)
            and not inner.truth(expression, held.__contains__))


def untried(expression: str, *, collected: int, executed: int, only_collects: bool) -> str:
    """Why a run that is about relations is no pass; empty where it is one, or is not about them.

    A test that was skipped, or failed as expected, was not executed.
    """
    if not selects(expression) or (collected and (executed or only_collects)):
        return ""
    found = f"none of {collected} relation tests was executed" if collected \
        else "no relation test was collected"
    return f"-m {expression!r} asks for relations, and {found}: a run that tried nothing is no pass"
