"""Which branches of source answer the very inputs that tests give: an answer key.

Branches that stand together are one table. Of a table the new branches count that a test holds
an input and the result of, or only an input where no result can be read. What everybody writes,
such as 0 and True, tells nothing; nor does a table of which tests hold the smaller part. The sign
of a number counts for nothing, since not all readers keep it. Inputs that a branch does not name
whole: `core.hiddenkey`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from policyd.core import hiddenkey
from policyd.core.content import Changed, gained
from policyd.core.sheet import Keyed, Sample
from policyd.core.values import dataclass

T = TypeVar("T", Keyed, Sample)

_TRIVIAL = frozenset({"0", "1", "2", '""', "None", "True", "False", "[]", "()", "{}", "set()"})
_WORD = re.compile(r'"[A-Za-z_-]*"')
_SIGN = re.compile(r"""(?<![\w."'])-(?=\.?\d)""")
_APART = {"table": 2}
"""Lines from one entry of a table to the next; branches have a body between them."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A branch, and the sample of a test that it answers."""

    path: str
    keyed: Keyed
    test: str
    sample: Sample


def key_of(keyed: Keyed) -> tuple[tuple[str, ...], str]:
    """What a branch is known by, wherever it stands."""
    return keyed.given, keyed.result


def answers(source: Iterable[Changed], samples: Mapping[str, Sequence[Sample]]
            ) -> Iterator[Answered]:
    """The gained branches that are an answer key. `samples` are those of tests, by path."""
    files = tuple(source)
    new: dict[str, set[Keyed]] = {}
    for file, keyed in gained(files, lambda sheet: sheet.keyed, key_of):
        new.setdefault(file.path, set()).add(keyed)
    asked = _asked([(path, _unsigned(sample)) for path, listed in samples.items()
                    for sample in listed])
    for file in files:
        if file.after is not None and file.path in new:
            for table in _tables(file.after.keyed):
                yield from _of_table(file.path, table, new[file.path], asked)


def _tables(listed: Sequence[Keyed]) -> Iterator[list[Keyed]]:
    """The branches that stand together: of one kind, with no more than a body between them."""
    table: list[Keyed] = []
    for keyed in sorted(listed, key=lambda one: (one.how, one.line)):
        if table and (keyed.how != table[-1].how
                      or keyed.line - table[-1].line > _APART.get(keyed.how, 3)):
            yield table
            table = []
        table.append(keyed)
    if table:
        yield table


@dataclass(frozen=True, slots=True)
class _Asked:
    """Samples, each with the test that it stands in and the set of its inputs."""

    whole: Sequence[tuple[hiddenkey.Asked, frozenset[str]]]
    hidden: hiddenkey.Exam


def _asked(listed: Sequence[hiddenkey.Asked]) -> _Asked:
    return _Asked([(one, frozenset(one[1].given)) for one in listed], hiddenkey.exam(listed))


def _of_table(path: str, table: Sequence[Keyed], new: set[Keyed],
              asked: _Asked) -> Iterator[Answered]:
    held = [(keyed, found) for keyed in table
            if (found := _sample_of(_unsigned(keyed), asked)) is not None]
    pairs = [(keyed, found) for keyed, found in held
             if keyed in new and (is_pair(keyed) or _is_joined_pair(keyed, found[1]))]
    exact = [keyed for keyed, (_, sample) in pairs if sample.result or keyed.how == "other"]
    telling = any(any(map(_is_telling, keyed.given)) for keyed in exact)
    if 2 * _inputs(one for one, _ in held) >= _inputs(table) and (
            telling or _inputs(one for one, _ in pairs) > 1):
        yield from (Answered(path, keyed, test, sample) for keyed, (test, sample) in pairs)


def _is_joined_pair(keyed: Keyed, sample: Sample) -> bool:
    """Whether its inputs say something one by one."""
    return hiddenkey.is_joined(keyed) and is_pair(replace(keyed, given=sample.given))


def _inputs(listed: Iterable[Keyed]) -> int:
    return len({keyed.given for keyed in listed})


def _sample_of(keyed: Keyed, asked: _Asked) -> hiddenkey.Asked | None:
    """One with the very result, else one of which no result is known."""
    given = set(keyed.given)
    if not given or not keyed.result:
        return None
    fitting = [one for one, inputs in asked.whole if given <= inputs]
    exact = next((one for one in fitting if one[1].result == keyed.result), None) \
        or hiddenkey.joined(keyed, asked.hidden) or hiddenkey.in_part(keyed, asked.hidden)
    if exact is not None or keyed.how == "other" or all(map(_is_common, given)):
        return exact  # of "other" the values are parts of an input, or what is made of it
    return next((one for one in fitting if not one[1].result), None)


def is_pair(keyed: Keyed) -> bool:
    """Whether input and result say something; a word and one character are a code.

    Nobody asks by chance for two texts that are no words, whatever the result is.
    """
    if sum(_is_telling(value) and not _is_common(value) for value in set(keyed.given)) > 1:
        return True
    if all(map(_is_trivial, keyed.given)) or _is_trivial(keyed.result):
        return False
    return len(_plain(keyed.result)) > 1 or not all(map(_WORD.fullmatch, keyed.given))


def _unsigned(one: T) -> T:
    return replace(one, given=tuple(_SIGN.sub("", value) for value in one.given),
                   result=_SIGN.sub("", one.result))


def _is_trivial(value: str) -> bool:
    return value.removeprefix("-") in _TRIVIAL or (value.startswith('"') and len(_plain(value)) < 2)


def _is_telling(value: str) -> bool:
    """Text of four characters and more; numbers and displays by their digits and letters."""
    if value.startswith('"'):
        return len(_plain(value)) > 3
    plain = value.removeprefix("-")
    return plain not in _TRIVIAL and sum(map(str.isalnum, plain.lstrip("0."))) > 2


def _is_common(value: str) -> bool:
    """What many inputs hold: mere words, and numbers of three digits and less."""
    return bool(_WORD.fullmatch(value)) or sum(map(str.isalnum, value)) < 4


def _plain(value: str) -> str:
    return value.removeprefix('"').removesuffix('"')
