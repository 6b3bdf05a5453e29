"""What rules found over many pushes: the decision log, counted. Pure, in memory that stays small.

A check is a question and no push: its findings are left out, what it cost is not.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping
from dataclasses import field
from datetime import UTC, date, datetime
from math import isfinite
from typing import Any

from policyd.core.chain import Entry, hash_of, parse
from policyd.core.policy import Mode
from policyd.core.ranks import rank
from policyd.core.values import dataclass

EXAMPLES = 3
PLACES = 10
"""Lines without a readable entry that are named; the rest are a number."""

_VERDICTS = {"accepted": "accepted", "refused": "refused", "unjudged": "unjudged",
             "check": "checks"}
_STRICTEST_FIRST = [mode.value for mode in reversed(Mode)]


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which entries count. Days are in UTC, both inclusive."""

    since: date | None = None
    until: date | None = None
    repository: str | None = None


@dataclass(frozen=True, slots=True)
class Example:
    """One finding: the entry that has it, and what the log says of it."""

    id: str
    ref: str
    says: str


@dataclass(frozen=True, slots=True)
class Share:
    """A rule's findings in the pushes of one pusher to one repository; None: not known."""

    repository: str | None
    pusher: str | None
    pushes: int
    findings: int


@dataclass(frozen=True, slots=True)
class Row:
    """What a rule found in one mode."""

    rule: str
    mode: str
    pushes: int
    accepted: int
    """Of the pushes, those that passed: what `enforce` would have refused in addition."""
    findings: int
    pushers: int
    first: str
    last: str
    examples: tuple[Example, ...]
    """Of the latest pushes, latest first."""
    shares: tuple[Share, ...]
    """Most pushes first."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Milliseconds that a rule took, over all judgements in which it ran."""

    rule: str
    judged: int
    median: float
    p99: float


@dataclass(frozen=True, slots=True)
class Summary:
    """`totals` are accepted, refused, unjudged, checks, accepted_unjudged and excused."""

    totals: Mapping[str, int]
    rows: tuple[Row, ...]
    costs: tuple[Cost, ...]
    unreadable: int
    places: tuple[str, ...]
    """FILE:LINE of the first lines that hold no readable entry."""


@dataclass(frozen=True, slots=True)
class _Decision:
    """One push or check, out of its entry."""

    total: str
    repository: str | None
    pusher: str | None
    findings: tuple[tuple[str, str, str, str], ...]
    """Rule, mode, ref, says."""
    ms: Mapping[str, float]
    passed_unjudged: bool
    excused: bool
    """Whether a permit or an override let it through."""


@dataclass(slots=True)
class _Running:
    """A row that is being counted."""

    accepted: int = 0
    first: str = ""
    last: str = ""
    pushes: Counter[tuple[str | None, str | None]] = field(default_factory=Counter)
    findings: Counter[tuple[str | None, str | None]] = field(default_factory=Counter)
    examples: deque[tuple[bytes, str, str]] = field(
        default_factory=lambda: deque(maxlen=EXAMPLES))
    """Line, ref, says."""


