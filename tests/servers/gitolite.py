"""gitolite on loopback, behind an sshd of its own.

    with serving(folder, ["alice", "agent-7"]) as server:
        server.configure("repo demo\\n    RW+ = @all\\n")
        subprocess.run(["git", "push", server.ssh.url("demo"), "main"],
                       env={**os.environ, **server.ssh.environment("alice")})

Nothing here knows of a test runner.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import sshd
from running import PATH, program

RC = """\
%RC = (
    UMASK => 0077,
    LOCAL_CODE => "$ENV{HOME}/local",
    ROLES => { READERS => 1, WRITERS => 1 },
    ENABLE => [ 'ssh-authkeys', 'git-config', 'repo-specific-hooks' ],
);
1;
"""
ADMIN = "repo gitolite-admin\n    RW+ = admin\n"


@dataclass(frozen=True, slots=True)
class Gitolite:
    """A server that answers. `home` is that of the user whom gitolite runs as."""

    home: Path
    ssh: sshd.Sshd

    @property
    def repositories(self) -> Path:
        return self.home / "repositories"

    @property
    def common(self) -> Path:
        return self.home / "local/hooks/common"

    @property
    def specific(self) -> Path:
        return self.home / "local/hooks/repo-specific"

    def configure(self, text: str) -> None:
        """As a push to gitolite-admin does it."""
        (self.home / ".gitolite/conf/gitolite.conf").write_text(ADMIN + text)
        self.run("compile")
        self.run("trigger", "POST_COMPILE")

    def run(self, *words: str) -> str:
        """A command of gitolite's, on the server."""
        return _gitolite(self.home, *words)


@contextmanager
def serving(folder: Path, users: Sequence[str]) -> Iterator[Gitolite]:
    """`admin` may push to gitolite-admin; the keys of all are made here."""
    program("gitolite", "gitolite3")
    home = folder / "home"
    home.mkdir()
    (home / ".gitolite.rc").write_text(RC)
    for hooks in ("common", "repo-specific"):
        (home / "local/hooks" / hooks).mkdir(parents=True)
    sshd.keygen(folder / "admin")
    _gitolite(home, "setup", "-pk", str(folder / "admin.pub"))
    for user in users:
        sshd.keygen(folder / user)
        shutil.copy(folder / f"{user}.pub", home / ".gitolite/keydir")
    with sshd.serving(folder, ["admin", *users], home=home,
                      authorized=home / ".ssh/authorized_keys") as ssh:
        yield Gitolite(home, ssh)


def _gitolite(home: Path, *words: str) -> str:
    done = subprocess.run([program("gitolite", "gitolite3"), *words], cwd=home, check=False,
                          env={"PATH": PATH, "HOME": str(home), "USER": "git", "LC_ALL": "C"},
                          capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise RuntimeError(f"gitolite {' '.join(words)}: {done.stderr}")
    return done.stdout
