"""The base's relation tables, as a job runs them: rows with their functions found.

Everything is read from git objects of the base; the candidate's tree has no part in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from fractions import Fraction
from hashlib import sha256
from typing import TYPE_CHECKING

from policyd.adapters.gitrepo import PushedRepo
from policyd.core import documents
from policyd.core.errors import CannotJudge, Fault
from policyd.core.policy import Places
from policyd.core.rows import MAX_RECORD_BYTES, Lease
from policyd.core.trees import is_tree, pairs, split
from policyd.core.values import dataclass
from policyd.records import fields, freezes, functions, leases, relations
from policyd.records.freezes import Freeze

if TYPE_CHECKING:
    from policyd.records.relations import Row as Authored

ROOTS = ("src",)
"""Where a row that names no import roots finds its entry point."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function beside the tables: `module` stands in `folder` of the repository."""

    folder: str
    module: str
    name: str


@dataclass(frozen=True, slots=True)
class File:
    """A file that a row's generator may use; `lease` is its id, or empty for a seed."""

    lease: str
    path: str


@dataclass(frozen=True, slots=True)
class Row:
    """One relation with all that a job needs of it."""

    id: str
    says: str
    entry: str
    follow_up: str
    steps: Mapping[str, str]
    """Empty: an input is a list of arguments, not one of steps."""
    is_property: bool
    compare: str
    generator: Function
    transform: Function | None
    map: Function | None
    holds: Function | None
    merge: Function | None
    within: Function | Fraction | None
    status: str
    """blocking or policy."""
    owner: str
    last: date | None
    freeze: Freeze | None
    """The one that holds today; only of freezable rows."""
    draws: int
    min_applied: int
    files: tuple[File, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """All rows of the base, in the order of their files, and what is to be materialised."""

    rows: tuple[Row, ...]
    roots: tuple[str, ...]
    """The import roots of all rows."""
    paths: tuple[str, ...]
    """Files and folders of the base that the oracle's side reads."""
    sha: str
    """SHA-256 of what the tables and their functions say."""
    warnings: tuple[str, ...] = ()

    @property
    def entries(self) -> tuple[str, ...]:
        """The functions of the candidate that rows call, as module:function."""
        called = (entry for row in self.rows
                  for entry in (row.entry, row.follow_up, *row.steps.values()))
        return tuple(dict.fromkeys(called))


def load(repo: PushedRepo, tree: bytes, places: Places, today: date) -> Table | None:
    """The tables of a tree (raw id); None where it has none. Raises CannotJudge."""
    files = {path: data for path, data in _files(repo, tree, places.relations)
             if path.endswith((".yaml", ".yml", ".py"))}
    authored = [(path, row) for path, data in sorted(files.items())
                if not path.endswith(".py") for row in _rows(path, data)]
    if not authored:
        return None
    _once([row.id for _, row in authored], places.relations)
    books = _Books(repo, tree, places, today)
    known = _functions({p: d for p, d in files.items() if p.endswith(".py")})
    rows = tuple(_row(path, row, known, books) for path, row in authored)
    roots = dict.fromkeys(root for _, row in authored for root in row.roots or ROOTS)
    paths = (places.relations, *dict.fromkeys(f.path for row in rows for f in row.files))
    return Table(rows, tuple(roots), paths, _sha(files), tuple(books.warnings))


def _sha(files: Mapping[str, bytes]) -> str:
    total = sha256()
    for path, data in sorted(files.items()):
        total.update(f"{len(path)}:{path}{len(data)}:".encode("utf-8", "surrogateescape") + data)
    return total.hexdigest()


def _rows(path: str, data: bytes) -> Iterator[Authored]:
    faults: list[Fault] = []
    node = documents.read(data, path, faults, max_bytes=MAX_RECORD_BYTES, aliases=True)
    found = () if node is None else relations.rows(node, faults)
    _refuse(faults)
    return (row for _, row in found)


def _once(ids: Sequence[str], place: str) -> None:
    for one in ids:
        if ids.count(one) > 1:
            raise CannotJudge(f"two tables below {place} have a relation {one}; a maintainer "
                              "renames one")


def _refuse(faults: Sequence[Fault]) -> None:
    if faults:
        raise CannotJudge(f"{faults[0]}; a maintainer repairs the base's records")


def _functions(files: Mapping[str, bytes]) -> dict[str, list[Function]]:
    """Name to where it is defined at the top of a file."""
    found: dict[str, list[Function]] = {}
    for path, data in sorted(files.items()):
        folder, _, name = path.rpartition("/")
        for one in functions.load(data).functions:
            found.setdefault(one, []).append(Function(folder, name.removesuffix(".py"), one))
    return found


def _row(path: str, row: Authored, known: Mapping[str, list[Function]], books: _Books) -> Row:
    named = {key: _function(path, row.id, name, known)
             for key, name in relations.functions(row).items()}
    number = None if row.within is None else fields.number(row.within)
    steps = dict(row.steps)
    if steps:
        steps.setdefault(row.entry.rpartition(":")[2], row.entry)
    return Row(
        row.id, row.relation, row.entry, row.follow_up or row.entry, steps, row.arity == 1,
        row.compare, named["generator"], named.get("transform"), named.get("map"),
        named.get("holds"), named.get("merge"), named.get("within", number),
        "policy" if row.status == "policy" else "blocking", row.owner or "", row.expires,
        books.freeze(row.id) if row.status == "freezable" else None, row.draws, row.min_applied,
        (*books.leased(row.id, row.leases), *books.seeds(row.id, row.seeds)))


def _function(path: str, row: str, name: str, known: Mapping[str, list[Function]]) -> Function:
    """The one function of this name; of several, the one in the table's namesake."""
    found = known.get(name, [])
    beside = path.rpartition("/")[2].rpartition(".")[0]
    own = [one for one in found if one.module == beside] or found
    if len(own) == 1:
        return own[0]
    places = ", ".join(f"{one.folder}/{one.module}.py" for one in own)
    raise CannotJudge(
        f"{path}: the function {name} of {row} is defined in {places}; a maintainer renames one"
        if own else f"{path}: no Python file beside it defines {name}, which {row} names; a "
                    "maintainer adds it")


class _Books:
    """Freezes, leases and seeds of the base, as far as rows ask for them."""

    def __init__(self, repo: PushedRepo, tree: bytes, places: Places, today: date) -> None:
        self._repo, self._tree, self._places, self._today = repo, tree, places, today
        self._freezes: Mapping[str, Freeze] | None = None
        self._leases: Mapping[str, Lease] | None = None
        self.warnings: list[str] = []

    def freeze(self, row: str) -> Freeze | None:
        """A freeze whose last day is over counts for nothing, and is told."""
        if self._freezes is None:
            self._freezes = dict(_freezes(_files(self._repo, self._tree, self._places.freezes)))
        found = self._freezes.get(row)
        if found is not None and found.expires < self._today:
            self.warnings.append(f"the freeze of {row} ended on {found.expires}; it holds again "
                                 "without reruns")
            return None
        return found

    def leased(self, row: str, ids: Sequence[str]) -> Iterator[File]:
        """The corpora that a row names; each lease must allow the row."""
        if ids and self._leases is None:
            self._leases = {lease.id: lease for lease in _leases(
                _files(self._repo, self._tree, self._places.leases))}
        for one in ids:
            lease = (self._leases or {}).get(one)
            if lease is None or row not in lease.relations:
                raise CannotJudge(f"{row} reads the lease {one}, " + (
                    "which is not there" if lease is None else
                    f"whose allowed_relations ({lease.path}) do not name it")
                    + "; a maintainer adds it or takes it out of the row")
            self._check(lease)
            yield File(one, lease.corpus)

    def _check(self, lease: Lease) -> None:
        data = dict(_files(self._repo, self._tree, lease.corpus)).get(lease.corpus)
        if data is None or sha256(data).hexdigest() != lease.sha256:
            raise CannotJudge(f"the corpus {lease.corpus} is not what its lease {lease.id} pins; "
                              "a maintainer renews the lease")

    def seeds(self, row: str, paths: Sequence[str]) -> Iterator[File]:
        for path in paths:
            found = [File("", name) for name, _ in _files(self._repo, self._tree, path)]
            if not found:
                raise CannotJudge(f"{row} uses the seeds {path}, and there is none; a maintainer "
                                  "adds them or takes them out of the row")
            yield from found


def _freezes(files: Iterator[tuple[str, bytes]]) -> Iterator[tuple[str, Freeze]]:
    for path, data in files:
        faults: list[Fault] = []
        found = freezes.authored(data, path, faults)
        _refuse(faults)
        yield from ((one.relation_id, one) for one in found)


def _leases(files: Iterator[tuple[str, bytes]]) -> Iterator[Lease]:
    for path, data in files:
        if path.endswith((".yaml", ".yml")):
            faults: list[Fault] = []
            node = documents.read(data, path, faults, max_bytes=MAX_RECORD_BYTES, aliases=True)
            found = () if node is None else leases.load(path, node, faults).leases
            _refuse(faults)
            yield from found


def _files(repo: PushedRepo, tree: bytes, path: str) -> Iterator[tuple[str, bytes]]:
    """The plain files at or below a path of a tree, by path, with what is in them."""
    mode, oid = b"40000", tree
    for name in path.split("/"):
        entries = {split(label)[1]: (split(label)[0], entry)
                   for label, entry in pairs(repo.tree(oid))} if is_tree(mode) else {}
        if name.encode("utf-8", "surrogateescape") not in entries:
            return
        mode, oid = entries[name.encode("utf-8", "surrogateescape")]
    stack = [(path, mode, oid)]
    while stack:
        here, mode, oid = stack.pop()
        if is_tree(mode):
            for label, entry in reversed(list(pairs(repo.tree(oid)))):
                kind, raw = split(label)
                stack.append((f"{here}/{raw.decode('utf-8', 'surrogateescape')}", kind, entry))
        elif mode.startswith(b"100"):
            if repo.size(oid) > MAX_RECORD_BYTES:
                raise CannotJudge(f"{here} is larger than {MAX_RECORD_BYTES:,} bytes; a "
                                  "maintainer makes it smaller")
            yield here, repo.read(oid)[1]
