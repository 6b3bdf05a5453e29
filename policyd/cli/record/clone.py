"""What the commands for records share: the clone, and its policy's bounds or the usual ones."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import click

from policyd import records
from policyd.adapters import activepolicy, bundle, clock
from policyd.adapters.worktree import WorkTree
from policyd.cli.check import names_on_server
from policyd.core import nodeids
from policyd.core.calendar import LONGEST
from policyd.core.errors import PolicydError
from policyd.core.owners import is_known
from policyd.core.policy import Mode, Places, Policy
from policyd.core.rows import DatedRow, Kind, Record, Records
from policyd.core.values import dataclass
from policyd.judge import policies_for
from policyd.rules import OPTIONS
from policyd.rules.bounded_renewals import Options as Bounds
from policyd.rules.owned_rows import Options as Owners

ORIGIN = "refs/remotes/origin/"
_GUARDED = ("main", "master")
"""Branches of origin that count as guarded where no policy says which are."""


@dataclass(frozen=True, slots=True)
class Clone:
    """A working clone and the policies that hold for it, if any are at hand."""

    tree: WorkTree
    policies: tuple[Policy, ...] = ()
    name: str = ""
    """The repository's, where a policy holds for it by that name."""

    @property
    def places(self) -> Places:
        return self.policies[0].records if self.policies else Places()

    def today(self) -> date:
        """The latest of the policies' days: what is over under one is over."""
        zones = {policy.timezone for policy in self.policies} or {"UTC"}
        return max(clock.today(zone, clock.now()) for zone in zones)

    def days(self, kind: Kind) -> int:
        """How many days ahead a last day may lie: the smallest bound of all policies."""
        said = [{**{one.value: days for one, days in LONGEST.items()}, **options.days}[kind.value]
                for options in self._options("bounded-renewals") if isinstance(options, Bounds)]
        return min(said, default=LONGEST[kind])

    def records(self, instead: Mapping[str, bytes | None] | None = None, *,
                hashing: bool = False) -> Records:
        return self.tree.records(self.places, records.load, instead, hashing=hashing)

    def files(self, record: Record) -> list[str]:
        """The files of a kind that are there."""
        return [path for path, kind in self.records().kinds.items() if kind is record]

    def guarded(self) -> tuple[str, ...]:
        """The guarded branches of origin, as the last `git fetch` left them."""
        names = self.tree.git("for-each-ref", "--format=%(refname)", ORIGIN).splitlines()
        return tuple(name for name in names if self._guards(name.removeprefix(ORIGIN)))

    def holding(self, commit: str) -> str | None:
        """A guarded branch of origin that holds a commit, such as `origin/main`."""
        return next((name.removeprefix("refs/remotes/") for name in self.guarded()
                     if self.tree.holds("merge-base", "--is-ancestor", commit, name)), None)

    def owner(self, asked: str | None) -> str:
        """Who owns a row: as asked, else the clone's policyd.owner or user.name."""
        found = asked or self.tree.git("config", "--default", "", "policyd.owner") \
            or self.tree.git("config", "--default", "", "user.name")
        if not found:
            raise PolicydError("who owns the row? say --owner NAME, or `git config policyd.owner "
                               "NAME` once")
        for policy in self.policies:
            clause = policy.clause("owned-rows")
            if clause is None or clause.mode is Mode.OFF or is_known(found, policy.members):
                continue
            if not (isinstance(clause.options, Owners) and found in clause.options.owners):
                raise PolicydError(f"{found} is no group of the policy and in none; say --owner "
                                   "NAME, or `git config policyd.owner NAME` once")
        return found

    def _options(self, rule: str) -> Iterable[object]:
        clauses = (policy.clause(rule) for policy in self.policies)
        return [one.options for one in clauses if one is not None and one.mode is not Mode.OFF]

    def _guards(self, branch: str) -> bool:
        if self.policies:
            return any(policy.guards(f"refs/heads/{branch}") for policy in self.policies)
        default = self.tree.git("config", "--default", "main", "init.defaultBranch")
        return branch in (*_GUARDED, default)


