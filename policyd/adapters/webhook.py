"""Carries the outbox to a webhook, in a thread of its own that holds up nobody.

Messages go one at a time, the oldest first. While the endpoint is away or asks to wait, the order
stays; a message that it fails on steps behind the others.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta

from policyd.adapters import clock
from policyd.adapters.endpoint import Answer, Endpoint, Exchange, Fate, why
from policyd.adapters.outbox import Message, Outbox
from policyd.core.values import dataclass

Say = Callable[[str, Mapping[str, object]], None]
"""Takes an event for the log, and its fields."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How often an endpoint that fails is tried, in seconds."""

    first: float = 1.0
    most: float = 900.0
    give_up: float = 86_400.0
    """After its first try; a message that waited longer while nobody ran is tried once."""
    idle: float = 60.0
    """Between two looks at an empty outbox that nobody announced a message for."""

    def pause(self, failures: int) -> float:
        """Doubled with each failure in a row, and shaken so that two servers part."""
        return float(min(self.most, self.first * 2 ** min(failures - 1, 30))) \
            * random.uniform(0.5, 1.0)


class Webhook:
    """Queue and delivery to one endpoint. `put` never waits for the network."""

    def __init__(self, outbox: Outbox, endpoint: Endpoint, say: Say, *, pace: Pace | None = None,
                 now: Callable[[], datetime] = clock.now) -> None:
        self._outbox, self._endpoint, self._tell = outbox, endpoint, say
        self._pace, self._now = pace or Pace(), now
        self._thread = threading.Thread(target=self._run, name="webhook", daemon=True)
        self._wake = threading.Event()
        self._ended = False
        self._exchange: Exchange | None = None
        self._failures = 0
        self._not_before = 0.0
        self._stepped: dict[str, int] = {}
        self._given_up = 0
        self.delivered = 0

    @property
    def dropped(self) -> int:
        """Messages that will never arrive."""
        return self._outbox.dropped + self._given_up

    @property
    def queued(self) -> int:
        return len(self._outbox)

    def put(self, event: str, body: Mapping[str, object]) -> str:
        """Queue a message; its id. From here on it survives a crash. Raises CannotJudge."""
        before = self._outbox.dropped
        identity = self._outbox.put(event, body, self._now())
        if self._outbox.dropped > before:
            self._say("webhook queue full", dropped=self._outbox.dropped - before)
        self._wake.set()
        return identity

    def start(self) -> None:
        self._outbox.tidy()
        self._thread.start()

    def stop(self) -> None:
        """Cuts what is under way; it is sent again by the next start."""
        self._ended = True
        self._wake.set()
        exchange = self._exchange
        if exchange is not None:
            exchange.cut()
        if self._thread.is_alive():
            self._thread.join(self._endpoint.timeout)

    def _run(self) -> None:
        while not self._ended:
            pause = self._not_before - time.monotonic()
            if pause <= 0:
                pause = self._step()
            if pause > 0:
                self._wake.wait(pause)
                self._wake.clear()

    def _step(self) -> float:
        """Try one message; seconds to wait before the next look."""
        try:
            message = self._next()
            if message is None:
                return 0.0 if self._outbox.waiting() else self._pace.idle
            self._exchange = exchange = Exchange(self._endpoint)
            if self._ended:
                return 0.0
            answer = exchange.post(message, self._now())
            self._exchange = None
            self._settle(message, answer)
        except Exception as error:
            self._fail(0.0)
            self._say("webhook broken", reason=why(error))
        return 0.0

    def _next(self) -> Message | None:
        waiting = self._outbox.waiting()
        self._stepped = {one: self._stepped[one] for one in waiting if one in self._stepped}
        if not waiting:
            return None
        return self._outbox.read(min(waiting, key=lambda one: (self._stepped.get(one, 0), one)))

    def _settle(self, message: Message, answer: Answer) -> None:
        if answer.fate is Fate.DELIVERED:
            self._outbox.remove(message.id)
            self.delivered += 1
            self._recover(message)
        elif self._ended:  # cut by us: says nothing of the endpoint
            return
        elif answer.fate is Fate.REFUSED:
            self._drop("webhook refused", message, answer)
            self._recover(message)
        else:
            self._postpone(message, answer)

    def _recover(self, message: Message) -> None:
        if self._failures:
            self._say("webhook answers again", message)
        self._failures, self._not_before = 0, 0.0

    def _postpone(self, message: Message, answer: Answer) -> None:
        self._fail(answer.wait)
        if self._now() - message.since > timedelta(seconds=self._pace.give_up):
            self._drop("webhook gave up", message, answer)
            return
        if answer.aside:
            self._stepped[message.id] = self._stepped.get(message.id, 0) + 1
        self._say("webhook failed", message, reason=answer.reason,
                  again_in=round(self._not_before - time.monotonic(), 1))

    def _fail(self, wait: float) -> None:
        self._failures += 1
        self._not_before = time.monotonic() + max(self._pace.pause(self._failures), wait)

    def _drop(self, event: str, message: Message, answer: Answer) -> None:
        self._outbox.remove(message.id)
        self._given_up += 1
        self._say(event, message, reason=answer.reason)

    def _say(self, event: str, message: Message | None = None, **fields: object) -> None:
        about = {} if message is None else {"id": message.id, "about": message.event}
        with suppress(Exception):
            self._tell(event, {"endpoint": self._endpoint.origin, **about, **fields})
