"""A last day is a promise: it lies near, moves seldom, and each time for another reason.

Looked at are the rows that a push adds or dates anew. A row is known by its kind and by what it
is about, so that removing it and adding it again, under any id or in any file, is a renewal too.
Moving a last day to an earlier one is none. A quarantine row that gets its first date is none
either, but a row that had one, lost it and gets one again is renewed. Kinds that `times` does not
know may be renewed any number of times; leases are, and the log says so. The first day of a row
does not move later: it tells how old the debt is.

That an expiry is not extended by the push that needs it is separate-authorship's business: the
row and the source that it lets pass never travel together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field, replace
from datetime import date, timedelta

from policyd.core.examples import MAIN, push
from policyd.core.facts import Books, Need, Past, Situation, Update
from policyd.core.policy import Reach
from policyd.core.rowchanges import Redated, added, redated
from policyd.core.rows import DatedRow, Kind, Records
from policyd.core.rule import Example, Finding, Next, Place, Repair, Rule
from policyd.core.values import dataclass

DAYS: Mapping[str, int] = {"flake": 30, "quarantine": 30, "freeze": 14, "lease": 180,
                           "policy": 180}
TIMES: Mapping[str, int] = {"flake": 2, "quarantine": 2, "freeze": 2}


@dataclass(frozen=True, slots=True)
class Options:
    """How near and how often.

    `days`: by kind, how far from today a last day may lie when it is written. Kinds that are
    left out keep these defaults.
    `times`: by kind, how often a row may be renewed. Kinds that are left out keep these defaults.
    `bulk`: so many rows renewed by one push are renewed unread.
    """

    days: Mapping[str, int] = field(default_factory=lambda: dict(DAYS))
    times: Mapping[str, int] = field(default_factory=lambda: dict(TIMES))
    bulk: int = 3

    def faults(self, zones: frozenset[str],  # noqa: ARG002
               groups: frozenset[str]) -> Iterator[tuple[tuple[str, ...], str]]:  # noqa: ARG002
        kinds = [kind.value for kind in Kind]
        for name, numbers in (("days", self.days), ("times", self.times)):
            for kind, number in numbers.items():
                if kind not in kinds:
                    yield (name, kind), f"no kind named {kind!r}; known: {', '.join(kinds)}"
                if number < 1:
                    yield (name, kind), f"{name} are 1 or more"
        if self.bulk < 2:
            yield ("bulk",), "a bulk is 2 rows or more"

    def days_of(self, row: DatedRow) -> int:
        return {**DAYS, **self.days}[row.kind.value]

    def times_of(self, row: DatedRow) -> int | None:
        return {**TIMES, **self.times}.get(row.kind.value)


@dataclass(frozen=True, slots=True)
class _Change:
    """One update's rows: those that were given a last day, and what is renewed of them."""

    today: date
    dated: tuple[DatedRow, ...]
    renewed: tuple[Redated, ...]
    books: Books


def check(given: Situation, options: Options) -> Iterator[Finding]:
    for update in given.updates:
        if update.books is None:
            continue
        moved = redated(update.books)
        dated = dict.fromkeys((*added(update.books), *(one.now for one in moved)))
        change = _Change(given.today, tuple(dated), tuple(one for one in moved if one.later),
                         update.books)
        for bound in _BOUNDS:
            places = tuple(bound.broken(change, options))
            if places:
                yield _finding(update, bound, places)


def _finding(update: Update, bound: _Bound, places: tuple[Place, ...]) -> Finding:
    return Finding(
        ref=update.ref, says=f"{places[0].path}:{places[0].line} {bound.says}",
        scene="1 row" if len(places) == 1 else f"{len(places)} rows", places=places,
        repair=Repair("edit", bound.next, words=bound.words), why=bound.why)


def _too_late(change: _Change, options: Options) -> Iterator[Place]:
    for row in change.dated:
        days = options.days_of(row)
        if row.last is not None and (row.last - change.today).days > days:
            latest = change.today + timedelta(days=days)
            yield _at(row, f"ends {row.last}, today the latest is {latest}")


