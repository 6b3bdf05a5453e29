"""A branch's first-parent history, newest first. Read-only."""

from __future__ import annotations

from policyd.adapters.gitrepo import Missing, PushedRepo
from policyd.core.errors import CannotJudge
from policyd.core.values import dataclass


@dataclass(frozen=True, slots=True)
class FirstParents:
    """Commits, newest first: each one's first parent is the next one."""

    commits: tuple[bytes, ...]
    times: tuple[int, ...]
    """Their committer dates, seconds since 1970."""
    steps: int
    """How many of them are asked for; those behind are there to look back at."""
    rooted: bool
    """Whether the oldest step stands on the first commit of all."""
    ends: str = ""
    """Why history could not be followed further, where it could not."""


def first_parents(repo: PushedRepo, tip: bytes, *, most: int | None, since: int | None,
                  back: int) -> FirstParents:
    """The newest steps that have a first parent: at most so many, none from before `since`.

    Behind them it goes on for `back` seconds.
    """
    commits: list[bytes] = []
    times: list[int] = []
    steps, until, ends = 0, None, ""
    oid: bytes | None = tip
    while oid is not None and (until is None or not times or times[-1] >= until):
        try:
            _, parents, time = repo.header(oid)
        except (Missing, CannotJudge) as error:
            ends = str(error) if isinstance(error, CannotJudge) else \
                f"the object {oid.hex()[:12]} is missing"
            break
        if until is None and (steps == most or (since is not None and time < since)):
            until = (times[-1] if times else time) - back
        commits.append(oid)
        times.append(time)
        oid = parents[0] if parents else None
        steps += until is None
    steps = min(steps, max(len(commits) - 1, 0))
    rooted = oid is None and steps == len(commits) - 1
    return FirstParents(tuple(commits), tuple(times), steps, rooted, ends)
