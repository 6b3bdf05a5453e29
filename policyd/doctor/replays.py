"""Whether relations can be replayed where a policy enforces them: sandbox, interpreter, site."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from policyd.adapters import gatefiles, replayfiles, repoindex
from policyd.adapters.gitrepo import Missing, PushedRepo
from policyd.core.errors import CannotJudge
from policyd.core.policy import Active, Mode, Policy
from policyd.core.trees import Trees
from policyd.doctor.findings import Finding, fault, note, warning
from policyd.replay import prepare, sandbox
from policyd.replay.interpreter import Interpreter
from policyd.witness import RULE

INSTALL = "apt install bubblewrap"
ALLOW = ("sysctl -w user.max_user_namespaces=15000 kernel.unprivileged_userns_clone=1, and where "
         "there is AppArmor kernel.apparmor_restrict_unprivileged_userns=0")
LATE = 900.0
"""Seconds that a job waits before somebody is told."""


def look(active: Active) -> Iterator[Finding]:
    """What keeps pushes from being replayed, and what isolates nothing."""
    tried: dict[str | None, list[Finding]] = {}
    for policy in enforcing(active):
        options = policy.replay
        if options.python not in tried:
            tried[options.python] = list(_runs(options.python, policy.name))
        yield from tried[options.python]
        if options.sandbox == "none":
            yield warning("sandbox", policy.name, "`sandbox: none`: what is pushed runs as the "
                          "user that judges it, and can change how it is judged",
                          f"{INSTALL}, and take `sandbox` out of `replay`")
        elif not tried[options.python]:
            yield from _isolates(active, policy)
        yield from _site(policy)
    yield from _queue(active)


def trouble(active: Active) -> str:
    """The same at a glance, for every few seconds: one sentence, empty where all seems well.

    Nothing is said on a server on which nothing was ever replayed.
    """
    if not os.path.isdir(os.path.join(active.settings.state, replayfiles.REPLAYS)):
        return ""
    for policy in enforcing(active):
        options = policy.replay
        if options.sandbox != "none" and (why := sandbox.missing()):
            return f"pushes cannot be replayed: {why}"
        if options.python is not None and not os.access(options.python, os.X_OK):
            return f"pushes cannot be replayed: {options.python} cannot be run"
        if options.site is not None and not os.path.isdir(options.site):
            return f"pushes cannot be replayed: the site {options.site} is no folder"
    return ""


def enforcing(active: Active) -> Iterator[Policy]:
    """The policies under which a push without a sandbox could not be judged."""
    for policy in active.policies:
        clause = policy.clause(RULE)
        if clause is not None and clause.mode is Mode.ENFORCE and policy.replay.when != "off":
            yield policy


def _runs(python: str | None, name: str) -> Iterator[Finding]:
    if python is None:
        return
    try:
        Interpreter.asked(Path(python))
    except CannotJudge as error:
        yield fault("interpreter", name, str(error),
                    "install it, or name another one under `replay: {python: ...}`")


def _isolates(active: Active, policy: Policy) -> Iterator[Finding]:
    """A fault once some repository has relations."""
    python = policy.replay.python
    why = sandbox.available(None if python is None else Interpreter.asked(Path(python)))
    if why is None:
        return
    remedy = ALLOW if sandbox.missing() is None and "older" not in why else INSTALL
    if _has_tables(active):
        yield fault("sandbox", policy.name, f"pushes cannot be judged, for relations cannot be "
                    f"replayed: {why}", remedy)
    else:
        yield warning("sandbox", policy.name, "no repository has relations yet; pushes to one "
                      f"that has could not be judged: {why}", remedy)


def _has_tables(active: Active) -> bool:
    state = active.settings.state
    places = {policy.records.relations.encode() for policy in enforcing(active)}
    for key in repoindex.keys(state):
        with suppress(CannotJudge, Missing):
            index = repoindex.load(state, key)
            repo = PushedRepo(index.git_dir)
            trees = Trees(repo.tree)
            tips = (repo.header(bytes.fromhex(tip))[0] for tip in index.branches.values())
            if any(trees.at(tree, place) is not None for tree in tips for place in places):
                return True
    return False


def _site(policy: Policy) -> Iterator[Finding]:
    site = policy.replay.site
    if site is None:
        return
    try:
        prepare.site_sha(Path(site))
    except CannotJudge as error:
        yield fault("site", policy.name, str(error), "see the sentence")
        return
    if not (Path(site) / prepare.KNOWN_LOCKS).exists():
        yield note("site", policy.name, f"{site} does not say from which lock files it was "
                   "installed: a push that changes one cannot be judged",
                   f"sha256sum LOCKFILE >> {site}/{prepare.KNOWN_LOCKS}")


def _queue(active: Active) -> Iterator[Finding]:
    state = active.settings.state
    names = replayfiles.queued(state)
    if not names or time.time() - replayfiles.queued_at(state, names[0]) < LATE:
        return
    beat = gatefiles.heartbeat(state)
    why = "no daemon runs" if beat is None else beat.replay_trouble or "its worker is slow"
    yield warning("replays", "", f"{len(names)} wait, the first for more than "
                  f"{LATE / 60:.0f} min: {why}", "start `policyd serve`, or `policyd replay work`")
