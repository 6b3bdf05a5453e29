"""Enrolling, repository by repository: for the command, and for the daemon that meets new ones."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from policyd.adapters import (
    activepolicy,
    asowner,
    clock,
    hookfiles,
    repoconfig,
    repoindex,
)
from policyd.adapters.gitrepo import PushedRepo
from policyd.adapters.hosts import HOSTS, below, gitlab, strangers
from policyd.adapters.hosts import seat as seats
from policyd.adapters.hosts.seat import Seat
from policyd.adapters.reponame import TELLING, name_of
from policyd.adapters.statefolder import because
from policyd.cli import recording
from policyd.cli import repositories as shared
from policyd.cli.recording import Case
from policyd.core.errors import CannotJudge, PolicydError
from policyd.core.policy import Active
from policyd.judge import policies_for
from policyd.rules import OPTIONS

SETTLED = 10.0
"""Seconds for which a repository must have been still before it is a newcomer."""


def case_of(home: Path, active: Active, repository: Path) -> Case:
    """A repository, to be enrolled as it was before or as policyd.yaml says. Raises CannotJudge."""
    git_dir = shared.git_dir_of(repository)
    told = _told(active, git_dir)
    name = told or name_of(git_dir, active.settings.roots)
    return Case(home, active, git_dir, name, policies_for(active, name), shared.operator(), told)


def _told(active: Active, git_dir: Path) -> str:
    """What its server calls it: as its last push was told, else as GitLab's configuration says."""
    if active.settings.identity.source in TELLING:
        with suppress(CannotJudge, OSError):
            index = repoindex.load(active.settings.state, repoindex.key_of(git_dir))
            if index.name:
                return index.name
    if active.settings.identity.source != "gitlab":
        return ""
    owner = asowner.owner_of(git_dir)
    if os.geteuid() not in (0, owner.uid):
        return ""  # who may not look there may not enrol it either, and is told so
    told: str = asowner.run(owner, lambda: gitlab.project(git_dir), command="")
    return told


def enrol(case: Case, *, command: str) -> Iterator[str]:
    """First all that can be refused; then the hook; then the record, which no push can outrun.

    A line a step. Raises PolicydError and OSError; then the repository is as it was.
    """
    keeper = asowner.owner_of(case.git_dir)
    asowner.demand(keeper, command=command)
    if asowner.make_folder(case.state, keeper):
        yield f"state folder {case.state} made for {keeper.name}"
    judge = asowner.owner_of(case.state)
    probe = judge.uid not in case.probed
    asowner.run(judge, lambda: _look(case, probe=probe), command=command)
    case.probed.add(judge.uid)
    seat = _seat(case, keeper, command=command)
    yield f"is {case.name} to {', '.join(policy.name for policy in case.policies)}"
    if case.active.settings.identity.source == "gitlab" and not case.told:
        yield (f"note: its configuration does not say what GitLab calls it: it is {case.name} to "
               "policies until its first push")
    if judge.uid != keeper.uid:
        yield (f"note: it belongs to {keeper.name}, and pushes must arrive as {judge.name}, "
               f"the owner of {case.state}")
    if seat.is_common:
        yield _put_in_for_all(case, seat, command=command)
    new_hook, new_key, lines = asowner.run(keeper, lambda: _put_in(case, seat), command=command)
    yield from lines
    try:
        yield from asowner.run(judge, lambda: recording.recorded_and_hinted(case),
                               command=command)
    except PolicydError:
        if new_hook:
            yield from asowner.run(
                keeper, lambda: shared.take_out(case.git_dir, key=new_key), command=command)
        raise
    yield from asowner.run(
        keeper, lambda: list(HOSTS[seat.server].after(case.git_dir, seat)), command=command)


def preview(case: Case, *, command: str) -> Iterator[str]:
    """What `enrol` would do; it changes nothing. Raises what `enrol` would raise before that."""
    keeper = asowner.owner_of(case.git_dir)
    asowner.demand(keeper, command=command)
    judge = asowner.owner_of(case.state) if os.path.lexists(case.state) else keeper
    asowner.run(judge, lambda: _look(case, probe=False), command=command)
    seat = _seat(case, keeper, command=command)
    yield f"would be {case.name} to {', '.join(policy.name for policy in case.policies)}"
    yield f"its hook would be {seat.path}"


def left(active: Active, git_dir: Path, server: str) -> str | None:
    """Why nothing that enrols many touches a repository: empty where it is enrolled already.

    None: it is to be enrolled. What lost its key or its record is for somebody to look at: what
    it holds now would become accepted history.
    """
    state = active.settings.state
    if strangers.has_key(str(git_dir)):
        try:
            if repoindex.exists(state, repoindex.key_of(git_dir)):
                return ""
        except CannotJudge as error:
            return str(error)
        return f"it has a key and no record; `policyd enroll {git_dir}` records it anew"
    try:
        policies_for(active, _told(active, git_dir) or name_of(git_dir, active.settings.roots))
    except CannotJudge as error:
        return str(error)
    if os.path.lexists(state) and strangers.is_recorded(state, str(git_dir)):
        return f"it has a record and no key; `policyd enroll {git_dir}` records it anew"
    return HOSTS[server].spares(_place(active, git_dir)) or None


def newcomers(active: Active, *, settled: float = SETTLED) -> list[Path]:
    """Repositories below the roots that the owner of the state folder may enrol now."""
    server, owner = active.settings.server, os.stat(active.settings.state).st_uid
    return [git_dir for root in active.settings.roots for git_dir in below.bare(Path(root))
            if _is_settled(git_dir, owner, settled) and left(active, git_dir, server) is None]


