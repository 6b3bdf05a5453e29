"""The house style where a program can check it: linters, lengths, lists kept by hand."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "policyd"
MODULES = sorted(PACKAGE.rglob("*.py"))
RULES = sorted(file.stem.replace("_", "-") for file in PACKAGE.glob("rules/[!_]*.py"))
FILE_LINES = 400
FUNCTION_LINES = 60
# A shell walks one push from end to end and a renderer holds every message: both read best whole.
MAY_BE_LONG = {"hook.py", "core/render.py"}


def place(file: Path) -> str:
    return file.relative_to(PACKAGE).as_posix()


def run(*command: str | Path) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def shell_scripts() -> list[Path]:
    places = ["install.sh", ".ci/run", "hooks/*", "bench/*.sh", "tests/servers/*.sh"]
    files = [file for pattern in places for file in sorted(ROOT.glob(pattern)) if file.is_file()]
    return [file for file in files if file.read_bytes().split(b"\n")[0].endswith(b"sh")]


def long_functions(source: bytes) -> list[str]:
    return [
        f"{node.name} has {length} lines"
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if (length := (node.end_lineno or 0) - node.lineno + 1) > FUNCTION_LINES
    ]


def test_ruff_finds_nothing():
    run(sys.executable, "-m", "ruff", "check", "--quiet", ".")


def test_mypy_finds_nothing():
    run(sys.executable, "-m", "mypy", "--strict", "policyd")


def test_shellcheck_finds_nothing():
    scripts = shell_scripts()
    assert {ROOT / "install.sh", ROOT / ".ci/run"} <= set(scripts)
    run(Path(sysconfig.get_path("scripts")) / "shellcheck", *scripts)


@pytest.mark.parametrize("file", MODULES, ids=place)
def test_a_module_says_what_it_is_for_and_stays_short(file):
    source = file.read_bytes()
    assert ast.get_docstring(ast.parse(source)), "no docstring"
    assert place(file) in MAY_BE_LONG or source.count(b"\n") <= FILE_LINES
    assert long_functions(source) == []


def test_a_function_over_the_limit_is_found():
    body = "    x = 1\n" * FUNCTION_LINES
    assert long_functions(f"def f():\n{body}".encode()) == ["f has 61 lines"]
    assert long_functions(f"@deco\ndef f():\n{body[:-10]}".encode()) == []


def test_the_list_of_rules_holds_each_rule_in_the_folder_once():
    listed = importlib.import_module("policyd.rules").ALL if RULES else ()
    assert sorted(rule.id for rule in listed) == RULES
