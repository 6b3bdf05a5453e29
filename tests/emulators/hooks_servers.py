"""Lays out repositories as servers do, around the hooks beside this file.

Every function takes a `Site` whose repository is there, and gives it what that server would.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from sites import Site

HERE = Path(__file__).parent


def put(source: str, target: Path) -> Path:
    """A program of this folder at another place, executable."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    shutil.copyfile(HERE / source, target)
    target.chmod(0o755)
    return target


def script(path: Path, text: str, mode: int = 0o755) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(mode)
    return path


def gitea(site: Site) -> Path:
    """The delegate, and Gitea's own check beside us. Done again: `gitea admin regenerate hooks`."""
    hooks = site.server / "hooks"
    script(hooks / "pre-receive.d/gitea", "cat >/dev/null\necho forge >&2\n")
    return put("hooks_gitea.sh", hooks / "pre-receive")


def forgejo(site: Site) -> Path:
    """One folder of hooks that core.hooksPath of each repository names."""
    hooks = site.folder / "forgejo/hooks"
    script(hooks / "pre-receive.d/forgejo", "cat >/dev/null\necho forge >&2\n")
    site.git("config", "core.hooksPath", str(hooks), cwd=site.server)
    return put("hooks_forgejo.sh", hooks / "pre-receive")


def gitaly(site: Site) -> list[str]:
    """What `git push` needs so that Gitaly's order is kept."""
    hooks = put("hooks_gitaly.py", site.folder / "gitaly/pre-receive").parent
    return [f"--receive-pack=git -c core.hooksPath={hooks} receive-pack"]


class Gitolite:
    """LOCAL_CODE, and the links that gitolite makes from it into a repository."""

    def __init__(self, site: Site) -> None:
        self.code, self.hooks = site.folder / "local", site.server / "hooks"
        self.common = self.code / "hooks/common"
        self.specific = self.code / "hooks/repo-specific"
        self.driver = put("hooks_gitolite.sh", self.code / "hooks/multi-hook-driver")
        self.common.mkdir()
        self.specific.mkdir()
        self.hooks.mkdir(exist_ok=True)

    def setup(self) -> None:
        """`gitolite setup --hooks-only`: links all of the common ones that have no leading dot."""
        for program in self.common.glob("[!.]*"):
            self._link(program, self.hooks / program.name)

    def compile(self, *names: str) -> None:
        """A push to gitolite-admin with `option hook.pre-receive = NAMES`."""
        for link in self.hooks.glob("pre-receive.*"):
            link.unlink()
        for number, name in enumerate(names):
            self._link(self.specific / name, self.hooks / f"pre-receive.h{number:02}-{name}")
        self._link(self.driver, self.hooks / "pre-receive")

    @staticmethod
    def _link(target: Path, link: Path) -> None:
        link.unlink(missing_ok=True)
        link.symlink_to(target)
