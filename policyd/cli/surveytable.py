"""How a survey is printed: tables for people, one JSON object for programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from rich.text import Text

from policyd.core import backtesting, survey
from policyd.core.render import printable, shortened
from policyd.core.survey import Kind

if TYPE_CHECKING:
    from policyd.cli.policy.survey import One, Survey

_WIDTH = 140
_NAME = 40
_LINES = 50
"""Repositories of which the tables have a row; JSON has all of them."""


def plain(told: Survey, written: Sequence[Path]) -> dict[str, Any]:
    """All of it as JSON has it."""
    return {"root": str(told.root), "repositories": [_one(one) for one in told.found],
            "unread": [{"repository": name, "why": why} for name, why in told.unread],
            "rules": {rule: dict(counts) for rule, counts in _rules(told.found).items()},
            "drafts": list(told.drafts), "written": [str(path) for path in written]}


def show(told: Survey, written: Sequence[Path]) -> None:
    """Print it."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=_WIDTH)
    console.print(Text(f"{len(told.found)} repositories below {printable(str(told.root))}, "
                       f"{len(told.unread)} could not be read"))
    console.print(_repositories(told.found))
    console.print(_places(told.found))
    console.print(_zones(told.found))
    if _rules(told.found):
        console.print(_past(told.found))
    for line in (*_remarks(told), *_end(told, written)):
        console.print(Text(line), soft_wrap=True)


def _one(one: One) -> dict[str, Any]:
    past = one.past
    return {
        "repository": one.name, "git_dir": str(one.git_dir), "bare": one.bare,
        "branch": one.head or None, "branches": one.branches, "guarded": list(one.guarded),
        "files": one.files, "mirror": one.mirror, "signs": list(one.signs),
        "kinds": {kind.value: {"files": group.files, "bytes": group.size,
                               "where": dict(group.where)} for kind, group in one.kinds.items()},
        "layout": asdict(one.layout), "shipped_zones": dict(one.shipped_zones),
        "zones": dict(one.zones), "odd_entries": [asdict(entry) for entry in one.odd],
        "lately": dict(one.lately), "trouble": one.trouble or None,
        "past": None if past is None else {
            "steps": past.steps, "judged": past.judged, "would_refuse": past.would_refuse,
            "rules": {row.rule: row.would_refuse for row in past.rows},
            "unjudged": [asdict(reason) for reason in past.reasons]}}


def _repositories(found: Sequence[One]) -> Table:
    table = _table("repository", "branch", "layout", "files:", "sources:", "tests:", "recordings:",
                   "CI:", "odd:", "authors:", "steps:", "would refuse:")
    for one in found[:_LINES]:
        held = {kind: group.files for kind, group in one.kinds.items()}
        layout = "src/" if one.layout.is_src else "flat"
        _add(table, one.name, one.head or "(none)", layout, one.files, held.get(Kind.SOURCE, 0),
             held.get(Kind.TESTS, 0),
             sum(held.get(kind, 0) for kind in survey.RECORDINGS), held.get(Kind.CI, 0),
             len(one.odd), one.lately["addresses"],
             "-" if one.past is None else one.past.judged,
             "-" if one.past is None else one.past.would_refuse)
    if len(found) > _LINES:
        _add(table, f"and {len(found) - _LINES} more", *[""] * 11)
    return table


def _places(found: Sequence[One]) -> Table:
    table = _table("what, by its name", "files:", "repositories:", "kilobytes:",
                   "where most of it lies")
    for kind in Kind:
        groups = [one.kinds[kind] for one in found if kind in one.kinds]
        if not groups:
            continue
        known = [group.size for group in groups if group.size is not None]
        _add(table, kind.value, sum(group.files for group in groups), len(groups),
             sum(known) // 1024 if known else "", survey.places(groups), room=80)
    return table


def _zones(found: Sequence[One]) -> Table:
    table = _table("zone", "shipped policy: files:", "repositories:", "draft: files:",
                   "repositories: ")
    table.columns[4].justify = "right"
    for zone in dict.fromkeys(zone for one in found for zone in one.shipped_zones):
        before = [one.shipped_zones.get(zone, 0) for one in found]
        after = [one.zones.get(zone, 0) for one in found]
        _add(table, zone, sum(before), sum(map(bool, before)), sum(after), sum(map(bool, after)))
    return table


def _past(found: Sequence[One]) -> Table:
    judged = sum(one.past.judged for one in found if one.past is not None)
    table = _table("rule of the draft", f"would refuse, of {judged} steps:", "share:")
    for rule, counts in sorted(_rules(found).items(), key=lambda item: -item[1]["would_refuse"]):
        _add(table, rule, counts["would_refuse"], f"{counts['would_refuse'] / max(judged, 1):.1%}")
    return table


def _rules(found: Sequence[One]) -> Mapping[str, Counter[str]]:
    return backtesting.together(one.past for one in found if one.past is not None)


def _remarks(told: Survey) -> Iterator[str]:
    for one in told.found:
        if one.signs:
            yield printable(f"{one.name}: {'; '.join(one.signs)}")
        for entry in one.odd[:survey.SHOWN]:
            yield printable(f"{one.name}: ordinary-tree would refuse {entry.path}, "
                            f"which {entry.what}")
        if len(one.odd) > survey.SHOWN:
            yield printable(f"{one.name}: and {len(one.odd) - survey.SHOWN} more")
        if one.trouble:
            yield printable(f"{one.name}: its past could not be judged: {one.trouble}")
        for reason in one.past.reasons if one.past is not None else ():
            yield printable(f"{one.name}: {reason.steps} steps could not be judged: {reason.says}")
    for name, why in told.unread:
        yield printable(f"{name}: not read: {why}")


def _end(told: Survey, written: Sequence[Path]) -> Iterator[str]:
    yield ("authors are different addresses in the latest commits, as somebody typed them: no "
           "identity, and not who pushed; steps were judged as pushed by nobody known")
    if written:
        yield from (f"draft: {printable(str(path))}" for path in written)
        yield ("next: put in who the maintainers are, then "
               "`policyd policy backtest REPO --against FILE`")
    elif told.drafts:
        count = len(told.drafts)
        yield (f"{count} layout{'' if count == 1 else 's'}; --draft FILE writes "
               f"{'a policy for it' if count == 1 else 'a policy for each'}")


def _table(*headings: str) -> Table:
    """A heading that ends in a colon is that of numbers."""
    table = Table(box=SIMPLE)
    for heading in headings:
        if heading.endswith(":"):
            table.add_column(heading.removesuffix(":"), justify="right")
        else:
            table.add_column(heading, overflow="fold")
    return table


def _add(table: Table, *cells: object, room: int = _NAME) -> None:
    """As text, never as markup."""
    table.add_row(*(Text(shortened(printable(str(cell)), room)) for cell in cells))
