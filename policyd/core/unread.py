"""What rules say of files that should have been read and could not: they cannot be cleared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from policyd.core.content import Changed, Content
from policyd.core.facts import Unreadable
from policyd.core.rule import Finding, Next, Place, Repair


def newly(content: Content, files: Iterable[Changed]) -> tuple[Unreadable, ...]:
    """Those of the files that are new, or that could be read on some side before."""
    cleared = {file.path for file in files if file.is_new or file.before or file.elsewhere}
    return tuple(one for one in content.unreadable if one.path in cleared)


def finding(ref: str, unread: Sequence[Unreadable], scene: str) -> Finding:
    """One finding for all of them; `scene` says in a few words what they are."""
    first = unread[0]
    return Finding(
        ref=ref, says=f"{first.path}:{first.line} cannot be read", scene=scene,
        places=tuple(Place(path=one.path, line=one.line, note=one.reason) for one in unread),
        repair=Repair("edit", Next.EDIT, words=(
            f"make {first.path} parse, in a commit on top:", first.reason)),
        why="a file that cannot be read cannot be cleared.")
