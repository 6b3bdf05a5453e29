"""The only reading of the clock, and which day it is somewhere."""

from __future__ import annotations

from datetime import UTC, date, datetime, tzinfo

from policyd.core.errors import CannotJudge


def now() -> datetime:
    """The present moment, aware, in UTC."""
    return datetime.now(UTC)


def today(timezone: str, at: datetime) -> date:
    """The day that `at` falls on in a zone of the IANA data base. Raises CannotJudge."""
    return at.astimezone(_zone(timezone)).date()


def midnight(timezone: str, day: date) -> datetime:
    """The first moment of a day in a zone, in UTC. Raises CannotJudge.

    A midnight that a clock change skips is the moment of the change; a day that is skipped
    whole begins where it would have.
    """
    start = datetime(day.year, day.month, day.day, tzinfo=_zone(timezone))
    return start.astimezone(UTC)


def _zone(timezone: str) -> tzinfo:
    if timezone == "UTC":
        return UTC
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(timezone)
    except (LookupError, ValueError, OSError) as error:
        raise CannotJudge(f"time zone {timezone} is not known here; install tzdata or correct "
                          "`timezone` in the policy") from error