def _too_often(change: _Change, options: Options) -> Iterator[Place]:
    for one in change.renewed:
        most = options.times_of(one.now)
        if most is not None and one.past.times + 1 > most:
            yield _at(one.now, f"was renewed {one.past.times} times, at most {most}")


def _same_reason(change: _Change, options: Options) -> Iterator[Place]:
    for one in change.renewed:
        had = {*one.past.reasons, *([one.was.reason] if one.was is not None else [])}
        if (options.times_of(one.now) is not None and one.now.reason
                and _plain(one.now.reason) in map(_plain, had)):
            yield _at(one.now, "gives a reason that it had before")


def _younger(change: _Change, _: Options) -> Iterator[Place]:
    before = change.books.before.by_identity()
    for row in change.books.after.rows:
        was = before.get(row.identity)
        if was is not None and was.first is not None and (
                row.first is None or row.first > was.first):
            yield _at(row, f"first day was {was.first}, is {row.first or 'gone'}")


def _in_bulk(change: _Change, options: Options) -> Iterator[Place]:
    if len(change.renewed) >= options.bulk:
        yield from (_at(one.now, f"now ends {one.now.last}") for one in change.renewed)


def _at(row: DatedRow, note: str) -> Place:
    return Place(path=row.path, line=row.line, note=f"{row.kind.value} {row.id} {note}")


def _plain(reason: str) -> str:
    """A reason as it is compared: spaces and case make no other one."""
    return " ".join(reason.casefold().split())


@dataclass(frozen=True, slots=True)
class _Bound:
    """One way to break the rule, and the words for it."""

    broken: Callable[[_Change, Options], Iterator[Place]]
    says: str
    why: str
    words: tuple[str, ...]
    next: Next = Next.EDIT


_BOUNDS = (
    _Bound(_too_late, "ends too late", "a last day that is far away reminds nobody.",
           ("write a nearer last day, in a commit on top",)),
    _Bound(_too_often, "renewed too often", "what is renewed again and again is never repaired.",
           ("give the row its last day back, in a commit on top; repair what",
            "it excuses and remove it: no later day is taken, by whatever id")),
    _Bound(_same_reason, "renewed, same reason", "the reason that did not help once needs help.",
           ("write what changed since the last day was set, in a commit on top",)),
    _Bound(_younger, "hides its age", "the first day tells how old the debt is; it stays.",
           ("give the row its first day back, in a commit on top",)),
    _Bound(_in_bulk, "re-dated in bulk", "rows that are renewed many at a time are renewed unread.",
           ("renew one row at a time, each push with that row's own reason,",
            "or repair what the rows excuse and remove them"), Next.SPLIT),
)


def _with(before: Iterable[DatedRow], after: Iterable[DatedRow],
          past: Mapping[DatedRow, Past] | None = None) -> Situation:
    rows, now = tuple(before), tuple(after)
    books = Books(Records(rows=rows), Records(rows=now), frozenset({_FILE}),
                  {row.identity: told for row, told in (past or {}).items()})
    return push(update=replace(MAIN, books=books), today=_TODAY)


def _dated(row: DatedRow, days: int, reason: str = "upstream has no fix yet") -> DatedRow:
    return replace(row, last=_TODAY + timedelta(days=days), reason=reason)


_TODAY, _FILE = date(2026, 9, 7), "fixtures/freezes.json"
_FREEZE = DatedRow(Kind.FREEZE, _FILE, 4, "MR02", "MR02", "mei", "sum order differs on arm",
                   last=_TODAY)
_FLAKE = DatedRow(Kind.FLAKE, "tests/flakes.json", 9, "api.rates", "tests/test_api.py::test_rates",
                  "joe", "answers 429 without Retry-After", date(2026, 9, 1), _TODAY)
_LEASE = DatedRow(Kind.LEASE, "fixtures/leases/r.yaml", 3, "rates", "fixtures/data/rates.csv",
                  "mei", "", last=_TODAY)
_OPEN = DatedRow(Kind.QUARANTINE, "oracle/quarantine.yaml", 2, "api.slow",
                 "tests/test_api.py::test_slow", "joe", "waits for the new pool")
