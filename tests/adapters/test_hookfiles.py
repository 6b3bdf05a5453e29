"""The hook in a repository: how it gets there, what it keeps, how it goes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import forks
import pytest
from sites import FRAME, listing

from policyd.adapters import hookfiles
from policyd.adapters.hookfiles import Installed, Removed
from policyd.adapters.nexthook import CHAINED
from policyd.core.errors import CannotJudge

OLD = "#!/bin/sh\necho old hook\n"
PROGRAM = f"""#!/bin/sh
printf 'judged with %s\\n' "$*"
[ ! -x hooks/{CHAINED} ] || exec hooks/{CHAINED}
"""


class Repo:
    """A bare repository, a clone with one commit, and a program that stands in for policyd."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.server, self.work = folder, folder / "r.git", folder / "work"
        self.hooks = self.server / "hooks"
        self.hook, self.chained = self.hooks / "pre-receive", self.hooks / CHAINED
        self.program = folder / "a program"
        self.program.write_text(PROGRAM)
        self.program.chmod(0o755)
        self.text = hookfiles.text(self.program, folder / "the home")
        self.git("init", "-q", "--bare", "--template=", str(self.server))
        self.git("init", "-q", "--template=", str(self.work))
        self.git("commit", "-q", "--allow-empty", "-m", "one", cwd=self.work)
        self._pushes = 0

    def git(self, *arguments: str, cwd: Path | None = None) -> None:
        subprocess.run(["git", *arguments], cwd=cwd or self.folder, check=True,
                       env={**FRAME, "PATH": os.environ["PATH"]})

    def old(self, text: str = OLD, mode: int = 0o755) -> None:
        self.hooks.mkdir(exist_ok=True)
        self.hook.write_text(text)
        self.hook.chmod(mode)

    def push(self) -> tuple[int, list[str]]:
        """Push to a new branch: git's exit code and what the hooks said."""
        self._pushes += 1
        done = subprocess.run(
            ["git", "push", str(self.server), f"HEAD:refs/heads/b{self._pushes}"], cwd=self.work,
            env={**FRAME, "PATH": os.environ["PATH"]}, capture_output=True, text=True)
        return done.returncode, [line.removeprefix("remote: ").rstrip()
                                 for line in done.stderr.splitlines() if "remote:" in line]

    def install(self) -> Installed:
        return hookfiles.install(self.server, self.text)

    @property
    def judged(self) -> str:
        return f"judged with -I -m policyd --home {self.folder / 'the home'} hook"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo(tmp_path)


def link(repo: Repo) -> None:
    repo.hooks.mkdir()
    (repo.server / "site-hook").write_text(OLD)
    (repo.server / "site-hook").chmod(0o755)
    repo.hook.symlink_to("../site-hook")


BEFORE = {
    "no hooks folder": lambda _: None,
    "an empty hooks folder": lambda repo: repo.hooks.mkdir(),
    "other files": lambda repo: (repo.hooks.mkdir(), (repo.hooks / "update").write_text("x")),
    "a hook": lambda repo: repo.old(),
    "a hook that is not executable": lambda repo: repo.old(mode=0o640),
    "a hook that only its owner runs": lambda repo: repo.old(mode=0o700),
    "an empty hook": lambda repo: repo.old(""),
    "a link": link,
    "a link that leads nowhere": lambda repo: (
        repo.hooks.mkdir(), repo.hook.symlink_to("/nowhere")),
    "a folder that is a link": lambda repo: (
        (repo.server / "kept").mkdir(), repo.hooks.symlink_to("kept")),
}
RUNS = {"a hook", "a hook that only its owner runs", "a link"}


@pytest.mark.parametrize("before", BEFORE)
def test_what_was_there_comes_back_byte_for_byte(repo, before):
    BEFORE[before](repo)
    untouched = listing(repo.server)
    repo.install()
    repo.install()
    hookfiles.install(repo.server, hookfiles.text(repo.program, repo.folder / "another home"))
    assert hookfiles.is_installed(repo.server)
    hookfiles.uninstall(repo.server)
    assert listing(repo.server) == untouched


