"""OpenSSH's sshd on loopback, for whoever runs this; each key may run git-shell and nothing else.

    with serving(folder, ["alice", "agent-7"]) as server:
        subprocess.run(["git", "push", server.url(repository), "main"],
                       env={**os.environ, **server.environment("alice")})

Nothing here knows of a test runner.
"""

from __future__ import annotations

import getpass
import os
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from running import HOST, PATH, program, running

PACKAGE = "openssh-server"
SHELL = 'git-shell -c "$SSH_ORIGINAL_COMMAND"'

CONFIG = """\
ListenAddress {host}
HostKey {folder}/host
PidFile none
AuthorizedKeysFile {authorized}
AllowUsers {user}
PermitRootLogin {root}
PermitUserEnvironment REMOTE_USER
AcceptEnv GIT_PROTOCOL LANG LC_*
ExposeAuthInfo yes
SetEnv HOME={home}
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
DisableForwarding yes
UseDNS no
MaxStartups 100
"""
CLIENT = """\
IdentitiesOnly yes
BatchMode yes
StrictHostKeyChecking no
UserKnownHostsFile /dev/null
LogLevel ERROR
"""


@dataclass(frozen=True, slots=True)
class Sshd:
    """A server that answers, and the keys that it lets in, by name."""

    folder: Path
    port: int
    user: str

    def url(self, path: str | Path) -> str:
        """Where git finds what is at a path: absolute, or below the server's home."""
        return f"ssh://{self.user}@{HOST}:{self.port}/{str(path).lstrip('/')}"

    def environment(self, key: str) -> dict[str, str]:
        """For git, to come with that key."""
        return {"GIT_SSH_COMMAND": f"ssh -F {self.folder}/client -i {self.folder}/{key}"}

    def fingerprint(self, key: str) -> str:
        return subprocess.run(["ssh-keygen", "-lf", self.folder / f"{key}.pub"], check=True,
                              capture_output=True, text=True).stdout.split(" ")[1]


def keygen(file: Path) -> None:
    subprocess.run([program("ssh-keygen", "openssh-client"), "-q", "-t", "ed25519", "-N", "", "-C",
                    file.name, "-f", file], check=True, stdin=subprocess.DEVNULL)


def line(public: Path, *, name: str | None, command: str = SHELL) -> str:
    """Of authorized_keys. `name`: what REMOTE_USER is for this key; None: it is not set."""
    quoted = command.replace('"', '\\"')
    said = f',environment="REMOTE_USER={name}"' if name else ""
    return f'restrict,command="{quoted}"{said} {public.read_text()}'


@contextmanager
def serving(folder: Path, named: Sequence[str], *, unnamed: Iterable[str] = (),
            home: Path | None = None, authorized: Path | None = None) -> Iterator[Sshd]:
    """Keys are made for `named`, with REMOTE_USER, and for `unnamed`, without it.

    `authorized` is a file that somebody else writes, such as gitolite; then no line is written.
    """
    sshd = program("sshd", PACKAGE)
    program("git-shell", "git")
    for key in ("host", *named, *unnamed):
        if not (folder / key).exists():
            keygen(folder / key)
    if authorized is None:
        authorized = folder / "authorized_keys"
        authorized.write_text("".join(
            [*(line(folder / f"{key}.pub", name=key) for key in named),
             *(line(folder / f"{key}.pub", name=None) for key in unnamed)]))
    user = getpass.getuser()
    is_root = os.geteuid() == 0
    if is_root:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    (folder / "sshd_config").write_text(CONFIG.format(
        host=HOST, folder=folder, authorized=authorized, user=user, home=home or folder,
        root="forced-commands-only" if is_root else "no"))
    (folder / "client").write_text(CLIENT)
    with running(lambda port: [sshd, "-D", "-e", "-p", str(port), "-f",
                               str(folder / "sshd_config")],
                 log=folder / "sshd.log", environment={"PATH": PATH}) as port:
        yield Sshd(folder, port, user)
