"""`policyd check`: the same judgement in a working clone, before anything is pushed."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import click

from policyd.adapters import activepolicy, bundle, clock
from policyd.adapters.gitrepo import PushedRepo
from policyd.adapters.hookinput import scrubbed
from policyd.adapters.look import RefLine
from policyd.core import cases, telling
from policyd.core.errors import PolicydError
from policyd.core.evaluate import Outcome
from policyd.core.index import Index
from policyd.core.policy import Active, Mode, Places
from policyd.core.trees import Trees
from policyd.judge import Request, judge, policies_for
from policyd.rules import OPTIONS

TAKEN, REFUSED = 0, 1
HEADS, ORIGIN = "refs/heads/", "refs/remotes/origin/"
_ID = 6
"""Digits of the tip that stand for the push, in names of branches that commands propose."""


@click.command("check")
@click.option("--base", metavar="REV", help="What the branch holds; origin/BRANCH by default.")
@click.option("--head", metavar="REV", default="HEAD", show_default=True, help="What to push.")
@click.option("--branch", metavar="BRANCH", help="Where to; the first plain guarded one.")
@click.option("--as", "name", metavar="NAME",
              help="Who pushes; nobody known by default. Or with what is let in: mei#SHA256:...")
@click.option("--signed", is_flag=True, help="As a push with a signature that the server trusts.")
@click.option("--policy", "file", metavar="BUNDLE", type=click.Path(path_type=Path),
              help="A file of `policyd policy export`; HOME's policy in force by default.")
@click.option("--repository", metavar="NAME", help="The repository's name on the server.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text")
@click.pass_obj
def command(home: Path, base: str | None, head: str, branch: str | None, name: str | None,
            file: Path | None, repository: str | None, form: str, *, signed: bool) -> int:
    """Say what the server would say of a push from this clone. Moves nothing.

    Accepted history is what origin's guarded branches hold by the last `git fetch`.
    """
    active = _policy(home, file)
    git_dir = _git_dir()
    ref = HEADS + (branch or _target(active)).removeprefix(HEADS)
    old, tips = _accepted(active, ref, base)
    new = _commit(head)
    who, credential = _pusher(name)
    request = Request(git_dir, _name(active, repository), scrubbed(os.environ), who, clock.now(),
                      credential=credential, signed=signed)
    told = _judged(request, active, RefLine(ref, old, new, None, False), tips)
    text = telling.whole(told).removeprefix("policyd ") + "\n" if form == "json" \
        else telling.answer(told, everything=False)
    if form == "text":
        click.echo(_unplayed(active, request, ref, old), nl=False)
    click.echo(text, nl=False)
    return REFUSED if told.verdict.outcome is Outcome.REFUSED else TAKEN


def _judged(request: Request, active: Active, line: RefLine,
            tips: Mapping[str, str]) -> telling.Answer:
    index = Index("", request.at.isoformat(), False, tips)
    push_id = str(line.new)[:_ID]
    try:
        found = judge(request, active, PushedRepo(request.git_dir), (line,), index)
        return telling.Answer(push_id, found.pusher, found.verdict, found.blocks(push_id), line.ref)
    except PolicydError as error:
        if _git("config", "--default", "", "remote.origin.promisor") != "true":
            raise
        raise PolicydError("this clone is partial, and an object may be missing from it; `git "
                           f"fetch --refetch --no-filter origin` ({error})") from error


def _unplayed(active: Active, request: Request, ref: str, old: str | None) -> str:
    """That relations were not replayed, and how they can be; "" where there are none."""
    from policyd.core import render
    from policyd.witness import RULE

    repo = PushedRepo(request.git_dir)
    for policy in policies_for(active, request.repository):
        clause = policy.clause(RULE)
        if old is None or clause is None or clause.mode is Mode.OFF or not policy.guards(ref) \
                or policy.replay.when == "off" \
                or not _has_table(repo, old, policy.records):
            continue
        branch = ref.removeprefix(HEADS)
        line = (f"policyd: note: the server replays relations, this did not; here: policyd replay "
                f"run --base {old[:7]}; there: git push origin HEAD:refs/check/{branch}")
        return "\n".join(render.wrapped(render.printable(line), "  ")) + "\n"
    return ""


def _has_table(repo: PushedRepo, commit: str, places: Places) -> bool:
    tree = repo.header(bytes.fromhex(commit))[0]
    return Trees(repo.tree).at(tree, places.relations.encode()) is not None


def _pusher(name: str | None) -> tuple[str | None, str | None]:
    if name is None:
        return None, None
    try:
        return cases.pusher(name)
    except ValueError as error:
        raise PolicydError(f"--as: {error}") from None


def _policy(home: Path, file: Path | None) -> Active:
    if file is not None:
        return bundle.load(file, OPTIONS)
    if not (home / activepolicy.FOLDER / activepolicy.CURRENT).exists():
        raise PolicydError(f"{home} has no policy in force; name a bundle with --policy, or a "
                           "home with `policyd --home DIR check`")
    return activepolicy.load(home, OPTIONS)


def _git_dir() -> str:
    """Where the clone keeps its objects, for a linked work tree too."""
    if _git("rev-parse", "--is-shallow-repository") == "true":
        raise PolicydError("this clone is shallow, so that its history cannot be judged; "
                           "`git fetch --unshallow origin`")
    return os.path.realpath(_git("rev-parse", "--git-common-dir"))


def _accepted(active: Active, ref: str, base: str | None) -> tuple[str | None, dict[str, str]]:
    """What the branch holds, None for a new one, and the tips of the guarded branches."""
    listed = _git("for-each-ref", "--format=%(objectname) %(refname)", ORIGIN).splitlines()
    there = {HEADS + name.removeprefix(ORIGIN): oid
             for oid, name in (line.split(" ", 1) for line in listed)}
    if base is not None:
        there[ref] = _commit(base)
    tips = {name: oid for name, oid in there.items()
            if any(policy.guards(name) for policy in active.policies)}
    if not tips:
        raise PolicydError("no guarded branch of origin is known here; `git fetch origin`, or "
                           f"say with --base what {ref.removeprefix(HEADS)} holds")
    return there.get(ref), tips


def _target(active: Active) -> str:
    """The first guarded branch that a policy names without a wildcard."""
    for policy in active.policies:
        for pattern in policy.guarded:
            if not pattern.negate and "*" not in pattern.glob and pattern.matches(
                    f"{HEADS}{pattern.glob}"):
                return pattern.glob
    raise PolicydError("the policy guards no branch by name; say --branch")


def _name(active: Active, repository: str | None) -> str:
    """The name on the server; where it was not given, the first that a policy holds for."""
    if repository is not None:
        return repository
    for name in names_on_server(_git("config", "--default", "", "remote.origin.url")):
        if any(policy.holds_for(name) for policy in active.policies):
            return name
    raise PolicydError("no policy holds for what origin is called here; say --repository NAME, "
                       "its path below the server's roots without .git")


def names_on_server(url: str) -> Iterator[str]:
    """What a server may call the repository behind an address, the longest first."""
    path = url.rpartition("://")[2].partition("/")[2] if "://" in url else url.rpartition(":")[2]
    parts = [part for part in path.removesuffix("/").removesuffix(".git").split("/") if part]
    return ("/".join(parts[start:]) for start in range(len(parts)))


def _commit(revision: str) -> str:
    try:
        return _git("rev-parse", "--quiet", "--verify", "--end-of-options",
                    f"{revision}^{{commit}}")
    except PolicydError as error:
        raise PolicydError(f"{revision!r} names no commit here") from error


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], capture_output=True, check=False,
                          encoding="utf-8", errors="surrogateescape")
    if done.returncode:
        raise PolicydError(f"git {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout.strip()