def options(function: click.decorators.FC) -> click.decorators.FC:
    """The options that say which policy holds."""
    for one in (
            click.option("--policy", "bundle_file", metavar="BUNDLE",
                         type=click.Path(path_type=Path),
                         help="A file of `policyd policy export`, for its paths and bounds; HOME's "
                              "policy in force by default, else the usual ones."),
            click.option("--repository", metavar="NAME",
                         help="The repository's name on the server.")):
        function = one(function)
    return function


def opened(home: Path, file: Path | None, repository: str | None) -> Clone:
    """The clone around the current folder. Raises PolicydError and CannotJudge."""
    tree = WorkTree.around(Path.cwd())
    if file is not None:
        active = bundle.load(file, OPTIONS)
    elif os.path.exists(home / activepolicy.FOLDER / activepolicy.CURRENT):
        active = activepolicy.load(home, OPTIONS)
    else:
        return Clone(tree)
    if repository is not None:
        return Clone(tree, policies_for(active, repository), repository)
    for name in names_on_server(tree.git("config", "--default", "", "remote.origin.url")):
        if any(policy.holds_for(name) for policy in active.policies):
            return Clone(tree, policies_for(active, name), name)
    if file is not None:
        raise PolicydError("no policy holds for what origin is called here; say --repository NAME")
    return Clone(tree)


def until(default: str = "") -> Callable[[click.decorators.FC], click.decorators.FC]:
    """The options for a last day."""
    def add(function: click.decorators.FC) -> click.decorators.FC:
        function = click.option("--days", type=click.IntRange(min=0), metavar="N",
                                help="The same as a number of days from today.")(function)
        return click.option("--until", metavar="DATE", help="The last day, YYYY-MM-DD, inclusive."
                                                            + default)(function)
    return add


def last_day(there: Clone, kind: Kind, until: str | None, days: int | None) -> date:
    """The last day that is asked for, within the bounds. Raises PolicydError."""
    if until is not None and days is not None:
        raise PolicydError("say --until DATE or --days N, not both")
    today, most = there.today(), there.days(kind)
    latest = today + timedelta(days=most)
    if until is None and days is None:
        until = asked(f"last day (YYYY-MM-DD, {latest} at the latest)",
                      "say the last day: --until DATE, or --days N")
    try:
        day = date.fromisoformat(until) if until is not None \
            else today + timedelta(days=days or 0)
    except ValueError:
        raise PolicydError(f"{until!r} is no date; write YYYY-MM-DD") from None
    except OverflowError:
        day = date.max
    if until is not None and day.isoformat() != until:
        raise PolicydError(f"{until!r} is no date; write YYYY-MM-DD")
    if day < today:
        raise PolicydError(f"{day} is over already; today is {today}")
    if day > latest:
        raise PolicydError(f"{day} is too far; a {kind.value} row ends on {latest} at the latest, "
                           f"{most} days from today")
    return day


def asked(what: str, else_say: str) -> str:
    """What a person types; an error with another sentence where nobody sits there."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise PolicydError(else_say)
    answer: Any = click.prompt(what, err=True)
    return str(answer).strip()


def row_named(rows: Iterable[DatedRow], kind: Kind, name: str) -> DatedRow:
    """The row with this id or about this subject. Raises PolicydError."""
    there = [row for row in rows if row.kind is kind]
    found = [row for row in there if name in (row.id, row.subject)] \
        or [row for row in there if row.subject == _normalised(name)]
    if not found:
        known = ", ".join(row.id for row in there[:10]) or "none"
        raise PolicydError(f"there is no {kind.value} row {name}; there are: {known}")
    return found[0]


def _normalised(nodeid: str) -> str | None:
    """A node id as rows are known by it, such as pytest or a rejection prints it."""
    try:
        return nodeids.normalised(nodeid)
    except ValueError:
        return None
