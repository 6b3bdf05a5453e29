"""The command line: exit codes, what is printed, and what is left behind."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from policyd import cli
from policyd.adapters.activepolicy import load
from policyd.cli.policy import files
from policyd.core.rule import Rule


@dataclass(frozen=True, slots=True)
class Apart:
    keep_apart: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Writers:
    writers: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Literals:
    min_length: int
    allow: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Nothing:
    pass


@dataclass(frozen=True, slots=True)
class Renewals:
    days: Mapping[str, int]
    times: Mapping[str, int]
    bulk: int


@dataclass(frozen=True, slots=True)
class Marks:
    conditions: tuple[str, ...]
    packages: tuple[str, ...]


OPTIONS = {"separate-authorship": Apart, "protected-writers": Writers, "literal-overlap": Literals,
           "bounded-renewals": Renewals, "unmarked-tests": Marks, **dict.fromkeys([
               "ordinary-refs", "ordinary-tree", "gate-open", "valid-records", "kept-rows",
               "kept-tests", "bare-seeds", "recorded-receipts", "owned-rows", "fair-proposals",
               "relations-hold", "no-answer-key",
               "no-golden-output", "no-recorded-value", "receipts-only"], Nothing)}
RULES = {id_: Rule(id_, "Why.", "Fix.", options, lambda *_: iter(()),
                   lenient=id_ == "no-golden-output")
         for id_, options in OPTIONS.items()}


@pytest.fixture(autouse=True)
def _rules(monkeypatch):
    """Rules of the shapes that the shipped policy names, whatever else the real ones do."""
    monkeypatch.setattr(files, "rules", lambda: RULES)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    path = tmp_path / "home"
    assert cli.run(["init", str(path)]) == 0
    return path


def run(home: Path, *arguments: str, capsys) -> tuple[int, str, str]:
    capsys.readouterr()
    code = cli.run(["--home", str(home), *arguments])
    told = capsys.readouterr()
    return code, told.out, told.err


def edit(home: Path, old: str, new: str, name: str = "policies/default.yaml") -> None:
    path = home / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_init_writes_a_home_that_only_its_owner_can_write(home):
    written = sorted(str(p.relative_to(home)) for p in home.rglob("*"))
    assert written == ["policies", "policies/default.yaml", "policies/policy.schema.json",
                       "policies/policyd.schema.json", "policyd.yaml", "state"]
    assert all(p.stat().st_mode & 0o022 == 0 for p in (home, *home.rglob("*")))


def test_init_private_is_closed_to_others(tmp_path):
    home = tmp_path / "h"
    assert cli.run(["init", "--private", str(home)]) == 0
    assert all(p.stat().st_mode & 0o077 == 0 for p in (home, *home.rglob("*")))


def test_init_leaves_a_folder_that_holds_something_alone(tmp_path, capsys):
    (tmp_path / "x").touch()
    assert cli.run(["init", str(tmp_path)]) == 2
    assert "not an empty folder" in capsys.readouterr().err
    assert os.listdir(tmp_path) == ["x"]


def test_a_home_as_initialised_has_no_faults_and_can_be_applied(home, capsys):
    code, out, err = run(home, "policy", "lint", capsys=capsys)
    assert (code, err) == (0, "")
    assert "ordinary" not in out
    code, out, err = run(home, "policy", "apply", capsys=capsys)
    assert (code, err) == (0, "")
    assert "in force: " in out
    active = load(home, OPTIONS)
    assert active.settings.state == str(home / "state")
    assert [p.name for p in active.policies] == ["default"]


def test_applying_the_same_again_changes_nothing(home, capsys):
    run(home, "policy", "apply", capsys=capsys)
    edit(home, "# The policy", "# A comment more. The policy")
    before = (home / "active/current").stat().st_ino
    code, out, _ = run(home, "policy", "apply", capsys=capsys)
    assert (code, out.splitlines()[-1]) == (0, "nothing changes")
    assert (home / "active/current").stat().st_ino == before


def test_apply_says_what_changes_and_keeps_the_one_before(home, capsys):
    run(home, "policy", "apply", capsys=capsys)
    first = (home / "active/current").read_bytes()
    edit(home, "[alice, bob]", "[alice, carol]")
    code, out, _ = run(home, "policy", "apply", capsys=capsys)
    assert code == 0
    assert "groups.maintainers" in out
    assert "alice, bob" in out
    assert "alice, carol" in out
    assert "guarded" not in out
    assert (home / "active/previous").read_bytes() == first


def test_faults_are_printed_with_their_places_and_nothing_is_applied(home, capsys):
    edit(home, "creators: [maintainers]", "creators: [maintainer]")
    edit(home, "state: ", "stat: ", "policyd.yaml")
    for name in ("lint", "apply"):
        code, out, err = run(home, "policy", name, capsys=capsys)
        assert (code, err) == (1, "")
        assert [line.split(":")[0] for line in out.splitlines()] == [
            "policies/default.yaml", "policyd.yaml", "policyd.yaml"]
        assert "unknown group 'maintainer'; did you mean 'maintainers'?" in out
        assert "unknown key 'stat'; did you mean 'state'?" in out
        assert "missing key 'state'" in out
    assert not (home / "active").exists()


def test_warnings_do_not_stop(home, capsys):
    edit(home, "ordinary-refs: {mode: enforce}", "ordinary-refs: {mode: warn}")
    for name in ("lint", "apply"):
        code, out, _ = run(home, "policy", name, capsys=capsys)
        assert code == 0
        assert "warning: ordinary-refs does not enforce while other rules do" in out


def test_apply_replaces_what_is_damaged(home, capsys):
    run(home, "policy", "apply", capsys=capsys)
    (home / "active/current").write_bytes(b"x")
    code, out, _ = run(home, "policy", "apply", capsys=capsys)
    assert code == 0
    assert "replaces what cannot be used" in out


def test_what_cannot_be_is_one_sentence(tmp_path, capsys):
    code, out, err = run(tmp_path / "nowhere", "policy", "lint", capsys=capsys)
    assert (code, out) == (2, "")
    assert err.startswith("policyd: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize("arguments", [["nothing"], ["policy", "nothing"], ["--nothing"]])
def test_an_unknown_command_is_no_traceback(arguments, capsys):
    assert cli.run(arguments) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_a_fault_of_the_program_is_one_sentence(monkeypatch, capsys, home):
    monkeypatch.setattr(files, "compiled", lambda _: 1 / 0)
    code, out, err = run(home, "policy", "lint", capsys=capsys)
    assert (code, out) == (2, "")
    assert "ZeroDivisionError" in err
    assert err.count("\n") == 1


def test_every_command_in_the_table_can_be_imported(capsys):
    assert cli.run(["--help"]) == 0
    for name in cli.COMMANDS:
        assert cli.run([name, "--help"]) == 0
    assert "init" in capsys.readouterr().out


def test_the_help_of_init_imports_neither_yaml_nor_git():
    code = ("import sys; from policyd import cli; cli.run(['init', '--help']); "
            "sys.stderr.write(str(sorted({'yaml','pygit2','rich','msgspec'} & set(sys.modules))))")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "[]"


@pytest.mark.parametrize(("arguments", "home"), [
    (["hook"], "/etc/policyd"), (["--home", "/h", "hook"], "/h"), (["hook", "--help"], None),
    (["--home", "hook"], None), (["policy", "lint"], None), ([], None)])
def test_only_the_plain_hook_goes_past_the_command_line(arguments, home):
    from policyd.__main__ import _home_of_hook
    assert _home_of_hook(arguments) == (Path(home) if home else None)


def test_the_shipped_policy_holds_with_the_shipped_rules(tmp_path, monkeypatch, capsys):
    rules = pytest.importorskip("policyd.rules")
    if not hasattr(rules, "BY_ID"):
        pytest.skip("no rules in this checkout")
    monkeypatch.setattr(files, "rules", lambda: rules.BY_ID)
    assert cli.run(["init", str(tmp_path / "home")]) == 0
    code, out, err = run(tmp_path / "home", "policy", "apply", capsys=capsys)
    assert (code, err) == (0, ""), out
    load(tmp_path / "home", {rule.id: rule.options for rule in rules.BY_ID.values()})
