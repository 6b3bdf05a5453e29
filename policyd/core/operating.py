"""What operators do to gates and movements, checked and carried out on values. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import date, timedelta

from policyd.core.errors import PolicydError
from policyd.core.facts import ZERO
from policyd.core.gates import Acts, Hold, Waiver
from policyd.core.index import Index
from policyd.core.movement import Movement
from policyd.core.rows import DatedRow

LONGEST_WAIVER = timedelta(days=3)
LONGEST_PAUSE = timedelta(days=1)


def held(acts: Acts, hold: Hold) -> Acts:
    """Raises PolicydError where the branch is held already."""
    for other in acts.holds:
        if other.ref == hold.ref:
            raise PolicydError(f"{hold.ref} is held already, by {other.operator} since "
                               f"{other.at}: {other.reason}")
    return replace(acts, holds=(*acts.holds, hold))


def released(acts: Acts, ref: str) -> Acts:
    """Raises PolicydError where nobody holds the branch."""
    if all(hold.ref != ref for hold in acts.holds):
        names = ", ".join(hold.ref for hold in acts.holds) or "no branch"
        raise PolicydError(f"{ref} is not held; held is {names}")
    return replace(acts, holds=tuple(hold for hold in acts.holds if hold.ref != ref))


def waived(acts: Acts, waiver: Waiver, today: date) -> Acts:
    """Raises PolicydError where the row had its waiver, or the day is none for it."""
    if waiver.until < today:
        raise PolicydError(f"{waiver.until} is over; today is {today}")
    if waiver.until > today + LONGEST_WAIVER:
        raise PolicydError(f"a waiver lasts {LONGEST_WAIVER.days} days at most, until "
                           f"{today + LONGEST_WAIVER}; a maintainer renews the row for longer")
    for other in acts.waivers:
        if (other.ref, other.kind, other.subject, other.last) == (
                waiver.ref, waiver.kind, waiver.subject, waiver.last):
            raise PolicydError(f"this row had its waiver, by {other.operator} until "
                               f"{other.until}: {other.reason}; a maintainer settles it now")
    return replace(acts, waivers=(*acts.waivers, waiver))


def the_row(rows: Iterable[DatedRow], name: str) -> DatedRow:
    """The row that somebody names by its id. Raises PolicydError where it is none, or several."""
    every = tuple(rows)
    found = [row for row in every if name in (row.id, row.subject)]
    if len(found) == 1:
        return found[0]
    if not found:
        names = ", ".join(sorted(row.id for row in every)[:8]) or "none"
        raise PolicydError(f"no row {name}; the branch's rows are {names}")
    places = ", ".join(f"{row.path}:{row.line}" for row in found)
    raise PolicydError(f"{name} is the name of several rows ({places}); settle one of them")


def accepting(index: Index, movement: Movement,
              is_there: Callable[[str], bool] = lambda _: True) -> Index:
    """The index once a movement is taken for accepted history; what was recorded stays accepted.

    What the repository lacks, for it is older than the record, proves nothing and is let go.
    """
    branches = {ref: tip for ref, tip in index.branches.items() if ref != movement.ref}
    if movement.live is not None:
        branches[movement.ref] = movement.live
    past = {movement.recorded} if movement.recorded is not None else set()
    pending = tuple(step for step in index.pending
                    if step.ref != movement.ref or step.old == (movement.live or ZERO))
    extra = tuple(sorted(filter(is_there, {*index.extra, *past})))
    return replace(index, branches=branches, extra=extra,
                   pending=pending, empty=index.empty and not branches)


def chosen(movements: Sequence[Movement], ref: str | None) -> tuple[Movement, ...]:
    """The movements of one branch, or all. Raises PolicydError where there is none."""
    found = tuple(m for m in movements if ref in (None, m.ref))
    if found:
        return found
    raise PolicydError("nothing moved past policyd" if not movements else
                       f"{ref} did not move past policyd; {_names(movements)} did")


def _names(movements: Iterable[Movement]) -> str:
    return ", ".join(movement.ref for movement in movements)
