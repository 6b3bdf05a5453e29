"""Where a hook of policyd stands, and what kind of hook it is there."""

from __future__ import annotations

from enum import Enum
from pathlib import Path

from policyd.adapters.nexthook import CHAINED, HIDDEN
from policyd.core.errors import CannotJudge
from policyd.core.values import dataclass

NAME = "pre-receive"
"""What git runs."""
PART = "policyd"
"""What we are called in a folder whose files a server runs one after the other."""


ADMIN = "gitolite-admin.git"
"""gitolite's own repository: whom a broken hook locks out there can mend nothing any more."""
SERVERS = ("plain", "gitolite", "gitea", "gitlab")


class Kind(Enum):
    """Who runs the hook, and for whom."""

    OWN = "own"
    """git, for one repository. What was there before is chained."""
    COMMON = "common"
    """git, for many repositories. It takes no notice of those that were never enrolled."""
    PART = "part"
    """A server's own hook, beside others, for one repository. It chains nothing."""
    COMMON_PART = "common-part"


@dataclass(frozen=True, slots=True)
class Seat:
    """A place for the hook. `folder` has its symbolic links resolved; it may be absent."""

    server: str
    kind: Kind
    folder: Path
    name: str = NAME

    @property
    def path(self) -> Path:
        return self.folder / self.name

    @property
    def is_common(self) -> bool:
        return self.kind in (Kind.COMMON, Kind.COMMON_PART)

    @property
    def spared(self) -> str:
        """The repository that passes even where the program is gone, unless it was enrolled."""
        return ADMIN if self.server == "gitolite" and self.kind is Kind.COMMON else ""

    @property
    def given(self) -> Path | None:
        """The folder for many repositories as `--hooks-path` names it."""
        if not self.is_common or self.server == "gitea":
            return None
        return self.folder.parent if self.server == "gitlab" else self.folder

    @property
    def chained(self) -> Path | None:
        """Where the hook goes that was there before; None where nothing is replaced."""
        if self.kind is Kind.OWN:
            return self.folder / CHAINED
        return self.folder / HIDDEN if self.kind is Kind.COMMON else None

    @property
    def draft(self) -> Path:
        """Gitea and gitolite take no notice of a leading dot, Gitaly of a tilde at the end."""
        if self.name == NAME:
            return self.folder / ".pre-receive.policyd"
        return self.folder / f".{self.name}~"

    def written(self, git_dir: Path) -> str:
        """As a repository remembers it: inside of it by a path that survives a rename."""
        folder = self.folder
        if folder.is_relative_to(git_dir):
            folder = folder.relative_to(git_dir)
        return f"{self.server} {self.kind.value} {folder / self.name}"


def own(git_dir: Path) -> Seat:
    """The place where git looks unless it is told otherwise."""
    return Seat("plain", Kind.OWN, (git_dir / "hooks").resolve())


def common_in(folder: Path) -> tuple[Seat, ...]:
    """Where a hook for many repositories can stand that was put into a folder."""
    return (Seat("plain", Kind.COMMON, folder),
            Seat("gitolite", Kind.COMMON_PART, folder, PART),
            Seat("gitlab", Kind.COMMON_PART, folder / "pre-receive.d", PART))


def read(text: str, git_dir: Path) -> Seat:
    """What `written` wrote. Raises CannotJudge."""
    words = text.split(" ", 2)
    try:
        server, kind, path = words[0], Kind(words[1]), git_dir / words[2]
        if server not in SERVERS:
            raise ValueError(server)
    except (IndexError, ValueError):
        raise CannotJudge(f"policyd.hook in {git_dir}/config is damaged; "
                          f"`git -C {git_dir} config --unset-all policyd.hook` and "
                          f"`policyd enroll {git_dir}`") from None
    return Seat(server, kind, path.parent.resolve(), path.name)