@pytest.mark.parametrize("before", BEFORE)
def test_pushes_are_judged_and_an_executable_old_hook_runs(repo, before):
    BEFORE[before](repo)
    expected = [repo.judged] + (["old hook"] if before in RUNS else [])
    for met in ({Installed.NEW, Installed.REPLACED}, {Installed.SAME}):
        assert repo.install() in met
        assert repo.push() == (0, expected)
    assert oct(repo.hook.stat().st_mode)[-3:] == "755"
    assert not [file for file in repo.hooks.iterdir() if file.name.startswith(".")]


def test_the_kept_hook_is_the_same_file(repo):
    repo.old()
    os.utime(repo.hook, ns=(1, 1))
    before = repo.hook.stat()
    repo.install()
    kept = repo.chained.stat()
    assert (kept.st_ino, kept.st_mtime_ns) == (before.st_ino, 1)


def test_a_renewed_hook_names_the_new_program_and_chains_no_hook_of_ours(repo):
    repo.install()
    other = hookfiles.text(repo.program, repo.folder / "another home")
    assert hookfiles.install(repo.server, other) is Installed.RENEWED
    assert not repo.chained.exists()
    assert repo.push() == (0, [repo.judged.replace("the home", "another home")])


@pytest.mark.parametrize("spoil", [
    lambda repo: repo.hook.chmod(0o644),
    lambda repo: repo.hook.write_bytes(repo.text.replace(b"exec", b"exec exec")),
    lambda repo: repo.chained.write_bytes(repo.text),
    lambda repo: (repo.hook.rename(repo.server / "x"), repo.hook.symlink_to("../x")),
])
def test_a_spoilt_hook_is_put_right(repo, spoil):
    repo.install()
    spoil(repo)
    assert repo.install() is Installed.RENEWED
    assert repo.push() == (0, [repo.judged])
    assert not repo.hook.is_symlink()
    assert not repo.chained.exists()


def test_two_foreign_hooks_are_for_the_operator_to_choose_from(repo):
    repo.old()
    repo.install()
    repo.hook.unlink()
    repo.old("#!/bin/sh\necho a third\n")
    with pytest.raises(CannotJudge, match="remove the one that is not to run"):
        repo.install()
    assert repo.push() == (0, ["a third"])
    assert hookfiles.uninstall(repo.server) is Removed.NOT_OURS
    assert repo.push() == (0, ["a third"])


def test_a_hook_folder_in_place_of_a_hook_is_refused(repo):
    repo.hook.mkdir(parents=True)
    with pytest.raises(CannotJudge, match="neither a file nor a link"):
        repo.install()


def test_nothing_to_take_out_is_no_failure(repo):
    assert hookfiles.uninstall(repo.server) is Removed.ABSENT


@pytest.mark.parametrize("spoil", ["unlink", "chmod"])
def test_a_missing_program_refuses_with_one_line(repo, spoil):
    repo.install()
    repo.program.unlink() if spoil == "unlink" else repo.program.chmod(0o644)
    assert repo.push() == (1, [f"policyd: could not be judged: the program {repo.program} is "
                               "missing; the operator runs policyd enroll"])


@pytest.mark.parametrize("name", ["plain", "two words", "it's", "$(touch x)", "a\\nb", "`id`;&|\""])
def test_any_path_survives_the_shell(tmp_path, name):
    folder = tmp_path / name
    folder.mkdir()
    repo = Repo(folder)
    repo.install()
    assert repo.push() == (0, [repo.judged])


def test_nothing_in_the_environment_chooses_another_program(repo, tmp_path, monkeypatch):
    evil = tmp_path / "evil"
    evil.mkdir()
    for name in ("python", "python3", "policyd", "printf", "exec", "env"):
        (evil / name).write_text("#!/bin/sh\nexit 0\n")
        (evil / name).chmod(0o755)
    (evil / "profile").write_text("exit 0\n")
    for name in ("ENV", "BASH_ENV"):
        monkeypatch.setitem(FRAME, name, str(evil / "profile"))
    for name in ("PYTHON", "HOME", "POLICYD_HOME"):
        monkeypatch.setitem(FRAME, name, str(evil))
    monkeypatch.setenv("PATH", f"{evil}:{os.environ['PATH']}")
    repo.install()
    assert repo.push() == (0, [repo.judged])


