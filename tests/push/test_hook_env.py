"""What surrounds the hook changes no verdict: quarantine, streams, users, Python's own variables.

Families of public reports: objects in quarantine that libgit2 does not see (pygit2#676,
rugged#844, git-lfs#4685), hooks that write (dokku#2796, gitreceive#45), repositories of another
user (pygit2#1156, ggshield#1123), bare ones (pre-commit#2441), a polluted interpreter
(puppet-git-hooks#76), a reason that never arrives (block/buzz#4193), a reader that goes away
(gitea#26129).

C028 (a C locale) stands in test_path_encoding. Not covered yet, because they need `doctor` and
the daemon: a hook that lost its x bit (C033), that the host never looks at (C034; enrolment
refuses core.hooksPath, see tests/cli), that links to a program doing nothing (C035), and a
branch that moved with no hook (C036; that such a commit is judged later is in test_push_ref).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pushing import ZERO, Entry, accepted, by_hand, made, refused, rules
from sites import MAIN, Site, listing

APART, WRITERS = "separate-authorship", "protected-writers"
ORACLE = "oracle/rates.json"
Files = dict[str | bytes, Entry]
SOURCE: Files = {"src/app.py": b"x = 1\n"}
MIXED: Files = SOURCE | {ORACLE: b"{}\n"}
NOBODY = 65534
VERSION = f"python{sys.version_info.major}.{sys.version_info.minor}"


def both(site: Site, **more: dict[str, str]) -> None:
    """A mixed push is refused by the rule and not by an accident; a clean one is accepted."""
    refused(site, f"{made(site, MIXED, on=site.base_tip)}:{MAIN}", by={APART}, **more)
    accepted(site, f"{made(site, SOURCE, on=site.base_tip)}:{MAIN}", **more)


# --- Where objects lie -----------------------------------------------------------------------

@pytest.mark.parametrize(("limit", "packed"), [("1", False), ("1", True), ("10000", False),
                                               ("10000", True)])
def test_pushed_objects_are_seen_in_every_form(site, limit, packed):
    """C021, C026: loose or as a pack in the quarantine, on top of loose or packed ones."""
    site.git("config", "receive.unpackLimit", limit, cwd=site.server)
    if packed:
        site.git("repack", "-adq", cwd=site.server)
        site.git("prune-packed", cwd=site.server)
    both(site)


def test_objects_that_another_repository_lends_are_seen(site):
    """C021: objects/info/alternates, as in forks."""
    lender = site.folder / "lender.git"
    shutil.copytree(site.server, lender)
    shutil.rmtree(site.server / "objects")
    (site.server / "objects/info").mkdir(parents=True)
    (site.server / "objects/info/alternates").write_text(f"{lender / 'objects'}\n")
    both(site)


def test_a_push_of_several_packs_and_deltas_is_seen(site):
    """C021: a thin pack, whose bases lie outside the quarantine."""
    site.git("config", "receive.unpackLimit", "1", cwd=site.server)
    long = b"".join(b"value_%d = %d\n" % (n, n) for n in range(4_000))
    first = made(site, {"src/long.py": long}, on=site.base_tip)
    accepted(site, f"{first}:{MAIN}")
    second = made(site, {"src/long.py": long + b"x = 1\n", ORACLE: b"{}\n"}, on=first)
    refused(site, f"{second}:{MAIN}", by={APART})


# --- The hook leaves nothing -----------------------------------------------------------------

def test_a_push_leaves_nothing_but_its_objects_its_ref_and_the_record(site):
    """C023: also one of so many commits that git is asked to compare them."""
    (site.folder / "tmp").mkdir()
    tip = site.base_tip
    for number in range(70):
        tip = made(site, {"src/app.py": b"x = %d\n" % number}, on=tip)
    mixed = made(site, {ORACLE: b"{}\n"}, on=tip)
    before, kept = site.refs(), listing(site.server)
    environment = {"TMPDIR": str(site.folder / "tmp")}
    refused(site, f"{mixed}:{MAIN}", by={APART}, env=environment)
    assert listing(site.server) == kept
    accepted(site, f"{tip}:{MAIN}", env=environment)
    assert site.refs() == {**before, MAIN: tip}
    left = {path for path in listing(site.server).keys() ^ kept.keys()
            if not path.startswith("objects/")}
    assert left == set()
    assert listing(site.folder / "tmp") == {}
    assert {path.name for path in site.state.iterdir()} <= {
        "decisions.jsonl", "lock", "repos", "hints", "gates", "jobs", "clock.json", "parsed",
        "corpora", "told"}


# --- Another user ----------------------------------------------------------------------------

@pytest.fixture
def readable(site: Site, open_folder: Path) -> Site:
    """The site where every user may enter. Only root has use for it."""
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    copied = site.copied(open_folder / site.folder.parent.name)
    copied.folder.chmod(0o755)
    return copied


def give(folder: Path, user: int) -> None:
    for path in (folder, *folder.rglob("*")):
        os.lchown(path, user, user)


def test_a_repository_of_another_user_that_git_trusts_is_judged_all_the_same(readable):
    """C025: the case asks to refuse both. Git has decided who may come in; no mixed push passes."""
    give(readable.server, NOBODY)
    trusting = readable.folder / "gitconfig"
    trusting.write_text("[safe]\n\tdirectory = *\n")
    environment = {"GIT_CONFIG_GLOBAL": str(trusting)}
    mixed, clean = (made(readable, files, on=readable.base_tip) for files in (MIXED, SOURCE))
    assert readable.push(f"{mixed}:{MAIN}", env=environment) == 1
    assert rules(readable.told) == {APART}
    accepted(readable, f"{clean}:{MAIN}", env=environment)


def test_a_repository_of_another_user_that_git_does_not_trust_takes_nothing(readable):
    """C025"""
    give(readable.server, NOBODY)
    tip = made(readable, SOURCE, on=readable.base_tip)
    assert readable.push(f"{tip}:{MAIN}") != 0
    assert readable.git("--git-dir", str(readable.server), "rev-parse", MAIN) == readable.base_tip


@pytest.mark.parametrize("files", [SOURCE, MIXED], ids=["clean", "mixed"])
def test_a_push_that_arrives_as_another_user_is_refused_and_says_as_whom(readable, open_python,
                                                                        files):
    """C025: the state folder is root's, who enrolled; the push arrives as somebody else."""
    site = readable
    hook = site.server / "hooks/pre-receive"
    hook.write_text(hook.read_text().replace(sys.executable, str(open_python)))
    give(site.server, NOBODY)
    give(site.work, NOBODY)
    tip = made_by(site, files)
    done = subprocess.run(
        ["git", "push", "origin", f"{tip}:{MAIN}"], cwd=site.work, capture_output=True, text=True,
        env=site.environment(REMOTE_USER="alice", GIT_CONFIG_COUNT="1", HOME="/",
                             GIT_CONFIG_KEY_0="safe.directory", GIT_CONFIG_VALUE_0="*"),
        user=NOBODY, group=NOBODY, extra_groups=[], check=False)
    assert done.returncode == 1, done.stderr
    said = done.stderr.replace("\nremote:  ", "").replace("\nremote: ", " ")
    assert "could not be judged: pushes must arrive as root" in said
    assert "Traceback" not in said


