"""Decision tables of policies: `NAME.cases.yaml`, a list of pushes and what becomes of them.

A case reads: main holds `before`, `who` pushes `commits` on top of it to `ref`, on the day `today`,
and the policy is expected to accept or to refuse it, by exactly these `rules`. In the texts of the
commits, `${BEFORE}` stands for the id of the commit that holds `before`, which nobody can know who
writes a table. `who` is a name, or a name with the credential that the server let in, as in a
policy's groups: `mei#SHA256:...`; `signed: true` is a push with a signature that the server trusts.
Every fault is reported at its place.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import field, replace
from datetime import date
from enum import Enum
from typing import Annotated

from policyd.core import decoding, documents, nodes
from policyd.core.errors import Fault, FileInvalid
from policyd.core.nodes import Node, in_order, shown
from policyd.core.values import dataclass

BRANCH = "refs/heads/"
MAIN = f"{BRANCH}main"
BEFORE = "${BEFORE}"

Files = Mapping[str, str]
"""Path to text: all that a commit holds."""


class Expected(Enum):
    """What the policy is to say."""

    ACCEPT = "accept"
    REFUSE = "refuse"


@dataclass(frozen=True, slots=True)
class Case:
    """One row, ready to run. `rules` are those that refuse, sorted; none where it is accepted."""

    title: str
    who: str | None
    before: Files | None
    """What main holds and the site has accepted; None: there is no main yet."""
    commits: tuple[Files, ...]
    """What each pushed commit holds, oldest first; each stands on the one before."""
    ref: str
    """The full name."""
    rules: tuple[str, ...]
    line: int = field(default=0, compare=False)
    """Where the row begins in its file; 0 where it came from none."""
    today: date | None = None
    """The day of the push, at noon in UTC; None: the moment at which the table is run."""
    credential: str | None = None
    """What the server let in; None: it does not say."""
    signed: bool = False
    """Whether the push is signed, by a key that the server trusts."""


def full_ref(name: str) -> str:
    """`main` is a branch, `tags/v1` a tag, `refs/...` itself: as in a policy's `guarded`."""
    if not name or name != name.strip():
        raise ValueError("a ref is a name such as main, agent/tax, tags/v1 or refs/pull/1/head")
    if name.startswith("refs/"):
        return name
    return f"refs/{name}" if name.startswith("tags/") else BRANCH + name


def pusher(text: str) -> tuple[str, str | None]:
    """Name and credential of `mei` or `mei#SHA256:...`. Raises ValueError."""
    name, marked, credential = text.partition("#")
    if not name or (marked and not credential) or text != text.strip() or "*" in text:
        raise ValueError(f"{shown(text)} is no pusher such as mei, mei#web or mei#SHA256:...")
    return name, credential or None


def _pusher(text: str) -> str:
    pusher(text)
    return text


def _line(text: str) -> str:
    if not text.strip() or not text.isprintable():
        raise ValueError("a title is one line of text")
    return text


def _path(text: str) -> str:
    if not all(text.split("/")):
        raise ValueError(f"{shown(text)} is no path from the top of the repository")
    return text


Path = Annotated[str, _path]


@dataclass(frozen=True, slots=True)
class CaseAuthored:
    """A row as written. In a commit null deletes the path."""

    title: Annotated[str, _line]
    who: Annotated[str, _pusher] | None
    expect: Expected
    before: Mapping[Path, str] | None = None
    commits: tuple[Mapping[Path, str | None], ...] = ()
    ref: Annotated[str, full_ref] = MAIN
    rules: tuple[str, ...] = ()
    today: date | None = None
    signed: bool = False


def parse(data: bytes, source: str, *, known: Collection[str]) -> tuple[Case, ...]:
    """The rows of a file; `known` are the ids of all rules. Raises FileInvalid with all faults."""
    root = documents.parse(data, source)
    if not isinstance(root, nodes.Sequence):
        raise FileInvalid((root.fault("cases are a list, each of a title, a push and an answer"),))
    faults: list[Fault] = []
    authored = [decoding.attempt(item, CaseAuthored, faults) for item in root.items]
    rows = [(node, row) for node, row in zip(root.items, authored, strict=True) if row is not None]
    faults += _repeated(rows)
    cases = [_case(node, row, known, faults) for node, row in rows]
    if faults:
        raise FileInvalid(in_order(faults))
    return tuple(cases)