def _is_settled(git_dir: Path, owner: int, seconds: float) -> bool:
    """Whether it is whose it must be, and nobody is about to make or fill it."""
    try:
        found = [os.stat(git_dir / name) for name in (".", "HEAD", "objects", "refs", "config")]
    except OSError:
        return False
    latest = max(one.st_mtime for one in found)
    return found[0].st_uid == owner and clock.now().timestamp() - latest >= seconds


def _place(active: Active, git_dir: Path) -> str:
    """Its path below the root that it lies in."""
    for root in active.settings.roots:
        real = os.path.realpath(root)
        if git_dir.is_relative_to(real):
            return str(git_dir.relative_to(real))
    return git_dir.name


def _look(case: Case, *, probe: bool) -> None:
    """Whether pushes could be judged, by who will judge them. Raises CannotJudge."""
    activepolicy.load(case.home, OPTIONS)
    if probe:
        _probe(Path(sys.executable))
    _, refs = recording.tips_of(case, PushedRepo(str(case.git_dir)))
    _demand_sense(case, any_ref=bool(refs))
    _demand_original(case)


def _probe(program: Path) -> None:
    me = asowner.user_name(os.geteuid()) or f"uid {os.geteuid()}"
    try:
        done = subprocess.run([program, "-I", "-c", "import policyd.hook"], cwd="/",
                              stdin=subprocess.DEVNULL, capture_output=True, check=False)
        said = os.fsdecode(done.stderr).strip().rpartition("\n")[2]
    except OSError as error:
        said, done = because(error), None
    if done is None or done.returncode:
        raise CannotJudge(f"the program {program} does not run as {me} ({said}); install policyd "
                          "where that user may read it")


def _demand_sense(case: Case, *, any_ref: bool) -> None:
    """Refuse a bootstrap that could never take place."""
    if case.bootstrap is None:
        return
    if any_ref:
        raise CannotJudge("--bootstrap is for an empty repository; this one has refs. For what "
                          "they hold already there is --accept-existing")
    if not any(case.bootstrap.group in policy.groups for policy in case.policies):
        raise CannotJudge(f"no policy of it has a group {case.bootstrap.group}")


def _demand_original(case: Case) -> None:
    """A copy of an enrolled repository holds that one's key, and must not take its record."""
    try:
        key = repoindex.key_of(case.git_dir)
        there = repoindex.load(case.state, key).git_dir
    except CannotJudge:
        return
    if there not in ("", str(case.git_dir)) and repoindex.has_key(there, key):
        raise CannotJudge(f"it holds the key of {there}: it is a copy of it; "
                          f"`rm {case.git_dir}/{repoindex.KEY_FILE}` and enrol it again")


def _seat(case: Case, keeper: asowner.Owner, *, command: str) -> Seat:
    """Where the hook goes: as the command says, else as before, else as policyd.yaml says."""
    def chosen() -> str:
        before = hookfiles.of(case.git_dir)
        server, folder = case.server, case.hooks_path
        if server is None and before:
            server = before[-1].server
        if folder is None and before and before[-1].server == server:
            folder = before[-1].given
        settings = case.active.settings
        server = server or settings.server
        if folder is None and not before and server == settings.server \
                and settings.enroll.hooks_path is not None:
            folder = Path(settings.enroll.hooks_path)
        return HOSTS[server].seat(case.git_dir, folder, settings.roots).written(case.git_dir)

    return seats.read(asowner.run(keeper, chosen, command=command), case.git_dir)


def _put_in_for_all(case: Case, seat: Seat, *, command: str) -> str:
    """Where it is right already, its owner need not be asked."""
    hook = _hook(case, seat)
    if hookfiles.is_current(seat, hook):
        return f"the hook of all in {seat.folder} is in place"
    there = next(path for path in (seat.folder, *seat.folder.parents) if path.is_dir())
    owner = asowner.owner_of(there)
    done: str = asowner.run(owner, lambda: hookfiles.put_in(seat, hook).value, command=command)
    return f"{seat.folder}: {done}"


def _put_in(case: Case, seat: Seat) -> tuple[bool, bool, list[str]]:
    """Whether the hook and the key are new there, and what was done. A failure undoes it.

    A hook that moves is in both places for a moment, never in none.
    """
    git_dir, before = case.git_dir, hookfiles.of(case.git_dir)
    kept = "" if seat == seats.own(git_dir) else seat.written(git_dir)
    new_key = _key(git_dir)
    try:
        if kept:
            repoconfig.remember(git_dir, kept)
        lines = [] if seat.is_common else [hookfiles.put_in(seat, _hook(case, seat)).value]
        lines += [f"{old.path}: {hookfiles.take_out(old).value}"
                  for old in _elsewhere(git_dir, before, seat)]
        repoconfig.forget_hooks(git_dir, but=kept)
        if repoconfig.offer_push_options(git_dir):
            lines.append(f"{repoconfig.OFFERED} set to true")
    except PolicydError:
        if not before:
            shared.take_out(git_dir, key=new_key)
        raise
    return not before, new_key, lines


def _elsewhere(git_dir: Path, before: Sequence[Seat], seat: Seat) -> list[Seat]:
    """Where hooks of ours were, or what they kept: a server may have written its own since."""
    own = seats.own(git_dir)
    kept = own.chained is not None and os.path.lexists(own.chained)
    found = [*before, own] if kept and own not in before else before
    return [old for old in found if old.path != seat.path and not old.is_common]


def _hook(case: Case, seat: Seat) -> bytes:
    return hookfiles.text(Path(sys.executable), case.home, seat)


def _key(git_dir: Path) -> bool:
    """Give a repository a key where it has none that can be read; whether it did."""
    try:
        repoindex.key_of(git_dir)
        return False
    except CannotJudge:
        repoindex.remove_key(git_dir)
        repoindex.write_key(git_dir)
        return True
