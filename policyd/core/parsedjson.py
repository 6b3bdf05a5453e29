"""What a record file says, as JSON and back: parsed once, read again by every push. Pure.

Written by hand and not by annotations: a ledger of 20,000 rows is read back in the time of a
push.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from policyd.core.errors import Fault
from policyd.core.rows import DatedRow, Kind, Lease, Parsed, Receipt, Relation

FORMAT = 1
"""Of the texts that a loader makes of the same bytes, too: a stricter loader needs a new one."""

_KINDS = {kind.value: kind for kind in Kind}


def to_plain(parsed: Parsed) -> dict[str, object]:
    """What JSON can say of one file."""
    return {
        "rows": [[r.kind.value, r.path, r.line, r.id, r.subject, r.owner, r.reason,
                  _day(r.first), _day(r.last), r.runs] for r in parsed.rows],
        "leases": [[x.id, x.path, x.line, x.corpus, x.sha256, x.relations, x.quantum]
                   for x in parsed.leases],
        "relations": [[x.id, x.path, x.line, x.status, x.freezable, x.leases, x.functions,
                       x.rounds] for x in parsed.relations],
        "receipts": [[x.path, x.line, x.baseline, x.baseline_line, x.entry_point, x.owner]
                     for x in parsed.receipts],
        "functions": parsed.functions,
        "faults": [[f.source, f.line, f.column, f.message] for f in parsed.faults],
    }


def from_plain(raw: Mapping[str, Any]) -> Parsed:
    """Raises ValueError, TypeError or KeyError where it is not what `to_plain` made."""
    return Parsed(
        rows=tuple([_row(*row) for row in raw["rows"]]),
        leases=tuple(Lease(i, path, line, corpus, sha, _texts(relations), quantum)
                     for i, path, line, corpus, sha, relations, quantum in raw["leases"]),
        relations=tuple(
            Relation(i, path, line, status, freezable, _texts(leases), _texts(functions), rounds)
            for i, path, line, status, freezable, leases, functions, rounds in raw["relations"]),
        receipts=tuple(Receipt(*receipt) for receipt in raw["receipts"]),
        functions=_texts(raw["functions"]),
        faults=tuple(Fault(*fault) for fault in raw["faults"]),
    )


def _row(kind: str, path: str, line: int, row: str, subject: str, owner: str, reason: str,
         first: str | None, last: str | None, runs: int | None) -> DatedRow:
    return DatedRow(_KINDS[kind], path, line, row, subject, owner, reason,
                    date.fromisoformat(first) if first is not None else None,
                    date.fromisoformat(last) if last is not None else None, runs)


def _day(day: date | None) -> str | None:
    return None if day is None else day.isoformat()


def _texts(raw: Sequence[str]) -> tuple[str, ...]:
    return tuple(raw)
