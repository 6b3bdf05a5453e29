"""OpenSSH's sshd on loopback: each key may run git-shell and nothing else.

It lets in whoever runs this, or, where root does, an account `git` that is known to nobody else.

    with serving(folder, ["alice", "agent-7"]) as server:
        subprocess.run(["git", "push", server.url(repository), "main"],
                       env={**os.environ, **server.environment("alice")})

Nothing here knows of a test runner.
"""

from __future__ import annotations

import os
import pwd
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from running import HOST, PATH, Absent, program, running

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


def line(public: Path, *, name: str | None, command: str | None = SHELL) -> str:
    """Of authorized_keys. `name`: what REMOTE_USER is for this key; None: it is not set."""
    quoted = "" if command is None else ',command="{}"'.format(command.replace('"', '\\"'))
    said = f',environment="REMOTE_USER={name}"' if name else ""
    return f"restrict{quoted}{said} {public.read_text()}"


def login() -> str:
    """Who runs this, if sshd lets that account in and starts something. Raises Absent."""
    found = pwd.getpwuid(os.geteuid())
    if Path(found.pw_shell).name in ("nologin", "false"):
        raise Absent(f"the account {found.pw_name} has no shell")
    with suppress(PermissionError):  # who may not read it is not held to it
        shadow = Path("/etc/shadow").read_text()
        if f"\n{found.pw_name}:!" in f"\n{shadow}":
            raise Absent(f"the account {found.pw_name} is locked")
    return found.pw_name


def account(folder: Path, uid: int) -> list[str]:
    """The beginning of a command that sees one more account: `git`, with git-shell for a login.

    It runs in a mount namespace of its own, so that nothing is left of it. Raises Absent.
    """
    if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "true"], check=False,
                                           capture_output=True).returncode:
        raise Absent("no mount namespace may be made here")
    passwd, shadow = folder / "passwd", folder / "shadow"
    shell = program("git-shell", "git")
    passwd.write_text(f"git:x:{uid}:{uid}::{folder}:{shell}\n{Path('/etc/passwd').read_text()}")
    shadow.write_text(f"git:*:19000:0:99999:7:::\n{Path('/etc/shadow').read_text()}")
    shadow.chmod(0o600)
    mounts = f"mount --bind {passwd} /etc/passwd && mount --bind {shadow} /etc/shadow"
    return ["unshare", "-m", "/bin/sh", "-c", f'{mounts} && exec "$@"', "sh"]


@contextmanager
def serving(folder: Path, named: Sequence[str], *, unnamed: Iterable[str] = (),
            home: Path | None = None, authorized: Path | None = None,
            uid: int | None = None) -> Iterator[Sshd]:
    """Keys are made for `named`, with REMOTE_USER, and for `unnamed`, without it.

    `authorized` is a file that somebody else writes, such as gitolite; then no line is written.
    `uid`: as the account `git` with that number, and by its login, not by a command of the key.
    """
    sshd = program("sshd", PACKAGE)
    program("git-shell", "git")
    prefix = [] if uid is None else account(folder, uid)
    for key in ("host", *named, *unnamed):
        if not (folder / key).exists():
            keygen(folder / key)
    if authorized is None:
        authorized = folder / "authorized_keys"
        names = {**{key: key for key in named}, **dict.fromkeys(unnamed)}
        authorized.write_text("".join(
            line(folder / f"{key}.pub", name=name, command=SHELL if uid is None else None)
            for key, name in names.items()))
    user = "git" if uid is not None else login()
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    config = folder / "sshd_config"
    config.write_text(CONFIG.format(
        host=HOST, folder=folder, authorized=authorized, user=user, home=home or folder,
        root="forced-commands-only" if user == "root" else "no"))
    (folder / "client").write_text(CLIENT)
    with running(lambda port: [*prefix, sshd, "-D", "-e", "-p", str(port), "-f", str(config)],
                 log=folder / "sshd.log", environment={"PATH": PATH}) as port:
        yield Sshd(folder, port, user)
