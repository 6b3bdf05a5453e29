"""What rules read inside the files of a push, gathered once for all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from policyd.adapters import clock, contents, gains
from policyd.adapters.look import Look
from policyd.adapters.recordfiles import RecordFiles
from policyd.adapters.sources import Sources
from policyd.core import calendar
from policyd.core import index as indexes
from policyd.core.facts import Need, Update
from policyd.core.index import Index
from policyd.core.policy import Clause, Mode, Policy
from policyd.core.rows import Kind
from policyd.rules import BY_ID

if TYPE_CHECKING:  # the hook keeps none
    from policyd.adapters.keptsheets import KeptSheets

_MIN_LENGTH = 6
"""Of telling texts, where the policy has no rule about them."""


class Reader:
    """Reads for one push, under one policy; each file is read once, whoever asks."""

    def __init__(self, look: Look, index: Index, at: datetime, deadline: float,
                 records: Callable[[], RecordFiles], kept: KeptSheets | None = None) -> None:
        """`at` is the moment that counts; `records` are asked for only where a test is marked;
        `kept` are sheets of judgements before this one."""
        self._look, self._index, self._at, self._records = look, index, at, records
        self._overlap = look.policy.clause("literal-overlap")
        self._asked = _asked(look.policy)
        length = self._overlap.options.min_length if self._overlap else _MIN_LENGTH
        self._sources = Sources(look, length, deadline, kept)

    def with_insides(self, update: Update) -> Update:
        """Raises CannotJudge beyond the policy's bounds, and Missing."""
        if self._overlap is not None:
            asked = self._asked_of_literals(update, self._overlap)
            update = replace(update, literals=gains.literals(
                self._look, update, asked, self._sources))
        if self._asked is not None:
            update = replace(update, content=contents.content(
                self._look, update, self._asked, self._sources, partial(self._excused, update)))
        return update

    def _asked_of_literals(self, update: Update, clause: Clause) -> gains.Asked:
        options, target = clause.options, self._look.target_of(update.ref)
        since = None if target is None else indexes.held_since(
            self._index, target, self._at - timedelta(days=options.lookback_days))
        return gains.Asked(options.tests, options.source, options.allow_file, since,
                           self._look.tips[target] if target is not None else None)

    def _excused(self, update: Update) -> frozenset[str]:
        """The tests with a row, not over, in the records that the target branch holds already."""
        look = self._look
        target = look.target_of(update.ref)
        tip = None if target is None else look.tips.get(look.policy.reads_from(target))
        if tip is None:
            return frozenset()
        today = clock.today(look.policy.timezone, self._at)
        records = self._records().dated(look.tree_of(tip.hex()), look.policy.records)
        return frozenset(row.subject for row in records.rows
                         if row.kind in (Kind.FLAKE, Kind.QUARANTINE)
                         and not calendar.is_over(row, today))


def _asked(policy: Policy) -> contents.Asked | None:
    """What all rules read together; None where no rule reads."""
    reading = [clause for clause in policy.clauses if clause.mode is not Mode.OFF
               and Need.CONTENT in BY_ID[clause.rule].needs]
    if not reading:
        return None
    zones = frozenset(zone for clause in reading for zone in clause.options.reads())
    sampling = next((clause.options for clause in reading
                     if Need.SAMPLES in BY_ID[clause.rule].needs), None)
    golden = next((clause.options.tests for clause in reading
                   if clause.rule == "no-golden-output"), None)
    kept = next(((clause.options.source, clause.options.tests) for clause in reading
                 if clause.rule == "kept-tests"), None)
    if sampling is None:
        return contents.Asked(zones, data=golden, kept=kept)
    return contents.Asked(zones, sampling.source, sampling.tests, golden, kept)
