"""Names that source defined and that nothing says any more: tests of them have nothing to test.

A name goes only if no definition comes that is like it: what is called otherwise is still there.
Whether all other files are silent about it as well, who reads them tells.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from policyd.core.content import Changed
from policyd.core.sheet import Assertion, Defined, Sheet, Test

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_NAME = re.compile(r"[A-Za-z_$][\w$]*", re.ASCII)
_INSIDE = re.compile(r"::| > ")
_SHORTEST = 3
"""Letters of a name that tells something."""
_ALIKE, _HELD = 0.3, 0.6
"""Of the words of two definitions, those that both have; of one's, those that the other has."""
_CALLED_ALIKE = 0.5
_FEW = 3
"""Words below which a definition is like any other small one."""
_MOST = 300

Definitions = Mapping[str, Sequence[frozenset[str]]]


def candidates(source: Sequence[Changed], tests: Sequence[Changed]) -> frozenset[str]:
    """Names that changed source defines no more, and that a test said which is another one now."""
    said = {name for test in _changed(tests) for name in _said(test)}
    if not said:
        return frozenset()
    before, after = _defined(source, is_after=False), _defined(source, is_after=True)
    came = {name: words for name, words in after.items() if name not in before}
    gone = [name for name, words in before.items()
            if name in said and name not in after and len(name) >= _SHORTEST
            and not any(_is_like(name, words, other, theirs) for other, theirs in came.items())]
    return frozenset(sorted(gone, key=len, reverse=True)[:_MOST])


def is_of(test: Test, gone: frozenset[str]) -> bool:
    """Whether a test is about what is gone: it says so, by its name or in each of its claims."""
    mine = gone.intersection(test.names)
    if not mine:
        return False
    claims = [claim for claim in test.assertions if claim.form]
    return any(_names(segment, mine) for segment in _INSIDE.split(test.name)) or (
        bool(claims) and all(is_said(claim, mine) for claim in claims))


def is_said(claim: Assertion, gone: frozenset[str]) -> bool:
    """Whether a claim holds a name that is gone: nobody can make it any more."""
    return bool(gone) and not gone.isdisjoint(_NAME.findall(claim.form))


def _names(segment: str, gone: Iterable[str]) -> bool:
    """Whether what a test is called, or a group of tests, is mostly a name."""
    if segment in gone:
        return True
    words = _words(segment) - {"test", "should"}
    return any(name in _NAME.findall(segment) or (
        len(own := _words(name)) > 1 and own <= words and 2 * len(own) > len(words))
        for name in gone)


def _changed(tests: Sequence[Changed]) -> Iterator[Test]:
    for file in tests:
        now = {(one.name, one.body, one.cases) for one in (file.after.tests if file.after else ())}
        for sheet in file.before[:1]:
            yield from (one for one in sheet.tests if (one.name, one.body, one.cases) not in now)


def _said(test: Test) -> Iterator[str]:
    yield from test.names
    for claim in test.assertions:
        yield from _NAME.findall(claim.form)


def _defined(source: Sequence[Changed], *, is_after: bool) -> Definitions:
    """What each name is; before a change by what some side has, so that less seems to come."""
    found: dict[str, list[frozenset[str]]] = {}
    for file in source:
        after = (file.after,) if file.after is not None else ()
        sheets: Iterable[Sheet] = after if is_after else file.before
        for sheet in sheets:
            for one in sheet.defined:
                found.setdefault(one.name, []).append(_content(one))
    return found


def _content(one: Defined) -> frozenset[str]:
    return frozenset(one.words) - {one.name}


def _is_like(name: str, was: Sequence[frozenset[str]], other: str,
             now: Sequence[frozenset[str]]) -> bool:
    mine, theirs = _words(name), _words(other)
    if len(mine & theirs) >= _CALLED_ALIKE * len(mine | theirs):
        return True
    return any(_is_same(one, two) for one in was for two in now)


def _is_same(one: frozenset[str], two: frozenset[str]) -> bool:
    if min(len(one), len(two)) < _FEW:
        return max(len(one), len(two)) < _FEW or one <= two
    both = len(one & two)
    return both >= _ALIKE * len(one | two) or both >= _HELD * len(one)


def _words(name: str) -> frozenset[str]:
    """Without the sign of many, by which alone nothing is another thing."""
    return frozenset(word.lower().removesuffix("s") for word in _WORD.findall(name))
