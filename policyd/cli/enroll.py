"""`policyd enroll REPO...`: have pushes judged, from the tips that are there now."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import click

from policyd.adapters import (
    activepolicy,
    asowner,
    clock,
    decisionlog,
    hints,
    hookfiles,
    logcheck,
    repoconfig,
    repoindex,
)
from policyd.adapters.gitrepo import PushedRepo
from policyd.adapters.hints import Hint
from policyd.adapters.reponame import name_of
from policyd.adapters.statefolder import because
from policyd.cli import repositories as shared
from policyd.core import index as indexes
from policyd.core.enrolment import guarded_tips
from policyd.core.errors import CannotJudge, PolicydError
from policyd.core.index import Bootstrap, Index
from policyd.core.movement import Movement
from policyd.core.policy import Active, Policy
from policyd.core.values import dataclass
from policyd.judge import policies_for
from policyd.rules import OPTIONS


@dataclass(frozen=True, slots=True)
class _Case:
    """One repository to enrol."""

    home: Path
    active: Active
    git_dir: Path
    name: str
    policies: tuple[Policy, ...]
    operator: str
    every_ref: bool = False
    """Whether all refs that are there count as accepted history, not the guarded ones alone."""
    bootstrap: Bootstrap | None = None

    @property
    def state(self) -> Path:
        return Path(self.active.settings.state)


@click.command("enroll")
@click.argument("repositories", nargs=-1, required=True, metavar="REPO...",
                type=click.Path(path_type=Path))
@click.option("--accept-existing", "every_ref", is_flag=True,
              help="All refs that are there count as accepted history, not the guarded ones alone.")
@click.option("--bootstrap", "until", metavar="DATE", type=click.DateTime(["%Y-%m-%d"]),
              help="Take one push into an empty repository unjudged, until this day (inclusive).")
@click.option("--by", "group", metavar="GROUP", help="Whose members may make that push.")
@click.pass_obj
def command(home: Path, repositories: Sequence[Path], *, every_ref: bool,
            until: datetime | None, group: str | None) -> int:
    """Have pushes into bare repositories judged.

    Records the tips of the guarded branches as accepted history and puts the hook in. A hook that
    is there already is kept and runs last. For a repository that is enrolled, the hook is renewed
    and the record goes on; guarded branches that it does not hold yet are added to it.
    """
    if (until is None) is not (group is None):
        raise click.UsageError("--bootstrap DATE and --by GROUP go together")
    home = Path(os.path.abspath(home))
    active = activepolicy.load(home, OPTIONS)
    chance = Bootstrap(until.date(), group) if until is not None and group is not None else None
    line = shared.typed(home, "enroll", repositories)
    return shared.each(repositories, lambda repository: _enrol(replace(
        _case(home, active, repository), every_ref=every_ref, bootstrap=chance), command=line))


def _case(home: Path, active: Active, repository: Path) -> _Case:
    git_dir = shared.git_dir_of(repository)
    name = name_of(git_dir, active.settings.roots)
    return _Case(home, active, git_dir, name, policies_for(active, name), shared.operator())


def _demand_sense(case: _Case, *, any_ref: bool) -> None:
    """Refuse a bootstrap that could never take place."""
    if case.bootstrap is None:
        return
    if any_ref:
        raise CannotJudge("--bootstrap is for an empty repository; this one has refs. For what "
                          "they hold already there is --accept-existing")
    if not any(case.bootstrap.group in policy.groups for policy in case.policies):
        raise CannotJudge(f"no policy of it has a group {case.bootstrap.group}")


def _enrol(case: _Case, *, command: str) -> Iterator[str]:
    """First all that can be refused; then the hook; then the record, which no push can outrun."""
    keeper = asowner.owner_of(case.git_dir)
    asowner.demand(keeper, command=command)
    yield from _state_folder(case, keeper)
    judge = asowner.owner_of(case.state)
    asowner.run(judge, lambda: _look(case), command=command)
    yield f"is {case.name} to {', '.join(policy.name for policy in case.policies)}"
    if judge.uid != keeper.uid:
        yield (f"note: it belongs to {keeper.name}, and pushes must arrive as {judge.name}, "
               f"the owner of {case.state}")
    new_hook, new_key, lines = asowner.run(keeper, lambda: _put_in(case), command=command)
    yield from lines
    try:
        yield from asowner.run(judge, lambda: _recorded_and_hinted(case), command=command)
    except PolicydError:
        if new_hook:
            yield from asowner.run(
                keeper, lambda: shared.take_out(case.git_dir, key=new_key), command=command)
        raise


def _state_folder(case: _Case, keeper: asowner.Owner) -> Iterator[str]:
    if asowner.make_folder(case.state, keeper):
        yield f"state folder {case.state} made for {keeper.name}"


def _look(case: _Case) -> None:
    """Whether pushes could be judged, by who will judge them. Raises CannotJudge."""
    activepolicy.load(case.home, OPTIONS)
    _probe(Path(sys.executable))
    _, refs = _tips(case, PushedRepo(str(case.git_dir)))
    _demand_sense(case, any_ref=bool(refs))


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


def _tips(case: _Case, repo: PushedRepo) -> tuple[dict[str, str], dict[str, str]]:
    """The guarded tips as they are now, and all refs."""
    refs = repo.refs()
    return guarded_tips(case.policies, refs), refs


def _extra(case: _Case, repo: PushedRepo, refs: Mapping[str, str]) -> tuple[str, ...]:
    """The commits that other refs lead to, where they are to count as accepted."""
    if not case.every_ref:
        return ()
    peeled = (repo.peel(bytes.fromhex(oid)) for oid in refs.values())
    return tuple(sorted({found.oid.hex() for found in peeled if found.kind == "commit"}))


def _put_in(case: _Case) -> tuple[bool, bool, list[str]]:
    """Whether the hook and the key are new there, and what was done. A failure undoes it."""
    repoconfig.hooks_folder(case.git_dir)
    new_hook = not hookfiles.is_installed(case.git_dir)
    new_key = _key(case.git_dir)
    try:
        lines = [hookfiles.install(
            case.git_dir, hookfiles.text(Path(sys.executable), case.home)).value]
        if repoconfig.offer_push_options(case.git_dir):
            lines.append(f"{repoconfig.OFFERED} set to true")
    except PolicydError:
        if new_hook:
            shared.take_out(case.git_dir, key=new_key)
        raise
    return new_hook, new_key, lines


def _key(git_dir: Path) -> bool:
    """Give a repository a key where it has none that can be read; whether it did."""
    try:
        repoindex.key_of(git_dir)
        return False
    except CannotJudge:
        repoindex.remove_key(git_dir)
        repoindex.write_key(git_dir)
        return True


def _recorded_and_hinted(case: _Case) -> list[str]:
    """With a hint, so that a daemon that runs looks at it at once."""
    lines = _record(case)
    hints.leave(case.state, repoindex.key_of(case.git_dir), Hint(str(case.git_dir)))
    return lines


def _record(case: _Case) -> list[str]:
    """Read the tips once more, now that no push can move them unseen, and record them."""
    key, repo = repoindex.key_of(case.git_dir), PushedRepo(str(case.git_dir))
    tips, refs = _tips(case, repo)
    extra = _extra(case, repo, refs)
    entry = {"verdict": "enrolled", "repository": case.name, "operator": case.operator,
             "git_dir": str(case.git_dir), "policy": case.active.digest, "tips": tips,
             "extra": len(extra)}
    anew, movements = _settled(case, key, repo)
    if anew is None:
        return [*_added(case, key, tips, extra, entry), *map(_moved, movements)]
    now = clock.now().isoformat(timespec="milliseconds")
    decisionlog.begin(case.state, Index(
        key, now, not refs, tips, extra, bootstrap=case.bootstrap,
        git_dir=str(case.git_dir)), entry)
    return [*([f"recorded anew: {anew}"] if anew else []), _recorded(tips, extra),
            *_chance(case)]


def _added(case: _Case, key: str, tips: Mapping[str, str], extra: Sequence[str],
           entry: Mapping[str, object]) -> list[str]:
    """Let the record go on, with what it does not hold yet: branches guarded since, and extra."""
    before = repoindex.load(case.state, key)

    def change(index: Index) -> Index:
        more = indexes.with_more(index, tips, extra)
        return replace(more, bootstrap=case.bootstrap or more.bootstrap,
                       git_dir=str(case.git_dir))

    decisionlog.amend(case.state, key, entry, change)
    after = change(before)
    new = {ref: tip for ref, tip in after.branches.items() if ref not in before.branches}
    more = tuple(set(after.extra) - set(before.extra))
    return ["its record goes on", *([_recorded(new, more)] if new or more else []),
            *_chance(case)]


def _chance(case: _Case) -> list[str]:
    if case.bootstrap is None:
        return []
    return [f"one push by {case.bootstrap.group} is taken unjudged until {case.bootstrap.until}"]


def _settled(case: _Case, key: str, repo: PushedRepo) -> tuple[str | None, Sequence[Movement]]:
    """Why the tips must be recorded anew ("" for the first time); None where the record holds."""
    if not repoindex.exists(case.state, key):
        return "", ()
    try:
        index = repoindex.load(case.state, key)
    except CannotJudge as error:
        return str(error), ()
    try:
        _, movements = decisionlog.settled(case.state, key, lambda index: {
            ref: repo.resolve(ref)[1] for ref in indexes.watched(index)})
        return None, movements
    except CannotJudge as error:
        if not _outran_the_log(case, index):
            raise
        return str(error), ()


def _outran_the_log(case: _Case, index: Index) -> bool:
    head = logcheck.verify(case.state / decisionlog.NAME).head
    return index.applied.n >= head.n and index.applied != head


def _recorded(tips: Mapping[str, str], extra: Sequence[str]) -> str:
    if not tips and not extra:
        return "empty; every push is judged whole until a guarded branch exists"
    more = [f"{len(extra)} commits of all refs"] if extra else []
    return "recorded " + ", ".join([f"{ref} at {tip[:12]}" for ref, tip in tips.items()] + more)


def _moved(movement: Movement) -> str:
    was, now = (oid[:12] if oid else "absent" for oid in (movement.recorded, movement.live))
    return f"note: {movement.ref} moved past policyd: {was} is recorded, {now} is there"
