"""Gates: what closes a guarded branch to source, as a function of records, day and acts. Pure.

Events only say "look": whoever looks works out `desired` from scratch and compares it with what
is written down. `plan` says what changed and whom to tell.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from datetime import date, timedelta
from enum import Enum

from policyd.core import calendar
from policyd.core.breakglass import Permit, Use
from policyd.core.movement import Movement
from policyd.core.rows import DATED, DatedRow, Drift, Identity, Kind, Records
from policyd.core.values import dataclass

SOON = 30
"""Days."""


class Cause(Enum):
    """Why a gate is closed."""

    EXPIRED = "expired"
    DRIFTED = "drifted"
    INVALID = "invalid"
    HELD = "held"
    MOVED = "moved"


@dataclass(frozen=True, slots=True)
class Reason:
    """One thing that closes a gate. What it is not about is absent."""

    cause: Cause
    says: str
    """A fact in lower case: `row billing.currency`, `moved past policyd`."""
    path: str | None = None
    line: int | None = None
    row: str | None = None
    """The row's id, as `gate waive` takes it."""
    kind: Kind | None = None
    owner: str | None = None
    last: date | None = None

    @property
    def place(self) -> str:
        """`path:line`, or nothing."""
        return "" if self.path is None else f"{self.path}:{self.line}" if self.line else self.path


@dataclass(frozen=True, slots=True)
class Hold:
    """A guarded branch that an operator keeps closed until they release it."""

    ref: str
    reason: str
    operator: str
    at: str
    """When, a date-time with its zone."""


@dataclass(frozen=True, slots=True)
class Waiver:
    """A row that an operator lets pass until a day (inclusive), once."""

    ref: str
    kind: Kind
    subject: str
    last: date | None
    """The last day that the row had when it was waived: re-dated, it is another promise."""
    until: date
    reason: str
    operator: str
    at: str

    def covers(self, row: DatedRow, ref: str, today: date) -> bool:
        return ((self.ref, self.kind, self.subject, self.last)
                == (ref, row.kind, row.subject, row.last) and today <= self.until)


@dataclass(frozen=True, slots=True)
class Acts:
    """What operators did to one repository; waivers stay, since each row has one."""

    holds: tuple[Hold, ...] = ()
    waivers: tuple[Waiver, ...] = ()
    permits: tuple[Permit, ...] = ()
    """Not used yet; those that are over go when the next one comes."""
    uses: tuple[Use, ...] = ()
    """Pushes that were let through lately, the newest last."""


@dataclass(frozen=True, slots=True)
class Gate:
    """The gate of one guarded branch on one day; open when nothing closes it."""

    ref: str
    reasons: tuple[Reason, ...] = ()
    waived: tuple[tuple[str, date], ...] = ()
    """The rows that an operator lets pass, and until when."""
    soon: tuple[DatedRow, ...] = ()
    """The rows that end within `SOON` days, the nearest first."""

    @property
    def is_open(self) -> bool:
        return not self.reasons


@dataclass(frozen=True, slots=True)
class Given:
    """What a gate depends on besides the records: the day, and what was done to the branch."""

    today: date
    acts: Acts = field(default_factory=Acts)
    movements: tuple[Movement, ...] = ()


def desired(ref: str, records: Records, given: Given) -> Gate:
    """The gate of a guarded branch whose records these are. Total: it depends on nothing else."""
    passing = tuple(_waived(ref, records, given))
    let = {identity for identity, _, _ in passing}
    reasons = (*_moved(ref, given.movements), *_held(ref, given.acts),
               *_invalid(records), *_drifted(records, let), *_expired(records, given.today, let))
    return Gate(ref, reasons, tuple((row, until) for _, row, until in passing),
                calendar.soon(records.rows, given.today, SOON))


def both(one: Gate, other: Gate) -> Gate:
    """The gate of a branch that two policies look at: closed when either closes it."""
    return replace(one, reasons=tuple(dict.fromkeys((*one.reasons, *other.reasons))),
                   waived=tuple(dict.fromkeys((*one.waived, *other.waived))),
                   soon=tuple(dict.fromkeys((*one.soon, *other.soon))))


def closes_on(row: DatedRow) -> bool:
    """Whether a row closes the gate when its last day is over.

    A freeze does not: the relation is mandatory again, which is stricter by itself.
    """
    return row.last is not None and row.kind is not Kind.FREEZE


def changes(records: Records, given: Given, ref: str) -> Iterator[date]:
    """The days, after today, on which the gate may be another one or somebody must be told."""
    for row in records.rows:
        yield from calendar.days_ahead(row, given.today)
    for waiver in given.acts.waivers:
        if waiver.ref == ref and waiver.until >= given.today:
            yield waiver.until + timedelta(days=1)


