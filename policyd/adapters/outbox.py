"""Messages that wait to be carried out: STATE/outbox, one file each, put in place whole.

What `put` has returned is there after a crash or a power cut. A message may be read twice, by
whoever was killed before `remove`.
"""

from __future__ import annotations

import json
import os
import re
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime

from policyd.adapters import statefolder
from policyd.adapters.statefolder import StrPath
from policyd.core.values import dataclass

FOLDER = "outbox"
MOST = 1_000
"""Messages; what comes in beyond them pushes the oldest out."""

_NAME = re.compile(r"([0-9]{17}-[0-9a-f]{6})\.json")
_OLD_DRAFT = 3_600.0


@dataclass(frozen=True, slots=True)
class Message:
    """One message, the same at every try."""

    id: str
    event: str
    since: datetime
    body: bytes


class Outbox:
    """The queue of one state folder. Any thread may call; one process at a time."""

    def __init__(self, state: StrPath, *, most: int = MOST) -> None:
        self._state, self._most = state, most
        self._folder = os.path.join(state, FOLDER)
        self._lock = threading.Lock()
        self.dropped = 0
        """Messages that were lost because too many waited, or because their file was damaged."""

    def put(self, event: str, body: Mapping[str, object], at: datetime) -> str:
        """The new message's id. Raises CannotJudge, and then nothing is queued."""
        head = json.dumps({"event": event, "since": at.isoformat()})
        data = f"{head}\n{json.dumps(body, separators=(',', ':'))}".encode("ascii")
        with self._lock:
            try:
                return self._put(data, at)
            except OSError as error:
                raise statefolder.cannot_write("folder", self._folder, error) from error

    def _put(self, data: bytes, at: datetime) -> str:
        statefolder.subfolder(self._state, FOLDER)
        waiting = self.waiting()
        number = int(at.timestamp() * 1_000_000)
        if waiting:  # a clock set back does not change the order
            number = max(number, int(waiting[-1].split("-")[0]) + 1)
        identity = f"{number:017d}-{os.urandom(3).hex()}"
        statefolder.replace(self._path(identity), data)
        with suppress(OSError):  # the next one tries again
            for oldest in waiting[:max(len(waiting) + 1 - self._most, 0)]:
                self.remove(oldest)
                self.dropped += 1
        return identity

    def waiting(self) -> list[str]:
        """The ids of what waits, the oldest first. Raises OSError."""
        try:
            names = os.listdir(self._folder)
        except FileNotFoundError:
            return []
        return sorted(match[1] for name in names if (match := _NAME.fullmatch(name)))

    def read(self, identity: str) -> Message | None:
        """None when it is gone. A damaged one is dropped. Raises OSError."""
        try:
            with open(self._path(identity), "rb") as file:
                head, _, body = file.read().partition(b"\n")
        except FileNotFoundError:
            return None
        try:
            said = json.loads(head)
            json.loads(body)
            return Message(identity, said["event"], datetime.fromisoformat(said["since"]), body)
        except (ValueError, KeyError, TypeError):
            self.remove(identity)
            self.dropped += 1
            return None

    def remove(self, identity: str) -> None:
        """Raises OSError."""
        with suppress(FileNotFoundError):
            os.unlink(self._path(identity))

    def tidy(self) -> None:
        """Take away drafts whose writers were killed long ago."""
        with suppress(OSError):
            for entry in os.scandir(self._folder):
                if entry.name.startswith(".") and entry.stat().st_mtime < time.time() - _OLD_DRAFT:
                    os.unlink(entry.path)

    def __len__(self) -> int:
        with suppress(OSError):
            return len(self.waiting())
        return 0

    def _path(self, identity: str) -> str:
        return os.path.join(self._folder, f"{identity}.json")
