"""Whether the hooks of all repositories are as they must be: the cheap half of the doctor.

A hook is read again only where stat shows that it, or what git is told of it, has changed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from policyd.adapters import hooknotes, refstat, repoconfig, repoindex
from policyd.adapters.gatefiles import Noted
from policyd.adapters.statefolder import because
from policyd.core.errors import CannotJudge
from policyd.core.hookstate import Broken, Turn
from policyd.core.values import dataclass
from policyd.doctor import hook
from policyd.doctor.findings import Weight
from policyd.doctor.hook import Place


@dataclass(frozen=True, slots=True)
class Turned:
    """A hook that broke, or is well again; then `hook` says what it had."""

    turn: Turn
    hook: Broken


@dataclass(frozen=True, slots=True)
class _Seen:
    """What a hook depends on, and what stat said of that."""

    git_dir: str
    paths: tuple[str, ...]
    program: str
    mark: str


class Hooks:
    """The hooks of one state folder's repositories. It tells nobody."""

    def __init__(self, home: Path, state: str) -> None:
        self._home, self._state = home, state
        self._everywhere: str | None = None
        self._seen: dict[str, _Seen] = {}
        self.broken = dict(hooknotes.all_of(state))
        """By the keys of their repositories."""

    def begin(self) -> None:
        """Before a pass: what git is told of hooks for all repositories. Raises CannotJudge."""
        self._everywhere = repoconfig.hooks_everywhere()

    def look(self, key: str, name: str, git_dir: str, at: str) -> Turned | None:
        """Look at a hook where it may have changed; None where that is no news."""
        if not os.path.lexists(os.path.join(git_dir, repoindex.KEY_FILE)):
            return None  # it is elsewhere, or no longer enrolled; others say so
        seen = self._seen.get(key)
        if seen is not None and seen.git_dir == git_dir and seen.mark == self._mark(seen):
            return None
        before = self.broken.get(key)
        says = self._found(key, Place(Path(git_dir), self._home, Path(sys.executable)))
        if says is None:
            return None if before is None else Turned(Turn.MENDED, before)
        now = Broken(name, git_dir, says, at if before is None else before.since)
        if before is not None and before.says == says and before.git_dir == git_dir:
            return None
        return Turned(Turn.BROKEN, now)

    def note(self, key: str, turned: Turned) -> None:
        """Once it is told. Raises CannotJudge."""
        if turned.turn is Turn.BROKEN:
            self.broken[key] = turned.hook
            hooknotes.note(self._state, key, turned.hook)
        else:
            self.forget(key, gone=False)

    def forget(self, key: str, *, gone: bool = True) -> None:
        if gone:
            self._seen.pop(key, None)
        if self.broken.pop(key, None) is not None:
            hooknotes.forget(self._state, key)

    def again(self) -> None:
        """Read every hook at the next look, whatever stat says."""
        self._seen.clear()

    def _found(self, key: str, place: Place) -> str | None:
        """What is wrong with it now, in one sentence."""
        self._seen.pop(key, None)
        try:
            seen = self._seeing(place)
            hooks = repoconfig.hooks(place.git_dir, self._everywhere)
            faults = [one for one in hook.look(place, hooks) if one.weight is Weight.FAULT]
            if (seen.paths, seen.program) == hook.depends_on(place, hook.seat_of(place, hooks)):
                self._seen[key] = seen
        except CannotJudge as error:
            return str(error)
        except OSError as error:
            return f"{error.filename or 'a file'}: {because(error)}"
        return f"{faults[0].about}: {faults[0].says}" if faults else None

    def _seeing(self, place: Place) -> _Seen:
        """Before the hook is read: what changes meanwhile shows at the next pass."""
        hooks = repoconfig.hooks(place.git_dir, self._everywhere)
        paths, program = hook.depends_on(place, hook.seat_of(place, hooks))
        seen = _Seen(place.name, paths, program, "")
        return replace(seen, mark=self._mark(seen))

    def _mark(self, seen: _Seen) -> str:
        runs = os.access(seen.program, os.X_OK) if seen.program else True
        return refstat.whole(seen.paths, self._everywhere or "", str(runs))


def broken_now(home: Path, state: str, noted: Iterable[tuple[str, Noted]],
               at: str) -> Iterator[Broken]:
    """What is wrong with the hooks of these repositories, by their keys; changes no note."""
    hooks = Hooks(home, state)
    hooks.begin()
    for key, one in noted:
        turned = hooks.look(key, one.repository, one.git_dir, at) if one.git_dir else None
        if turned is None and key in hooks.broken:
            yield hooks.broken[key]
        elif turned is not None and turned.turn is Turn.BROKEN:
            yield turned.hook
