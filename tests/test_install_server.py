"""install.sh server, upgrade, uninstall: real ones below a prefix, with pushes by the git user.

One program is built for all tests, from wheels that stay in pytest's cache. A test finds it
built, as after a run that was killed right behind that; all else is its own.
"""

from __future__ import annotations

import fcntl
import json
import os
import random
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from sites import FRAME, listing

long = pytest.mark.skipif(not os.environ.get("POLICYD_LONG"), reason=(
    "installs again and again for half a minute; POLICYD_LONG=1 runs it"))

ROOT = Path(__file__).parent.parent
PARTS = ("install.sh", "packaging", "policyd", "hooks", "policies", "pyproject.toml", "README.md",
         "requirements.lock", "requirements-test.lock")
COMPILED = shutil.ignore_patterns("__pycache__")
NOBODY = 65534
FOREIGN = "#!/bin/sh\ncat >/dev/null\necho the old hook ran\n"
SCRIPTS = sorted(path for path in (ROOT / "packaging").glob("*.sh"))

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root installs a server")


class Pool:
    """What the tests of one run share: a checkout, wheels, and the program built from them."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.checkout = folder, folder / "checkout"
        self.wheels = folder / "wheels"
        self.said = folder / "said"
        """What the run that built it printed."""

    def make(self, wheels: Path) -> None:
        self.folder.chmod(0o755)
        self.checkout.mkdir()
        for name in PARTS:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, self.checkout / name, ignore=COMPILED)
            else:
                shutil.copy(ROOT / name, self.checkout)
        if not (wheels / "whole").exists():
            done = run(self.checkout, "wheels", str(wheels))
            if done.returncode:
                pytest.skip(f"no wheels to be had: {done.stderr[-300:]}")
            (wheels / "whole").touch()
        shutil.copytree(wheels, self.wheels)
        # A careless administrator: nothing of this may show in what is installed.
        shim = self.folder / "shims/python3"
        shim.parent.mkdir()
        shim.write_text("#!/bin/sh\nexit 1\n")
        shim.chmod(0o755)
        server = Server(self, self.folder / "first")
        done = server.install(umask=0o077, PATH=f"{shim.parent}:{os.environ['PATH']}",
                              PYTHONPATH=str(self.folder), PIP_TARGET=str(self.folder / "target"))
        assert done.returncode == 0, done.stdout + done.stderr
        self.said.write_text(done.stdout)

    @property
    def first(self) -> Server:
        """The server that the program was built for. Look, and change nothing."""
        return Server(self, self.folder / "first", made=True)


class Server:
    """A prefix with a repository that has a hook already and takes pushes."""

    def __init__(self, pool: Pool, folder: Path, *, made: bool = False) -> None:
        self.pool, self.folder, self.checkout = pool, folder, pool.checkout
        self.prefix = folder / "the prefix"
        self.opt = self.prefix / "opt/policyd"
        self.home, self.state = self.prefix / "etc/policyd", self.prefix / "var/lib/policyd"
        self.repo, self.work = folder / "srv/git/shop.git", folder / "work"
        if made:
            return
        self.repo.parent.mkdir(parents=True)
        for path in (self.repo, self.work):
            path.mkdir()
            os.chown(path, NOBODY, NOBODY)
        self.git("init", "--quiet", "--bare", "-b", "main", cwd=self.repo)
        self.git("init", "--quiet", "-b", "main")
        self.git("remote", "add", "origin", str(self.repo))
        hook = self.repo / "hooks/pre-receive"
        hook.write_text(FOREIGN)
        hook.chmod(0o755)
        os.chown(hook, NOBODY, NOBODY)
        assert "the old hook ran" in self.push()
        self.before = listing(self.repo)
        """Objects and refs aside, this is how it must be left."""

    def git(self, *arguments: str, cwd: Path | None = None) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=cwd or self.work, user=NOBODY, group=NOBODY, extra_groups=[],
            env={**FRAME, "PATH": "/usr/bin:/bin", "HOME": "/", "REMOTE_USER": "agent-7"},
            capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    def push(self) -> str:
        """Push a commit that an enforcing policy refuses; what git printed. It must be taken."""
        stamp = str(time.monotonic_ns())
        for name in ("src/app.py", "oracle/rates.txt"):
            file = self.work / name
            file.parent.mkdir(exist_ok=True)
            file.write_text(stamp)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", stamp)
        told = self.git("push", "origin", "HEAD:main")
        tip = self.git("rev-parse", "HEAD")
        assert self.git("rev-parse", "main", cwd=self.repo) == tip
        return told

    def arguments(self) -> list[str]:
        return ["--wheels", str(self.pool.wheels), "--prefix", str(self.prefix), "--user",
                "nobody", "--root", str(self.repo.parent), "--repo", str(self.repo)]

    def install(self, *more: str, **frame: object) -> subprocess.CompletedProcess[str]:
        return run(self.checkout, "server", *self.arguments(), *more, **frame)

    def run(self, what: str, *more: str, **frame: object) -> subprocess.CompletedProcess[str]:
        return run(self.checkout, what, "--prefix", str(self.prefix), *more, **frame)

    def upgrade(self, *more: str, **frame: object) -> subprocess.CompletedProcess[str]:
        return self.run("upgrade", "--wheels", str(self.pool.wheels), *more, **frame)

    def take_program(self) -> None:
        """The built program, by a link: it is not written to."""
        found = next((self.pool.first.opt / "releases").iterdir())
        place = self.opt / "releases" / found.name
        place.parent.mkdir(parents=True)
        place.symlink_to(found)

    def policyd(self, *arguments: str) -> str:
        done = subprocess.run([self.prefix / "usr/local/bin/policyd", *arguments], check=False,
                              capture_output=True, text=True, env={"PATH": "/usr/bin:/bin"})
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def log(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in (self.state / "decisions.jsonl").open()]

    def listing(self) -> dict[str, tuple[str, int, int, bytes]]:
        """All but the state folder, where each question to policyd is noted."""
        return {name: entry for name, entry in listing(self.folder).items()
                if not (self.folder / name).is_relative_to(self.state)}

    def other_version(self, files: dict[str, str]) -> str:
        """Let the checkout be another one, with these texts appended; its program's name."""
        self.checkout = self.folder / f"checkout-{len(files)}-{time.monotonic_ns()}"
        shutil.copytree(self.pool.checkout, self.checkout, ignore=COMPILED)
        for name, text in files.items():
            with (self.checkout / name).open("a") as file:
                file.write(text)
        told = self.run("upgrade", "--dry-run").stdout
        found = re.search(r"would be building the program (\S+)", told)
        assert found, told
        return found[1]

    def other_program(self, files: dict[str, str]) -> str:
        """The same, with its program there: the built one with these files in it."""
        name = self.other_version(files)
        release = self.opt / "releases" / name
        found = next((self.pool.first.opt / "releases").iterdir())
        subprocess.run(["cp", "-al", found, release], check=True)
        modules = next(release.glob("lib/python3*/site-packages"))
        for file in files:
            place = (modules if file.startswith("policyd/") else release / "share/policyd") / file
            place.unlink()  # the first program's by hard link
            shutil.copy(self.checkout / file, place)
        return name


