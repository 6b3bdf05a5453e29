"""Files of groups: one name a line, for lists that somebody else than the policy's author keeps.

In a policy `maintainers: {file: groups/maintainers.txt}` stands for the list of these names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from policyd.core import decoding, nodes
from policyd.core.documents import MAX_BYTES
from policyd.core.errors import Fault
from policyd.core.nodes import Node, Scalar, Sequence
from policyd.core.values import dataclass

FOLDER = "groups/"

_FILE = re.compile(r"groups/[A-Za-z0-9][A-Za-z0-9._-]*\.txt")
_COMMENT = re.compile(r"(?:^|(?<=\s))#.*")
"""A # begins a comment at the start of a line and behind white space; names may hold others."""
_TORN = re.compile(r"\S\s+#(?:SHA256:|key-[0-9]|deploy-key-[0-9]|\*)")
"""A credential that a blank made a comment, so that its name would count with any."""


@dataclass(frozen=True, slots=True)
class _GroupAuthored:
    """A group whose members stand in a file."""

    file: str


def read(files: Mapping[str, bytes], faults: list[Fault]) -> dict[str, Sequence]:
    """The lists in all group files, by their paths; what is wrong in them goes to `faults`."""
    return {source: _parse(data, source, faults)
            for source, data in files.items() if source.startswith(FOLDER)}


def filled_in(policy: Node, lists: Mapping[str, Sequence], faults: list[Fault]) -> Node:
    """The policy with each file of a group replaced by the names that it lists."""
    groups = nodes.get(policy, "groups")
    if not (isinstance(policy, nodes.Mapping) and isinstance(groups, nodes.Mapping)):
        return policy
    full = replace(groups, entries=tuple(
        (key, _list(value, lists, faults) if isinstance(value, nodes.Mapping) else value)
        for key, value in groups.entries))
    return replace(policy, entries=tuple(
        (key, full if key.text == "groups" else value) for key, value in policy.entries))


def unused(files: Iterable[str], policies: Iterable[Node]) -> Iterator[Fault]:
    """Warnings of group files that no policy names."""
    named = {group.source for policy in policies
             if isinstance(groups := nodes.get(policy, "groups"), nodes.Mapping)
             for _, group in groups.entries}
    for source in files:
        if source.startswith(FOLDER) and source not in named:
            yield Fault(source, 1, 1, "no policy names this file")


def _list(value: nodes.Mapping, lists: Mapping[str, Sequence], faults: list[Fault]) -> Node:
    authored = decoding.attempt(value, _GroupAuthored, faults)
    place = value.get("file")
    if authored is None or place is None:
        return Sequence(value.source, value.line, value.column, ())
    if authored.file in lists:
        return lists[authored.file]
    if _FILE.fullmatch(authored.file):
        faults.append(place.fault(decoding.unknown("file", authored.file, list(lists))))
    else:
        faults.append(place.fault(f"{nodes.shown(authored.file)} is no file of a group, such as "
                                  "groups/maintainers.txt in HOME"))
    return Sequence(place.source, place.line, place.column, ())


def _parse(data: bytes, source: str, faults: list[Fault]) -> Sequence:
    nobody = Sequence(source, 1, 1, ())
    if len(data) > MAX_BYTES:
        faults.append(nobody.fault(f"larger than {MAX_BYTES} bytes"))
        return nobody
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        faults.append(Fault(source, line, 1, "not valid UTF-8"))
        return nobody
    return Sequence(source, 1, 1, tuple(_names(text, source, faults)))


def _names(text: str, source: str, faults: list[Fault]) -> Iterator[Scalar]:
    first: dict[str, int] = {}
    for number, whole in enumerate(text.split("\n"), start=1):
        line = _COMMENT.sub("", whole.removesuffix("\r"))
        name = line.strip()
        place = Scalar(source, number, len(line) - len(line.lstrip()) + 1, name, name)
        if _TORN.search(whole):
            faults.append(place.fault("what follows a blank and # is a comment; a credential "
                                      "stands behind its name without a blank: mei#SHA256:..."))
        elif not name.isprintable():
            faults.append(place.fault(f"{nodes.shown(name)} holds what cannot be printed"))
        elif name in first:
            faults.append(place.fault(f"{nodes.shown(name)} stands in line {first[name]} already"))
        elif name:
            first[name] = number
            yield place
