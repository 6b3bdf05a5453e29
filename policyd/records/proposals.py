"""Proposals: what somebody asks for who may not write it. One YAML file is one proposal.

`kind` says which of the classes below the rest of it is. A proposal never says what a maintainer
decides: a last day, an owner, a status, an expected value.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping as Keyed
from datetime import date
from typing import Annotated, Any, Literal

from policyd.core import documents, nodes
from policyd.core.decoding import attempt
from policyd.core.errors import Fault
from policyd.core.nodes import Mapping, Node, in_order, shown
from policyd.core.proposals import Asks, Proposal
from policyd.core.values import dataclass
from policyd.records import fields
from policyd.records.fields import Enough, Faults

MAX_BYTES = 65_536
"""Of one proposal."""

_PATCHED = re.compile(r'^(?:---|\+\+\+) "?[ab]/([^\t\n"]+)', re.MULTILINE)
_NUMBER = re.compile(r"(?<!\w)\d")
_SKIPS = re.compile(r"\bpytest\.|\bx_?fail|\bskip_?if|\bimportorskip|\bskip(?:s|ped)?\b|\bfreez"
                    r"|\bfrozen\b|\brerun", re.IGNORECASE)

_LAST_DAY = "a proposal has no last day; the maintainer who adopts it says until when"
_OWNER = "a proposal has no owner; the maintainer who adopts it says who answers for it"
_ANSWER = "a proposal stores no expected value"
_RECORDED = "who adopts it records it, from a commit of the branch"
_LOOSE = "a draft says what must hold, not when it may be skipped, rerun or frozen"
_STATUS = "whether it blocks is for the maintainer who adopts it to say"
_BOUND = "a draft holds no number; who adopts it sets the bound"

_NOBODY_SAYS: Keyed[str, str] = {
    **dict.fromkeys(("expires_on", "expires", "until", "last_day", "last", "expiry"), _LAST_DAY),
    **dict.fromkeys(("owner", "owners"), _OWNER),
    **dict.fromkeys(("expected", "expect", "expected_output", "golden", "output", "outputs",
                     "result", "answer", "value", "content"), _ANSWER),
    **dict.fromkeys(("baseline", "recorded"), _RECORDED)}
_NO_DRAFT_SAYS: Keyed[str, str] = {
    **dict.fromkeys(("skip", "skips", "skipif", "xfail", "freeze", "freezes", "frozen", "freezable",
                     "reruns", "pass_needed", "max_runs", "reducer"), _LOOSE),
    **dict.fromkeys(("status", "blocking", "safety"), _STATUS),
    **dict.fromkeys(("within", "tolerance", "quantum", "draws", "min_applied"), _BOUND)}


def wordless(text: str) -> str:
    """A line without a number in it: a number that somebody drafted is an expected value."""
    line = fields.reason(text)
    if (found := _NUMBER.search(line)) is not None:
        raise ValueError(f"a draft holds no number; say {shown(line[found.start():])} in words, "
                         "such as `twice`")
    return fields.name(line)


def steady(text: str) -> str:
    """A line of a draft that holds always: no number in it, no skip, no freeze."""
    line = wordless(text)
    if (found := _SKIPS.search(line)) is not None:
        raise ValueError(f"{_LOOSE}; take out {shown(found.group())}")
    return line


def one_line(text: str) -> str:
    """A line of the list of literals, which may begin with anything but its mark of a remark."""
    if not text.strip() or not text.isprintable() or text != text.strip() or text[0] == "#":
        raise ValueError(f"{shown(text)} is no line of a list: something that can be seen, "
                         "without white space around it and without # in front")
    return text


@dataclass(frozen=True, slots=True)
class Flake:
    nodeid: fields.NodeId
    reason: fields.Reason
    max_runs: Annotated[int, fields.at_least(1)] | None = None
    first_seen: date | None = None


@dataclass(frozen=True, slots=True)
class Quarantine:
    nodeid: fields.NodeId
    reason: Annotated[str, fields.long_reason]


@dataclass(frozen=True, slots=True)
class Receipt:
    entry_point: fields.EntryPoint
    input: Node
    constraints: Node
    reason: fields.Reason


@dataclass(frozen=True, slots=True)
class Lease:
    id: fields.Name
    path: fields.Inside
    allowed_relations: tuple[fields.Name, ...]
    reason: fields.Reason
    quantum: fields.Quantum | None = None
    sha256: Annotated[str, fields.sha256] | None = None
    """What the proposer saw there; it is adopted only where it is still that."""


@dataclass(frozen=True, slots=True)
class Allowed:
    text: Annotated[str, one_line]
    reason: fields.Reason


@dataclass(frozen=True, slots=True)
class Draft:
    """Of a relation, by a model or by anybody."""

    id: fields.Name
    transform: Annotated[str, steady]
    compare: Literal["exact", "bag", "canon-bag", "subset", "tolerance", "quota", "map"]
    must_not: Annotated[str, wordless]
    """What somebody might try to assert instead."""
    relation: Annotated[str, steady] | None = None
    entry: fields.EntryPoint | None = None


@dataclass(frozen=True, slots=True)
class Golden:
    path: fields.Inside
    why: fields.Reason


Said = Flake | Quarantine | Receipt | Lease | Allowed | Draft | Golden

_TYPES: Keyed[str, type[Any]] = {
    Asks.FLAKE.value: Flake, Asks.QUARANTINE.value: Quarantine, Asks.RECEIPT.value: Receipt,
    Asks.LEASE.value: Lease, Asks.LITERAL.value: Allowed, Asks.RELATION.value: Draft,
    Asks.GOLDEN.value: Golden}
KINDS = tuple(_TYPES)


@dataclass(frozen=True, slots=True)
class Read:
    """A file as it was read."""

    proposal: Proposal | None = None
    said: Said | None = None
    """What it says; None for a patch, and where anything is wrong."""
    faults: tuple[Fault, ...] = ()
    shape: str = ""


def load(path: str, data: bytes) -> Read:
    """What a proposal says. Total: whatever is wrong is a fault whose source is `path`."""
    faults = Faults()
    try:
        node = documents.read(data, path, faults, max_bytes=MAX_BYTES)
        kind = None if node is None else _kind(node, faults)
        said = None if node is None or kind is None else _said(node, kind, faults)
    except Enough:
        kind, said = None, None
    except Exception as error:  # memory, recursion: it was not read, whatever it is
        return Read(faults=(Fault(path, 1, 1, f"cannot be read: {type(error).__name__}"),))
    if said is None or kind is None or faults:
        return Read(faults=in_order(faults), shape=shape(kind))
    return Read(Proposal(Asks(kind), path, _subjects(said)), said, shape=shape(kind))


def unreadable(path: str, why: str) -> Read:
    """What stands for a file that is not looked into."""
    return Read(faults=(Fault(path, 1, 1, why),))


def patch(path: str, data: bytes) -> Proposal:
    """A change as git writes it, which is about the paths that it names."""
    text = data[:8 * MAX_BYTES].decode("utf-8", "surrogateescape")
    return Proposal(Asks.PATCH, path, tuple(sorted(set(_PATCHED.findall(text)))))


def shape(kind: str | None) -> str:
    """What such a proposal says, in a line."""
    if kind is None:
        return f"kind: one of {', '.join(KINDS)}"
    said = dataclasses.fields(_TYPES[kind])
    needed = [one.name for one in said if one.default is dataclasses.MISSING]
    free = [one.name for one in said if one.default is not dataclasses.MISSING]
    return f"kind: {kind}, {', '.join(needed)}" + (f"; if known {', '.join(free)}" if free else "")


def _kind(node: Node, faults: list[Fault]) -> str | None:
    if not isinstance(node, Mapping):
        faults.append(node.fault("one proposal a file, keys and values; "
                                 "a list of them is a file each"))
        return None
    there = node.get("kind")
    if there is None:
        faults.append(node.fault(f"missing key 'kind': one of {', '.join(KINDS)}"))
        return None
    return attempt(there, Literal[KINDS], faults)  # type: ignore[arg-type]


def _said(node: Node, kind: str, faults: list[Fault]) -> Said | None:
    plain = nodes.without(node, "kind")
    known = {one.name for one in dataclasses.fields(_TYPES[kind])}
    refused = {**_NOBODY_SAYS, **(_NO_DRAFT_SAYS if kind == Asks.RELATION.value else {})}
    for key, message in refused.items():
        if key not in known:
            plain = fields.refused(plain, (key,), message, faults)
    if kind == Asks.RELATION.value:
        plain = fields.as_written(plain, "transform", "compare", "must_not", "relation")
    _look_further(plain, faults)
    return attempt(fields.as_written(plain, "sha256", "quantum"), _TYPES[kind], faults)


def _look_further(row: Node, faults: list[Fault]) -> None:
    constraints = nodes.get(row, "constraints")
    if constraints is not None and not (isinstance(constraints, Mapping) and constraints.entries):
        faults.append(constraints.fault("constraints are a mapping that says what must hold"))
    allowed = nodes.get(row, "allowed_relations")
    if isinstance(allowed, nodes.Sequence) and not allowed.items:
        faults.append(allowed.fault("a lease names the relations that may read its corpus"))


def _subjects(said: Said) -> tuple[str, ...]:
    match said:
        case Flake() | Quarantine():
            return (said.nodeid,)
        case Receipt():
            return (said.entry_point,)
        case Lease() | Golden():
            return (said.path,)
        case Allowed():
            return (said.text,)
        case Draft():
            return (said.id,)
