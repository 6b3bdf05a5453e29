from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from policyd import cli
from policyd.adapters import decisionlog
from policyd.cli import log
from policyd.core.index import Index


@pytest.fixture
def home(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A home in force, with three entries in its log."""
    folder = tmp_path / "home"
    assert cli.run(["init", str(folder)]) == 0
    assert cli.run(["--home", str(folder), "policy", "apply"]) == 0
    for rule in ("one", "two", "three"):
        decisionlog.append(folder / "state", {"verdict": "refused", "rule": rule})
    capsys.readouterr()
    return folder


def verify(home: Path, *options: str) -> int:
    code: int = log.group.main(["verify", *options], obj=home, standalone_mode=False)
    return code


def spoil(home: Path) -> None:
    path = home / "state" / decisionlog.NAME
    path.write_bytes(path.read_bytes().replace(b"two", b"ten"))


def test_a_whole_log_says_its_head(home: Path, capsys: pytest.CaptureFixture[str]):
    name = decisionlog.append(home / "state", {"verdict": "refused"})
    assert verify(home) == 0
    assert capsys.readouterr().out.startswith(f"whole: 4 entries, head {name}")


def test_faults_are_listed_one_a_line(home: Path, capsys: pytest.CaptureFixture[str]):
    spoil(home)
    assert verify(home) == 1
    assert capsys.readouterr().out == (
        "decisions.jsonl:2: edited: entry 3 names another hash for it\n")


def test_a_closed_tear_is_a_note(home: Path, capsys: pytest.CaptureFixture[str]):
    with (home / "state" / decisionlog.NAME).open("ab") as file:
        file.write(b'{"n":4,')
    decisionlog.append(home / "state", {"verdict": "refused"})
    assert verify(home) == 0
    assert capsys.readouterr().out.startswith("decisions.jsonl:4: note: torn by a crash")


def test_programs_read_json(home: Path, capsys: pytest.CaptureFixture[str]):
    spoil(home)
    assert verify(home, "--format", "json") == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["whole"], told["entries"], told["tears"]) == (False, 3, [])
    assert told["faults"] == [{"file": "decisions.jsonl", "line": 2,
                               "message": "edited: entry 3 names another hash for it"}]


# Rotating.

def run(home: Path, *arguments: str) -> int:
    return cli.run(["--home", str(home), "log", *arguments])


def test_rotating_names_the_closed_file_and_verifying_walks_both(
        home: Path, capsys: pytest.CaptureFixture[str]):
    assert run(home, "rotate") == 0
    assert capsys.readouterr().out == "closed as decisions-1-3.jsonl\n"
    assert run(home, "rotate") == 0
    assert capsys.readouterr().out == "nothing to rotate\n"
    assert verify(home) == 0
    assert capsys.readouterr().out.startswith("whole: 4 entries, head ")


def test_keeping_few_removes_the_oldest_and_the_log_tells_who_did(
        home: Path, capsys: pytest.CaptureFixture[str]):
    run(home, "rotate")
    decisionlog.append(home / "state", {"verdict": "refused"})
    capsys.readouterr()
    assert run(home, "rotate", "--keep", "1") == 0
    assert capsys.readouterr().out == (
        "closed as decisions-4-5.jsonl\ndecisions-1-3.jsonl removed\n")
    assert verify(home) == 0
    assert capsys.readouterr().out.startswith(
        "decisions-4-5.jsonl:1: note: entries 1 to 3 are not here: whole files were removed, "
        "as entry 7 says\nwhole: 4 entries")


def test_an_edited_file_is_not_removed_and_the_rotation_stands(
        home: Path, capsys: pytest.CaptureFixture[str]):
    spoil(home)
    assert run(home, "rotate", "--keep", "0") == 2
    told = capsys.readouterr()
    assert told.out == "closed as decisions-1-3.jsonl\n"
    assert told.err == ("policyd: no rotated file was removed: decisions-1-3.jsonl:2: edited: "
                        "entry 3 names another hash for it; see `policyd log verify`\n")
    assert (home / "state/decisions-1-3.jsonl").exists()


def test_a_lost_log_is_gone_on_behind_by_command_only(
        home: Path, capsys: pytest.CaptureFixture[str]):
    run(home, "rotate")
    (home / "state" / decisionlog.NAME).unlink()
    assert run(home, "rotate") == 2
    assert "`policyd log rotate --lost` to go on without it" in capsys.readouterr().err
    assert run(home, "rotate", "--lost") == 0
    assert run(home, "rotate", "--lost") == 2
    assert "is not lost" in capsys.readouterr().err
    assert verify(home) == 0
    assert "decisions.jsonl:1: note: the log behind entry 3 was lost; " in capsys.readouterr().out


# Reporting.

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
KEY = "1" * 32


def finding(rule: str, mode: str, says: str = "it does", ref: str = "refs/heads/main") -> dict:
    return {"rule": rule, "mode": mode, "policy": "default", "ref": ref, "says": says}


def entry(verdict: str, pusher: str | None, *findings: dict, repository: str = "team/app",
          ms: float = 1.0) -> dict[str, object]:
    return {"verdict": verdict, "repository": repository, "pusher": pusher, "updates": [],
            "findings": list(findings), "ms": {"write-set": ms}}


@pytest.fixture
def busy(home: Path) -> Path:
    """A home whose log has a little of everything, over four days and two files."""
    state = home / "state"
    (state / decisionlog.NAME).unlink()
    decisionlog.begin(state, Index(KEY, NOON.isoformat(), True, {}), {"verdict": "enrolled"},
                      at=NOON)
    for day, pusher in enumerate(["agent-1", "agent-2", "agent-1"]):
        decisionlog.record(state, KEY, entry(
            "accepted", pusher, finding("write-set", "observe", f"writes {day}"),
            finding("write-set", "observe", "writes more"), ms=float(day)),
            at=NOON + timedelta(days=day))
    decisionlog.rotate(state, "root", at=NOON + timedelta(days=3))
    at = NOON + timedelta(days=3)
    decisionlog.append(state, entry("refused", "agent-2", finding("write-set", "observe"),
                                    finding("ordinary-refs", "enforce")), at=at)
    decisionlog.append(state, entry("check", "agent-9", finding("write-set", "warn"), ms=50.0),
                       at=at)
    decisionlog.append(state, {"verdict": "unjudged", "incident": "abc123", "pusher": None,
                               "repository": "team/lib", "updates": []}, at=at)
    decisionlog.record(state, KEY, {"verdict": "accepted", "incident": "abc124", "updates": [],
                                    "repository": "team/app", "pusher": "alice"}, at=at)
    decisionlog.append(state, entry("refused", None, finding("write-set", "warn"),
                                    repository="team/lib"), at=at)
    return home


def reported(home: Path, capsys: pytest.CaptureFixture[str], *options: str) -> dict:
    capsys.readouterr()
    assert run(home, "report", "--format", "json", *options) == 0
    told: dict = json.loads(capsys.readouterr().out)
    return told


def test_the_report_counts_by_rule_and_mode(busy: Path, capsys: pytest.CaptureFixture[str]):
    told = reported(busy, capsys)
    assert told["totals"] == {"accepted": 4, "refused": 2, "unjudged": 1, "checks": 1,
                              "accepted_unjudged": 1, "excused": 0}
    assert [(row["rule"], row["mode"], row["pushes"], row["accepted"], row["findings"],
             row["pushers"]) for row in told["rows"]] == [
        ("ordinary-refs", "enforce", 1, 0, 1, 1),
        ("write-set", "warn", 1, 0, 1, 1),
        ("write-set", "observe", 4, 3, 7, 2)]
    observed = told["rows"][2]
    assert (observed["first"], observed["last"]) == (
        "2026-05-04T12:00:00.000+00:00", "2026-05-07T12:00:00.000+00:00")
    assert observed["shares"] == [
        {"repository": "team/app", "pusher": "agent-1", "pushes": 2, "findings": 4},
        {"repository": "team/app", "pusher": "agent-2", "pushes": 2, "findings": 3}]
    assert (told["unreadable"], told["places"]) == (0, [])


def test_examples_are_the_latest_pushes_and_their_ids_are_those_of_the_log(
        busy: Path, capsys: pytest.CaptureFixture[str]):
    last = decisionlog.append(busy / "state", entry("refused", "x", finding("kept", "warn", "a"),
                                                    finding("kept", "warn", "b")))
    told = reported(busy, capsys)
    assert told["rows"][0]["examples"] == [{"id": last, "ref": "refs/heads/main", "says": "a"}]
    assert [example["says"] for example in told["rows"][-1]["examples"]] == [
        "it does", "writes 2", "writes 1"]


def test_milliseconds_are_those_that_were_measured(
        busy: Path, capsys: pytest.CaptureFixture[str]):
    assert reported(busy, capsys)["costs"] == [
        {"rule": "write-set", "judged": 6, "median": 1.0, "p99": 50.0}]


def test_days_and_a_repository_narrow_the_report(busy: Path, capsys: pytest.CaptureFixture[str]):
    one = reported(busy, capsys, "--since", "2026-05-05", "--until", "2026-05-05")
    assert (one["totals"]["accepted"], one["rows"][0]["findings"]) == (1, 2)
    lib = reported(busy, capsys, "--repo", "team/lib")
    assert lib["totals"] == {"accepted": 0, "refused": 1, "unjudged": 1, "checks": 0,
                             "accepted_unjudged": 0, "excused": 0}
    assert lib["rows"][0]["shares"][0]["pusher"] is None
    assert reported(busy, capsys, "--repo", "none")["rows"] == []


def test_people_read_tables(busy: Path, capsys: pytest.CaptureFixture[str]):
    capsys.readouterr()
    assert run(busy, "report") == 0
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == ("pushes: 4 accepted, 2 refused, 1 could not be judged; checks: 1; "
                        "1 of the accepted passed unjudged")
    assert "write-set observe 4 3 7 2 2026-05-04T12:00 2026-05-07T12:00" in lines
    assert "write-set observe team/app agent-1 2 4" in lines
    assert "write-set warn team/lib (no name) 1 1" in lines
    assert "write-set 6 1.00 50.00" in lines
    assert any(line.endswith("refs/heads/main: writes 2") for line in lines)


@pytest.mark.parametrize("form", ["text", "json"])
def test_pushed_text_steers_no_terminal_and_is_no_markup(
        home: Path, capsys: pytest.CaptureFixture[str], form: str):
    evil = "\x1b[31m[red]\u202e\x7f\x9b\udcff\r\nx"
    decisionlog.append(home / "state", entry("refused", evil, finding("r", "warn", evil, evil),
                                             repository=evil))
    capsys.readouterr()
    assert run(home, "report", "--format", form) == 0
    out = capsys.readouterr().out
    assert set(out) - {"\n", "─"} <= {chr(code) for code in range(32, 127)}
    assert "[red]" in out
    if form == "json":
        assert json.loads(out)["rows"][0]["shares"][0]["pusher"] == evil


DAMAGE = [
    b"not json", b"{}", b"\x00" * 50, b"\xff\xfe", b"[" * 100_000,
    *(b'{"n":9,"prev":"' + b"0" * 64 + b'","time":' + rest for rest in [
        b'"noon","verdict":"refused"}',
        b'"2026-05-04","verdict":"refused"}',
        b'"0001-01-01T00:00:00+14:00","verdict":"refused"}',
        b'"2026-05-04T12:00:00+00:00","verdict":"refused","pusher":{"a":1}}',
        b'"2026-05-04T12:00:00+00:00","verdict":"refused","findings":7}',
        b'"2026-05-04T12:00:00+00:00","verdict":"refused","findings":[{"rule":[]}]}',
        b'"2026-05-04T12:00:00+00:00","verdict":"refused","findings":[{"rule":"r",'
        b'"mode":"loud","ref":"","says":""}]}',
        b'"2026-05-04T12:00:00+00:00","verdict":"refused","ms":{"r":NaN}}',
        b'"2026-05-04T12:00:00+00:00","verdict":"refused","ms":{"r":1' + b"0" * 400 + b"}}",
    ]),
]


def test_damaged_and_torn_lines_are_told_beside_the_rest(
        busy: Path, capsys: pytest.CaptureFixture[str]):
    with (busy / "state" / decisionlog.NAME).open("ab") as file:
        file.write(b"".join(line + b"\n" for line in DAMAGE) + b'{"n":4,"torn')
    told = reported(busy, capsys)
    assert told["unreadable"] == len(DAMAGE) + 1
    assert told["places"][0] == "decisions.jsonl:7"
    assert told["totals"]["accepted"] == 4
    assert run(busy, "report") == 0
    assert (f"left out, because no entry could be read there: {len(DAMAGE) + 1} lines "
            "(decisions.jsonl:7, ") in capsys.readouterr().out


def test_verdicts_that_are_none_of_a_push_are_no_push(
        home: Path, capsys: pytest.CaptureFixture[str]):
    decisionlog.append(home / "state", {"verdict": ["odd"]})
    decisionlog.append(home / "state", {"kind": "something new"})
    told = reported(home, capsys)
    assert (told["totals"]["refused"], told["unreadable"]) == (3, 0)


def test_an_absent_log_reports_nothing(home: Path, capsys: pytest.CaptureFixture[str]):
    (home / "state" / decisionlog.NAME).unlink()
    assert reported(home, capsys)["totals"]["refused"] == 0
