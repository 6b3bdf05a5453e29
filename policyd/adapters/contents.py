"""The insides of the files that an update changes, before and after, for rules that read them."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from posixpath import splitext

from policyd.adapters.gains import before_sides
from policyd.adapters.look import Look
from policyd.adapters.sources import Files, Sources
from policyd.core import hiddenkey, modules
from policyd.core.answerkey import is_pair
from policyd.core.content import Changed, Content, gained, leads_to
from policyd.core.facts import Op, Touch, Update
from policyd.core.sheet import Keyed, Sample, Sheet, Trick
from policyd.core.trees import TREE, Entry, Node
from policyd.core.values import dataclass
from policyd.languages import DATA, language_of

_TELLING = 3
"""Bytes of an input below which many tests hold it."""
_MOST_PIECES = 4
"""Of joined inputs, that are searched for."""
_SCALAR = re.compile(r'"(?:[^"\\]|\\.)*"|[\w.]+')
_ESCAPE = re.compile(r"\\(?:x\w{,2}|u\w{,4}|U\w{,8}|.?)")

EXCUSED = Callable[[], frozenset[str]]
"""The node ids with a row that holds; asked for only where a test is marked."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What rules want to know; zones by name."""

    zones: frozenset[str]
    """What they read."""
    source: str | None = None
    """Whose gained branches are held against samples; None: nobody asks."""
    tests: str = "tests"
    """Where the samples stand."""
    data: str | None = None
    """The zone whose data is read as well."""
    kept: tuple[str, str] | None = None
    """The zones of source and of the tests that may go with names of it; None: nobody asks."""


def content(look: Look, update: Update, asked: Asked, sources: Sources,
            excused: EXCUSED) -> Content:
    """Raises CannotJudge beyond the policy's bounds, Missing."""
    if update.tip is None or not update.whole or update.peels != "commit":
        return Content()
    zoned = {touch.path: touch.zones for touch in (*update.net, *_returned(update))
             if _is_read(touch, asked)}
    if not zoned:
        return Content()
    tree = look.tree_of(update.tip)
    after = dict(sources.files(tree, zoned))
    before = {path: _before(look, update, path) for path in zoned}
    sides = [dict(sources.files(side, zoned)) for side in before_sides(look, update)]
    sources.read([*after.items(), *((path, entry) for path in zoned for entry in before[path]),
                  *(file for side in sides for file in side.items())])
    files = tuple(_leading(look, _changed(path, zones, after, before[path], sides, sources), asked)
                  for path, zones in sorted(zoned.items()))
    marked = any(file.after is not None and file.after.markers for file in files)
    found = Content(files, sources.unreadable(after), {},
                    excused() if marked else frozenset(),
                    _vanished(look, tree, files, asked, sources))
    if asked.source is None:
        return found
    return Content(found.files, found.unreadable, _samples(look, tree, found, asked, sources),
                   found.excused, found.vanished)


def _vanished(look: Look, tree: bytes, files: Sequence[Changed], asked: Asked,
              sources: Sources) -> frozenset[str]:
    """Asked for only where a test was there before."""
    if asked.kept is None or not any(sheet.tests for file in files for sheet in file.before):
        return frozenset()
    from policyd.adapters import silences

    return silences.vanished(look, tree, files, asked.kept, sources)


def _is_read(touch: Touch, asked: Asked) -> bool:
    language = language_of(touch.path)
    if language == DATA:
        return asked.data in touch.zones
    return language is not None and not asked.zones.isdisjoint(touch.zones)


def _returned(update: Update) -> tuple[Touch, ...]:
    """A rewrite takes away what the branch held, whatever was judged."""
    return update.arrivals if update.op is Op.REWRITE and update.guarded else ()


def _before(look: Look, update: Update, path: str) -> tuple[Entry, ...]:
    raw = path.encode("utf-8", "surrogateescape")
    if update.op is Op.REWRITE and update.guarded and update.old is not None:
        held: Node = (TREE, look.tree_of(update.old))
        return look.trees.leaves(held, raw)
    return look.trees.leaves(look.expected(update), raw)


def _changed(path: str, zones: tuple[str, ...], after: Files, before: Sequence[Entry],
             sides: Sequence[Files], sources: Sources) -> Changed:
    others = dict.fromkeys(side[path] for side in sides if path in side)
    entry = after.get(path)
    return Changed(
        path, zones, (sources.sheet(path, entry) or Sheet()) if entry is not None else None,
        _sheets(path, before, sources),
        _sheets(path, (other for other in others if other not in before), sources),
        is_new=not before and not others)


