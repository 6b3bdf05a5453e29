from __future__ import annotations

import json
from pathlib import Path

import pytest

from policyd import cli
from policyd.adapters import decisionlog
from policyd.cli import log


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
