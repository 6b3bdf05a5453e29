"""Which tips of a repository are accepted history when it is enrolled. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from policyd.core.errors import CannotJudge
from policyd.core.policy import Policy
from policyd.core.render import printable

_SHOWN = 8
"""Branches that a sentence names."""


def guarded_tips(policies: Sequence[Policy], refs: Mapping[str, str]) -> dict[str, str]:
    """The branches that some policy guards, with their tips; `refs` are all refs there are.

    Raises CannotJudge where there are refs and none is a guarded branch: nothing would ever be
    accepted history.
    """
    tips = {ref: tip for ref, tip in sorted(refs.items())
            if ref.startswith("refs/heads/") and any(policy.guards(ref) for policy in policies)}
    if refs and not tips:
        raise CannotJudge(f"no branch of it is guarded: {_patterns(policies)} in `guarded`, and "
                          f"it has {_branches(refs)}; name its main branch there and run "
                          "`policyd policy apply`")
    return tips


def _patterns(policies: Sequence[Policy]) -> str:
    globs = dict.fromkeys(pattern.glob for policy in policies for pattern in policy.guarded
                          if not pattern.negate and not pattern.glob.startswith("tags/"))
    return f"nothing matches {', '.join(map(printable, globs))}" if globs else "there is no branch"


def _branches(refs: Mapping[str, str]) -> str:
    names = [printable(ref.removeprefix("refs/heads/")) for ref in sorted(refs)
             if ref.startswith("refs/heads/")]
    more = [f"{len(names) - _SHOWN} more"] if len(names) > _SHOWN else []
    return ", ".join(names[:_SHOWN] + more) or "no branch"
