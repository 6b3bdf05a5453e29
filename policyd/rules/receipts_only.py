"""A property opens receipts and nothing else.

Looked at is each changed file below `properties`, all of it and not only what it gains. A path is
followed from the repository's root, or from the file's own folder where it is built from
`__file__`; it has to lie below `may_open`. A path that cannot be told by reading is refused like
one that leads elsewhere, and so is a file that cannot be read. Nothing is written, but to the
folder that the test runner gives (`tmp_path`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from policyd.core.content import Changed, Content, leads_to
from policyd.core.examples import MAIN, push
from policyd.core.facts import Need, Situation, Unreadable, Update
from policyd.core.policy import Reach
from policyd.core.rule import Example, Finding, Next, Place, Repair, Rule
from policyd.core.sheet import Opened, Sheet
from policyd.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """Which tests are properties, and what they may open.

    `properties`: globs of files that hold properties.
    `may_open`: globs of what these may open.
    """

    properties: tuple[str, ...] = ("tests/properties/**",)
    may_open: tuple[str, ...] = ("oracle/receipts/**",)

    def reads(self) -> tuple[str, ...]:
        return self.properties

    def globs(self) -> tuple[str, ...]:
        """Each becomes a zone of its own name."""
        return (*self.properties, *self.may_open)


def check(given: Situation, options: Options) -> Iterator[Finding]:
    for update in given.updates:
        if update.content is None or update.revert:
            continue
        files = [file for file in update.content.files if file.after is not None
                 and not set(options.properties).isdisjoint(file.zones)]
        places = [place for file in files for place in _opened(file, options)]
        paths = {file.path for file in files}
        places += [Place(path=one.path, line=one.line, note=f"cannot be read: {one.reason}")
                   for one in update.content.unreadable if one.path in paths]
        if places:
            yield _finding(update, tuple(places), options)


def _opened(file: Changed, options: Options) -> Iterator[Place]:
    for one in file.after.opened if file.after is not None else ():
        note = _wrong(file, one, options)
        if note:
            yield Place(path=file.path, line=one.line, note=f"{note}: {one.path}")


def _wrong(file: Changed, one: Opened, options: Options) -> str:
    """What is wrong with it; nothing where it lies below `may_open` and is only read."""
    if one.writes:
        return "writes a file"
    if one.base == "unknown" or one.path.startswith("**"):
        return "opens the unknown"
    where = leads_to(file.path, one.path, one.base)
    if where and all(set(options.may_open) & set(file.leads.get(path, ())) for path in where):
        return ""
    return "opens elsewhere"


def _finding(update: Update, places: tuple[Place, ...], options: Options) -> Finding:
    first = places[0]
    return Finding(
        ref=update.ref, says=f"{first.path}:{first.line} {first.note.partition(':')[0]}",
        scene="1 place" if len(places) == 1 else f"{len(places)} places", places=places,
        repair=Repair("edit", Next.EDIT, words=(
            "change these lines in a commit on top, each to one of:",
            f"a) a file below {_below(options)}, by a path that can be read:",
            '   a literal from the root, or Path(__file__).parents[2] / "oracle"',
            "b) values that the property makes itself; scratch files in tmp_path",
            "no receipt has it? propose it: proposals/NAME.yaml, kind: receipt")))


def _below(options: Options) -> str:
    return ", ".join(glob.removesuffix("**") for glob in options.may_open) or "nothing"


def _with(*opened: Opened, unreadable: tuple[Unreadable, ...] = (),
          path: str = "tests/properties/test_tax.py") -> Situation:
    zones = ("tests", *(("tests/properties/**",) if "properties" in path else ()))
    file = Changed(path, zones, Sheet(opened=opened), leads={
        where: ("oracle", "oracle/receipts/**") for one in opened
        for where in leads_to(path, one.path, one.base) if where.startswith("oracle/receipts")})
    return push(update=replace(MAIN, content=Content((file,), unreadable)))


_RECEIPT = Opened(3, "oracle/receipts/tax.json", "root")

RULE = Rule(
    id="receipts-only",
    why="a property that reads an answer elsewhere is no property.",
    fix="Open files below oracle/receipts/ by paths that can be read, and nothing else.",
    options=Options,
    check=check,
    doc=__doc__,
    accepts=lambda: (
        Example("nothing opened", _with(), Options()),
        Example("a receipt from the root", _with(_RECEIPT), Options()),
        Example("a receipt from the file's own folder", _with(
            Opened(3, "../../oracle/receipts/tax.json", "file")), Options()),
        Example("all receipts", _with(Opened(3, "oracle/receipts/*.json", "root")), Options()),
        Example("a test that is no property", _with(
            Opened(3, "tests/data/a.txt"), path="tests/test_tax.py"), Options()),
        Example("a maintainer's return to an earlier accepted state", push(update=replace(
            _with(Opened(3, "src/tax.py")).updates[0], revert=True)), Options()),
    ),
    rejects=lambda: (
        Example("the code that it judges", _with(Opened(3, "src/tax.py")), Options()),
        Example("another part of the oracle, beside a receipt", _with(
            _RECEIPT, Opened(4, "oracle/rates.json")), Options()),
        Example("a receipt's name below its own folder", _with(
            Opened(3, "oracle/receipts/tax.json", "file")), Options()),
        Example("a path that is not known", _with(Opened(3, "**", "unknown")), Options()),
        Example("a known end of a path that is not", _with(
            Opened(3, "**/oracle/receipts/tax.json")), Options()),
        Example("a way out of the repository", _with(
            Opened(3, "../../../oracle/receipts/tax.json", "file")), Options()),
        Example("a way out of the receipts", _with(
            Opened(3, "oracle/receipts/*/../../rates.json")), Options()),
        Example("a receipt that is written", _with(replace(_RECEIPT, writes=True)), Options()),
        Example("a property that cannot be read", _with(unreadable=(
            Unreadable("tests/properties/test_tax.py", 7, "invalid syntax"),)), Options()),
    ),
    needs=frozenset({Need.CONTENT}),
    on=Reach.GUARDED,
    lenient=True,
)