def _waived(ref: str, records: Records, given: Given) -> Iterator[tuple[Identity, str, date]]:
    for row in records.rows:
        for waiver in given.acts.waivers:
            if waiver.covers(row, ref, given.today):
                yield row.identity, row.id, waiver.until


def _moved(ref: str, movements: Iterable[Movement]) -> Iterator[Reason]:
    for movement in movements:
        if movement.ref == ref:
            was, now = (oid[:12] if oid else "absent" for oid in (movement.recorded,
                                                                  movement.live))
            yield Reason(Cause.MOVED, f"moved past policyd, {was} to {now}")


def _held(ref: str, acts: Acts) -> Iterator[Reason]:
    for hold in acts.holds:
        if hold.ref == ref:
            yield Reason(Cause.HELD, f"held by {hold.operator}: {hold.reason}",
                         owner=hold.operator)


def _invalid(records: Records) -> Iterator[Reason]:
    for fault in records.faults:
        kind = records.kinds.get(fault.source)
        if kind is None or kind in DATED:
            yield Reason(Cause.INVALID, fault.message, fault.source, fault.line)


def _drifted(records: Records, let: set[Identity]) -> Iterator[Reason]:
    rows = records.by_identity()
    for drift in records.drifts:
        row = rows.get((Kind.LEASE, drift.lease.corpus))
        if row is None or row.identity not in let:
            yield _drift(drift, row)


def _drift(drift: Drift, row: DatedRow | None) -> Reason:
    what = "is absent" if drift.found is None else f"has sha256 {drift.found[:12]}"
    return Reason(Cause.DRIFTED, f"lease {drift.lease.id}: {drift.lease.corpus} {what}",
                  drift.lease.path, drift.lease.line, drift.lease.id, Kind.LEASE,
                  row.owner if row else None, row.last if row else None)


def _expired(records: Records, today: date, let: set[Identity]) -> Iterator[Reason]:
    due = (row for row in records.rows if closes_on(row) and calendar.is_over(row, today)
           and row.identity not in let)
    for row in sorted(due, key=lambda row: (row.last or date.max, row.path, row.line)):
        yield Reason(Cause.EXPIRED, f"row {row.id}", row.path, row.line, row.id, row.kind,
                     row.owner, row.last)


@dataclass(frozen=True, slots=True)
class Written:
    """What is written down of a gate: what the daemon saw at its last look."""

    gate: Gate
    since: str
    """When the gate began to be open or closed, a date-time with its zone."""
    told: Mapping[str, int]
    """Rows whose end somebody was told of, by their key, with the step that it was told for."""


class Event(Enum):
    """What is worth telling of a gate."""

    CLOSED = "closed"
    OPENED = "opened"
    CHANGED = "changed"
    """Closed before and after, for other reasons."""
    DUE = "due"
    """A row ends soon."""
    EXCUSED = "excused"
    """A push was let through by a permit or an override."""


@dataclass(frozen=True, slots=True)
class Telling:
    """An event and what it is about."""

    event: Event
    ref: str
    reasons: tuple[Reason, ...] = ()
    row: DatedRow | None = None
    days: int | None = None
    """Days until the row's last day."""
    use: Use | None = None


def plan(want: Gate, have: Written | None, rows: Iterable[DatedRow], today: date,
         at: str) -> tuple[Written, tuple[Telling, ...]]:
    """What to write down, and what to tell; nothing to tell where nothing changed.

    A gate that is met for the first time is told of when it is closed.
    """
    told, due = _told(want.ref, have.told if have else {}, rows, today)
    since = have.since if have and have.gate.is_open == want.is_open else at
    events = (*_turned(want, have.gate if have else Gate(want.ref)), *due)
    return Written(want, since, told), events


def _turned(want: Gate, have: Gate) -> Iterator[Telling]:
    if _what(want) == _what(have):
        return
    if want.is_open:
        yield Telling(Event.OPENED, want.ref, have.reasons)
    elif have.is_open:
        yield Telling(Event.CLOSED, want.ref, want.reasons)
    else:
        yield Telling(Event.CHANGED, want.ref, want.reasons)


def _what(gate: Gate) -> frozenset[Reason]:
    """What closes a gate; that a row moved to another line of its file is no news."""
    return frozenset(replace(reason, line=None) for reason in gate.reasons)


def _told(ref: str, told: Mapping[str, int], rows: Iterable[DatedRow],
          today: date) -> tuple[dict[str, int], tuple[Telling, ...]]:
    """The steps told so far, of rows that are still there, and what is to be told now."""
    now: dict[str, int] = {}
    due: list[Telling] = []
    for row in rows:
        step, key = calendar.step_of(row, today), calendar.key_of(row)
        if step is None or key in now:
            continue
        now[key] = step
        if key not in told or step < told[key]:
            due.append(Telling(Event.DUE, ref, row=row, days=calendar.days_left(row, today)))
    return now, tuple(due)
