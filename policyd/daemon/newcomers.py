"""Repositories that appear below the roots: enrolled where policyd.yaml says so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from policyd.core.errors import PolicydError
from policyd.core.policy import Active


class Newcomers:
    """Remembers which could not be enrolled, so that each failure is told once a policy."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._failed: set[tuple[Path, str]] = set()

    def enrol(self, active: Active) -> Iterator[tuple[Path, str | None]]:
        """Enrol what is new; each path, with why it could not be. Raises OSError for a root."""
        if not active.settings.enroll.new:
            return
        from policyd.cli import enrolling

        for path in enrolling.newcomers(active):
            if (path, active.digest) in self._failed:
                continue
            try:
                list(enrolling.enrol(enrolling.case_of(self._home, active, path),
                                     command=f"policyd enroll {path}"))
                yield path, None
            except (PolicydError, OSError) as error:
                self._failed.add((path, active.digest))
                yield path, str(error)
