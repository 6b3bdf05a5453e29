"""One process asked for one execution after the other, without ever waiting for it alone."""

from __future__ import annotations

import os
import secrets
import select
import time
from collections.abc import Iterator, Mapping, Sequence
from math import inf

from policyd.core.errors import CannotJudge
from policyd.replay.frames import NONCE_BYTES, Call, Ended, Setup, Stream, ending, outcome, request
from policyd.replay.lanes import Lane
from policyd.replay.outcome import Break, Broken, Outcome
from policyd.replay.sandbox import Limits

_PIECE = 1 << 16
_START_SECONDS = 30.0
"""Until a runner is ready, on however busy a machine: no time of the candidate's."""


class Conversation:
    """Calls made in one process, each asked for only after the answer to the one before.

    `watched` are descriptors to poll for; `attend` does what can be done at once. When `is_over`,
    `outcomes` gives one outcome a call, in their order.
    """

    def __init__(self, lane: Lane, calls: Sequence[Call], setup: Setup, limits: Limits,
                 until: float = inf) -> None:
        """`until`, by time.monotonic(): when all that is not answered has run out of time."""
        self._lane, self._calls, self._limits, self._until = lane, calls, limits, until
        self._nonces = [secrets.token_bytes(NONCE_BYTES) for _ in calls]
        self._stream = Stream(self._nonces, limits.output_bytes)
        self._setup = setup
        self._asked = 0
        self._unsent = memoryview(b"")
        self._ended: Ended | None = None
        requests, self._ask = os.pipe()
        self._hear, answers = os.pipe()
        try:
            os.set_blocking(self._ask, False)
            os.set_blocking(self._hear, False)
            self._over = lane.start(requests, answers)
        except BaseException:
            self._hang_up()
            raise
        finally:
            os.close(requests)
            os.close(answers)
        self._ask_next()

    @property
    def is_over(self) -> bool:
        return self._ended is not None

    @property
    def deadline(self) -> float:
        """By time.monotonic(), for the answer that is awaited."""
        return self._deadline

    def watched(self) -> Mapping[int, int]:
        """Descriptors with the poll events that matter on them."""
        watched = {self._over: select.POLLIN}
        if self._hear >= 0:
            watched[self._hear] = select.POLLIN
        if self._unsent:
            watched[self._ask] = select.POLLOUT
        return watched

    def attend(self) -> None:
        """Read, write, ask for the next, notice the end or the lack of time."""
        is_ended = bool(_ready({self._over: select.POLLIN}))
        self._listen()
        self._write()
        if is_ended:
            self._finish()
        elif self._stream.broken is not None or time.monotonic() > self._deadline:
            self._lane.kill()
            self._finish()
        elif self._stream.answered == self._asked < len(self._calls):
            self._ask_next()

    def _ask_next(self) -> None:
        index, self._asked = self._asked, self._asked + 1
        self._unsent = memoryview(request(
            self._calls[index], self._setup, self._nonces[index],
            last=self._asked == len(self._calls), most=self._limits.output_bytes))
        self._deadline = self._later() if self._stream.is_ready \
            else time.monotonic() + _START_SECONDS
        self._write()

    def _later(self) -> float:
        return min(time.monotonic() + self._limits.wall_seconds, self._until)

    def _write(self) -> None:
        try:
            while self._unsent:
                self._unsent = self._unsent[os.write(self._ask, self._unsent) :]
        except BlockingIOError:
            return
        except OSError:
            self._unsent = memoryview(b"")  # nobody reads any more; the end will say why
        if self._asked == len(self._calls) and self._ask >= 0:
            os.close(self._ask)
            self._ask = -1

    def _listen(self) -> None:
        was_ready = self._stream.is_ready
        self._read()
        if self._stream.is_ready and not was_ready:
            self._deadline = self._later()

    def _read(self) -> None:
        try:
            while self._hear >= 0 and self._stream.broken is None:
                piece = os.read(self._hear, _PIECE)
                if not piece:
                    os.close(self._hear)
                    self._hear = -1
                self._stream.feed(piece, self._asked)
        except BlockingIOError:
            pass

    def _finish(self) -> None:
        self._ended = self._lane.ended()
        self._read()
        self._hang_up()
        if not self._stream.is_ready and self._stream.broken is None:
            raise CannotJudge(self._lane.complaint())

    def _hang_up(self) -> None:
        for descriptor in (self._ask, self._hear):
            if descriptor >= 0:
                os.close(descriptor)
        self._ask = self._hear = -1

    def abandon(self) -> None:
        """End it, whatever it was at."""
        if self._ended is None:
            self._lane.close()
            self._ended = Ended(0)
            self._hang_up()

    def outcomes(self) -> list[Outcome]:
        """One for each call. What breaks the process breaks the call that it was at."""
        assert self._ended is not None
        found = list(self._answers())
        missing = len(self._calls) - len(found)
        return [*found, *[Broken(Break.UNREACHED, "the process broke before")] * missing]

    def _answers(self) -> Iterator[Outcome]:
        stream, last = self._stream, self._asked - 1
        for index in range(min(stream.answered, last)):
            yield outcome(stream.payload(index), self._limits.output_bytes)
        yield self._last(last)

    def _last(self, index: int) -> Outcome:
        assert self._ended is not None
        cpu = dict(self._setup.limits).get("RLIMIT_CPU", 0)
        broken = self._stream.broken or ending(self._ended, cpu)
        if broken is not None:
            return broken
        if self._stream.answered <= index:
            torn = self._stream.is_torn
            return Broken(Break.MALFORMED if torn else Break.MISSING,
                          "the answer is not whole" if torn else "it ended without an answer")
        return outcome(self._stream.payload(index), self._limits.output_bytes)


def _ready(watched: Mapping[int, int], milliseconds: int = 0) -> list[tuple[int, int]]:
    poll = select.poll()
    for descriptor, events in watched.items():
        poll.register(descriptor, events)
    return poll.poll(milliseconds)


def wait(conversations: Sequence[Conversation]) -> None:
    """Until something happens in one of them, or its time is up; then attend to them all."""
    watched = {fd: events for one in conversations for fd, events in one.watched().items()}
    left = min(one.deadline for one in conversations) - time.monotonic()
    _ready(watched, max(int(left * 1000) + 1, 0))
    for one in conversations:
        one.attend()