_USED = Past(2, frozenset({_FREEZE.reason}))
_MANY = tuple(replace(_LEASE, subject=f"fixtures/data/{n}.csv", line=n) for n in range(1, 4))

RULE = Rule(
    id="bounded-renewals",
    why="a last day is a promise; it lies near, moves seldom, each time for another reason.",
    fix="Repair what the row excuses; renew it seldom, alone, and say what changed.",
    options=Options,
    check=check,
    doc=__doc__,
    accepts=lambda: (
        Example("no record changed", push(), Options()),
        Example("a new row up to the latest day", _with((), (_dated(_FREEZE, 14),)), Options()),
        Example("a first and a second renewal", _with(
            (_FREEZE, _FLAKE), (_dated(_FREEZE, 14), _dated(_FLAKE, 30)),
            {_FREEZE: Past(1), _FLAKE: Past(0)}), Options()),
        Example("an earlier last day, the reason as it was", _with(
            (_dated(_FREEZE, 9),), (_dated(_FREEZE, 2),), {_FREEZE: _USED}), Options()),
        Example("a lease that was renewed many times",
                _with((_LEASE,), (_dated(_LEASE, 180, ""),), {_LEASE: Past(9)}), Options()),
        Example("a lease that is renewed in the same words", _with(
            (replace(_LEASE, reason="yearly"),), (_dated(_LEASE, 180, "yearly"),)), Options()),
        Example("a lease that is counted and gives no reason", _with(
            (_LEASE,), (_dated(_LEASE, 90, ""),), {_LEASE: Past(1)}), Options(times={"lease": 4})),
        Example("a row that stays as it is, far away as it may end",
                _with((_dated(_FREEZE, 99),), (_dated(_FREEZE, 99),)), Options()),
        Example("a quarantine row that gets its first date",
                _with((_OPEN,), (_dated(_OPEN, 30, _OPEN.reason),)), Options()),
        Example("an open quarantine row, which has no date", _with((), (_OPEN,)), Options()),
        Example("a number that the policy does not give keeps its default", _with(
            (), (_dated(_FREEZE, 14),)), Options(days={"flake": 7})),
    ),
    rejects=lambda: (
        Example("a row that ends in 9999",
                _with((), (replace(_FREEZE, last=date.max),)), Options()),
        Example("a renewal beyond the latest day",
                _with((_FREEZE,), (_dated(_FREEZE, 15),)), Options()),
        Example("an earlier last day that is still too far away",
                _with((_dated(_LEASE, 400),), (_dated(_LEASE, 181),)), Options()),
        Example("a third renewal",
                _with((_FREEZE,), (_dated(_FREEZE, 7),), {_FREEZE: Past(2)}), Options()),
        Example("a row that was removed and is back, once too often, under another id", _with(
            (), (replace(_dated(_FREEZE, 7), id="again"),), {_FREEZE: _USED}), Options()),
        Example("a renewal for the same reason", _with(
            (_FREEZE,), (_dated(_FREEZE, 7, "Sum order  differs on ARM"),)), Options()),
        Example("a renewal for a reason that it had long ago", _with(
            (_FREEZE,), (_dated(_FREEZE, 7, "the compiler"),),
            {_FREEZE: Past(1, frozenset({"the compiler"}))}), Options()),
        Example("a frozen row that was opened in between and is frozen again", _with(
            (_OPEN,), (_dated(_OPEN, 7),), {_OPEN: Past(2)}), Options()),
        Example("a first day that moves", _with(
            (_FLAKE,), (replace(_FLAKE, first=date(2026, 9, 7)),)), Options()),
        Example("a first day that goes", _with((_FLAKE,), (replace(_FLAKE, first=None),)),
                Options()),
        Example("bulk re-dating", _with(
            _MANY, tuple(_dated(row, 90, "") for row in _MANY)), Options()),
        Example("a lease, where the policy counts leases", _with(
            (_LEASE,), (_dated(_LEASE, 90, ""),), {_LEASE: Past(4)}), Options(times={"lease": 4})),
    ),
    needs=frozenset({Need.RECORDS, Need.PAST}),
    on=Reach.GUARDED,
)
