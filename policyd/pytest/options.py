"""What a test run may set: where the records are, the day, and its time zone."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import pytest

from policyd.adapters import clock
from policyd.core.errors import CannotJudge
from policyd.core.policy import Places
from policyd.core.rows import Record

DEBUGGING = ("usepdb", "trace", "setuponly", "setupshow")
"""Options of somebody who watches each run: nothing is run again for them."""

_SET = (Record.FLAKES, Record.QUARANTINE, Record.RELATIONS)
_OTHER_RETRIERS = {"pytest_rerunfailures": "pytest-rerunfailures", "flaky": "flaky",
                   "pytest_retry": "pytest-retry"}
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def add(parser: pytest.Parser) -> None:
    group = parser.getgroup("policyd", "policyd: flake ledger, quarantine and relations")
    group.addoption("--policyd-records", metavar="DIR",
                    help="read the records from this tree, not from the root folder")
    group.addoption("--policyd-today", metavar="YYYY-MM-DD",
                    help="the day that counts, in place of the clock's")
    defaults = Places()
    for record in _SET:
        place = getattr(defaults, record.value)
        parser.addini(f"policyd_{record.value}", f"path of the {record.value}, by default {place}",
                      type="string", default="")
    parser.addini("policyd_timezone", "in which a last day ends, by default UTC",
                  type="string", default="UTC")


def tree(config: pytest.Config) -> Path:
    """The folder with the records. Raises UsageError."""
    given = config.getoption("--policyd-records")
    if given is None:
        return config.rootpath
    folder = Path(config.invocation_params.dir, given)
    if not folder.is_dir():
        raise pytest.UsageError(f"--policyd-records: {folder} is no folder")
    return folder


def places(config: pytest.Config) -> tuple[Places, frozenset[Record]]:
    """Where the records are in their tree, and which of them were set. Raises UsageError."""
    given = {record: config.getini(f"policyd_{record.value}") for record in _SET}
    named = {record: _inside(record, text) for record, text in given.items() if text}
    return Places(**{record.value: place for record, place in named.items()}), frozenset(named)


def today(config: pytest.Config) -> date:
    """The day that counts. Raises UsageError."""
    given = config.getoption("--policyd-today")
    try:
        if given is None:
            return clock.today(config.getini("policyd_timezone"), clock.now())
        if not _DAY.fullmatch(given):
            raise ValueError
        return date.fromisoformat(given)
    except ValueError as error:
        raise pytest.UsageError(f"--policyd-today: {given!r} is no day written YYYY-MM-DD"
                                ) from error
    except CannotJudge as error:
        raise pytest.UsageError(f"policyd_timezone: {error}") from error


def is_debugging(config: pytest.Config) -> bool:
    return any(config.getoption(name, False) for name in DEBUGGING)


def refuse_other_retriers(config: pytest.Config) -> None:
    """Raises UsageError where another plugin runs tests again."""
    for name, plugin in config.pluginmanager.list_name_plugin():
        module = getattr(plugin, "__name__", None) or type(plugin).__module__
        known = _OTHER_RETRIERS.get(str(module).partition(".")[0])
        if plugin is not None and known:
            raise pytest.UsageError(
                f"policyd: {known} is active, and two plugins that run tests again hide each "
                f"other's runs; leave one out: -p no:{name}, with max_runs of a flake row "
                "in its place, or no -p policyd.pytest")


def searched(config: pytest.Config) -> tuple[Path, ...]:
    """The folders of which every test was collected; none where a part of them was chosen."""
    narrowing = ("keyword", "markexpr", "deselect", "ignore", "ignore_glob", "lf", "stepwise",
                 "stepwise_skip")
    if any(config.getoption(name, None) for name in narrowing):
        return ()
    source = config.args_source
    if source is pytest.Config.ArgsSource.TESTPATHS:
        return tuple(Path(config.rootpath, argument) for argument in config.args)
    at_root = config.invocation_params.dir == config.rootpath
    if source is pytest.Config.ArgsSource.INVOCATION_DIR and at_root:
        return (config.rootpath,)
    return ()


def _inside(record: Record, text: str) -> str:
    from policyd.records.fields import inside

    try:
        return inside(text)
    except ValueError as error:
        raise pytest.UsageError(f"policyd_{record.value}: {error}") from error
