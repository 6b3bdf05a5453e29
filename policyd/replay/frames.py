"""Requests to a runner, and what its bytes come to. Pure: it believes frame, nonce and status."""

from __future__ import annotations

import json
import signal
from collections.abc import Sequence

from policyd.core.values import dataclass
from policyd.replay import wire
from policyd.replay.outcome import Break, Broken, Outcome, Raised, Value

NONCE_BYTES = 16
_HEAD = 4 + NONCE_BYTES
_USED_UP = 0.5


@dataclass(frozen=True, slots=True)
class Call:
    """One execution: `entry` is module:function, `data` the encoded list of its arguments."""

    entry: str
    data: bytes

    def __post_init__(self) -> None:
        module, colon, name = self.entry.partition(":")
        parts = [*module.split("."), *name.split(".")]
        if not colon or not all(part.isidentifier() for part in parts):
            raise ValueError(f"{self.entry!r} is no entry point of the form module:function")
        if not self.data.startswith(b"["):
            raise ValueError("an input is an encoded list: the arguments in their order")
        if len(self.data) > wire.MAX_BYTES:
            raise ValueError(f"an input of more than {wire.MAX_BYTES} bytes")


@dataclass(frozen=True, slots=True)
class Setup:
    """What a runner does to itself before the candidate is imported.

    `limits` are names of the resource module with values; `user` is who to become, for root.
    """

    roots: tuple[str, ...]
    site: tuple[str, ...]
    limits: tuple[tuple[str, int], ...]
    user: int | None


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended: its status as of subprocess, or that it was ended for its time."""

    status: int
    timed_out: bool = False
    cpu_seconds: float = 0.0


def request(call: Call, setup: Setup, nonce: bytes, *, last: bool, most: int) -> bytes:
    """The bytes that ask a runner for one execution."""
    header = json.dumps({
        "entry": call.entry, "nonce": nonce.hex(), "last": last, "most": most,
        "setup": {"roots": setup.roots, "site": setup.site, "limits": dict(setup.limits),
                  "user": setup.user}}).encode("ascii")
    return b"".join([len(header).to_bytes(4, "big"), header,
                     len(call.data).to_bytes(4, "big"), call.data])


class Stream:
    """The bytes that a runner wrote so far. `nonces` are those of its calls, in order.

    A runner says first that it is ready: an empty frame with the first nonce. Until then nothing
    of the candidate has run, and a failure is the machinery's.
    """

    def __init__(self, nonces: Sequence[bytes], most: int) -> None:
        self._expected = [nonces[0], *nonces]
        self._most = most + 4096  # an error with its trace may be longer than a tiny limit
        self._buffer = bytearray()
        self._payloads: list[bytes] = []
        self.broken: Broken | None = None

    @property
    def is_ready(self) -> bool:
        return bool(self._payloads)

    @property
    def answered(self) -> int:
        """How many calls have a frame."""
        return max(len(self._payloads) - 1, 0)

    def payload(self, index: int) -> bytes:
        return self._payloads[index + 1]

    def feed(self, piece: bytes, asked: int) -> None:
        """More bytes, while `asked` calls have been asked for."""
        self._buffer += piece
        while self._buffer and self.broken is None and self._took_one(asked):
            pass

    def _took_one(self, asked: int) -> bool:
        if len(self._payloads) > asked:
            self.broken = Broken(Break.DOUBLE, "more was written after the answer")
            return False
        if len(self._buffer) < _HEAD:
            return False
        size = int.from_bytes(self._buffer[:4], "big")
        if self._buffer[4:_HEAD] != self._expected[len(self._payloads)] \
                or bool(size) != self.is_ready:
            self.broken = Broken(Break.MALFORMED, "a frame that is not the runner's")
        elif size > self._most:
            self.broken = Broken(Break.OVERSIZE, f"an answer of {size} bytes was announced")
        elif len(self._buffer) >= _HEAD + size:
            self._payloads.append(bytes(self._buffer[_HEAD : _HEAD + size]))
            del self._buffer[: _HEAD + size]
            return True
        return False

    @property
    def is_torn(self) -> bool:
        """Whether the last frame is not whole."""
        return bool(self._buffer)


def ending(ended: Ended, cpu_limit: float) -> Broken | None:
    """What an unclean end comes to; None for a clean one.

    The kernel kills by ticks and tells time by the clock: on a busy machine far less than the
    limit may have passed.
    """
    if ended.timed_out:
        return Broken(Break.TIMEOUT, "the wall time ran out")
    number = -ended.status if ended.status < 0 else ended.status - 128
    if number == signal.SIGXCPU or (
            number == signal.SIGKILL and ended.cpu_seconds > cpu_limit * _USED_UP):
        return Broken(Break.TIMEOUT, "the processor time ran out")
    if number > 0:
        return Broken(Break.SIGNAL, f"signal {number} ended it")
    return Broken(Break.EXIT, f"it ended with status {ended.status}") if ended.status else None


def outcome(payload: bytes, most: int) -> Outcome:
    """What one frame says. Whatever cannot be read is Broken."""
    kind, content = payload[:1], payload[1:]
    try:
        if kind == b"V":
            wire.decode(content, most)
            return Value(content)
        told = wire.decode(content)
    except wire.Malformed as error:
        return Broken(Break.MALFORMED, str(error))
    if kind == b"R" and _is_error(told):
        name, at_import, message, trace = told
        return Raised(_line(name, 200), at_import, _line(message, 500),
                      tuple(_line(step, 200) for step in trace[-12:]))
    if kind in (b"U", b"O") and type(told) is str:
        return Broken(Break.UNSENDABLE if kind == b"U" else Break.OVERSIZE, _line(told, 200))
    return Broken(Break.MALFORMED, "an answer of no known kind")


def _is_error(told: object) -> bool:
    match told:
        case [str(), bool(), str(), list() as trace]:
            return all(type(step) is str for step in trace)
    return False


def _line(text: str, most: int) -> str:
    printable = text if text.isascii() and text.isprintable() else ascii(text[:most])[1:-1]
    return printable[:most]
