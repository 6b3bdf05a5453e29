"""A site for tests of real pushes: a home in force, a bare repository enrolled in it, a clone.

    site.commit({"src/app.py": "x = 1\\n", "oracle/r.json": None}, "Mix them")   # None deletes
    assert site.push("HEAD:refs/heads/main", as_="alice") == 1                  # git's exit code
    assert "separate-authorship" in site.told[0]                    # lines without `remote: `
    assert site.refs()["refs/heads/main"] == site.base_tip          # the server's, afterwards

`as_` is what the server says of the pusher (REMOTE_USER); None: nothing. alice and bob are
maintainers, agent-7 and bot-* are agents, everybody else is in no group. Arguments of `push` go
to git as they are (`--force`, `-o`, several refspecs), and so does `env`.

`site.policyd("policy", "apply")` runs the command line in this process; what it printed is in
`site.out`. `site.edit_policy(old, new)` edits the policy file and applies it. `site.log()` are
the entries of the decision log, `site.incidents()` what failed inside.

`listing(folder)` is what lies in a folder, byte for byte.

The fixture `site` starts with BASE (see `base_files`) on main, `empty_site` with nothing.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

from policyd import cli
from policyd.adapters import hookfiles, moment

MAIN = "refs/heads/main"
Files = Mapping[str, str | bytes | Path | None]
"""Path to text, bytes, a Path (a symbolic link to it) or None (it goes)."""

FIRST_COMMIT = datetime(2026, 1, 15, 12, tzinfo=UTC)
FRAME = {
    "LC_ALL": "C", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Dev", "GIT_AUTHOR_EMAIL": "dev@example.org",
    "GIT_COMMITTER_NAME": "Dev", "GIT_COMMITTER_EMAIL": "dev@example.org",
    "GIT_MERGE_AUTOEDIT": "no", "GIT_TERMINAL_PROMPT": "0"}
"""The environment of every git in tests: nothing of the user's."""


