"""Runs functions of a candidate's tree, one execution a process, and says what each came to."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from math import inf
from pathlib import Path
from time import monotonic
from types import TracebackType

from policyd.core.errors import CannotJudge
from policyd.replay.conversation import Conversation, wait
from policyd.replay.frames import Call
from policyd.replay.interpreter import Interpreter
from policyd.replay.lanes import Lane, lane
from policyd.replay.outcome import Broken, Outcome, Value
from policyd.replay.sandbox import Ground, Limits, Mode, missing

__all__ = ["Call", "Executor", "Limits", "Mode", "Script"]


Script = Sequence[Call]
"""Calls made one after the other in one process."""


class Executor:
    """Executions over one materialised tree.

        with Executor(tree, roots=["src"], mode=Mode.WARM) as executor:
            [outcome] = executor.run_many([Call("pkg.mod:function", wire.encode([1, [2, 3]]))])

    A call's input is the encoded list of positional arguments. `tree` and `site` must be readable
    for everybody; neither is ever written to. Whatever the candidate does comes back as an
    Outcome; CannotJudge is raised when there is no sandbox, or it fails before the candidate is
    in it. Not for several threads at once, and to be used and closed by the thread that made it:
    the kernel ends a sandbox with the thread that started it.
    """

    def __init__(self, tree: Path, *, roots: Sequence[str] = ("src",),
                 python: Interpreter | None = None, limits: Limits | None = None,
                 mode: Mode = Mode.WARM, site: Path | None = None, hash_seed: int = 0,
                 jobs: int = 2) -> None:
        """`roots` are import roots, paths below `tree`; `jobs` how many run at a time."""
        self.mode = mode
        self._ground = Ground(tree.absolute(), tuple(roots), python or Interpreter.own(), site,
                              limits or Limits(), hash_seed)
        self._lanes = [lane(self._ground, mode) for _ in range(jobs)]
        self._strict: Executor | None = None
        if mode is not Mode.NONE and (why := missing()):
            raise CannotJudge(f"there is no sandbox to replay in: {why}")

    def run(self, call: Call) -> Outcome:
        """One execution."""
        return self.run_many([call])[0]

    def run_many(self, calls: Iterable[Call], *, confirm: bool = False) -> list[Outcome]:
        """One outcome a call, in their order; each execution in a clean process.

        `confirm`: what breaks in a warm sandbox is tried again in one of its own, and that counts.
        """
        return self.run_scripts([(call,) for call in calls], confirm=confirm)

    def run_scripts(self, scripts: Iterable[Script], *, confirm: bool = False,
                    seconds: float = inf) -> list[Outcome]:
        """The same for scripts: the calls of each in one clean process, one outcome a script.

        That is the outcome of the last call, or of the first that gives no value. After `seconds`
        whatever still runs is Broken, of kind TIMEOUT.
        """
        scripts, until = list(scripts), monotonic() + seconds
        found = [_end(outcomes) for outcomes in self._conversations(scripts, until)]
        if confirm and self.mode is Mode.WARM:
            broken = [at for at, outcome in enumerate(found) if isinstance(outcome, Broken)]
            again = self.strictly([scripts[at] for at in broken], seconds=until - monotonic())
            for at, outcome in zip(broken, again, strict=True):
                found[at] = outcome
        return found

    def strictly(self, scripts: Sequence[Script], *, seconds: float = inf) -> list[Outcome]:
        """The same executions, in a sandbox for each."""
        if self.mode is not Mode.WARM:
            return self.run_scripts(scripts, seconds=seconds)
        if not scripts:
            return []
        ground = self._ground
        if self._strict is None:
            self._strict = Executor(ground.tree, roots=ground.roots, python=ground.python,
                                    limits=ground.limits, mode=Mode.STRICT, site=ground.site,
                                    hash_seed=ground.hash_seed, jobs=len(self._lanes))
        return self._strict.run_scripts(scripts, seconds=seconds)

    def run_sequence(self, calls: Iterable[Call], *, seconds: float = inf) -> list[Outcome]:
        """All executions in one process, in the order given, in `seconds` altogether.

        Each is asked for when the one before has answered. What breaks the process ends the
        sequence: the rest is Broken, of kind UNREACHED.
        """
        calls = list(calls)
        return self._conversations([calls], monotonic() + seconds)[0] if calls else []

    def _conversations(self, talks: Sequence[Sequence[Call]], until: float
                       ) -> list[list[Outcome]]:
        found: dict[int, list[Outcome]] = {}
        waiting = deque(enumerate(talks))
        free = list(self._lanes)
        running: dict[int, tuple[Conversation, Lane]] = {}
        try:
            while waiting or running:
                while waiting and free:
                    at, calls = waiting.popleft()
                    there = free.pop()
                    setup = self._ground.setup(
                        self.mode, lane=self._lanes.index(there), executions=len(calls))
                    running[at] = Conversation(
                        there, calls, setup, self._ground.limits, until), there
                wait([talk for talk, _ in running.values()])
                for at in [at for at, (talk, _) in running.items() if talk.is_over]:
                    talk, there = running.pop(at)
                    found[at] = talk.outcomes()
                    free.append(there)
        finally:
            for talk, _ in running.values():
                talk.abandon()
        return [found[at] for at in range(len(talks))]

    def close(self) -> None:
        for one in self._lanes:
            one.close()
        if self._strict is not None:
            self._strict.close()

    def __enter__(self) -> Executor:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()


def _end(outcomes: Sequence[Outcome]) -> Outcome:
    return next((one for one in outcomes if not isinstance(one, Value)), outcomes[-1])
