"""Sheets that outlive one judgement, for who judges many pushes in one process: not the hook."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable

from policyd.core.sheet import Sheet

MOST = 1_000
"""Some hundred bytes to some hundred kilobytes each."""


class KeptSheets:
    """The sheets that were asked for last, by all that decides what stands in one."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._held: OrderedDict[Hashable, Sheet] = OrderedDict()

    def get(self, key: Hashable) -> Sheet | None:
        held = self._held.get(key)
        if held is not None:
            self._held.move_to_end(key)
        return held

    def keep(self, key: Hashable, sheet: Sheet) -> None:
        self._held[key] = sheet
        self._held.move_to_end(key)
        while len(self._held) > self._most:
            self._held.popitem(last=False)
