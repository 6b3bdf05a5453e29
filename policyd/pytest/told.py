"""The texts of the plugin: what refuses a run, its header line and its section. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import date

from policyd.core import calendar
from policyd.core.errors import Fault
from policyd.core.rows import DatedRow, Kind
from policyd.pytest.listed import Held, Listed
from policyd.pytest.tally import Repeated, Tally

_WIDTH = 100


def refusal(faults: Sequence[Fault], over: Sequence[DatedRow], today: date, tree: str) -> str:
    """Why no test is run: everything that is wrong with the records, at once."""
    lines = [f"policyd: no test was run, because of the records in {tree} on {today}"]
    lines += [f"  {fault}" for fault in faults]
    lines += [f"  {row.path}:{row.line}: row {_safe(row.id)} is over: last day {row.last}, "
              f"owner {_safe(row.owner)}" for row in over]
    if faults:
        lines.append("do: mend all of these lines; a record that cannot be read whole is not used")
    if over:
        lines.append("do: its owner repairs the test and takes the row out, or dates it anew; a "
                     "maintainer pushes that alone")
        lines.append("  to run an old commit as it was on a day: --policyd-today YYYY-MM-DD")
    return "\n".join(lines)


def relation_row(row: DatedRow) -> str:
    return (f"{row.path}:{row.line}: row {_safe(row.id)} names {_safe(row.subject)}, which "
            "is marked as a relation; relations are never rerun and never skipped: take it out")


def state(row: DatedRow) -> str:
    """A quarantine row in one word or two."""
    return "open" if row.last is None else f"frozen until {row.last}"


def skip_reason(row: DatedRow) -> str:
    return f"policyd: {state(row)} (owner {_safe(row.owner)}): {_safe(row.reason)}"


def header(listed: Listed, tree: str, hindrance: str) -> str:
    if listed.today is None:
        return f"policyd: no record files in {tree}; nothing is rerun or skipped"
    kinds = [row.kind if row.last or row.kind is not Kind.QUARANTINE else None
             for row in listed.rows]
    counts = (f"{kinds.count(Kind.FLAKE)} flake, {kinds.count(Kind.QUARANTINE)} frozen, "
              f"{kinds.count(None)} open")
    return f"policyd: {listed.today}, rows in {tree}: {counts}" + (
        f"; nothing is rerun under {hindrance}" if hindrance else "")


def section(listed: Listed, tally: Tally, missing: Iterable[DatedRow],
            several: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """The lines of the summary, each with whether it asks for attention."""
    for repeated in tally.repeated.values():
        held = listed.by_test.get(repeated.row, Held())
        if held.flake is not None:
            yield from ((line, True) for line in _repeated(repeated, held.flake))
    for row in listed.rows:
        if row.kind is Kind.QUARANTINE and row.subject in tally.listed:
            yield f"{state(row)}: {_named(row)}: {_safe(row.reason)}", False
    for row in listed.rows:
        if listed.today is not None and calendar.step_of(row, listed.today) is not None:
            yield f"ends soon: {_named(row)}, {_when(row, listed.today)}", True
    for row in missing:
        hint = "; its tests have parameters, and each of them its own id" \
            if row.subject in several else ""
        yield (f"warning: row {_safe(row.id)} matches no test ({row.path}:{row.line}): "
               f"{_safe(row.subject)}{hint}", True)


def _repeated(repeated: Repeated, row: DatedRow) -> Iterator[str]:
    test = repeated.nodeid
    if repeated.flaky:
        yield f"FLAKY {test}: passed in run {repeated.runs} of at most {row.runs}"
    else:
        yield f"FAILED {test}: passed in none of {repeated.runs} runs, of at most {row.runs}"
    yield (f"  row {_safe(row.id)} ({row.path}:{row.line}), owner {_safe(row.owner)}, "
           f"until {row.last}")
    for said in dict.fromkeys(repeated.said):
        yield f"  failed, {_safe(said[:_WIDTH])}"


def _named(row: DatedRow) -> str:
    """A row of the ledger by its id, one of the quarantine by its test; with its owner."""
    name = row.id if row.kind is Kind.FLAKE else row.subject
    return f"{_safe(name)} (owner {_safe(row.owner)})"


def _when(row: DatedRow, today: date) -> str:
    left = calendar.days_left(row, today) or 0
    return f"last day {row.last}, " + ("today" if not left else
                                       f"in {left} day{'s' if left > 1 else ''}")


def _safe(text: str) -> str:
    """A text of a record or of a failure in which nothing steers a terminal.

    Imported here: what renders also judges, and a run without records has no use for it.
    """
    from policyd.core.render import printable

    return printable(text)
