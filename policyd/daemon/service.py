"""`policyd serve` from its start to its end: one instance, signals, watched folders, systemd."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import FrameType

from policyd.adapters import activepolicy, gatefiles, hints, instance, statefolder
from policyd.adapters.endpoint import Endpoint
from policyd.adapters.instance import Lock
from policyd.adapters.outbox import Outbox
from policyd.adapters.systemd import Systemd
from policyd.adapters.watch import Watch
from policyd.adapters.webhook import Webhook
from policyd.core.errors import CannotJudge
from policyd.core.policy import Active
from policyd.core.values import dataclass
from policyd.daemon import log as logs
from policyd.daemon import replays
from policyd.daemon.health import Server
from policyd.daemon.loop import Loop, hinted
from policyd.daemon.metrics import Metrics
from policyd.daemon.voice import Spoken
from policyd.rules import OPTIONS


@dataclass(frozen=True, slots=True)
class Start:
    """How a daemon is started."""

    home: Path
    environment: Mapping[str, str]
    once: bool = False
    """Look once at everything and end."""


def serve(start: Start) -> None:
    """Run until a signal ends it. Raises PolicydError where it cannot start, in one sentence."""
    active = activepolicy.load(start.home, OPTIONS)
    state = active.settings.state
    with ExitStack() as stack:
        lock = stack.enter_context(instance.only(state))
        stack.callback(_end_beat, state, lock)
        statefolder.subfolder(state, hints.FOLDER)
        statefolder.subfolder(state, replays.JOBS)
        log = logs.logger(start.environment)
        metrics = Metrics(_version(), state=state)
        webhook = stack.enter_context(_delivering(active, log))
        voice = Spoken(Path(state), log, metrics, webhook)
        loop = Loop(start.home, active, voice, _version())
        if start.once:
            loop.pass_over(lambda: None)
            return
        if active.settings.service.listen is not None:
            stack.enter_context(Server(active.settings.service.listen, metrics))
        stack.enter_context(_signals(loop))
        watch = stack.enter_context(_watching(start.home, state, loop, metrics))
        loop.replays.command = replays.command(start.home)
        stack.callback(loop.replays.stop)
        systemd = Systemd(start.environment)
        log.info("policyd serve", state=state, home=str(start.home),
                 policy=active.digest[:12], version=_version())
        systemd.ready()
        try:
            loop.run(_Tick(loop, watch, systemd, lock, voice))
        finally:
            systemd.stopping()
            log.info("policyd serve ends")


def _end_beat(state: str, lock: Lock) -> None:
    """Take the sign away, unless another daemon took this one's place."""
    with suppress(CannotJudge):
        lock.renew()
        gatefiles.end_beat(state)


class _Tick:
    """Every few seconds: the lock, the watched folders, and a sign for systemd."""

    def __init__(self, loop: Loop, watch: Watch, systemd: Systemd, lock: Lock,
                 voice: Spoken) -> None:
        self._loop, self._watch, self._systemd = loop, watch, systemd
        self._lock, self._voice = lock, voice

    def __call__(self) -> None:
        """Raises CannotJudge, which ends the daemon, where another one took its place."""
        try:
            if self._lock.renew():
                self._voice.trouble("the lock was removed, and is there again", lock=instance.NAME)
        except CannotJudge as error:
            self._voice.trouble("the lock is another one's", reason=str(error))
            raise
        self._watch.check()
        self._loop.lost = self._watch.trouble
        self._systemd.watchdog()


@contextmanager
def _signals(loop: Loop) -> Iterator[None]:
    """SIGTERM and SIGINT end it, SIGHUP has it look at everything again."""
    def put(what: str) -> None:
        loop.events.put((what, ""))

    def stop(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        put("stop")

    def again(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        put("rescan")

    before = {number: signal.signal(number, handler) for number, handler in (
        (signal.SIGTERM, stop), (signal.SIGINT, stop), (signal.SIGHUP, again))}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _watching(home: Path, state: str, loop: Loop, metrics: Metrics) -> Iterator[Watch]:
    def wake(path: Path) -> None:
        event = hinted(path)
        if event is not None:
            if event[0] != replays.JOB:
                metrics.hinted()
            loop.events.put(event)

    def lost(reason: str) -> None:
        metrics.lost()
        loop.events.put(("lost", reason))

    watch = Watch([Path(state) / hints.FOLDER, Path(state) / replays.JOBS,
                   home / activepolicy.FOLDER], wake, lost)
    watch.start()
    try:
        yield watch
    finally:
        watch.stop()


@contextmanager
def _delivering(active: Active, log: logs.Log) -> Iterator[Webhook | None]:
    asked = active.settings.webhook
    if asked is None:
        yield None
        return
    endpoint = Endpoint.of(asked.url, Path(asked.secret_file))
    webhook = Webhook(Outbox(active.settings.state), endpoint,
                      lambda what, fields: log.info(what, **fields))
    webhook.start()
    try:
        yield webhook
    finally:
        webhook.stop()


def _version() -> str:
    try:
        return version("policyd")
    except PackageNotFoundError:
        return "unknown"
