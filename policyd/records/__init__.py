"""The record files of a repository: bytes in; rows, and all that is wrong at once, out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from policyd.core.errors import Fault, FileInvalid
from policyd.core.nodes import in_order
from policyd.core.rows import MAX_RECORD_BYTES, Parsed, Record
from policyd.records import flakes, freezes, functions, leases, quarantine, receipts, relations
from policyd.records.fields import MAX_FAULTS, Enough, Faults

_Loader = Callable[[str, bytes, list[Fault]], Parsed]
_LOADERS: Mapping[Record, _Loader] = {
    Record.FLAKES: flakes.load,
    Record.QUARANTINE: quarantine.load,
    Record.FREEZES: freezes.load,
    Record.LEASES: leases.load,
    Record.RECEIPTS: receipts.load,
    Record.RELATIONS: relations.load,
}


def load(record: Record, path: str, data: bytes) -> Parsed:
    """What a record file says. Total: whatever is wrong is a fault whose source is `path`.

    A file that has faults gives the rows that could be read as well. Seeds hold no rows.
    """
    if len(data) > MAX_RECORD_BYTES:
        return Parsed(faults=(Fault(path, 1, 1, f"larger than {MAX_RECORD_BYTES} bytes"),))
    faults = Faults()
    parsed = Parsed()
    try:
        if record is Record.RELATIONS and path.lower().endswith(".py"):
            return functions.load(data)
        if (loader := _LOADERS.get(record)) is not None:
            parsed = loader(path, data, faults)
    except FileInvalid as error:
        faults.extend(error.faults)
    except Enough:
        pass
    except Exception as error:  # whatever it is, the file was not read
        faults.extend((Fault(path, 1, 1, f"cannot be read: {type(error).__name__}"),))
    return replace(parsed, faults=_cut(in_order(faults)))


def _cut(faults: tuple[Fault, ...]) -> tuple[Fault, ...]:
    """As many as anybody reads."""
    if len(faults) < MAX_FAULTS:
        return faults
    last = faults[MAX_FAULTS - 1]
    return (*faults[:MAX_FAULTS - 1], replace(last, message="so much is wrong that the rest was "
                                                            "not looked at"))
