"""The time of one job: how far it is, and when it ends without a verdict."""

from __future__ import annotations

import time
from collections.abc import Callable

from policyd.core.errors import CannotJudge

Progress = Callable[[str], None]
"""Is told one line, such as `MR02: 96 of 576 executions`."""


class OutOfTime(CannotJudge):
    """The budget of a job is used up. `seconds` more would have been needed, as it looks."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        super().__init__(f"the replay did not end in its time; about {seconds:.0f} s are missing")


class Budget:
    """Wall time until a deadline; lines of progress at most every `every` seconds."""

    def __init__(self, seconds: float, progress: Progress | None = None, *,
                 every: float = 2.0) -> None:
        self._started = self._told = time.monotonic()
        self._deadline = self._started + seconds
        self._progress, self._every = progress, every
        self._done, self._expected, self._at = 0, 0, ""

    @property
    def spent(self) -> float:
        """Seconds so far."""
        return time.monotonic() - self._started

    @property
    def left(self) -> float:
        """Seconds, at least 0."""
        return max(0.0, self._deadline - time.monotonic())

    def expects(self, executions: int) -> None:
        """How many there will be in all, as far as it is known."""
        self._expected = max(executions, self._done)

    def works_on(self, what: str) -> None:
        self._at = what

    def did(self, executions: int) -> None:
        """Count what is done. Raises OutOfTime behind the deadline."""
        self._done += executions
        now = time.monotonic()
        if now > self._deadline:
            rest = max(self._expected - self._done, self._done // 4, 1)
            raise OutOfTime(self.spent * rest / max(self._done, 1))
        if self._progress is not None and now - self._told >= self._every:
            self._told = now
            of = f" of about {self._expected:,}" if self._expected > self._done else ""
            self._progress(f"replay: {self._at}: {self._done:,}{of} executions")
