"""`policyd calendar`: all last days of a revision, for people, programs and calendars."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from clones import Kept, day
from sites import Site


@pytest.fixture
def clone(site: Site, monkeypatch: pytest.MonkeyPatch) -> Kept:
    kept = Kept(site)
    monkeypatch.chdir(site.work)
    return kept


def test_rows_come_by_their_last_day(clone):
    assert clone.site.policyd("calendar") == 0
    rows = clone.out.splitlines()[1:]
    assert [row.split()[:4] for row in rows] == [
        [str(day(7)), "7", "quarantine", "tests/test_rates.py::test_endpoint"],
        [str(day(7)), "7", "flake", "app.rates"],
        [str(day(100)), "100", "lease", "prices"]]


def test_a_revision_is_read_and_not_what_lies_in_the_clone(clone):
    clone.write("tests/ledger/flake_ledger.json", "no")
    assert clone.site.policyd("calendar", "origin/main", "--format", "json") == 0
    assert [row["kind"] for row in json.loads(clone.out)] == ["quarantine", "flake", "lease"]
    assert clone.site.policyd("calendar", "HEAD~1", "--format", "json", "--owner", "alice") == 0
    assert [row["id"] for row in json.loads(clone.out)][-1] == "prices"
    assert clone.site.policyd("calendar", "--owner", "bob") == 0
    assert clone.out == "there is no dated row in HEAD\n"


def test_a_file_for_calendars_goes_to_standard_output(clone):
    done = subprocess.run(
        [sys.executable, "-m", "policyd", "--home", str(clone.site.home), "calendar",
         "origin/main", "--format", "ics", "--repository", "r"], cwd=clone.work, check=False,
        env=clone.site.environment(), capture_output=True)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.decode().split("\r\n")
    assert lines[0] == "BEGIN:VCALENDAR"
    assert "X-WR-CALNAME:r" in lines
    assert lines.count("BEGIN:VEVENT") == 3
    assert f"DTSTART;VALUE=DATE:{day(100):%Y%m%d}" in lines


def test_what_cannot_be_read_is_said(clone):
    assert clone.site.policyd("calendar", "none") == 2
    assert clone.out == "policyd: none is no commit here\n"
    clone.site.commit({"tests/ledger/flake_ledger.json": "{}"})
    assert clone.site.policyd("calendar") == 1
    assert clone.out.startswith("tests/ledger/flake_ledger.json:1:1: missing key")