CRASHING = """
import os, signal, sys
from pathlib import Path
from policyd.adapters import hookfiles

left, server = int(sys.argv[1]), sys.argv[3]
def stop(event, arguments):
    global left
    names = ("open", "os.mkdir", "os.link", "os.rename", "os.remove", "os.rmdir", "os.chmod")
    if event in names and (event == "os.chmod" or any(server in str(a) for a in arguments)):
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)

text = hookfiles.text(Path(sys.argv[4]), Path(sys.argv[5]))
sys.addaudithook(stop)
if sys.argv[2] == "install":
    hookfiles.install(Path(server), text)
else:
    hookfiles.uninstall(Path(server))
"""


def crash(repo: Repo, what: str, after: int) -> bool:
    """Kill `what` before its step number `after`; False when it had no more steps."""
    code = forks.run(CRASHING, after, what, repo.server, repo.program, repo.folder / "the home")
    assert code in (0, -9)
    return code == -9


@pytest.mark.parametrize(("what", "before"), [
    ("install", "no hooks folder"), ("install", "a hook"), ("install", "a link"),
    ("renew", "a hook"), ("uninstall", "no hooks folder"), ("uninstall", "a link")])
def test_a_crash_leaves_the_old_hook_or_ours_and_never_neither(tmp_path, what, before):
    steps = 0
    while True:
        folder = tmp_path / str(steps)
        folder.mkdir()
        repo = Repo(folder)
        BEFORE[before](repo)
        untouched = listing(repo.server)
        if what != "install":
            repo.install()
        if what == "renew":
            repo.hook.write_bytes(repo.hook.read_bytes() + b"# older\n")
        if not crash(repo, what.replace("renew", "install"), steps):
            break
        code, told = repo.push()
        guarded = before in RUNS or what == "renew"
        assert code == 0
        assert told in ([repo.judged, "old hook"], ["old hook"]) if before in RUNS \
            else told in ([repo.judged], []) and (told or not guarded)
        if steps % 2:
            repo.install()
            assert repo.push()[1][0] == repo.judged
        hookfiles.uninstall(repo.server)
        remove_pushed(repo)
        after = {path: found for path, found in listing(repo.server).items()
                 if not path.startswith(("objects", "refs"))}
        assert {path: found for path, found in untouched.items()
                if not path.startswith(("objects", "refs"))} == after or (
            before == "no hooks folder" and set(after) - set(untouched) == {"hooks"})
        steps += 1
    assert steps >= 4


def remove_pushed(repo: Repo) -> None:
    for ref in (repo.server / "refs/heads").iterdir():
        ref.unlink()


def test_a_draft_that_a_crash_left_at_the_second_name_is_no_old_hook(repo):
    repo.old()
    repo.chained.write_bytes(repo.text)
    assert repo.push() == (0, ["old hook"])
    assert repo.install() is Installed.REPLACED
    assert repo.push() == (0, [repo.judged, "old hook"])


def test_two_names_change_places_in_one_step(tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_text("1")
    other.symlink_to("nowhere")
    hookfiles._exchange(one, other)
    assert other.read_text() == "1"
    assert os.readlink(one) == "nowhere"


def test_a_hook_that_belongs_to_root_is_kept_as_it_is(open_python, open_folder):
    """Where linking another user's file is forbidden, which is how most servers are set up."""
    folder = open_folder / "roots-hook"
    folder.mkdir()
    repo = Repo(folder)
    repo.old()
    before = repo.hook.stat()
    for path in (repo.server, *repo.server.rglob("*")):
        if path != repo.hook:
            os.chown(path, 65534, 65534)
    subprocess.run(
        [open_python, "-I", "-c", CRASHING, "99", "install", repo.server, repo.program, folder],
        user=65534, group=65534, extra_groups=[], check=True, cwd="/")
    kept = repo.chained.stat()
    assert (kept.st_ino, kept.st_uid, repo.hook.stat().st_uid) == (before.st_ino, 0, 65534)
    assert hookfiles.is_installed(repo.server)
