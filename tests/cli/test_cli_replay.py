"""`policyd replay` by hand in a clone: what it says to bad input, and its exit codes."""

from __future__ import annotations

import os
import subprocess

import pytest

from policyd import cli

TABLE = """\
version: 1
relations:
  - {id: R1, relation: twice is even, entry: "m:f", generator: n, arity: 1, compare: holds,
     holds: even, status: blocking, draws: 6, min_applied: 4}
"""
FUNCTIONS = """\
def n(draw):
    return [draw.integer(0, 99)]

def even(draw, out):
    return out % 2 == 0
"""


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clone")
    alone = {"GIT_CONFIG_GLOBAL": os.devnull, "PATH": os.environ["PATH"]}

    def git(*words: str) -> None:
        subprocess.run(["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b.c",
                        *words], check=True, capture_output=True, env=alone)

    git("init", "-q", "-b", "main")
    git("commit", "-q", "--allow-empty", "-m", "nothing")
    git("tag", "empty")
    for tag, source in (("good", "def f(n):\n    return 2 * n\n"),
                        ("bad", "def f(n):\n    return 3 * n\n")):
        for name, text in (("src/m.py", source), ("oracle/relations/t.yaml", TABLE),
                           ("oracle/relations/t.py", FUNCTIONS)):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        git("add", "-A")
        git("commit", "-q", "-m", tag)
        git("tag", tag)
    return folder


@pytest.mark.parametrize(("words", "code", "says"), [
    (["run", "--base", "nope"], 2, "no commit 'nope' in this clone"),
    (["run", "--base", "empty"], 2, "empty has no relation table below oracle/relations"),
    (["run", "--base", "good", "--seed", "x"], 2, "'x' is no seed: a number, or the 32 hex"),
    (["again", "7", "R2", "0", "--base", "good"], 2, "no relation R2 in good; there are R1"),
    (["again", "7", "R1", "77777", "--base", "good", "--head", "good"], 0, "R1 holds: input ("),
    (["again", "7", "R1", "0", "--base", "good", "--head", "bad"], 1, "R1 breaks: input (33)"),
    (["again", "7", "R1", "2", "--base", "good", "--head", "bad"], 0, "R1 holds: input (22)"),
    (["run", "--base", "good", "--head", "good", "--seed", "7"], 0, "holds"),
    (["run", "--base", "good", "--head", "bad", "--seed", "7"], 1, "R1: twice is even: its output"),
    (["admit", "good", "R2"], 2, "no relation R2 in good; there are R1"),
    (["admit", "good", "--draws", "8", "--seeds", "1"], 0, "admitted"),
    (["admit", "bad", "--draws", "8", "--seeds", "1"], 1, "not admitted"),
])
def test_a_command_says_what_it_came_to(clone, monkeypatch, capfd, words, code, says):
    monkeypatch.chdir(clone)
    came = cli.run(["replay", *words])
    told = capfd.readouterr()
    assert came == code, told
    assert says in told.out + told.err