@dataclass(slots=True)
class Tally:
    """Feed it the lines of the log in order, then ask for the summary. Never raises."""

    wanted: Wanted
    _totals: Counter[str] = field(default_factory=Counter)
    _rows: dict[tuple[str, str], _Running] = field(default_factory=dict)
    _costs: dict[str, Counter[float]] = field(default_factory=dict)
    _unreadable: int = 0
    _places: list[str] = field(default_factory=list)

    def feed(self, line: bytes, *, file: str, number: int, ended: bool = True) -> None:
        """`line` without its newline; `ended` is whether it had one."""
        entry = parse(line) if ended else None
        try:
            if entry is None:
                raise ValueError("not an entry")
            moment = _moment(entry)
            decision = _decision(entry)
        except (ValueError, OverflowError):
            self._unreadable += 1
            if len(self._places) < PLACES:
                self._places.append(f"{file}:{number}")
            return
        if decision is not None and self._is_wanted(decision, moment.date()):
            self._count(decision, moment, line)

    def summary(self) -> Summary:
        order = sorted(self._rows, key=lambda key: (key[0], _STRICTEST_FIRST.index(key[1])))
        totals = {name: self._totals[name]
                  for name in (*_VERDICTS.values(), "accepted_unjudged", "excused")}
        costs = tuple(_cost(rule, self._costs[rule]) for rule in sorted(self._costs))
        return Summary(totals, tuple(_row(key, self._rows[key]) for key in order), costs,
                       self._unreadable, tuple(self._places))

    def _is_wanted(self, decision: _Decision, day: date) -> bool:
        wanted = self.wanted
        return ((wanted.since is None or day >= wanted.since)
                and (wanted.until is None or day <= wanted.until)
                and wanted.repository in (None, decision.repository))

    def _count(self, decision: _Decision, moment: datetime, line: bytes) -> None:
        self._totals[decision.total] += 1
        self._totals["accepted_unjudged"] += decision.passed_unjudged
        self._totals["excused"] += decision.excused
        for rule, spent in decision.ms.items():
            self._costs.setdefault(rule, Counter())[spent] += 1
        if decision.findings and decision.total != "checks":
            self._count_findings(decision, moment.isoformat(timespec="milliseconds"), line)

    def _count_findings(self, decision: _Decision, time: str, line: bytes) -> None:
        who = decision.repository, decision.pusher
        met: set[tuple[str, str]] = set()
        for rule, mode, ref, says in decision.findings:
            row = self._rows.setdefault((rule, mode), _Running())
            row.findings[who] += 1
            if (rule, mode) not in met:
                met.add((rule, mode))
                row.pushes[who] += 1
                row.accepted += decision.total == "accepted"
                row.first, row.last = row.first or time, time
                row.examples.append((line, ref, says))


def _moment(entry: Entry) -> datetime:
    """Raises ValueError, OverflowError."""
    moment = datetime.fromisoformat(entry.fields["time"])
    if moment.tzinfo is None:
        raise ValueError("no time zone")
    return moment.astimezone(UTC)


def _decision(entry: Entry) -> _Decision | None:
    """None for what is neither push nor check. Raises ValueError, OverflowError."""
    fields = entry.fields
    verdict = fields.get("verdict")
    total = _VERDICTS.get(verdict) if isinstance(verdict, str) else None
    if total is None:
        return None
    return _Decision(total, _name(fields.get("repository")), _name(fields.get("pusher")),
                     tuple(_findings(fields.get("findings", []))), _ms(fields.get("ms", {})),
                     passed_unjudged=total == "accepted" and "incident" in fields,
                     excused=total == "accepted" and "excused" in fields)


def _name(value: object) -> str | None:
    if value is not None and not isinstance(value, str):
        raise ValueError("no name")
    return value


def _findings(raw: object) -> Iterator[tuple[str, str, str, str]]:
    if not isinstance(raw, list):
        raise ValueError("no findings")
    for found in raw:
        texts = _texts(found)
        if texts[1] not in _STRICTEST_FIRST:
            raise ValueError("no mode")
        yield texts


def _texts(found: Any) -> tuple[str, str, str, str]:
    if not isinstance(found, dict):
        raise ValueError("no finding")
    rule, mode, ref, says = (found.get(name) for name in ("rule", "mode", "ref", "says"))
    if not (isinstance(rule, str) and isinstance(mode, str)
            and isinstance(ref, str) and isinstance(says, str)):
        raise ValueError("no finding")
    return rule, mode, ref, says


def _ms(raw: object) -> Mapping[str, float]:
    if not isinstance(raw, dict):
        raise ValueError("no milliseconds")
    for spent in raw.values():
        if type(spent) not in (int, float) or not isfinite(spent):
            raise ValueError("no milliseconds")
    return {rule: round(float(spent), 2) for rule, spent in raw.items()}


def _row(key: tuple[str, str], row: _Running) -> Row:
    shares = tuple(Share(who[0], who[1], pushes, row.findings[who])
                   for who, pushes in row.pushes.items())
    most_first = sorted(shares, key=lambda share: (-share.pushes, share.repository or "",
                                                   share.pusher or ""))
    return Row(*key, row.pushes.total(), row.accepted, row.findings.total(),
               len({share.pusher for share in shares}), row.first, row.last,
               tuple(Example(hash_of(line)[:6], ref, says)
                     for line, ref, says in reversed(row.examples)), tuple(most_first))


def _cost(rule: str, spent: Counter[float]) -> Cost:
    return Cost(rule, spent.total(), rank(spent, 0.5), rank(spent, 0.99))
