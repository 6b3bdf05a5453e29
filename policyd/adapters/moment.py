"""The moment that counts: the clock, or a pretended one, and never before the high-water mark."""

from __future__ import annotations

import os
from datetime import datetime, timedelta

from policyd.adapters import clock, statefolder
from policyd.adapters.statefolder import because
from policyd.core import highwater
from policyd.core.errors import CannotJudge
from policyd.core.highwater import HighWater
from policyd.core.policy import Settings

MARK = "clock.json"
PRETENDED = "pretended-clock"

_KEPT_EVERY = timedelta(seconds=60)
_QUARTER = 900
"""Seconds. In every zone in use a day begins with a quarter of an hour of UTC."""


def now(settings: Settings) -> datetime:
    """What the clock shows: the pretended one where policyd.yaml allows one and it is set.

    Raises CannotJudge where the pretended clock cannot be read.
    """
    if not settings.pretended_clock:
        return clock.now()
    return _pretended(os.path.join(settings.state, PRETENDED))


def of(settings: Settings) -> datetime:
    """The moment that a decision is made at, in UTC; the high-water mark follows it.

    Raises CannotJudge where the mark cannot be read or written.
    """
    shown, path = now(settings), os.path.join(settings.state, MARK)
    high = _load(path)
    if _is_worth_keeping(high, shown):
        with statefolder.locked(settings.state):
            high = _load(path)
            statefolder.replace(path, highwater.to_json(high.after(shown)))
    return high.at(shown)


def seen(settings: Settings) -> datetime:
    """Like `of`, for who only looks: nothing is written."""
    return _load(os.path.join(settings.state, MARK)).at(now(settings))


def mark(settings: Settings) -> HighWater:
    """What is kept. Raises CannotJudge."""
    return _load(os.path.join(settings.state, MARK))


def put_back(settings: Settings) -> None:
    """Let the clock's own reading count again. Under the lock. Raises CannotJudge."""
    statefolder.replace(os.path.join(settings.state, MARK),
                        highwater.to_json(HighWater(now(settings))))


def pretend(settings: Settings, moment: datetime | None) -> None:
    """Let the clock show `moment` from now on; None: the real time. Raises CannotJudge."""
    path = os.path.join(settings.state, PRETENDED)
    if not settings.pretended_clock:
        raise CannotJudge("this home allows no pretended clock; a home for tests says "
                          "`pretended_clock: true` in policyd.yaml")
    if moment is None:
        try:
            os.unlink(path)
        except FileNotFoundError:
            return
        except OSError as error:
            raise statefolder.cannot_write("file", path, error) from error
    else:
        ahead = (moment - clock.now()).total_seconds()
        statefolder.replace(path, f"{ahead:.6f}\n".encode("ascii"))


def _pretended(path: str) -> datetime:
    try:
        with open(path, "rb") as file:
            return clock.now() + timedelta(seconds=float(file.read(64)))
    except FileNotFoundError:
        return clock.now()
    except (OSError, ValueError, OverflowError) as error:
        why = because(error) if isinstance(error, OSError) else str(error)
        raise CannotJudge(f"the pretended clock {path} cannot be read: {why}; "
                          "start `policyd serve --clock` anew") from error


def _is_worth_keeping(high: HighWater, shown: datetime) -> bool:
    """Once a minute is enough, and where a day may begin: each write costs a push some time."""
    after = high.after(shown)
    if high.mark is None or after.mark is None:
        return True
    begins = after.mark.timestamp() // _QUARTER > high.mark.timestamp() // _QUARTER
    return begins or after.mark - high.mark >= _KEPT_EVERY or after.doubted != high.doubted


def _load(path: str) -> HighWater:
    try:
        with open(path, "rb") as file:
            data = file.read(4096)
    except FileNotFoundError:
        return HighWater()
    except OSError as error:
        raise CannotJudge(f"{path} cannot be read: {because(error)}") from error
    return highwater.from_json(data, source=path)
