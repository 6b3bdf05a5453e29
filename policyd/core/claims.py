"""Whether a test still claims what it claimed: assertions before and after, the strongest first."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from policyd.core.kin import Placed
from policyd.core.sheet import Assertion, Kind, Test
from policyd.core.values import dataclass

_RANK = {**{kind: rank for rank, kind in enumerate(Kind)},
         Kind.CALLED: list(Kind).index(Kind.RAISES)}
_LITERAL = re.compile(r"""[A-Za-z]?"(?:\\.|[^"\\])*"|[A-Za-z]?'(?:\\.|[^'\\])*'|\$\d+|\.\.\.|"""
                      r"""\b(?:True|False|None|true|false|null|undefined)\b|"""
                      r"""(?<![\w.])-?\d[\w.]*""")
_DISPLAY = re.compile(r"[\[{][#,:*\s]*[\]}]")
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_COMMON = frozenset({
    "and", "assert", "data", "dict", "equal", "expect", "false", "get", "in", "int", "is", "len",
    "list", "none", "not", "of", "or", "raises", "result", "self", "set", "sorted", "str", "this",
    "to", "true", "tuple", "value"})
_BROAD = frozenset({"*", "Exception", "BaseException", "Error", "Throwable", "object",
                    "LookupError", "ArithmeticError", "OSError"})

Key = tuple[str, Kind, float | None, tuple[str, ...]]
Counted = Counter[Key]


@dataclass(frozen=True, slots=True)
class Loss:
    """A claim that is gone or weaker. `line` is after the change; None: nothing took its place."""

    was: Assertion
    line: int | None
    says: str
    is_stilled: bool = False
    """Whether it stands where it was, and only cannot fail."""


def key_of(claim: Assertion) -> Key:
    return claim.form, claim.kind, claim.tolerance, claim.types


def gone(before: Iterable[Test], after: Iterable[Test]) -> Counter[Key]:
    """Claims that are fewer after than before, all tests taken together: no moved ones."""
    return Counter(key_of(claim) for test in before for claim in test.assertions) - Counter(
        key_of(claim) for test in after for claim in test.assertions)


def losses(before: Test, after: Test, left: Counter[Key]) -> Iterator[Loss]:
    """What a test lost; `left` is `gone`, and what is told is taken out of it.

    Another claim about the same subject takes a claim's place if it is no weaker, and so does
    one about something that is called alike.
    """
    fresh = list(_only(after.assertions, before.assertions))
    for was in _only(before.assertions, after.assertions):
        if was.kind is Kind.NOTHING or left[key_of(was)] <= 0:
            continue
        left[key_of(was)] -= 1
        if not _replaced(was, after.assertions, fresh):
            yield _loss(was, after.assertions, fresh)


def is_still_claimed(test: Test, left: Counter[Key]) -> bool:
    """Whether all that a lost test claimed is claimed by others now; takes it out of `left`."""
    claims = [claim for claim in test.assertions if claim.kind is not Kind.NOTHING]
    if not claims or any(left[key_of(claim)] > 0 for claim in claims):
        left.subtract(key_of(claim) for claim in claims if left[key_of(claim)] > 0)
        return False
    return True


@dataclass(slots=True)
class _Free:
    cases: int
    test: Test


class Room:
    """Cases that tests gained, for tests that are written as cases of one, or one as several."""

    def __init__(self, gained: Iterable[Placed],
                 pairs: Iterable[tuple[Placed, Placed]]) -> None:
        free = [_Free(one.test.cases, one.test) for one in gained]
        free += [_Free(after.test.cases - before.test.cases, after.test)
                 for before, after in pairs if after.test.cases > before.test.cases]
        self._free: dict[str, list[_Free]] = {}
        for one in free:
            for subject in {broad(claim.subject) for claim in one.test.assertions} - {""}:
                self._free.setdefault(subject, []).append(one)

    def takes(self, test: Test, cases: int) -> bool:
        """Whether so many cases of a test are found in others that claim no less of the same.

        One test is not taken for another one that only is called alike.
        """
        subject = next((broad(claim.subject) for claim in test.assertions if claim.subject), "")
        holding = [one for one in self._free.get(subject, ()) if one.cases > 0
                   and max(cases, test.cases, one.test.cases) > 1 and _covers(one.test, test)]
        if sum(one.cases for one in holding) < cases:
            return False
        for one in holding:
            used = min(cases, one.cases)
            one.cases, cases = one.cases - used, cases - used
        return True