def _repeated(rows: Iterable[tuple[Node, CaseAuthored]]) -> Iterator[Fault]:
    first: dict[str, int] = {}
    for node, row in rows:
        place = nodes.find(node, ("title",))
        if row.title in first:
            yield place.fault(f"the title {shown(row.title)} stands in line {first[row.title]} "
                              "already")
        first.setdefault(row.title, place.line)


def _case(node: Node, row: CaseAuthored, known: Collection[str], faults: list[Fault]) -> Case:
    faults += _contradictions(node, row)
    for name in sorted(set(row.rules) - set(known)):
        faults.append(nodes.find(node, ("rules", name)).fault(
            decoding.unknown("rule", name, sorted(known))))
    commits: list[Files] = []
    held: Files = row.before or {}
    for number, changes in enumerate(row.commits):
        faults += _impossible(node, ("commits", number), held, changes)
        held = _applied(held, changes)
        commits.append(held)
    faults += _impossible(node, ("before",), {}, row.before or {})
    faults += _unknowable(node, row)
    case = Case(row.title, None, row.before, tuple(commits), row.ref, tuple(sorted(row.rules)),
                node.line, row.today, signed=row.signed)
    if row.who is None:
        return case
    name, credential = pusher(row.who)
    return replace(case, who=name, credential=credential)


def _contradictions(node: Node, row: CaseAuthored) -> Iterator[Fault]:
    if row.expect is Expected.REFUSE and not row.rules:
        yield nodes.find(node, ("expect",)).fault("refused by which `rules`? name all that refuse")
    if row.expect is Expected.ACCEPT and row.rules:
        yield nodes.find(node, ("rules",)).fault("what is accepted is refused by no rules")
    if len(set(row.rules)) < len(row.rules):
        yield nodes.find(node, ("rules",)).fault("a rule is named twice")
    if row.signed and row.who is None:
        yield nodes.find(node, ("signed",)).fault("who signs a push? `who` is null")
    if row.before is None and not row.commits:
        yield node.fault("nothing is pushed: there is neither `before` nor `commits`")


def _impossible(node: Node, where: tuple[str | int, ...], held: Files,
                changes: Mapping[str, str | None]) -> Iterator[Fault]:
    """A deletion of what is not there, and a path that is to be a file and a folder at once."""
    for path, text in changes.items():
        place = nodes.find(node, (*where, path))
        if text is None and path not in held:
            yield place.fault(f"{shown(path)} is deleted and was not there")
        folder = next((f for f in _above(path) if changes.get(f) is not None), None)
        if text is not None and folder is not None:
            yield place.fault(f"{shown(folder)} cannot be a file and hold {shown(path)}")


def _unknowable(node: Node, row: CaseAuthored) -> Iterator[Fault]:
    """`${BEFORE}` where there is no such commit: in itself, or in an empty repository."""
    for path, text in (row.before or {}).items():
        if BEFORE in text:
            yield nodes.find(node, ("before", path)).fault(
                f"no commit holds its own id; {BEFORE} stands in commits")
    for number, changes in enumerate(row.commits):
        for path, written in changes.items():
            if row.before is None and written is not None and BEFORE in written:
                yield nodes.find(node, ("commits", number, path)).fault(
                    f"the repository is empty: {BEFORE} needs `before`")


def _applied(held: Files, changes: Mapping[str, str | None]) -> Files:
    """The files after a commit; a file that becomes a folder goes, and the other way round."""
    written = {path: text for path, text in changes.items() if text is not None}
    above = {folder for path in written for folder in _above(path)}
    kept = {path: text for path, text in held.items()
            if path not in changes and path not in above
            and not any(folder in written for folder in _above(path))}
    return {**kept, **written}


def _above(path: str) -> Iterator[str]:
    """The folders that a path stands in."""
    names = path.split("/")
    return ("/".join(names[:count]) for count in range(1, len(names)))
