"""The rows that a test runs over, and those that go while the code changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from policyd.core.kin import Placed
from policyd.core.sheet import Sample, Sheet, Test

Rows = tuple[Sample, ...]


def rows(sheet: Sheet | None, test: Test) -> Rows:
    """The samples between a test and the one above, but for those of what that one asserts."""
    if sheet is None or test.cases < 2:
        return ()
    start = max((one.line for one in sheet.tests if one.line < test.line), default=0)
    asserted = {claim.line for one in sheet.tests for claim in one.assertions}
    return tuple(one for one in sheet.samples
                 if start < one.line < test.line and one.line not in asserted)


def changes(before: tuple[Placed, Rows], after: tuple[Placed, Rows],
            given: Mapping[tuple[str, ...], int]) -> Iterator[tuple[int, str, str]]:
    """Rows whose input is gone, or whose result is computed now: line, in words, the input.

    `given` are the inputs of all tests after. A table that changes its columns tells nothing, and
    one that has nothing of the old one left only where its results are known.
    """
    (_, was), (test, now) = before, after
    old, new = Counter(map(_key, was)), Counter(map(_key, now))
    if not was or not now or {len(one.given) for one in was} != {len(one.given) for one in now}:
        return
    has_left = any(key in new for key in old)
    left = {one.given for one in now}
    computed = Counter(one.given for one in now if not one.result)
    computed.subtract(one.given for one in was if not one.result)
    for one in was:
        if one.given not in left and not given.get(one.given) and (has_left or one.result):
            yield test.test.line, "loses an input", ", ".join(one.given)
        elif one.result and has_left and computed[one.given] > 0 and _key(one) not in new:
            computed[one.given] -= 1
            yield test.test.line, "computes what it expects", ", ".join(one.given)


def _key(one: Sample) -> tuple[tuple[str, ...], str]:
    return one.given, one.result
