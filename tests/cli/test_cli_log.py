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
    assert told["faults"] == [{"line": 2, "message": "edited: entry 3 names another hash for it"}]