class Site:
    """A folder with `home`, `server` (the bare repository) and `work` (a clone of it)."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home, self.state = folder / "home", folder / "home/state"
        self.server, self.work = folder / "srv/r.git", folder / "work"
        self.told: list[str] = []
        """What the last push was told by the server."""
        self.err = ""
        """All that git printed at the last push."""
        self.out = ""
        """What the last `policyd` printed, on both streams."""
        self.base_tip = ""
        """The tip of main that BASE ended with."""
        self._commits = 0

    @classmethod
    def made(cls, folder: Path) -> Site:
        """A site with nothing in its repository and nothing enrolled."""
        site = cls(folder)
        site.home.parent.mkdir(parents=True, exist_ok=True)
        site.policyd("init", str(site.home))
        settings = site.home / "policyd.yaml"
        roots = json.dumps([str(folder / "srv")])
        settings.write_text(settings.read_text().replace("roots: []", f"roots: {roots}")
                            + "pretended_clock: true\n")
        site.policyd("policy", "apply")
        site.git("init", "--quiet", "--bare", "-b", "main", "--template=", str(site.server),
                 cwd=folder)
        site.git("init", "--quiet", "-b", "main", "--template=", str(site.work), cwd=folder)
        site.git("remote", "add", "origin", str(site.server))
        site.git("config", "maintenance.auto", "false")  # it would start a git for each commit
        site.git("config", "receive.autogc", "false", cwd=site.server)
        return site

    def copied(self, folder: Path) -> Site:
        """The same site elsewhere, enrolled where this one is; faster than making one."""
        site = Site(folder)
        subprocess.run(["cp", "-a", f"{self.folder}/.", folder], check=True)
        indexes = [str(file.relative_to(folder)) for file in site.state.glob("repos/*.json")]
        hook = ["srv/r.git/hooks/pre-receive"] if hookfiles.is_installed(site.server) else []
        for name in ("home/policyd.yaml", "work/.git/config", *hook, *indexes):
            file = folder / name
            file.write_text(file.read_text().replace(str(self.folder), str(folder)))
        site._in_force_as(self)
        site.base_tip, site._commits = self.base_tip, self._commits
        return site

    def base(self) -> str:
        """Put BASE on main: by pushes of alice where it is enrolled, else straight; the tip."""
        first = self.commit({"src/app.py": APP, "tests/test_app.py": TEST}, "Add the app")
        self._deliver()
        self.base_tip = self.commit(base_files(first), "Add the oracle and the records")
        self._deliver()
        return self.base_tip

    def enroll(self) -> None:
        assert self.policyd("enroll", str(self.server)) == 0, self.out

    def commit(self, files: Files, message: str = "Change") -> str:
        """Commit changes on what is checked out in the clone; the commit's id."""
        for name, content in files.items():
            self._write(self.work / name, content)
        self.git("add", "--all", "--force")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.tip()

    def tip(self, revision: str = "HEAD") -> str:
        return self.git("rev-parse", revision)

    def push(self, *arguments: str, as_: str | None = "alice",
             env: Mapping[str, str] | None = None) -> int:
        """Push to the server; git's exit code. See `told`, `err` and `refs()` for the rest."""
        environment = self.environment(**(env or {}))
        if as_ is not None:
            environment["REMOTE_USER"] = as_
        done = subprocess.run(["git", "push", "origin", *arguments], cwd=self.work,
                              env=environment, capture_output=True, check=False)
        self.err = os.fsdecode(done.stderr)
        self.told = [line.removeprefix("remote: ").removesuffix(" " * 8)
                     for line in self.err.splitlines() if line.startswith("remote:")]
        return done.returncode

    def refs(self) -> dict[str, str]:
        """The server's refs with the ids that they hold."""
        told = self.git("for-each-ref", "--format=%(refname) %(objectname)", cwd=self.server)
        return dict(line.rsplit(" ", 1) for line in told.splitlines())

    def policyd(self, *arguments: str) -> int:
        """Run the command line with this home; its exit code."""
        told = io.StringIO()
        with _home_folder(self.folder), redirect_stdout(told), redirect_stderr(told):
            code = cli.run(["--home", str(self.home), *arguments])
        self.out = told.getvalue()
        return code

    def edit_policy(self, old: str, new: str) -> None:
        """Replace a text of policies/default.yaml, which must be there, and apply."""
        file = self.home / "policies/default.yaml"
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new))
        assert self.policyd("policy", "apply") == 0, self.out

    def pretend(self, ahead: timedelta, *, jumped: bool = False) -> None:
        """Let hook and daemon live that much ahead; `jumped`: after having lived here before."""
        if not jumped:
            (self.state / moment.MARK).unlink(missing_ok=True)
        (self.state / moment.PRETENDED).write_text(f"{ahead.total_seconds()}\n")

    def log(self) -> list[dict[str, Any]]:
        """The entries of the decision log."""
        return _lines(self.state / "decisions.jsonl")

    def incidents(self) -> list[dict[str, Any]]:
        """What failed inside policyd, with tracebacks."""
        return _lines(self.state / "incidents.jsonl")

    def git(self, *arguments: str, cwd: Path | None = None) -> str:
        """Run git in the clone, or elsewhere; what it prints. It must succeed."""
        done = subprocess.run(["git", *arguments], cwd=cwd or self.work, env=self.environment(),
                              capture_output=True, check=False)
        assert done.returncode == 0, os.fsdecode(done.stderr)
        return os.fsdecode(done.stdout).removesuffix("\n")

    def environment(self, **more: str) -> dict[str, str]:
        """For git: fixed but for its dates, which go on by a minute with each commit."""
        self._commits += 1
        date = (FIRST_COMMIT + timedelta(minutes=self._commits)).isoformat()
        return {**FRAME, "PATH": os.environ["PATH"], "HOME": str(self.folder),
                "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date, **more}

    def _in_force_as(self, other: Site) -> None:
        """Take the paths of what is in force there for those here, as an `apply` would."""
        current = self.home / "active/current"
        head, _, body = current.read_bytes().partition(b"\n")
        moved = body.replace(os.fsencode(other.folder), os.fsencode(self.folder))
        before, after = (sha256(text[:-1]).hexdigest().encode() for text in (body, moved))
        assert before in head
        previous = current.rename(current.with_name("previous"))
        current.write_bytes(head.replace(before, after) + b"\n" + moved)
        current.chmod(previous.stat().st_mode)

    def _deliver(self) -> None:
        if hookfiles.is_installed(self.server):
            assert self.push(f"HEAD:{MAIN}") == 0, self.err
        else:
            self.git("push", "--quiet", "origin", f"HEAD:{MAIN}")

    @staticmethod
    def _write(path: Path, content: str | bytes | Path | None) -> None:
        if path.is_symlink() or content is None:
            path.unlink()
        if content is None:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, Path):
            path.unlink(missing_ok=True)
            path.symlink_to(content)
        else:
            path.write_bytes(content.encode() if isinstance(content, str) else content)


