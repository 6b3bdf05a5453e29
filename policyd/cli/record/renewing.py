"""What the kinds of dated rows share: adding one, dating one anew, taking one out."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import click

from policyd.cli.record import saving
from policyd.cli.record.clone import Clone, row_named
from policyd.core import recordedit
from policyd.core.errors import PolicydError
from policyd.core.render import printable
from policyd.core.rows import DatedRow, Kind, Record
from policyd.core.rowtext import Row

_RECORDS = {Kind.FLAKE: Record.FLAKES, Kind.QUARANTINE: Record.QUARANTINE,
            Kind.FREEZE: Record.FREEZES, Kind.LEASE: Record.LEASES}
_ENDS = {Kind.FLAKE: "expires_on", Kind.QUARANTINE: "expires_on", Kind.FREEZE: "expires",
         Kind.LEASE: "expires"}

_NAMES = {Kind.FLAKE: "id", Kind.QUARANTINE: "nodeid", Kind.FREEZE: "relation_id",
          Kind.LEASE: "id"}
"""The key under which a row has its id."""


def add(there: Clone, kind: Kind, row: Row, subject: str, reason: str) -> None:
    """Put a row into the one file of its kind, made where it is not there yet."""
    record = _RECORDS[kind]
    path = str(getattr(there.places, record.value))
    data = saving.readable(there, path)
    with saving.of(path):
        made = recordedit.added(recordedit.EMPTY[record] if data is None else data, record, row)
    saving.saved(there, {path: made}, {path: data}, subject, body=(reason,))
    test = str(row.get("nodeid", "")).partition("::")[0]
    if test and not (there.tree.root / test).is_file():
        click.echo(f"note: there is no file {printable(test)} here; the row is about no test")


def renew(there: Clone, kind: Kind, name: str, last: date, reason: str,
          more: Row | None = None) -> None:
    """Give a row another last day, where its kind has reasons another one, and `more` values."""
    row = row_named(there.records().rows, kind, name)
    if row.last is None:
        raise PolicydError(f"{row.id} has no last day; only a dated row is renewed")
    if last == row.last and not more:
        raise PolicydError(f"{row.id} ends on {last} already")
    values: dict[str, object] = {_ENDS[kind]: last, **(more or {})}
    if kind is not Kind.LEASE:
        if _plain(reason) == _plain(row.reason):
            raise PolicydError("say another reason than the row has; the same one again is no "
                               "reason to wait longer")
        values["reason"] = reason
    record, data = _RECORDS[kind], _read(there, row)
    with saving.of(row.path):
        made = recordedit.changed(data, record, _position(data, record, row), values)
    saving.saved(there, {row.path: made}, {row.path: data},
                 f"Renew {kind.value} {row.id} until {last}", body=(reason,))


def remove(there: Clone, row: DatedRow, body: Sequence[str]) -> None:
    """Take a row out of its file."""
    record, data = _RECORDS[row.kind], _read(there, row)
    with saving.of(row.path):
        made = recordedit.removed(data, record, _position(data, record, row))
    saving.saved(there, {row.path: made}, {row.path: data}, f"Remove {row.kind.value} {row.id}",
                 body=body)


def _read(there: Clone, row: DatedRow) -> bytes:
    data = saving.readable(there, row.path)
    if data is None:
        raise PolicydError(f"{row.path} is gone")
    return data


def _position(data: bytes, record: Record, row: DatedRow) -> int:
    """Where the row stands among those of its file: by its name, several may share a line."""
    found = recordedit.position(data, record, _NAMES[row.kind], row.id)
    if found is None:
        raise PolicydError(f"{row.path}:{row.line}: {row.id} is named in a way that is edited by "
                           "hand")
    return found


def _plain(reason: str) -> str:
    return " ".join(reason.casefold().split())