@lru_cache(maxsize=4096)
def broad(subject: str) -> str:
    """A subject without the values in it: `total([1, 2])` and `total($0)` are `total(#)`."""
    text = _LITERAL.sub("#", subject)
    while (shorter := _DISPLAY.sub("#", text)) != text:
        text = shorter
    return text


def _covers(by: Test, test: Test) -> bool:
    mine = [claim for claim in test.assertions if claim.kind is not Kind.NOTHING]
    return bool(mine) and all(any(_is_about(claim, other) and _holds(claim, other)
                                  for other in by.assertions) for claim in mine)


def _only(these: Sequence[Assertion], those: Sequence[Assertion]) -> Iterator[Assertion]:
    """Those of the first that the second has fewer of."""
    known = Counter(map(key_of, those))
    for claim in these:
        if known[key_of(claim)] > 0:
            known[key_of(claim)] -= 1
        else:
            yield claim


def _replaced(was: Assertion, after: Sequence[Assertion], fresh: list[Assertion]) -> bool:
    if _words(was) and was.kind not in (Kind.RAISES, Kind.CALLED) and any(
            claim.subject == was.subject and _RANK[claim.kind] < _RANK[was.kind]
            for claim in after):
        return True  # what is left says more
    for match in (_is_about, _is_akin):
        found = next((claim for claim in fresh if match(was, claim) and _holds(was, claim)), None)
        if found is not None:
            if not (was.subject and was.subject in found.subject != was.subject):
                fresh.remove(found)  # one claim about both takes the place of several
            return True
        if any(match(was, claim) for claim in fresh if match is _is_about):
            return False
    return False


def _loss(was: Assertion, after: Sequence[Assertion], fresh: Sequence[Assertion]) -> Loss:
    now = next((claim for claim in (*fresh, *after) if claim.form == was.form
                or (claim in fresh and _is_about(was, claim))), None) or next(
        (claim for claim in fresh if claim.kind is Kind.NOTHING), None)
    if now is None or (now.kind is was.kind is not Kind.CLOSE and now.types == was.types):
        return Loss(was, None, "loses an assertion")
    if now.kind is Kind.NOTHING:
        return Loss(was, now.line, "cannot fail any more", now.form == was.form)
    if was.kind is now.kind is Kind.CLOSE:
        return Loss(was, now.line, "raises a tolerance")
    if _is_broader(was, now):
        return Loss(was, now.line, "expects any error" if "*" in now.types else
                    "expects a broader error")
    return Loss(was, now.line, "weakens an assertion")


def _is_about(was: Assertion, now: Assertion) -> bool:
    """Whether both claim something of the same, whatever values are in it."""
    return was.form == now.form or (was.subject != "" and broad(was.subject) == broad(now.subject))


def _is_akin(was: Assertion, now: Assertion) -> bool:
    """Whether the names in both have a word in common; what has none can be anything."""
    mine, theirs = _words(was), _words(now)
    return not mine or not theirs or not mine.isdisjoint(theirs)


def _words(claim: Assertion) -> frozenset[str]:
    found = _WORD.findall(_LITERAL.sub("#", claim.subject or claim.form))
    return frozenset(word.lower() for word in found) - _COMMON


def _holds(was: Assertion, now: Assertion) -> bool:
    """Whether a claim is no weaker, as far as its kind, tolerance and types tell."""
    if _RANK[now.kind] > _RANK[was.kind] or _is_broader(was, now):
        return False
    if was.kind is now.kind is Kind.CLOSE and was.tolerance is not None:
        return now.tolerance is not None and now.tolerance <= was.tolerance
    return True


def _is_broader(was: Assertion, now: Assertion) -> bool:
    """Whether more errors pass. What is no wider name takes the place of another one."""
    if not was.types or now.kind is Kind.NOTHING or not (
            now.types or now.kind is Kind.RAISES):
        return False
    new = set(now.types) - set(was.types)
    return not now.types or bool(new & _BROAD) or len(now.types) > len(was.types)
