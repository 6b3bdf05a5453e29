"""The only watchdog: tells that something changed in a few flat folders. Events are hints.

Whoever is told looks for himself: an event may be lost, late, doubled, or about a file that is
gone again. What is known to have gone wrong is said through `lost`.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from watchdog.events import (
    DirDeletedEvent,
    DirMovedEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers.api import BaseObserver, ObservedWatch
from watchdog.observers.inotify import InotifyEmitter
from watchdog.observers.inotify_c import InotifyEvent, InotifyFD

from policyd.adapters.statefolder import because
from policyd.core.values import dataclass

WAKING: list[type[FileSystemEvent]] = [
    FileMovedEvent, FileCreatedEvent, FileDeletedEvent, FileClosedEvent, DirMovedEvent,
    DirDeletedEvent]
"""Closed after writing, not modified: half a file says nothing. Reads are not among them, or
whoever looks would wake himself for ever."""


class Watch:
    """Wakes for what changes directly in `folders`. `start`, `check` and `stop` are for one thread.

    `wake` takes the path that changed, `lost` a sentence when events may have been missed and
    everything has to be looked at. Both are called from threads of the watch, must return soon,
    and must not wait for the thread that calls `check`. `check` puts a watch back in place where
    its folder was replaced or could not be watched before; without it the watch ends there.
    """

    def __init__(self, folders: Sequence[Path], wake: Callable[[Path], None],
                 lost: Callable[[str], None]) -> None:
        self._places = [_Place(folder) for folder in folders]
        self._wake, self._lost = wake, lost
        self._observer: _Observer | None = None
        self._trouble: str | None = None
        self._running = self._doubtful = False

    def start(self) -> None:
        """Never raises: what cannot be watched is said through `lost`."""
        self._running = True
        self.check()

    def check(self) -> None:
        """Call at each tick: compares the folders that are there with those that are watched."""
        if not self._running:
            return
        if self._observer is not None and not self._observer.is_whole():
            self._end()
            self._say("the thread that waits for file events ended")
        if self._observer is None and not self._begin():
            return
        doubtful, self._doubtful = self._doubtful, False
        for place in self._places:
            self._renew(place, doubtful=doubtful)

    @property
    def trouble(self) -> str:
        """Why events do not arrive now; empty while they do."""
        standing = [self._trouble, *(place.trouble for place in self._places)]
        return "; ".join(sentence for sentence in standing if sentence is not None)

    def stop(self) -> None:
        """Ends all threads of the watch and waits for them."""
        self._running = False
        self._end()

    def _begin(self) -> bool:
        try:
            self._observer = _Observer(self._overflowed)
            self._observer.start()
        except (OSError, RuntimeError) as error:
            self._end()
            before, self._trouble = self._trouble, f"no file events: {_reason(error)}"
            if self._trouble != before:
                self._say(self._trouble)
            return False
        if self._trouble is not None:
            self._say("file events are to be had again")
        self._trouble = None
        return True

    def _end(self) -> None:
        observer, self._observer = self._observer, None
        for place in self._places:
            place.watch = None
        if observer is not None:
            with suppress(RuntimeError):  # of a thread that never started, or is this one
                observer.stop()
                observer.join()

    def _renew(self, place: _Place, *, doubtful: bool) -> None:
        assert self._observer is not None
        # Before scheduling: a folder that is replaced in between is then seen at the next check.
        identity, trouble = _identity(place.folder)
        was = place.watch
        if was is not None:
            if identity == place.identity and self._observer.delivers(was) and not doubtful:
                return
            with suppress(KeyError):
                self._observer.unschedule(was)
            place.watch = None
        if trouble is None:
            try:
                place.watch = self._observer.schedule(
                    _Handler(self._tell), os.fspath(place.folder), event_filter=WAKING,
                    follow_symlink=True)
            except (OSError, RuntimeError) as error:
                trouble = f"{place.folder} is not watched: {_reason(error)}"
        place.identity = identity
        before, place.trouble = place.trouble, trouble
        if was is not None:
            self._say(trouble or f"{place.folder} was replaced or is watched anew")
        elif trouble != before:
            self._say(trouble or f"{place.folder} is watched again")

    def _tell(self, event: FileSystemEvent) -> None:
        if isinstance(event, DirDeletedEvent):
            if any(os.fspath(place.folder) == event.src_path for place in self._places):
                self._say(f"{os.fsdecode(event.src_path)} was removed")
            return
        try:
            for path in _paths(event):
                self._wake(path)
        except Exception as error:
            self._say(f"a hint was not taken: {type(error).__name__}")

    def _overflowed(self) -> None:
        # What was lost may be that a folder went away, and a new one may have its number.
        self._doubtful = True
        self._say("more file events than the kernel keeps")

    def _say(self, reason: str) -> None:
        with suppress(Exception):
            self._lost(reason)


@dataclass(slots=True)
class _Place:
    """A folder, and what of it is watched."""

    folder: Path
    watch: ObservedWatch | None = None
    identity: tuple[int, int] | None = None
    """Device and number of the watched folder. A number can be taken again: see `delivers`."""
    trouble: str | None = None


class _Handler(FileSystemEventHandler):
    def __init__(self, tell: Callable[[FileSystemEvent], None]) -> None:
        self._tell = tell

    def on_any_event(self, event: FileSystemEvent) -> None:
        self._tell(event)


class _Queue(InotifyFD):
    """The kernel's queue. watchdog itself says of an overflow no more than a line in a log."""

    def __init__(self, overflowed: Callable[[], None]) -> None:
        super().__init__()
        self._overflowed = overflowed

    def handle_event(self, event: InotifyEvent) -> None:
        super().handle_event(event)
        if event.is_queue_overflow:
            self._overflowed()


class _Observer(BaseObserver):
    """watchdog's InotifyObserver with a queue of our own."""

    def __init__(self, overflowed: Callable[[], None]) -> None:
        self._queue = _Queue(overflowed)
        self._queue.start()
        super().__init__(InotifyEmitter, inotify_fd=self._queue)

    def on_thread_stop(self) -> None:
        super().on_thread_stop()
        self._queue.stop()
        self._queue.join()

    def is_whole(self) -> bool:
        return self.is_alive() and self._queue.is_alive()

    def delivers(self, watch: ObservedWatch) -> bool:
        """Whether somebody still reads the watch's events: not after its folder was deleted."""
        return any(one.is_alive() for one in self.emitters if one.watch == watch)


def _paths(event: FileSystemEvent) -> Iterator[Path]:
    """The files that an event is about, without drafts: `.name`, put in place by a rename.

    A ConfigMap's `..data` is none.
    """
    for path in (event.src_path, event.dest_path):
        name = os.path.basename(os.fsdecode(path))
        if name and (not name.startswith(".") or name.startswith("..")):
            yield Path(os.fsdecode(path))


def _identity(folder: Path) -> tuple[tuple[int, int] | None, str | None]:
    """Which folder is there, or why none can be watched."""
    try:
        there = os.stat(folder)
    except OSError as error:
        return None, f"{folder} is not watched: {because(error)}"
    if not stat.S_ISDIR(there.st_mode):
        return None, f"{folder} is not watched: not a folder"
    if not os.access(folder, os.R_OK):  # watchdog passes over the kernel's refusal
        return None, f"{folder} is not watched: permission denied"
    return (there.st_dev, there.st_ino), None


def _reason(error: Exception) -> str:
    return because(error) if isinstance(error, OSError) else str(error)