def made_by(site: Site, files: Files) -> str:
    """Commit for another user, whose clone root may not even look at unasked."""
    trusting = site.folder / "gitconfig"
    trusting.write_text("[safe]\n\tdirectory = *\n")
    give(site.work, 0)
    tip = made(site, files, on=site.base_tip)
    give(site.work, NOBODY)
    return tip


# --- Python's own variables ------------------------------------------------------------------

FAKES = ["yaml", "pygit2", "pathspec", "msgspec", "json", "subprocess", "os", "ast", "zoneinfo",
         "datetime", "hashlib", "sitecustomize", "usercustomize", "encodings", "policyd",
         "site", "dataclasses", "re", "enum", "traceback", "syslog", "tempfile", "select", "struct"]
FAKE = "import posix\nposix._exit(0)\n"


def fakes(folder: Path) -> Path:
    """Modules of those names which, once imported, end the process as an acceptance would."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in FAKES:
        (folder / f"{name}.py").write_text(FAKE)
    return folder


POLLUTED = ["PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONUSERBASE", "PYTHONPLATLIBDIR",
            "PYTHONPYCACHEPREFIX", "VIRTUAL_ENV"]
ODD = {"PYTHONINSPECT": "1", "PYTHONOPTIMIZE": "2", "PYTHONWARNINGS": "error",
       "PYTHONHASHSEED": "x", "PYTHONBREAKPOINT": "os._exit", "PYTHONVERBOSE": "1",
       "PYTHONDONTWRITEBYTECODE": "1", "PYTHONDEVMODE": "1", "PYTHONSAFEPATH": "",
       "PYTHONMALLOC": "nonsense"}


def test_modules_that_pose_as_ours_are_not_imported(site):
    """C027: by any variable, from the home folder, or from the repository that the hook runs in."""
    fake = fakes(site.folder / "fakes")
    fakes(site.folder / ".local/lib" / VERSION / "site-packages")
    fakes(site.server)
    both(site, env={name: str(fake) for name in POLLUTED})


@pytest.mark.parametrize("variable", ["PYTHONEXECUTABLE", "__PYVENV_LAUNCHER__"])
def test_another_environment_of_modules_is_not_entered(site, variable):
    """C027: -I takes these two for the place of the interpreter, and looks for modules there."""
    other = site.folder / "venv"
    fakes(other / "lib" / VERSION / "site-packages")
    (other / "pyvenv.cfg").write_text(f"home = {Path(sys.base_prefix) / 'bin'}\n")
    both(site, env={variable: str(other / "bin/python")})


def test_a_startup_file_is_not_run(site):
    """C027"""
    start = site.folder / "start.py"
    start.write_text(FAKE)
    both(site, env={"PYTHONSTARTUP": str(start), **ODD})


def test_a_crowded_or_empty_environment_changes_nothing(site):
    """C027: what hosts set for git, and nothing at all."""
    both(site, env={"GIT_TRACE": "0", "GIT_CONFIG_PARAMETERS": "'core.bare'='false'",
                    "GIT_NAMESPACE": "", "CDPATH": "/", "BASH_ENV": "/dev/null", "IFS": "x",
                    "COLUMNS": "1", "TERM": "dumb", "SSL_CERT_FILE": "/absent",
                    "SSL_CERT_DIR": "/absent", "TZ": "No/Where"})
    tip = made(site, MIXED, on=site.base_tip)
    ran = subprocess.run(
        [str(site.server / "hooks/pre-receive")], cwd=site.server, check=False,
        capture_output=True, input=f"{site.base_tip} {tip} {MAIN}\n".encode(),
        env={"GIT_OBJECT_DIRECTORY": str(site.work / ".git/objects")})
    assert (ran.returncode, rules(ran.stderr.decode().splitlines())) == (
        1, {APART, WRITERS, "ordinary-refs"})


# --- What the pusher reads -------------------------------------------------------------------

def test_a_refusal_names_rule_ref_commit_and_path(site):
    """C030"""
    tip = made(site, MIXED, on=site.base_tip)
    refused(site, f"{tip}:{MAIN}", by={APART})
    assert site.told[0] == f"policyd: {APART}: {ORACLE} + src/app.py"
    assert MAIN in site.told[1]
    assert site.told[2] == f"  {tip[:7]} src/app.py"


def test_a_refusal_is_one_through_closed_streams(site):
    """C038: nobody reads it, and no file of ours takes the streams' place."""
    mixed = f"{site.base_tip} {made(site, MIXED, on=site.base_tip)} {MAIN}\n".encode()
    clean = f"{site.base_tip} {made(site, SOURCE, on=site.base_tip)} {MAIN}\n".encode()
    hook = site.server / "hooks/pre-receive"
    gate = hook.rename(hook.with_name("gate"))
    for closing in (">&-", "2>&-", ">&- 2>&-", ">/dev/full 2>&1"):
        hook.write_text(f'#!/bin/sh\nexec "{gate}" {closing}\n')
        hook.chmod(0o755)
        start = time.monotonic()
        assert by_hand(site, mixed).returncode == 1, closing
        assert by_hand(site, clean).returncode == 0, closing
        assert by_hand(site, b"no line\n").returncode == 2, closing
        assert time.monotonic() - start < 60
    assert {entry["verdict"] for entry in site.log()} <= {"enrolled", "accepted", "refused"}
    assert site.policyd("log", "verify") == 0, site.out


