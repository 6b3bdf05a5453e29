"""The only reading of the clock, and which day it is somewhere."""

from __future__ import annotations

from datetime import UTC, date, datetime

from policyd.core.errors import CannotJudge


def now() -> datetime:
    """The present moment, aware, in UTC."""
    return datetime.now(UTC)


def today(timezone: str, at: datetime) -> date:
    """The day that `at` falls on in a zone of the IANA data base. Raises CannotJudge."""
    if timezone == "UTC":
        return at.astimezone(UTC).date()
    from zoneinfo import ZoneInfo

    try:
        zone = ZoneInfo(timezone)
    except (LookupError, ValueError, OSError) as error:
        raise CannotJudge(f"time zone {timezone} is not known here; install tzdata or correct "
                          "`timezone` in the policy") from error
    return at.astimezone(zone).date()
