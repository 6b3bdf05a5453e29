"""Whether a test still claims what it claimed: assertions before and after, the strongest first."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

from policyd.core.kin import Placed
from policyd.core.projects import Shared
from policyd.core.sheet import Assertion, Kind, Test
from policyd.core.strength import (
    COMMON,
    LITERAL,
    RANK,
    broad,
    holds,
    is_broader,
    is_guarded,
    is_looser,
    is_part,
    items,
)
from policyd.core.values import dataclass

_VARIABLE = re.compile(r"\$\d|\b_\d")
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")

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


def losses(before: Test, after: Test, left: Counter[Key], room: Room) -> Iterator[Loss]:
    """What a test lost; `left` is `gone`, and what is told is taken out of it.

    Another claim about the same subject takes a claim's place if it is no weaker, and so does
    one about something that is called alike. Cases that a test gained may be its own claims.
    """
    fresh = _Fresh(list(_only(after.assertions, before.assertions)), [])
    missing = []
    for was in _only(before.assertions, after.assertions):
        if was.kind is not Kind.NOTHING and left[key_of(was)] > 0:
            left[key_of(was)] -= 1
            missing.append(was)
    fitting = fresh.paired(missing, Shared.of(before, after))
    for was in missing:
        if not (id(was) in fitting or fresh.takes(was, after.assertions)
                or room.has_row(was, after)):
            yield _loss(was, after.assertions, fresh.free)


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
        self._rows = {id(one.test): one for one in free}
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

    def has_row(self, was: Assertion, after: Test) -> bool:
        """Whether a claim is one more case of those that its own test makes now; uses it up."""
        one = self._rows.get(id(after))
        if one is None or one.cases <= 0 or not any(
                _VARIABLE.search(claim.subject) and _is_about(was, claim) and holds(was, claim)
                for claim in after.assertions):
            return False
        one.cases -= 1
        return True


@dataclass(slots=True)
class _Fresh:
    """The new claims of a test: each takes the place of one, or of all those that it is about."""

    free: list[Assertion]
    shared: list[Assertion]

    def paired(self, missing: Sequence[Assertion], shared: Shared) -> frozenset[int]:
        """Those that say the same, of the same or of something that is called alike, or of the
        same inputs and of something else of the project: each with the claim most like it. So no
        claim is used up by one that any other would do for."""
        found = set()
        for match in (_is_about, _is_akin, shared.has_both):
            for was in missing:
                if id(was) in found:
                    continue
                same = [claim for claim in self.free if _says_the_same(was, claim)
                        and match(was, claim) and holds(was, claim)]
                if same:
                    self._use(was, max(same, key=lambda claim: _likeness(was, claim)))
                    found.add(id(was))
        return frozenset(found)

    def takes(self, was: Assertion, after: Sequence[Assertion]) -> bool:
        if _words(was) and was.kind not in (Kind.RAISES, Kind.CALLED) and any(
                claim.subject == was.subject and RANK[claim.kind] < RANK[was.kind]
                and not is_guarded(was, claim) for claim in after):
            return True  # what is left says more
        mine = [claim for claim in self.shared if was.subject and was.subject in claim.subject]
        for match in (_is_about, _is_akin):
            found = next((claim for claim in (*self.free, *mine)
                          if match(was, claim) and holds(was, claim)), None)
            if found is not None:
                self._use(was, found)
                return True
            if any(match(was, claim) for claim in self.free if match is _is_about):
                return False
        return self._has_parts(was)

    def _use(self, was: Assertion, found: Assertion) -> None:
        if found in self.free:
            self.free.remove(found)
            if was.subject and was.subject in found.subject != was.subject:
                self.shared.append(found)

    def _has_parts(self, was: Assertion) -> bool:
        """Whether a whole is claimed item by item now."""
        parts = [claim for claim in self.free if is_part(was, claim)]
        if len({claim.subject for claim in parts}) < max(2, items(was.answer)):
            return False
        for claim in parts:
            self.free.remove(claim)
        return True


def _says_the_same(was: Assertion, now: Assertion) -> bool:
    """Whether it is claimed in the same way, and the same value is wanted."""
    return (was.kind, was.against, was.answer, was.tolerance, was.types) == (
        now.kind, now.against, now.answer, now.tolerance, now.types) and (
        was.against == "literal" or was.kind is Kind.RAISES)


def _likeness(was: Assertion, now: Assertion) -> tuple[int, int]:
    """Signs that both begin and end with."""
    return _common(was.form, now.form), _common(was.form[::-1], now.form[::-1])


def _common(one: str, other: str) -> int:
    return sum(1 for _ in takewhile(lambda two: two[0] == two[1], zip(one, other, strict=False)))


def _covers(by: Test, test: Test) -> bool:
    mine = [claim for claim in test.assertions if claim.kind is not Kind.NOTHING]
    return bool(mine) and all(any(_is_about(claim, other) and holds(claim, other)
                                  for other in by.assertions) for claim in mine)


def _only(these: Sequence[Assertion], those: Sequence[Assertion]) -> Iterator[Assertion]:
    """Those of the first that the second has fewer of."""
    known = Counter(map(key_of, those))
    for claim in these:
        if known[key_of(claim)] > 0:
            known[key_of(claim)] -= 1
        else:
            yield claim


def _loss(was: Assertion, after: Sequence[Assertion], fresh: Sequence[Assertion]) -> Loss:
    now = next((claim for claim in (*fresh, *after) if claim.form == was.form
                or (claim in fresh and (_is_about(was, claim) or is_part(was, claim)))), None
               ) or next((claim for claim in fresh if claim.kind is Kind.NOTHING), None)
    if now is None or (holds(was, now) and now.kind is was.kind):
        return Loss(was, None, "loses an assertion")
    if now.kind is Kind.NOTHING:
        return Loss(was, now.line, "cannot fail any more", now.form == was.form)
    if is_guarded(was, now):
        return Loss(was, now.line, "asserts it on a condition")
    if was.kind is now.kind is Kind.CLOSE and not is_part(was, now):
        return Loss(was, now.line, "raises a tolerance")
    if is_broader(was, now):
        return Loss(was, now.line, "expects any error" if "*" in now.types else
                    "expects a broader error")
    return Loss(was, now.line, "loosens a bound" if is_looser(was, now) else
                "weakens an assertion")


def _is_about(was: Assertion, now: Assertion) -> bool:
    """Whether both claim something of the same, whatever values are in it."""
    return was.form == now.form or (was.subject != "" and broad(was.subject) == broad(now.subject))


def _is_akin(was: Assertion, now: Assertion) -> bool:
    """Whether the names in both have a word in common; what has none can be anything."""
    mine, theirs = _words(was), _words(now)
    return not mine or not theirs or not mine.isdisjoint(theirs)


def _words(claim: Assertion) -> frozenset[str]:
    found = _WORD.findall(LITERAL.sub("#", claim.subject or claim.form))
    return frozenset(word.lower() for word in found) - COMMON