def test_a_refusal_is_one_for_a_reader_that_stops_reading(site):
    """C038: its first line alone says rule and paths."""
    files = {f"oracle/{n:05}-{'x' * 100}": b"" for n in range(900)}
    tip = made(site, SOURCE | files, on=site.base_tip)
    read, write = os.pipe()
    hook = subprocess.Popen(
        [str(site.server / "hooks/pre-receive")], cwd=site.server, stdin=subprocess.PIPE,
        stdout=write, stderr=write, env=site.environment(
            GIT_OBJECT_DIRECTORY=str(site.work / ".git/objects"), REMOTE_USER="alice",
            GIT_PUSH_OPTION_COUNT="1", GIT_PUSH_OPTION_0="policyd.json"))
    os.close(write)
    assert hook.stdin is not None
    hook.stdin.write(f"{site.base_tip} {tip} {MAIN}\n".encode())
    hook.stdin.close()
    said = os.read(read, 1024)
    os.close(read)
    assert hook.wait(60) == 1
    assert said.startswith(f"policyd: {APART}: oracle/".encode())
    assert site.log()[-1]["verdict"] == "refused"


def test_a_deletion_finds_no_quarantine_and_needs_none(site):
    """C021"""
    accepted(site, f"{site.base_tip}:refs/heads/gone")
    ran = by_hand(site, f"{site.base_tip} {ZERO} refs/heads/gone\n".encode(),
                  env={"GIT_OBJECT_DIRECTORY": "", "GIT_ALTERNATE_OBJECT_DIRECTORIES": ""})
    assert (ran.returncode, ran.stderr) == (0, b"")


def test_a_quarantine_that_is_not_there_is_named(site):
    """C021"""
    tip = made(site, SOURCE, on=site.base_tip)
    ran = by_hand(site, f"{site.base_tip} {tip} {MAIN}\n".encode(),
                  env={"GIT_OBJECT_DIRECTORY": str(site.folder / "absent")})
    assert ran.returncode == 2
    assert b"the pushed objects cannot be read" in ran.stderr
