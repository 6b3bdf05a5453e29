"""What cannot be read, written, reached or finished in time refuses the push, and says so.

Families of public reports: a malformed policy that allows everything (apm#936, pmcp#202,
rocky#1559), time budgets (ggshield#119, claude-supertool#1242), argument lists that are too long
(githooks#166, prek#1491).

Every row of the table is a push that exits with 2 under `mode: enforce`, with one sentence that
names the thing, no traceback, refs as they were and an incident for the operator; under
`mode: observe` the same push passes. What comes before the policy (C163: the policy in force
itself, the lines on standard input) refuses always: no mode is known yet.

Not covered yet: a warm process beside the hook (C164, C165, C166) does not exist; the hook
judges alone, and a dead daemon has no part in it.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from pushing import Entry, accepted, by_hand, made, reason, refused, unjudged
from sites import MAIN, Site

from policyd.adapters import repoindex

APART = "separate-authorship"
ORACLE = "oracle/rates.json"
Files = dict[str | bytes, Entry]
SOURCE: Files = {"src/app.py": b"x = 1\n"}
MIXED: Files = SOURCE | {ORACLE: b"{}\n"}

# --- The table: one thing is broken, the push is clean ---------------------------------------


@dataclass(frozen=True, slots=True)
class Broken:
    """How something is broken, what the sentence says, and whether an incident can be kept."""

    does: Callable[[Site], object]
    because: str
    incident: bool = True


def index_file(site: Site) -> Path:
    return Path(repoindex.path_of(site.state, repoindex.key_of(site.server)))


def key_file(site: Site) -> Path:
    return site.server / repoindex.KEY_FILE


def log_file(site: Site) -> Path:
    return site.state / "decisions.jsonl"


def linked(path: Path) -> None:
    """The file is a symbolic link to itself elsewhere."""
    path.rename(path.with_name("elsewhere"))
    path.symlink_to(path.with_name("elsewhere"))


def foldered(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.mkdir()


def piped(path: Path) -> None:
    """A pipe that nobody reads: opening it must not wait."""
    path.unlink()
    os.mkfifo(path)


def hook_runs(site: Site, before: str) -> None:
    """A wrapper that does something before it runs the hook."""
    hook = site.server / "hooks/pre-receive"
    hook.rename(hook.with_name("gate"))
    hook.write_text(f'#!/bin/sh\n{before}\nexec "$(dirname "$0")/gate"\n')
    hook.chmod(0o755)


def lost(site: Site, object_: str) -> None:
    """An object of accepted history is gone from the server."""
    oid = site.git("rev-parse", object_, cwd=site.server)
    (site.server / "objects" / oid[:2] / oid[2:]).unlink()


BROKEN: dict[str, Broken] = {
    "the index is missing": Broken(lambda s: index_file(s).unlink(), "index "),
    "the index is cut off": Broken(lambda s: os.truncate(index_file(s), 40), "index "),
    "the index is no JSON": Broken(lambda s: index_file(s).write_text("\0"), "index "),
    "the index is a link": Broken(lambda s: linked(index_file(s)), "index "),
    "the index is a folder": Broken(lambda s: foldered(index_file(s)), "index "),
    "the index is a pipe": Broken(lambda s: piped(index_file(s)), "index "),
    "the index is another's": Broken(lambda s: index_file(s).write_text(index_file(
        s).read_text().replace(repoindex.key_of(s.server), "0" * 32)), "index "),
    "the folder of indexes is gone": Broken(lambda s: shutil.rmtree(s.state / "repos"), "index "),
    "the key is missing": Broken(lambda s: key_file(s).unlink(), "is not enrolled"),
    "the key is empty": Broken(lambda s: key_file(s).write_text(""), "holds no key"),
    "the key is a path": Broken(lambda s: key_file(s).write_text("../" * 10), "holds no key"),
    "the key is a link": Broken(lambda s: linked(key_file(s)), "policyd-key cannot be read"),
    "the key is of no repository": Broken(lambda s: key_file(s).write_text("0" * 32), "index "),
    "the log is a folder": Broken(lambda s: foldered(log_file(s)), "decision log "),
    "the log is a link": Broken(lambda s: linked(log_file(s)), "decision log "),
    "the log is a pipe": Broken(lambda s: piped(log_file(s)), "decision log "),
    "the log has lost its end": Broken(lambda s: os.truncate(log_file(s), 0), "lost entries"),
    "the lock is a link": Broken(lambda s: linked(s.state / "lock"), "lock "),
    "the lock is a folder": Broken(lambda s: foldered(s.state / "lock"), "lock "),
    "the state folder is gone": Broken(lambda s: shutil.rmtree(s.state), "state folder ",
                                       incident=False),
    "the state folder is a link": Broken(lambda s: linked(s.state), "state folder "),
    "the state folder is open to all": Broken(lambda s: s.state.chmod(0o777), "state folder "),
    "a tree of main is lost": Broken(lambda s: lost(s, f"{MAIN}^{{tree}}"), "git fsck"),
    "history is cut off": Broken(lambda s: (s.server / "shallow").write_text(""), "shallow"),
    "files may not grow": Broken(lambda s: hook_runs(s, "ulimit -f 0"), "cannot be written: file "
                                 "too large", incident=False),
    "the time is too short": Broken(lambda s: s.edit_policy("seconds: 5}", "seconds: 0.000001}"),
                                    "`bounds: seconds`"),
    "too many commits": Broken(lambda s: s.edit_policy("max_commits: 50000", "max_commits: 1"),
                               "`bounds: max_commits`"),
    "too many files": Broken(lambda s: s.edit_policy("max_files: 50000", "max_files: 1"),
                             "`bounds: max_files`"),
}


def two_commits(site: Site) -> str:
    first = made(site, {"src/app.py": b"x = 1\n", "src/b.py": b"x = 1\n"}, on=site.base_tip)
    return f"{made(site, {'docs/notes.md': b''}, on=first)}:{MAIN}"


@pytest.fixture
def counted(site: Site) -> Site:
    """A site whose hook leaves its exit code beside the repository."""
    hook = site.server / "hooks/pre-receive"
    hook.rename(hook.with_name("judge"))
    hook.write_text('#!/bin/sh\n"$(dirname "$0")/judge"; code=$?\n'
                    f'echo $code >"{site.folder}/code"; exit $code\n')
    hook.chmod(0o755)
    return site


def code(site: Site) -> int:
    return int((site.folder / "code").read_text())


@pytest.mark.parametrize("what", BROKEN)
def test_what_is_broken_refuses_a_clean_push_and_is_named(counted, what):
    site, broken = counted, BROKEN[what]
    spec = two_commits(site)
    broken.does(site)
    unjudged(site, spec, because=broken.because, incident=broken.incident)
    assert what == "files may not grow" or code(site) == 2


ONE_OF_EACH = ["the index is missing", "the key is missing", "the log is a folder",
               "the log has lost its end", "the lock is a link", "the state folder is gone",
               "the state folder is open to all", "a tree of main is lost", "history is cut off",
               "files may not grow", "the time is too short", "too many commits"]


@pytest.mark.parametrize("what", ONE_OF_EACH)
def test_what_is_broken_stops_nobody_while_the_policy_observes(site, what):
    spec = two_commits(site)
    site.edit_policy("\nmode: enforce", "\nmode: observe")
    incidents = len(site.incidents())
    BROKEN[what].does(site)
    accepted(site, spec, as_="agent-7")
    if BROKEN[what].incident:
        assert len(site.incidents()) == incidents + 1


def test_damaged_objects_and_grafts_are_named(site):
    """By hand, for git has words of its own about them before it runs a hook."""
    tip = two_commits(site).split(":")[0]
    line = f"{site.base_tip} {tip} {MAIN}\n".encode()
    grafts = site.server / "info/grafts"
    grafts.parent.mkdir(exist_ok=True)
    grafts.write_text("")
    ran = by_hand(site, line)
    assert (ran.returncode, b"info/grafts" in ran.stderr) == (2, True)
    grafts.unlink()
    for where in (site.server / "objects", site.work / ".git/objects"):
        oid = site.git("rev-parse", f"{site.base_tip}^{{tree}}")
        file = where / oid[:2] / oid[2:]
        file.chmod(0o600)
        file.write_bytes(b"\x78\x9cgarbage")
    ran = by_hand(site, line)
    assert ran.returncode == 2
    assert f"the object {oid[:12]} cannot be read" in reason(ran.stderr.decode().splitlines())


def test_a_repository_that_no_policy_names_is_refused(site):
    spec = two_commits(site)
    site.edit_policy('repositories: ["**"]', 'repositories: ["other"]')
    unjudged(site, spec, because="no policy holds for the repository r")


def test_a_state_folder_of_another_user_is_named(site):
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder away")
    spec = two_commits(site)
    os.chown(site.state, 1, 1)
    unjudged(site, spec, because="pushes must arrive as")


def test_a_lock_that_somebody_keeps_is_named_after_a_while(site):
    spec = two_commits(site)
    with open(site.state / "lock", "rb+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        unjudged(site, spec, because="is locked by another process for too long")
    accepted(site, spec)


@contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    """The folder on a disk of 64 KiB that is full, but for what it holds already."""
    kept = folder.with_name("kept")
    shutil.copytree(folder, kept)
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k,mode=700", "none", folder],
                          capture_output=True, check=False)
    if done.returncode:
        pytest.skip("no disk can be mounted here")
    try:
        shutil.copytree(kept, folder, dirs_exist_ok=True)
        with open(folder / "filler", "wb", buffering=0) as filler:
            _fill(filler.fileno())
        yield
    finally:
        subprocess.run(["umount", folder], check=True)


def _fill(descriptor: int) -> None:
    try:
        while os.write(descriptor, b"x" * 512):
            pass
    except OSError:
        return


def test_a_full_disk_is_named_and_pushes_pass_again_when_it_is_not(site):
    if os.geteuid() != 0:
        pytest.skip("only root can mount a disk")
    spec = two_commits(site)
    with small_disk(site.state):
        assert site.push(spec) == 1
        assert "no space left on device" in reason(site.told)
        assert site.refs()[MAIN] == site.base_tip
        (site.state / "filler").unlink()
        accepted(site, spec)
        assert site.policyd("log", "verify") == 0, site.out


# --- The program git, and processes ------------------------------------------------------------

def long_line(site: Site, count: int, last: Files) -> str:
    """So many commits on top of BASE in one stream, the last one with these files."""
    stream = [b"reset refs/made/long\nfrom %s\n\n" % site.base_tip.encode()]
    for number in range(count):
        stream.append(b"commit refs/made/long\ncommitter Dev <d@e.org> %d +0000\ndata 1\nx\n"
                      b"M 100644 inline src/app.py\ndata <<E\nx = %d\nE\n\n"
                      % (1768500000 + number, number))
    subprocess.run(["git", "fast-import", "--quiet"], cwd=site.work, check=True,
                   input=b"".join(stream), env=site.environment())
    return made(site, last, on=site.tip("refs/made/long"))


NO_GIT = "PATH=/absent; export PATH"


def without_git(site: Site) -> None:
    hook = site.server / "hooks/pre-receive"
    hook.rename(hook.with_name("gate"))
    hook.write_text(f'#!/bin/sh\n{NO_GIT}\nexec "{hook.with_name("gate")}"\n')
    hook.chmod(0o755)


def test_many_commits_are_judged_without_the_program_git_too(site):
    clean, mixed = long_line(site, 70, {}), long_line(site, 70, {ORACLE: b"{}\n"})
    without_git(site)
    refused(site, f"{mixed}:{MAIN}", by={APART})
    accepted(site, f"{clean}:{MAIN}")


def test_distant_merge_bases_without_the_program_git_are_no_verdict(site):
    """Beyond 4,000 commits the program is asked; its absence is named."""
    far = long_line(site, 4_100, {})
    assert site.policyd("unenroll", str(site.server)) == 0
    site.git("push", "--quiet", "origin", f"{far}:{MAIN}")
    site.enroll()
    mine = made(site, {"src/mine.py": b""}, on=site.base_tip)
    tip = made(site, {"src/mine.py": b""}, on=far, merging=(mine,))
    hook = site.server / "hooks/pre-receive"
    kept = hook.read_bytes()
    without_git(site)
    unjudged(site, f"{tip}:{MAIN}", because="git merge-base cannot be asked: no such file")
    hook.write_bytes(kept)
    accepted(site, f"{tip}:{MAIN}")


# --- The policy in force -------------------------------------------------------------------------

def current(site: Site) -> Path:
    return site.home / "active/current"


IN_FORCE: dict[str, tuple[Callable[[Site], object], str]] = {
    "absent": (lambda s: current(s).unlink(), "policyd policy apply"),
    "its folder absent": (lambda s: shutil.rmtree(current(s).parent), "policyd policy apply"),
    "empty": (lambda s: current(s).write_bytes(b""), "policyd policy apply"),
    "cut off": (lambda s: os.truncate(current(s), 300), "policyd policy apply"),
    "edited": (lambda s: current(s).write_bytes(current(s).read_bytes().replace(
        b"enforce", b"observe")), "policyd policy apply"),
    "no JSON": (lambda s: current(s).write_bytes(b"version: 1\n"), "policyd policy apply"),
    "a link": (lambda s: linked(current(s)), "is not a regular file"),
    "a folder": (lambda s: foldered(current(s)), "is not a regular file"),
    "a pipe": (lambda s: piped(current(s)), "is not a regular file"),
    "writable by all": (lambda s: current(s).chmod(0o666), "is writable by others"),
    "in a folder open to all": (lambda s: current(s).parent.chmod(0o777), "is writable by others"),
    "in a home open to all": (lambda s: s.home.chmod(0o777), "is writable by others"),
    "in a home that is a link": (lambda s: linked(s.home), "is not a folder"),
    "in a home that is gone": (lambda s: s.home.rename(s.folder / "gone"), "is absent"),
}


@pytest.mark.parametrize("what", IN_FORCE)
def test_a_policy_in_force_that_cannot_be_trusted_refuses_everything(counted, what):
    """C163"""
    site = counted
    tip = made(site, MIXED if len(what) % 2 else SOURCE, on=site.base_tip)
    does, because = IN_FORCE[what]
    does(site)
    unjudged(site, f"{tip}:{MAIN}", because=because, incident=False)
    assert code(site) == 2


def test_a_policy_in_force_of_another_user_is_not_trusted(site):
    """C163"""
    if os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    tip = made(site, SOURCE, on=site.base_tip)
    os.chown(current(site), 1, 1)
    unjudged(site, f"{tip}:{MAIN}", because="belongs to uid 1", incident=False)


EDITS: dict[str, Callable[[Path], object]] = {
    "no YAML": lambda p: (p / "default.yaml").write_text("version: [1\n  mode: {"),
    "no policy": lambda p: (p / "default.yaml").write_text("version: 1\nrules: {x: {}}\n"),
    "allows all by a misspelled key": lambda p: (p / "default.yaml").write_text(
        (p / "default.yaml").read_text().replace("rules:", "rulez:")),
    "deleted": lambda p: (p / "default.yaml").unlink(),
}


@pytest.mark.parametrize("what", EDITS)
def test_a_policy_that_is_edited_badly_changes_nothing(site, what):
    """C163: the case asks to refuse; what was applied stays in force, and holds."""
    EDITS[what](site.home / "policies")
    assert site.policyd("policy", "apply") != 0
    refused(site, f"{made(site, MIXED, on=site.base_tip)}:{MAIN}", by={APART})
    accepted(site, f"{made(site, SOURCE, on=site.base_tip)}:{MAIN}", as_="agent-7")


# --- Bounds that are findings, and large pushes --------------------------------------------------

def test_a_source_larger_than_is_read_is_refused_by_name(site):
    site.edit_policy("max_blob_bytes: 1048576", "max_blob_bytes: 100")
    files: Files = {"src/big.py": b"#" * 200, "tests/test_big.py": b"pass\n"}
    refused(site, f"{made(site, files, on=site.base_tip)}:{MAIN}",
            by={"literal-overlap", "no-answer-key"})
    assert "larger than 100 bytes" in "\n".join(site.told)


def test_more_sources_of_late_than_are_read_are_named(site):
    tip = made(site, {f"src/m{n}.py": b"x = 1\n" for n in range(3)}, on=site.base_tip)
    accepted(site, f"{tip}:{MAIN}")
    site.edit_policy("seconds: 5}", "seconds: 5, lookback_files: 2}")
    test = made(site, {"tests/test_m.py": b"pass\n"}, on=tip)
    unjudged(site, f"{test}:{MAIN}", because="`bounds: lookback_files`")


def test_two_thousand_sources_and_tests_are_judged_or_too_large(site):
    """C169: within the bound a verdict, beyond it a refusal that names the bound."""
    files: Files = {f"src/p{n % 40}/m{n}.py": b"def f%d(x): return x + %d\n" % (n, n)
                    for n in range(1_600)}
    files |= {f"tests/t{n}/test_m{n}.py": b"def test(): assert f(%d)\n" % n for n in range(400)}
    clean = made(site, files, on=site.base_tip)
    paste: Files = {"src/p7/late.py": b"X = 'EUR 17.25'\n",
                    "tests/t9/test_late.py": b"assert f() == 'EUR 17.25'\n"}
    pasted = made(site, paste, on=clean)
    site.edit_policy("seconds: 5}", "seconds: 0.05}")
    unjudged(site, f"{clean}:{MAIN}", because="seconds")
    site.edit_policy("seconds: 0.05}", "seconds: 120}")
    refused(site, f"{pasted}:{MAIN}", by={"literal-overlap"})
    accepted(site, f"{clean}:{MAIN}", as_="agent-7")


@pytest.mark.skipif(not os.environ.get("POLICYD_LONG"),
                    reason="30,000 files take ten seconds; POLICYD_LONG=1 runs it")
def test_thirty_thousand_files_of_long_names_fit_every_argument_list(site):
    """C170: a rule that asked 30,000 times for a path among 30,000 took three minutes."""
    site.edit_policy("seconds: 5}", "seconds: 120}")
    files: Files = {f"src/{n % 50:02}/{n:06}{'x' * 141}.txt": b"" for n in range(30_000)}
    clean = made(site, files, on=site.base_tip)
    mixed = made(site, {ORACLE: b"{}\n"}, on=clean)
    start = time.monotonic()
    refused(site, f"{mixed}:{MAIN}", by={APART})
    assert time.monotonic() - start < 90
    accepted(site, f"{clean}:{MAIN}", as_="agent-7")
