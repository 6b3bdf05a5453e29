"""Inputs of tests that a branch of source knows without naming them whole.

Joined into one text, by their beginning or another part of them, or by how long they are. Such a
branch has to give the very result as well, or one that repeats what it has not looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from policyd.core.sheet import Keyed, Sample
from policyd.core.values import dataclass

_PHRASE = re.compile(r'".*[^\s"]\s+[^\s"].*"', re.DOTALL)
"""More than one word: what a dispatch by prefix (`https://`, `ORD-`) does not look for."""
_APART = re.compile(r"\W|_")
_PIECES = re.compile(r"[^\W\d_]+|\d[\d.]*(?<=\d)")
_WORDS = re.compile(r"[^\s()\[\]{},;\"']+")
_LONGEST = 256
"""Of texts that are held against each other; longer ones stand as their head and a checksum."""

Asked = tuple[str, Sample]
"""A sample, and the test that it stands in."""


@dataclass(frozen=True, slots=True)
class Exam:
    """Samples of tests, by what a branch may know of them."""

    listed: Sequence[Asked]
    by_result: Mapping[str, Sequence[Asked]]
    by_joined: Mapping[tuple[str, str], Asked]
    """By the letters and digits of all inputs in their order, and the result."""


def exam(listed: Sequence[Asked]) -> Exam:
    results: dict[str, list[Asked]] = {}
    joined: dict[tuple[str, str], Asked] = {}
    for one in listed:
        _, sample = one
        results.setdefault(sample.result, []).append(one)
        if len(sample.given) > 1 and sample.result:
            joined.setdefault((_letters("".join(sample.given)), sample.result), one)
    return Exam(listed, results, joined)


def joined(keyed: Keyed, of: Exam) -> Asked | None:
    """The sample all of whose inputs the branch knows as one text, with its result."""
    if not is_joined(keyed):
        return None
    return of.by_joined.get((_letters(keyed.given[0]), keyed.result))


def in_part(keyed: Keyed, of: Exam) -> Asked | None:
    """The sample of which the branch knows a part, or the length, and what it wants."""
    if keyed.how != "other" or len(keyed.result) > _LONGEST:
        return None
    for one in of.by_result.get(keyed.result, ()):
        if _begins(keyed, one[1]) or _has_length(keyed, one[1]):
            return one
    if not _PHRASE.fullmatch(keyed.result) or not any(map(_PHRASE.fullmatch, keyed.given)):
        return None
    return next((one for one in of.listed if _knows_more(keyed, one[1])), None)


def is_joined(keyed: Keyed) -> bool:
    """Whether its one input may be several."""
    return len(keyed.given) == 1 and keyed.given[0].startswith('"') and len(pieces(keyed)) > 1


def pieces(keyed: Keyed) -> tuple[str, ...]:
    """Words and numbers of an input: each stands in a test that gives them one by one."""
    return tuple(_PIECES.findall(keyed.given[0]))


def by_length(keyed: Keyed) -> bool:
    """Whether its input may be a length: a number, and a result that no two tests want."""
    return (keyed.how == "other" and len(keyed.given) == 1 and keyed.given[0].isdecimal()
            and bool(_PHRASE.fullmatch(keyed.result)))


def _letters(value: str) -> str:
    return _APART.sub("", value)


def _begins(keyed: Keyed, sample: Sample) -> bool:
    """Parts of several words each; the branch looks at more than one value, or says a phrase."""
    parts = set(keyed.given).difference(sample.given)
    if not parts or not all(_is_part(part, sample) for part in parts):
        return False
    return len(parts) < len(set(keyed.given)) or bool(_PHRASE.fullmatch(keyed.result))


def _is_part(part: str, sample: Sample) -> bool:
    return _PHRASE.fullmatch(part) is not None and any(
        _plain(part) in _plain(text) for text in _texts(sample))


def _has_length(keyed: Keyed, sample: Sample) -> bool:
    return by_length(keyed) and any(
        "\\" not in text and len(text) - 2 == int(keyed.given[0]) for text in _texts(sample))


def _knows_more(keyed: Keyed, sample: Sample) -> bool:
    """Whether the result repeats something of the input that the branch has not looked at."""
    parts = [part for part in keyed.given if _PHRASE.fullmatch(part)]
    for text in _texts(sample):
        for part in parts:
            before, is_there, behind = _plain(text).partition(_plain(part))
            if is_there and any(word in keyed.result and word not in part
                                for word in _telling_words(f"{before} {behind}")):
                return True
    return False


def _telling_words(text: str) -> Iterator[str]:
    """Those that nobody writes by chance: eight characters and more, and no mere word."""
    return (word for word in _WORDS.findall(text)
            if len(word) > 7 and not word.isalpha())


def _texts(sample: Sample) -> Iterator[str]:
    return (value for value in sample.given if value.startswith('"'))


def _plain(value: str) -> str:
    return value.removeprefix('"').removesuffix('"')
