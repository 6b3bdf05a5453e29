"""The record files of a tree on disk. What is absent is no file; all else is read, or a fault."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from policyd.core.errors import Fault
from policyd.core.policy import Places
from policyd.core.rows import MAX_RECORD_BYTES, Parsed, Record, Records

_HONOURED = (Record.FLAKES, Record.QUARANTINE)


def read(tree: Path, places: Places, named: frozenset[Record]) -> Records | None:
    """What the ledger and the quarantine say; None where there is neither.

    A file that was `named` and is absent is a fault, as is a link, a folder, or what may not be
    read. Nothing of the parsers is imported before there is a file.
    """
    found = {getattr(places, record.value): (record, look)
             for record in _HONOURED
             if (look := _look(tree, getattr(places, record.value), record in named)) is not None}
    if not found:
        return None
    from policyd import records
    from policyd.core import recordset

    parsed = [look if isinstance(look, Parsed) else records.load(record, place, look)
              for place, (record, look) in found.items()]
    kinds = {place: record for place, (record, _) in found.items()}
    return recordset.together(parsed, kinds=kinds, seeds=(), hashes={}, places=places)


def _look(tree: Path, place: str, is_named: bool) -> bytes | Parsed | None:
    """The bytes of a file, a fault in place of them, or None where there is none."""
    try:
        return _bytes(tree / place)
    except (FileNotFoundError, NotADirectoryError):
        return _faulty(place, "there is no such file; the ini file names it") if is_named else None
    except OSError as error:
        return _faulty(place, f"cannot be read: {error.strerror}")
    except _Odd as odd:
        return _faulty(place, str(odd))


class _Odd(Exception):
    """Something that is no plain file."""


def _bytes(path: Path) -> bytes:
    mode = os.lstat(path).st_mode
    if not stat.S_ISREG(mode):
        raise _Odd("it is a symbolic link; a record is a plain file" if stat.S_ISLNK(mode)
                   else "it is no plain file")
    with open(path, "rb") as file:
        return file.read(MAX_RECORD_BYTES + 1)


def _faulty(place: str, message: str) -> Parsed:
    return Parsed(faults=(Fault(place, 1, 1, message),))
