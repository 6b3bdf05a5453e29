"""Whether a change of a definition of the checks leaves alone what runs tests."""

from __future__ import annotations

from policyd.core.content import Changed
from policyd.core.sheet import Sheet

KEY = "checks:"
"""Before the name of a block that runs tests; alone: the file was read as a definition."""


def touched(file: Changed | None) -> int | None:
    """The line of what runs tests and is another one, or 1 where it is gone; None: nothing is.

    A file that nobody read as a definition is another one as a whole.
    """
    if file is None:
        return 1
    sides = file.before or (None,)
    if any(sheet is not None and not _is_read(sheet) for sheet in (file.after, *sides)):
        return 1
    now = _blocks(file.after)
    changed = [{name for name in {*was, *now} if was.get(name, ("",))[0] != now.get(name, ("",))[0]}
               for was in map(_blocks, sides)]
    if not all(changed):
        return None
    return min((now[name][1] for name in changed[0] if name in now), default=1)


def _is_read(sheet: Sheet) -> bool:
    return any(one.key == KEY for one in sheet.settings)


def _blocks(sheet: Sheet | None) -> dict[str, tuple[str, int]]:
    return {one.key: (one.value, one.line) for one in (sheet.settings if sheet is not None else ())
            if one.key != KEY and one.key.startswith(KEY)}