def run(checkout: Path, *arguments: str, umask: int = -1, cwd: str | Path = "/",
        **environment: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [checkout / "install.sh", *arguments], cwd=cwd, umask=umask, capture_output=True, text=True,
        check=False, stdin=subprocess.DEVNULL, env={**os.environ, **environment})


def run_and_kill(server: Server, arguments: list[str], lines: int, seconds: float) -> list[str]:
    """Run install.sh and kill all of it, so many seconds after so many lines; what it printed."""
    process = subprocess.Popen(
        [server.checkout / "install.sh", *arguments], cwd="/", text=True, start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    told = []
    assert process.stdout is not None
    while len(told) < lines and (line := process.stdout.readline()):
        told.append(line)
    time.sleep(seconds)
    if process.poll() is None:
        os.killpg(process.pid, 9)
    process.communicate()
    return told


@pytest.fixture(scope="session")
def pool(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest,
         ) -> Iterator[Pool]:
    """Made by the first worker that asks, removed by the last that is done."""
    if os.geteuid() != 0:
        pytest.skip("only root installs a server")
    base = tmp_path_factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    locks = b"".join((ROOT / name).read_bytes() for name in PARTS[-2:])
    wheels = request.config.cache.mkdir(f"wheels-{sha256(locks).hexdigest()[:12]}")
    with (base / "pool").open("a+") as shared:
        with Users(shared) as users:
            if not users.count:
                users.place = tempfile.mkdtemp(prefix="policyd-install-")
                try:
                    Pool(Path(users.place)).make(wheels)
                except BaseException:
                    shutil.rmtree(users.place)
                    raise
            users.count += 1
        yield Pool(Path(users.place))
        with users:
            users.count -= 1
            if not users.count:
                shutil.rmtree(users.place, ignore_errors=True)


class Users:
    """How many workers use a folder, in a file that they take turns with."""

    def __init__(self, file: object) -> None:
        self._file = file
        self.count, self.place = 0, ""

    def __enter__(self) -> Users:
        fcntl.flock(self._file, fcntl.LOCK_EX)
        self._file.seek(0)
        count, _, place = self._file.read().partition(" ")
        self.count, self.place = int(count or 0), place or self.place
        return self

    def __exit__(self, *_: object) -> None:
        self._file.seek(0)
        self._file.truncate()
        self._file.write(f"{self.count} {self.place}")
        self._file.flush()
        fcntl.flock(self._file, fcntl.LOCK_UN)


@pytest.fixture
def bare(pool: Pool) -> Iterator[Server]:
    """A server without policyd; its program is built but not in force."""
    folder = Path(tempfile.mkdtemp(prefix="server-", dir=pool.folder))
    folder.chmod(0o755)
    server = Server(pool, folder)
    server.take_program()
    yield server
    shutil.rmtree(folder)


@pytest.fixture
def server(bare: Server) -> Server:
    """A server with policyd on it."""
    done = bare.install()
    assert done.returncode == 0, done.stdout + done.stderr
    return bare


@pytest.fixture(scope="session")
def settled(pool: Pool) -> Server:
    """One of a worker's own, for tests that leave its policyd as it is."""
    folder = pool.folder / f"settled-{os.getpid()}"
    folder.mkdir()
    server = Server(pool, folder)
    server.take_program()
    done = server.install()
    assert done.returncode == 0, done.stdout + done.stderr
    return server


# What is installed.

def test_each_step_is_said(pool):
    steps = [line for line in pool.said.read_text().splitlines() if line.startswith("install.sh")]
    said = "\n".join(steps).replace(str(pool.first.prefix), "")
    release = next((pool.first.opt / "releases").iterdir()).name
    python = os.path.realpath("/usr/bin/python3")
    assert said.replace(str(pool.first.folder), "") == f"""\
install.sh: building the program {release} with {python}
install.sh: installing what requirements.lock names
install.sh: installing policyd 0.1.0
install.sh: making it the one in force, /opt/policyd/current
install.sh: writing the home /etc/policyd: all is observed, nothing refused
install.sh: making the state folder /var/lib/policyd for nobody
install.sh: putting the command /usr/local/bin/policyd
install.sh: enrolling /srv/git/shop.git
install.sh: putting the unit /etc/systemd/system/policyd.service
install.sh: below a prefix the unit is neither enabled nor started
install.sh: asking policyd doctor
install.sh: done. What would be refused: `policyd log report`. From here on: docs/install.md"""


def test_the_program_is_roots_and_everybody_can_run_it(pool):
    release = next((pool.first.opt / "releases").iterdir())
    for path in (release, *release.rglob("*")):
        status = path.lstat()
        assert status.st_uid == 0, path
        if not path.is_symlink():
            assert status.st_mode & 0o022 == 0, path
            assert status.st_mode & 0o044 == 0o044, path
    assert {path.name for path in (release / "bin").iterdir()} <= {
        "python", "python3", *(f"python3.{minor}" for minor in range(11, 20))}
    python = os.path.realpath(release / "bin/python")
    assert python == os.path.realpath("/usr/bin/python3")
    assert not list(release.rglob("pip")), "what judges pushes needs no pip"
    assert list(release.glob("lib/python3*/site-packages/policyd/__pycache__/hook.*.pyc"))
    assert not (pool.folder / "target").exists()


def test_home_and_state_belong_to_whom_they_must(pool):
    first = pool.first
    assert {entry[2] for entry in listing(first.home).values()} == {0}
    assert (first.state.stat().st_mode & 0o7777, first.state.stat().st_uid) == (0o700, NOBODY)
    settings = (first.home / "policyd.yaml").read_text()
    assert "\nhome_owner: root\n" in settings
    assert f'\nroots: ["{first.repo.parent}"]\n' in settings
    assert f"policyd --home {first.home} policy apply" in settings
    assert "\nmode: observe\n" in (first.home / "policies/default.yaml").read_text()
    assert "is in force, as the files say" in first.policyd("status")


def test_a_process_goes_on_with_the_release_that_it_started_with(pool):
    code = "import policyd, sys; print(policyd.__file__, sys.executable)"
    python = pool.first.opt / "current/bin/python"
    done = subprocess.run([python, "-I", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith(os.path.realpath(pool.first.opt / "current") + "/lib/")
    assert done.stdout.endswith(f" {python}\n")


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd-analyze here")
def test_the_unit_is_one_that_systemd_takes_and_finds_safe(pool):
    unit = pool.first.prefix / "etc/systemd/system/policyd.service"
    done = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True,
                          check=False)
    faults = [line for line in done.stderr.splitlines()
              if unit.name in line and "Special user nobody" not in line]
    assert (done.returncode, faults) == (0, [])
    # 20 but for what the sandbox of queued replays needs: namespaces, and mounts in them.
    done = subprocess.run(["systemd-analyze", "security", "--offline=true", "--threshold=37", unit],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-300:]


def test_on_the_first_day_pushes_are_judged_and_none_is_refused(settled):
    assert "the old hook ran" in settled.push()
    entry = settled.log()[-1]
    assert entry["verdict"] == "accepted"
    assert "separate-authorship" in json.dumps(entry)


def test_a_second_run_changes_nothing_and_says_so(settled):
    before, logged = settled.listing(), len(settled.log())
    done = settled.install()
    assert (done.returncode, done.stderr) == (0, "")
    assert settled.listing() == before
    assert [e["verdict"] for e in settled.log()[logged:] if e["verdict"] == "enrolled"] == []
    for said in ("is there already", "is that program", "state folder", "is kept", "is in place",
                 f"{settled.repo} is enrolled"):
        assert said in done.stdout


def test_a_dry_run_tells_the_steps_and_changes_nothing(bare):
    before = listing(bare.folder)
    done = bare.install("--dry-run")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"would be enrolling {bare.repo}" in done.stdout
    assert done.stdout.endswith("install.sh: nothing was changed\n")
    assert listing(bare.folder) == before


def test_dry_runs_of_what_follows_change_nothing_either(settled):
    other = Server(settled.pool, settled.folder, made=True)
    before = settled.listing()
    assert "would be unenrolling" in other.run("uninstall", "--purge", "--dry-run").stdout
    other.other_version({"README.md": "\n"})
    shutil.rmtree(other.checkout)
    assert settled.listing() == before


# What is refused, before anything is written.

@pytest.mark.parametrize(("arguments", "said"), [
    (["--frob"], "unknown option --frob"),
    (["shop.git"], "unknown argument shop.git"),
    (["--repo"], "--repo needs a path"),
    (["--server", "cvs"], "--server is plain, gitolite, gitea or gitlab, not cvs"),
    (["--prefix", "/tmp/a;b"], "--prefix takes letters"),
    (["--root", "a\nb"], "a path may not hold a line break"),
])
@needs_root
def test_what_cannot_be_meant_is_answered_with_the_usage(arguments, said):
    done = run(ROOT, "server", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"install.sh: {said}")
    assert "usage: ./install.sh server" in done.stderr


@pytest.mark.parametrize("command", ["server", "upgrade", "uninstall", "wheels"])
def test_help_is_no_fault(command):
    done = run(ROOT, command, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"usage: ./install.sh {command}")


@pytest.mark.parametrize(("more", "said"), [
    (["--user", "no-such-user"], "there is no user no-such-user"),
    (["--user", "root"], "git must not run as root"),
    (["--repo", "/usr"], "/usr is not a bare repository"),
    (["--root", "/nowhere"], "/nowhere is not a folder"),
    (["--wheels", "/usr/sbin"], "/usr/sbin holds no wheels"),
])
def test_what_cannot_work_is_refused_untouched(bare, more, said):
    before = listing(bare.folder)
    done = bare.install(*more)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"install.sh: {said}")
    assert listing(bare.folder) == before


def test_state_of_another_user_and_a_strange_home_are_refused(bare):
    bare.state.mkdir(parents=True)
    (bare.state / "lock").touch()
    assert "state/policyd belongs to root" in bare.install().stderr.replace("var/lib", "state")
    shutil.rmtree(bare.state)
    bare.home.mkdir(parents=True)
    (bare.home / "note").touch()
    assert "holds files and no policyd.yaml; move it away" in bare.install().stderr


def test_relative_paths_count_from_where_one_stands(bare):
    bare.install("--repo", "no.git", cwd=bare.folder)
    said = bare.install("--repo", "no.git", cwd=bare.folder).stderr
    assert f"{bare.folder}/no.git is not a bare repository" in said


def test_two_at_once_are_one_too_many(bare):
    with (bare.opt / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert "another install.sh is at work" in bare.install().stderr


@pytest.mark.parametrize("command", ["server", "upgrade", "uninstall"])
@needs_root
def test_only_root_installs(pool, command):
    done = subprocess.run([pool.checkout / "install.sh", command], cwd="/", user=NOBODY,
                          group=NOBODY, extra_groups=[], capture_output=True, text=True,
                          check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert "run this as root" in done.stderr


# What may go wrong on the way.

def test_a_repository_that_cannot_be_enrolled_stops_nothing_else(bare):
    (bare.repo / "config").open("a").write("[extensions]\n\tpartialClone = origin\n"
                                           "[core]\n\trepositoryformatversion = 1\n")
    done = bare.install()
    assert done.returncode == 1
    assert f"{bare.repo} is as it was before" in done.stderr
    assert "asking policyd doctor" in done.stdout
    assert "the old hook ran" in bare.push()


@long
def test_killed_at_any_step_pushes_still_work_and_the_next_run_goes_on(bare):
    for lines in (1, 3, 4, 5, 7):
        seconds = random.uniform(0, 0.4)
        told = run_and_kill(bare, ["server", *bare.arguments()], lines, seconds)
        assert "the old hook ran" in bare.push(), (told, seconds)
    done = bare.install()
    assert (done.returncode, done.stderr) == (0, "")
    assert "the old hook ran" in bare.push()
    assert bare.log()[-1]["verdict"] == "accepted"


@long
def test_killed_while_it_builds_the_old_program_judges_on(settled):
    server = Server(settled.pool, settled.folder, made=True)
    name = server.other_version({"README.md": "\n"})
    told = run_and_kill(server, ["upgrade", "--prefix", str(server.prefix), "--wheels",
                                 str(server.pool.wheels)], 1, random.uniform(0, 2.5))
    assert f"building the program {name}" in told[0]
    server.push()
    assert server.log()[-1]["verdict"] == "accepted"
    assert not (server.opt / "releases" / name / ".complete").exists()
    assert f"would be building the program {name}" in server.run("upgrade", "--dry-run").stdout


# Upgrades.

MARKED = {"policyd/__init__.py": "\nMARK = 'another'\n"}


def marked(server: Server) -> bool:
    done = subprocess.run([server.opt / "current/bin/python", "-I", "-c",
                           "import policyd; print(hasattr(policyd, 'MARK'))"],
                          capture_output=True, text=True, check=True)
    return done.stdout == "True\n"


def test_an_upgrade_swaps_the_program_below_the_hooks(server):
    hook = (server.repo / "hooks/pre-receive").read_bytes()
    old = os.readlink(server.opt / "current")
    policy = server.home / "policies/default.yaml"
    policy.write_text("# ours\n" + policy.read_text())
    server.policyd("policy", "apply")
    name = server.other_program({**MARKED, "policies/default.yaml": "# shipped anew\n"})
    assert "run ./install.sh upgrade first" in server.install().stderr
    done = server.upgrade()
    assert (done.returncode, done.stderr) == (0, "")
    assert "policies and gates are the same with it" in done.stdout
    assert "0 pushes judged again\n" in done.stdout
    assert "no verdict would be another one" in done.stdout
    assert os.readlink(server.opt / "current") == f"releases/{name}"
    assert marked(server)
    assert (server.repo / "hooks/pre-receive").read_bytes() == hook
    assert (server.opt / old).exists()
    assert policy.read_text().startswith("# ours\n")
    assert (server.home / "policies/default.yaml.new").read_text().endswith("# shipped anew\n")
    server.push()
    assert server.log()[-1]["verdict"] == "accepted"
    before = server.listing()
    assert "this version is in force already" in server.upgrade().stdout
    assert server.listing() == before

    # As after a kill right behind the swap, when the daemon is not restarted yet.
    (server.opt / ".unfinished").write_text(f"{name}\n{Path(old).name}\n")
    assert "going on with an upgrade that was interrupted" in server.upgrade().stdout
    assert server.listing() == before


CLOSING = {"policyd/cli/status.py": """
_plainly = as_plain


def as_plain(status):
    told = _plainly(status)
    for repository in told["repositories"]:
        for branch in repository["branches"]:
            branch.update(open=False, reasons=[{"cause": "held", "says": "as an example"}])
    return told
"""}


JUDGING = {"policyd/rejudge.py": """

def judge(*_):
    raise CannotJudge("as an example")
"""}


@long
def test_what_an_upgrade_changes_is_told_first_and_asked_for(server):
    server.push()
    frozen = (server.pool.checkout / "policyd/core/frozen.py").read_text()
    number = int(re.search(r"^FORMAT = (\d+)$", frozen, re.MULTILINE)[1])
    server.other_program({**CLOSING, **JUDGING,
                          "policyd/core/frozen.py": f"\nFORMAT = {number + 1}\n",
                          "hooks/pre-receive": "# another text\n"})
    before = os.readlink(server.opt / "current")
    policy = server.home / "policies/default.yaml"
    text = policy.read_text()
    policy.write_text(text.replace("mode: observe", "mode: enforce"))
    assert "was edited and not applied" in server.upgrade("--yes").stderr
    policy.write_text(text)
    done = server.upgrade()
    assert done.returncode == 1
    assert f"{server.repo} main: open -> CLOSED (held: as an example)" in done.stdout
    assert "shop refs/heads/main by agent-7: accepted -> could not be judged (as" in done.stdout
    assert "policies: " not in done.stdout, "what is kept in another form says the same"
    assert "go on with --yes" in done.stderr
    assert os.readlink(server.opt / "current") == before
    server.push()
    assert server.upgrade("--yes").returncode == 0
    assert os.readlink(server.opt / "current") != before
    assert f'"format":{number + 1}' in (server.home / "active/current").read_text()
    assert "# another text" in (server.repo / "hooks/pre-receive").read_text()
    server.push()
    assert server.log()[-1]["verdict"] == "accepted"


@long
def test_an_upgrade_that_is_killed_leaves_one_program_or_the_other(server):
    server.other_program(MARKED)
    arguments = ["upgrade", "--prefix", str(server.prefix), "--wheels", str(server.pool.wheels)]
    for lines in (2, 4):
        seconds = random.uniform(0, 0.6)
        told = run_and_kill(server, arguments, lines, seconds)
        assert "the old hook ran" in server.push(), (told, seconds)
        assert server.log()[-1]["verdict"] == "accepted", (told, seconds)
    assert server.upgrade().returncode == 0
    assert marked(server)
    assert not (server.opt / ".unfinished").exists()


# The way out.

def without_objects(found: dict[str, tuple[str, int, int, bytes]]) -> object:
    return {name: entry for name, entry in found.items()
            if not name.startswith(("objects", "refs"))}


def test_uninstalling_leaves_repositories_as_they_were_and_what_one_needs_to_come_back(server):
    server.push()
    done = server.run("uninstall")
    assert (done.returncode, done.stderr) == (0, "")
    assert without_objects(listing(server.repo)) == without_objects(server.before)
    assert "the old hook ran" in server.push()
    left = {str(path.relative_to(server.prefix)) for path in server.prefix.rglob("*")
            if not path.is_dir() and not path.is_relative_to(server.state)
            and not path.is_relative_to(server.home)}
    assert left == set()
    assert server.log()[-1]["verdict"] == "unenrolled"

    # What was kept is in the form of another version, say, and names another place.
    current, elsewhere = server.home / "active/current", f"{server.state}-elsewhere"
    current.write_text(current.read_text().replace('"format":', '"format":9'))
    settings = server.home / "policyd.yaml"
    settings.write_text(settings.read_text().replace(str(server.state), elsewhere))
    os.rename(server.state, elsewhere)
    server.take_program()
    done = server.install()
    assert (done.returncode, done.stderr) == (0, "")
    assert f"the state folder {elsewhere} is kept" in done.stdout
    unit = server.prefix / "etc/systemd/system/policyd.service"
    assert f'"{elsewhere}"' in unit.read_text()
    assert not server.state.exists()
    assert "the old hook ran" in server.push()

    assert server.run("uninstall", "--purge").returncode == 0
    assert without_objects(listing(server.repo)) == without_objects(server.before)
    assert not server.home.exists()
    assert Path(elsewhere).exists(), "only what the installer named itself is its to remove"


def test_a_hook_for_many_repositories_goes_too(server):
    shared = server.folder / "srv/hooks"
    shared.mkdir()
    os.chown(shared, NOBODY, NOBODY)
    server.policyd("unenroll", str(server.repo))
    server.git("config", "core.hooksPath", str(shared), cwd=server.repo)
    before = without_objects(listing(server.folder / "srv"))
    server.policyd("enroll", "--hooks-path", str(shared), str(server.repo))
    assert (shared / "pre-receive").exists()
    with (server.home / "policyd.yaml").open("a") as settings:
        settings.write(f"enroll: {{new: true, hooks_path: {json.dumps(str(shared))}}}\n")
    server.policyd("policy", "apply")
    assert f"{server.repo} is enrolled" in server.install().stdout
    unit = (server.prefix / "etc/systemd/system/policyd.service").read_text()
    assert f'ReadWritePaths="{server.state}" "-{server.repo.parent}" "-{shared}"\n' in unit
    done = server.run("uninstall")
    assert (done.returncode, done.stderr) == (0, "")
    assert without_objects(listing(server.folder / "srv")) == before
    server.push()


DELEGATE = """#!/usr/bin/env bash
# AUTO GENERATED BY GITEA, DO NOT MODIFY
data=$(cat)
GIT_DIR=${GIT_DIR:-$(dirname $0)/..}
for hook in ${GIT_DIR}/hooks/pre-receive.d/*; do
  test -x "${hook}" && test -f "${hook}" || continue
  echo "${data}" | "${hook}" || exit 1
done
"""


def test_under_gitea_the_hook_stands_where_gitea_runs_it(bare):
    hook, folder = bare.repo / "hooks/pre-receive", bare.repo / "hooks/pre-receive.d"
    hook.write_text(DELEGATE)
    folder.mkdir()
    (folder / "gitea").write_text("#!/bin/sh\ncat >/dev/null\n")
    (folder / "gitea").chmod(0o755)
    os.chown(folder, NOBODY, NOBODY)
    before = listing(bare.repo)
    bare.install("--server", "gitea")
    settings = (bare.home / "policyd.yaml").read_text()
    assert "\nserver: gitea\n" in settings
    assert "\nidentity: {from: gitea}\n" in settings
    assert (folder / "policyd").exists()
    assert bare.run("uninstall").returncode == 0
    assert listing(bare.repo) == before


def test_the_program_stays_while_a_hook_names_it(server):
    for index in (server.state / "repos").iterdir():
        index.unlink()
    done = server.run("uninstall")
    assert done.returncode == 1
    assert f"{server.repo}/hooks/pre-receive" in done.stderr
    assert (server.opt / "current/bin/python").exists()
    server.policyd("unenroll", str(server.repo))
    assert server.run("uninstall").returncode == 0
    assert without_objects(listing(server.repo)) == without_objects(server.before)


def test_shellcheck_finds_nothing():
    tool = Path(sysconfig.get_path("scripts")) / "shellcheck"
    done = subprocess.run([tool, "install.sh", *(path.relative_to(ROOT) for path in SCRIPTS)],
                          cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert SCRIPTS, sys.path
