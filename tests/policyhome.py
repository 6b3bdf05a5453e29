"""A home whose files a test edits, and the command line on it.

    home = PolicyHome.made(tmp_path / "home")             # as `policyd init` writes it
    home.edit("mode: enforce", "mode: observe")           # the first such text of default.yaml
    home.write("groups/bots.txt", "bot-*\\n")
    assert home.run("policy", "apply") == 0, home.out     # `out` and `err` are what was printed
"""

from __future__ import annotations

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from policyd import cli

DEFAULT = "policies/default.yaml"
ROWS = """\
- title: code alone
  who: agent-7
  before: {src/a.py: "x = 1\\n"}
  commits: [{src/a.py: "x = 2\\n"}]
  expect: accept
- title: code with a receipt
  who: alice
  before: {src/a.py: "x = 1\\n"}
  commits: [{src/a.py: "x = 2\\n", oracle/r.json: "{}\\n"}]
  expect: refuse
  rules: [separate-authorship]
"""
"""Two cases that hold for the policy as `init` writes it."""


class PolicyHome:
    """A folder with policyd.yaml, policies/ and perhaps active/."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.out = self.err = ""
        """What the last command printed."""

    @classmethod
    def made(cls, path: Path) -> PolicyHome:
        home = cls(path)
        assert home.run("init", str(path)) == 0, home.err
        return home

    def run(self, *arguments: str) -> int:
        """Run a command in this process; its exit code."""
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            code = cli.run(["--home", str(self.path), *arguments])
        self.out, self.err = out.getvalue(), err.getvalue()
        return code

    def json(self) -> Any:
        """What the last command printed, for programs."""
        return json.loads(self.out)

    def lines(self) -> list[str]:
        """What the last command printed, without the warnings about rules that are off."""
        return [line for line in self.out.splitlines() if not line.endswith("so it is off")]

    def write(self, name: str, text: str) -> None:
        """Write a file of the home as its owner would."""
        path = self.path / name
        path.parent.mkdir(mode=0o755, exist_ok=True)
        path.write_text(text)
        path.chmod(0o644)

    def edit(self, old: str, new: str, name: str = DEFAULT) -> None:
        """Replace a text of a file, which must be there."""
        text = (self.path / name).read_text()
        assert old in text
        self.write(name, text.replace(old, new, 1))

    def active(self, name: str = "current") -> bytes | None:
        """The bytes of what is in force, or was; None where nothing is."""
        path = self.path / "active" / name
        return path.read_bytes() if path.exists() else None
