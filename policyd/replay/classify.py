"""Rows put into buckets. Pure: what was run and what it came to is decided before."""

from __future__ import annotations

from policyd.core.values import dataclass
from policyd.core.witness import Bucket, Cause, Row
from policyd.replay.fare import Fare
from policyd.replay.freeze import Counted
from policyd.replay.pairs import Pair, State, shown

MOST_VACUOUS = 0.25
"""Share of pairs that prove nothing, beyond what the row had on the base when it was admitted."""


@dataclass(frozen=True, slots=True)
class Leaking:
    """The first pair of a row that changes after other pairs, and those where they were found."""

    pair: Pair
    after: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """The pair that a row is told with, and whether its input was made simpler."""

    pair: Pair
    shrunk: bool = False
    steady: bool = True
    """Whether it broke again when it was made again."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What was found of one row."""

    fare: Fare
    told: Shown | None = None
    """Of its broken pairs."""
    flickers: Pair | None = None
    """The first pair whose identical runs differ."""
    flicker_says: str = ""
    leak: Leaking | None = None
    counted: Counted | None = None
    """Of a row with a freeze that broke."""
    admitted_vacuous: float = 0.0


def classified(seen: Seen) -> Row:
    """The bucket of a row: what blocks comes before hysteresis, and a freeze helps no other way.
    """
    fare, row = seen.fare, seen.fare.row
    held = seen.counted is not None and seen.counted.held
    if fare.broken and not held:
        if seen.flickers in fare.broken:
            return _flickering(seen)
        steady = seen.told is None or seen.told.steady
        return _row(seen, _broken(seen), Cause.BREAKS if steady else Cause.FLICKERS, seen.told)
    if seen.flickers is not None and row.freeze is None:
        return _flickering(seen)
    vacuous = [pair for pair in fare.pairs if pair.state is State.VACUOUS]
    if fare.pairs and len(vacuous) > (MOST_VACUOUS + seen.admitted_vacuous) * len(fare.pairs):
        return _row(seen, _broken(seen), Cause.VACUOUS, Shown(vacuous[0]), vacuous[0].why)
    if seen.leak is not None:
        return _row(seen, Bucket.HYSTERESIS, Cause.BREAKS, Shown(seen.leak.pair),
                    "it answers otherwise after other calls in the same process")
    if held:
        return _row(seen, Bucket.FROZEN, Cause.BREAKS, seen.told)
    return _row(seen, Bucket.HOLDS, Cause.NONE, None)


def _flickering(seen: Seen) -> Row:
    told = None if seen.flickers is None else Shown(seen.flickers)
    return _row(seen, _broken(seen), Cause.FLICKERS, told, seen.flicker_says)


def _broken(seen: Seen) -> Bucket:
    return Bucket.SKIP if seen.fare.row.status == "policy" else Bucket.BLOCK


def _row(seen: Seen, bucket: Bucket, cause: Cause, told: Shown | None, why: str = "") -> Row:
    row = seen.fare.row
    pair = None if told is None else told.pair
    first = pair
    if told is seen.told and seen.fare.broken:
        first = seen.fare.broken[0]
    return Row(
        row.id, row.says, row.entry, row.status, bucket, seen.fare.counts, cause,
        None if first is None else first.drawn.asked.index,
        "" if pair is None else shown(row, pair.drawn.input),
        told is not None and told.shrunk, "" if row.transform is None else row.transform.name,
        why or ("" if pair is None else pair.why), () if pair is None else pair.trace,
        row.owner, row.last,
        seen.leak.after if seen.leak is not None and bucket is Bucket.HYSTERESIS else (),
        "" if seen.counted is None else seen.counted.says)
