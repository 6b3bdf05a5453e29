"""The latest moment that a server has seen, so that a clock set back opens nothing. Pure.

The day that counts is that of the later of the clock and the high-water mark. A reading that is
far ahead counts at once, but it is kept only when another one agrees a while later: one bad jump
closes gates for as long as it lasts, and not for ever.
"""

from __future__ import annotations

import json
from datetime import datetime, timedelta

from policyd.core.errors import CannotJudge
from policyd.core.values import dataclass

FAR = timedelta(days=2)
AGREES_AFTER = timedelta(minutes=10)
FORMAT = 1


@dataclass(frozen=True, slots=True)
class HighWater:
    """`mark` is the latest moment that counts, `doubted` a first reading that was far ahead."""

    mark: datetime | None = None
    doubted: datetime | None = None

    def at(self, now: datetime) -> datetime:
        """The moment that counts when the clock shows `now`."""
        return now if self.mark is None else max(now, self.mark)

    def after(self, now: datetime) -> HighWater:
        """What is kept once the clock has shown `now`."""
        if self.mark is None or self.mark < now <= self.mark + FAR:
            return HighWater(now)
        if now <= self.mark:
            return HighWater(self.mark)
        if self.doubted is None or not self.doubted <= now <= self.doubted + FAR:
            return HighWater(self.mark, now)
        if now - self.doubted >= AGREES_AFTER:
            return HighWater(now)
        return self


def to_json(high: HighWater) -> bytes:
    return json.dumps({"format": FORMAT, "mark": _text(high.mark),
                       "doubted": _text(high.doubted)}).encode("ascii") + b"\n"


def from_json(data: bytes, *, source: str) -> HighWater:
    """Raises CannotJudge, naming `source` and what to do."""
    try:
        raw = json.loads(data)
        if raw["format"] != FORMAT:
            raise ValueError(f"format {raw['format']!r}")
        return HighWater(_moment(raw["mark"]), _moment(raw["doubted"]))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise CannotJudge(f"{source} is damaged ({type(error).__name__}: {error}); the operator "
                          "runs `policyd clock reset --reason TEXT`") from error


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _moment(raw: object) -> datetime | None:
    if raw is None:
        return None
    if not isinstance(raw, str):
        raise ValueError(f"{raw!r} is no moment")
    moment = datetime.fromisoformat(raw)
    if moment.tzinfo is None:
        raise ValueError(f"{raw!r} has no time zone")
    return moment