def _leading(look: Look, file: Changed, asked: Asked) -> Changed:
    """With the zones of the paths that it names; those of a folder are what lies in it."""
    sheet = file.after
    if sheet is None:
        return file
    named = [(one.what, "unknown") for one in sheet.suspects if one.trick is Trick.READS]
    named += [(one.path, one.base) for one in sheet.opened]
    leads = {where: _inside(look, where, f"{where}/*")
             for path, base in named for where in leads_to(file.path, path, base)}
    if asked.source in file.zones:
        suffix = splitext(file.path)[1]
        leads |= {where: _inside(look, where, f"{where}/*", f"{where}{suffix}")
                  for use in sheet.imports if (where := modules.place_of(use, file.path))}
    return replace(file, leads=leads) if leads else file


def _inside(look: Look, *paths: str) -> tuple[str, ...]:
    return tuple(sorted({zone for path in paths for zone in look.zones.inside(path)}))


def _sheets(path: str, entries: Iterable[Entry], sources: Sources) -> tuple[Sheet, ...]:
    return tuple(sheet for entry in entries
                 if (sheet := sources.sheet(path, entry)) is not None)


def _samples(look: Look, tree: bytes, found: Content, asked: Asked,
             sources: Sources) -> Mapping[str, tuple[Sample, ...]]:
    """Of the unchanged tests that hold, as text, what a gained branch answers."""
    keyed = gained(found.of(asked.source or ""), lambda sheet: sheet.keyed, _key)
    wanted = {needles for _, one in keyed for needles in _needles(one)}
    if not wanted:
        return {}
    changed = {file.path for file in found.files}
    unchanged = [path for path in look.paths_in(tree, (asked.tests,))
                 if path not in changed and language_of(path) not in (None, DATA)]
    files = [(path, entry) for path, entry in sources.files(tree, sorted(unchanged))
             if (text := sources.bytes_of(entry[1])) is not None
             and any(all(needle.search(text) for needle in needles) for needles in wanted)]
    sources.read(files)
    return {path: sheet.samples for path, entry in files
            if (sheet := sources.sheet(path, entry)) is not None and sheet.samples}


def _key(keyed: Keyed) -> tuple[tuple[str, ...], str]:
    return keyed.given, keyed.result


def _needles(keyed: Keyed) -> Iterator[tuple[re.Pattern[bytes], ...]]:
    """All of them stand in a test that gives this input; a short one says less than its result.

    So do the pieces of inputs that are joined, and the result where the input is a length.
    """
    if is_pair(keyed):
        needles = [_needle(value) for value in keyed.given]
        if all(len(needle) < _TELLING for needle in needles):
            needles.append(_needle(keyed.result))
        yield tuple(re.compile(_pattern(needle)) for needle in needles)
    if hiddenkey.is_joined(keyed):
        longest = sorted(set(hiddenkey.pieces(keyed)), key=len)[-_MOST_PIECES:]
        yield tuple(re.compile(re.escape(piece.encode("ascii"))) for piece in longest)
    if hiddenkey.by_length(keyed):
        yield (re.compile(_pattern(_needle(keyed.result))),)


def _pattern(needle: bytes) -> bytes:
    """A number is no part of a longer one, but for zeros at its end."""
    plain = re.escape(needle)
    if not needle[:1].isdigit():
        return plain
    return rb"(?<![\w.])" + plain + (b"" if b"." in needle else rb"(?!\w|\.\d)")


def _needle(value: str) -> bytes:
    """How a value most likely stands in a file, or its longest plain part; "" for none."""
    if value.startswith(("[", "{")):
        return max(map(_needle, _SCALAR.findall(value)), key=len, default=b"")
    if not value.startswith('"'):
        return value.encode("ascii")
    try:
        text = ast.literal_eval(value)
    except (ValueError, SyntaxError):  # a long one, of which the head is there, and its checksum
        text = "\n".join(_ESCAPE.split(value[1:].partition("... (")[0]))
    parts: Iterator[str] = iter(str(text).splitlines())
    return max(parts, key=len, default="").encode("utf-8", "surrogateescape")
