"""A hook that is not as it must be, so that pushes are not judged: what is told of it. Pure."""

from __future__ import annotations

from enum import Enum

from policyd.core import notices
from policyd.core.gates import Event, Telling
from policyd.core.notices import Notice
from policyd.core.render import printable
from policyd.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Broken:
    """What is wrong with the hook of one repository."""

    repository: str
    git_dir: str
    says: str
    """A sentence that names the file."""
    since: str
    """When that was first seen, a date-time."""

    @property
    def remedy(self) -> str:
        return f"policyd doctor --fix {self.git_dir}"


class Turn(Enum):
    """What happened to a hook since the last look, by the name of its notice."""

    BROKEN = "hook.broken"
    MENDED = "hook.mended"


def notice(turn: Turn, hook: Broken, *, at: str, policy_digest: str) -> Notice:
    """With the keys of every notice; it is about no branch."""
    says = {Turn.BROKEN: f"has a broken hook: {hook.says} ({hook.remedy})",
            Turn.MENDED: "has its hook again"}[turn]
    like = notices.notice(Telling(Event.CHANGED, ""), repository=hook.repository, at=at,
                          policy_digest=policy_digest)
    reason = {"cause": "hook", "says": _text(hook.says), "path": None, "line": None, "row": None,
              "kind": None, "owner": None, "last": None}
    return {**like, "event": turn.value, "ref": None, "branch": None, "reasons": [reason],
            "text": f"{printable(hook.repository)} {printable(says)}"}


def _text(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
