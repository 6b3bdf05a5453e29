"""A push leaves no record worse than it found it: what it changes can be read, whole.

Looked at are the record files that the push changes, with every fault in them, old ones too; and
what other records gain by it: a relation that loses its function, a lease whose corpus is
another one now. Faults that stand elsewhere and were there before are the gate's business.
Receipts and relation tables count like dated rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from policyd.core.errors import Fault
from policyd.core.examples import MAIN, push
from policyd.core.facts import Books, Need, Situation, Update
from policyd.core.policy import Reach
from policyd.core.rowchanges import changed
from policyd.core.rows import DatedRow, Drift, Kind, Lease, Record, Records
from policyd.core.rule import Example, Finding, Next, Place, Repair, Rule
from policyd.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """None of its own."""


def check(given: Situation, options: Options) -> Iterator[Finding]:  # noqa: ARG001
    for update in given.updates:
        if update.books is None:
            continue
        wrong: dict[str, list[Place]] = {}
        for place in (*_faults(update.books), *_drifts(update.books)):
            wrong.setdefault(place.path or "", []).append(place)
        for path in sorted(wrong):
            yield _finding(update, sorted(wrong[path], key=lambda place: place.line or 0),
                           is_changed=path in update.books.changed)


def _faults(books: Books) -> Iterator[Place]:
    before = {(fault.source, fault.message) for fault in books.before.faults}
    for fault in books.after.faults:
        if fault.source in books.changed or (fault.source, fault.message) not in before:
            yield Place(path=fault.source, line=fault.line, note=fault.message)


def _drifts(books: Books) -> Iterator[Place]:
    """A lease that says something else now answers for its corpus, whoever let it drift."""
    before = {_what(drift) for drift in books.before.drifts}
    leased = {row.subject for row in changed(books) if row.kind is Kind.LEASE}
    for drift in books.after.drifts:
        lease = drift.lease
        if lease.corpus in leased or _what(drift) not in before:
            found = "is absent" if drift.found is None else f"has sha256 {drift.found[:12]}"
            yield Place(path=lease.path, line=lease.line,
                        note=f"lease {lease.id}: {lease.corpus} {found}, "
                             f"not {lease.sha256[:12]}")


def _what(drift: Drift) -> tuple[str, str, str | None]:
    return drift.lease.corpus, drift.lease.sha256, drift.found


def _finding(update: Update, places: list[Place], *, is_changed: bool) -> Finding:
    first, count = places[0], len(places)
    back = f"{first.path} back as it was" if is_changed else "back what this push changes beside it"
    return Finding(
        ref=update.ref, says=f"{first.path}:{first.line} cannot be taken",
        scene="1 fault" if count == 1 else f"{count} faults in one file",
        places=tuple(places),
        repair=Repair("edit", Next.EDIT, words=(
            f"mend {'the line' if count == 1 else 'all of these lines'} in a commit on top,",
            f"or put {back}")))


def _with(before: Records, after: Records, *changes: str) -> Situation:
    return push(update=replace(MAIN, books=Books(before, after, frozenset(changes))))


def _faulty(*faults: Fault, drifts: Iterable[Drift] = (),
            rows: Iterable[DatedRow] = ()) -> Records:
    return Records(rows=tuple(rows), faults=faults, drifts=tuple(drifts),
                   kinds={_FILE: Record.QUARANTINE, _TABLE: Record.RELATIONS})


_FILE, _TABLE = "oracle/quarantine.yaml", "oracle/relations/tax.yaml"
_LEASES = "fixtures/leases/rates.yaml"
_DATE = Fault(_FILE, 4, 12, "expected a date written YYYY-MM-DD, found 'never'")
_TWICE = Fault(_FILE, 9, 3, "'tests/test_a.py::test_x' stands in line 4 already")
_FUNCTION = Fault(_TABLE, 7, 14, "no function 'permute' in oracle/relations/*.py")
_LEASE = Lease("rates", _LEASES, 3, "fixtures/data/rates.csv", "a" * 64)
_ROW = DatedRow(Kind.LEASE, _LEASES, 3, "rates", "fixtures/data/rates.csv", "mei")
_OLD, _GONE = Drift(_LEASE, "b" * 64), Drift(_LEASE, None)

RULE = Rule(
    id="valid-records",
    why="a record that cannot be read whole can hold nobody to it.",
    fix="Mend every fault that is listed, or leave the record as it was.",
    options=Options,
    check=check,
    doc=__doc__,
    accepts=lambda: (
        Example("a record without a fault", _with(_faulty(), _faulty(), _FILE), Options()),
        Example("no record changed", push(), Options()),
        Example("a fault that another file had before, on another line",
                _with(_faulty(_DATE), _faulty(replace(_DATE, line=5)), _TABLE), Options()),
        Example("a fault that is mended", _with(_faulty(_DATE), _faulty(), _FILE), Options()),
        Example("a corpus that drifted before, beside another lease", _with(
            _faulty(drifts=(_OLD,), rows=(_ROW,)),
            _faulty(drifts=(Drift(replace(_LEASE, line=8), "b" * 64),),
                    rows=(replace(_ROW, line=8),)), _LEASES), Options()),
    ),
    rejects=lambda: (
        Example("a date that is none, and a node that is listed twice",
                _with(_faulty(), _faulty(_DATE, _TWICE), _FILE), Options()),
        Example("a fault that its file had before",
                _with(_faulty(_DATE), _faulty(_DATE), _FILE), Options()),
        Example("a table that loses its function in another file",
                _with(_faulty(), _faulty(_FUNCTION), "oracle/relations/tax.py"), Options()),
        Example("a leased corpus that is replaced",
                _with(_faulty(), _faulty(drifts=(_OLD,)), _ROW.subject), Options()),
        Example("a leased corpus that is removed",
                _with(_faulty(drifts=(_OLD,)), _faulty(drifts=(_GONE,)), _ROW.subject), Options()),
        Example("a lease that is renewed on a corpus that drifted", _with(
            _faulty(drifts=(_OLD,), rows=(_ROW,)),
            _faulty(drifts=(_OLD,), rows=(replace(_ROW, owner="joe"),)), _LEASES), Options()),
    ),
    needs=frozenset({Need.RECORDS}),
    on=Reach.GUARDED,
)
