"""The server as a whole: home, state folder, clock, daemon, and what the kernel allows."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

from policyd.adapters import (
    activepolicy,
    clock,
    gatefiles,
    logcheck,
    moment,
    policyfiles,
    repoindex,
    statefolder,
)
from policyd.adapters import home as homes
from policyd.adapters.decisionlog import NAME as LOG
from policyd.core.errors import CannotJudge, FileInvalid, PolicydError
from policyd.core.policy import Active, Mode
from policyd.doctor import replays
from policyd.doctor.findings import Finding, fault, note, warning
from policyd.rules import BY_ID, OPTIONS

WATCHES = Path("/proc/sys/fs/inotify")
FEW = 16
"""Watches and instances that policyd needs; the folders are two, whatever the repositories."""


def look(home: Path, active: Active) -> Iterator[Finding]:
    """Everything about the server that pushes and the daemon depend on."""
    state = active.settings.state
    yield from _home(home, active)
    yield from _state(state)
    yield from _log(state)
    yield from _clock(active)
    yield from _daemon(active)
    yield from replays.look(active)
    yield from _kernel()


def in_force(home: Path) -> tuple[Active | None, list[Finding]]:
    """What is in force, or why nothing can be judged at all."""
    try:
        return activepolicy.load(home, OPTIONS), []
    except PolicydError as error:
        return None, [fault("policy in force", str(home), str(error), "policyd policy apply")]


def _home(home: Path, active: Active) -> Iterator[Finding]:
    looked = homes.look(home)
    if active.settings.home_owner == "self":
        yield note("home", str(home), "the user that judges pushes may also change the policies",
                   "on a server give it to root: `chown -R root HOME`, then `home_owner: root` "
                   "and `policyd policy apply`")
    if not looked.belongs_to_root and os.geteuid() == 0 and active.settings.home_owner == "root":
        yield fault("home", str(home), "it does not belong to root", f"chown -R root {home}")
    yield from _edited(home, active)
    for policy in active.policies:
        if policy.mode is not Mode.ENFORCE:
            yield note("policy", policy.name, f"its mode is {policy.mode.value}: it refuses "
                       "nothing", "`mode: enforce` once `policyd log report` is to your liking")
        if not policy.groups.get("maintainers"):
            yield warning("policy", policy.name, "nobody is in maintainers: protected paths "
                          "cannot change", "name somebody under groups.maintainers")


def _edited(home: Path, active: Active) -> Iterator[Finding]:
    from policyd.core.compiled import compile_home
    from policyd.core.frozen import put_together

    try:
        compiled = compile_home(policyfiles.sources(home), BY_ID,
                                knows_timezone=policyfiles.knows_timezone)
    except FileInvalid as error:
        yield warning("policy files", str(home), f"they have faults: {error.faults[0]}",
                      "policyd policy lint")
    except CannotJudge as error:
        yield note("policy files", str(home), f"they cannot be read here: {error}",
                   "run this as the owner of HOME")
    else:
        if put_together(compiled.settings, compiled.policies).digest != active.digest:
            yield warning("policy files", str(home), "edited and not applied",
                          "policyd policy apply")


def _state(state: str) -> Iterator[Finding]:
    try:
        statefolder.check(state)
        with statefolder.locked(state, wait=2.0):
            pass
    except CannotJudge as error:
        yield fault("state folder", state, str(error), "see the sentence; the daemon and pushes "
                    "run as the owner of this folder")
        return
    free = os.statvfs(state)
    if free.f_bavail * free.f_frsize < 64 * 1_048_576:
        yield warning("state folder", state, "less than 64 MiB are free there",
                      "free some space, or `policyd log rotate` and `--keep`")
    for name in os.listdir(state):
        path = os.path.join(state, name)
        with suppress(OSError):
            if os.lstat(path).st_uid != os.geteuid():
                yield fault("state folder", path, "it belongs to another user",
                            f"chown {os.geteuid()} {path}")


def _log(state: str) -> Iterator[Finding]:
    path = Path(state) / LOG
    if not path.exists():
        return
    try:
        report = logcheck.verify(path)
    except CannotJudge as error:
        yield fault("decision log", str(path), str(error), "policyd log verify")
        return
    if not report.whole:
        yield fault("decision log", str(path), "it is not whole", "policyd log verify")
    for key in repoindex.keys(state):
        with suppress(CannotJudge):
            applied = repoindex.load(state, key).applied
            if applied.n > report.head.n:
                yield fault("decision log", str(path), f"it ends before entry {applied.n}, which "
                            f"the index of {key} has", "put the log back from a backup")
                return


def _clock(active: Active) -> Iterator[Finding]:
    if active.settings.pretended_clock:
        yield warning("clock", "", "this home allows a pretended clock",
                      "take `pretended_clock` out of policyd.yaml unless it is for tests")
    try:
        high, now = moment.mark(active.settings), moment.now(active.settings)
    except CannotJudge as error:
        yield fault("clock", "", str(error), "policyd clock reset --reason TEXT")
        return
    if high.mark is not None and high.mark - now > timedelta(minutes=2):
        yield warning("clock", "", f"the clock is {high.mark - now} behind what it has shown; "
                      "days are counted from the later", "set the clock, or "
                      "`policyd clock reset --reason TEXT`")


def _daemon(active: Active) -> Iterator[Finding]:
    beat = gatefiles.heartbeat(active.settings.state)
    remedy = "start `policyd serve` (a systemd unit does so), and see its log"
    if beat is None:
        yield warning("daemon", "", "it never ran: gates hold, and nobody is told of them", remedy)
        return
    late = moment.now(active.settings) - datetime.fromisoformat(beat.beat)
    if late > timedelta(seconds=3 * max(beat.rescan_seconds, 10.0)):
        yield warning("daemon", "", f"its last sign is {late} old", remedy)
        return
    if beat.lost:
        yield warning("daemon", "", f"{beat.lost}: changes are found by the rescan alone",
                      "see fs.inotify.max_user_watches and max_user_instances")
    if beat.digest != active.digest:
        yield warning("daemon", "", "it works with another policy than is in force",
                      f"kill -HUP {beat.pid}")
    if beat.version != _version():
        yield warning("daemon", "", f"it is policyd {beat.version}, and this is {_version()}",
                      "restart it")


def _kernel() -> Iterator[Finding]:
    for name in ("max_user_watches", "max_user_instances"):
        with suppress(OSError, ValueError):
            most = int((WATCHES / name).read_text())
            if most < FEW:
                yield warning("inotify", "", f"fs.inotify.{name} is {most}",
                              f"sysctl fs.inotify.{name}=8192")
    if clock.now().year < 2024:
        yield fault("clock", "", "the clock is years behind", "set the clock")


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("policyd")
    except PackageNotFoundError:
        return "unknown"


def interpreter() -> str:
    """The Python that runs this, as an installed hook names it."""
    return sys.executable
