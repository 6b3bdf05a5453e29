"""Compiled files: made in a sandbox, used by executions, and never of another source."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from policyd.replay import precompile as precompiling
from policyd.replay.execute import Call, Executor, Mode
from policyd.replay.outcome import Raised, Value
from policyd.replay.precompile import precompile
from policyd.replay.sandbox import available

WHY_NOT = available()
MODES = [pytest.param(Mode.WARM, id="sandbox", marks=pytest.mark.skipif(
    WHY_NOT is not None, reason=f"no sandbox: {WHY_NOT}")), pytest.param(Mode.NONE, id="none")]
SOURCES = {
    "src/pkg/__init__.py": "",
    "src/pkg/mod.py": "def f():\n    return __file__[-6:]\ndef g():\n    raise KeyError\n",
    "src/bad.py": "def f(:\n",
    "src/nul.py": "x = 1\0\n",
    "src/loud.py": "raise SystemExit('compiled files are not run')\n",
    "other.py": "",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    for name, text in SOURCES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "src/link.py").symlink_to("/etc/passwd")
    folder.chmod(0o755)
    return folder


def compiled(tree: Path) -> set[str]:
    return {path.relative_to(tree).as_posix().replace(f".{sys.implementation.cache_tag}.", ".")
            for path in tree.rglob("*.pyc")}


@pytest.mark.parametrize("mode", MODES)
def test_what_compiles_is_compiled_once_and_used(tree, mode):
    umask = os.umask(0o077)
    try:
        assert precompile(tree, roots=["src", "absent"], mode=mode) == 3
    finally:
        os.umask(umask)
    assert compiled(tree) == {"src/pkg/__pycache__/__init__.pyc", "src/pkg/__pycache__/mod.pyc",
                              "src/__pycache__/loud.pyc"}
    (tree / "src/pkg/mod.py").write_text("def f(): return 'the source was read again'\n")
    with Executor(tree, mode=mode, jobs=1) as executor:
        assert executor.run(Call("pkg.mod:f", b"[]")) == Value(b'"mod.py"')
        raised = executor.run(Call("pkg.mod:g", b"[]"))
        assert raised == Raised("KeyError")
        assert raised.trace == ("pkg/mod.py:4 in g",)
        assert executor.run(Call("bad:f", b"[]")) == Raised("SyntaxError", at_import=True)


@pytest.mark.parametrize("answer", [b'["../../x-1",{"bytes":"00"}]', b'["cpython-311","00"]', b"1"])
def test_an_answer_of_another_form_is_not_kept(tree, answer):
    assert not precompiling._kept(tree / "src/pkg/mod.py", Value(answer))
    assert compiled(tree) == set()