APP = '''\
def total(prices):
    return sum(prices)
'''
TEST = '''\
from app import total


def test_total_does_not_depend_on_the_order():
    assert total([1, 2, 3]) == total([3, 2, 1])
'''


def base_files(baseline: str) -> dict[str, str]:
    """BASE without sources and tests: an oracle that is no record, and one record of each kind,
    none of them announced yet."""
    today = datetime.now(UTC).date()
    first, last, lease = (str(today + timedelta(days=n)) for n in (0, 7, 100))
    prices = "price\n1\n2\n"
    return {
        "oracle/rates.json": _json({"currency": "EUR"}),
        "oracle/receipts/expected.json": _json({
            "baseline": baseline, "entry_point": "app:total", "input": {"prices": [4, 9]},
            "constraints": {"currency": "EUR 19.25"}}),
        "oracle/quarantine.yaml":
            "version: 1\nrules:\n"
            '  - nodeid: "tests/test_rates.py::test_endpoint"\n'
            "    status: frozen\n"
            '    reason: "upstream answers 429 without Retry-After"\n'
            f"    since: {first}\n"
            f'    expires_on: "{last}"\n'
            "    owner: alice\n",
        "tests/ledger/flake_ledger.json": _json({"schema": "flake_ledger.v1", "entries": [{
            "id": "app.rates", "nodeid": "tests/test_rates.py::test_rates",
            "reason": "clock skew of the rate server", "first_seen": first, "expires_on": last,
            "owner": "alice", "max_runs": 3}]}),
        "fixtures/freezes.json": _json([{
            "relation_id": "R1_order", "since": first, "expires": last,
            "reruns": 5, "pass_needed": 5,
            "reason": "parallel sum; awaiting a deterministic reducer", "owner": "alice"}]),
        "fixtures/data/prices.csv": prices,
        "fixtures/leases/data.yaml":
            "id: prices\npath: fixtures/data/prices.csv\n"
            f"sha256: {sha256(prices.encode()).hexdigest()}\n"
            f"expires: {lease}\nowner: alice\nallowed_relations: [R1_order]\n"
            'notes: "synthetic prices"\n',
    }


def listing(folder: Path) -> dict[str, tuple[str, int, int, bytes]]:
    """All that lies in a folder by its path: kind, mode, owner, and content or link target."""
    found = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        kind, content = "other", b""
        if path.is_symlink():
            kind, content = "link", os.fsencode(os.readlink(path))
        elif path.is_dir():
            kind = "folder"
        elif path.is_file():
            kind, content = "file", path.read_bytes()
        found[str(path.relative_to(folder))] = (kind, status.st_mode, status.st_uid, content)
    return found


def _json(value: object) -> str:
    return json.dumps(value, indent=2) + "\n"


def _lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_bytes().splitlines()] if file.exists() else []


@contextmanager
def _home_folder(folder: Path) -> Iterator[None]:
    """Keep the user's own git configuration out of what policyd asks git."""
    before = os.environ.get("HOME")
    os.environ["HOME"] = str(folder)
    try:
        yield
    finally:
        del os.environ["HOME"]
        if before is not None:
            os.environ["HOME"] = before
