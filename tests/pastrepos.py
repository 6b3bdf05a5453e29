"""Repositories with a history of given days, made by one `git fast-import`.

    past = Past()
    base = past.commit({"src/app.py": "x = 1\\n"}, day="2026-01-05")
    side = past.commit({"src/app.py": "x = 2\\n"}, day="2026-01-06", ref="topic", parents=(base,))
    past.commit({}, day="2026-01-07", parents=(base, side), message="Merge it")
    ids = past.write(tmp_path / "shop.git")        # the commits' ids, in the order of their making

A commit without `parents` follows the one before on its branch; None as content deletes.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from sites import FRAME

Content = str | bytes | None | tuple[str, str]
"""Text, nothing, or a mode and a text (for 160000 the id of a commit)."""


class Past:
    """What is to be imported."""

    def __init__(self) -> None:
        self._stream: list[bytes] = []
        self._tips: dict[str, int] = {}
        self._made = 0

    def commit(self, files: Mapping[str, Content], *, day: str, message: str = "Change",
               ref: str = "main", parents: Sequence[int] | None = None) -> int:
        """A commit at noon of a day; its number, by which others call it a parent."""
        self._made += 1
        parents = parents if parents is not None else (
            (self._tips[ref],) if ref in self._tips else ())
        at = int(datetime.fromisoformat(f"{day}T12:00:00").replace(tzinfo=UTC).timestamp())
        text = message.encode("utf-8", "surrogateescape")
        self._line(f"commit refs/heads/{ref}", f"mark :{self._made}",
                   f"committer Dev <dev@example.org> {at} +0000", f"data {len(text)}")
        self._stream.append(text + b"\n")
        if parents:
            self._line(f"from :{parents[0]}", *(f"merge :{other}" for other in parents[1:]))
        for path, content in files.items():
            self._file(path, content)
        self._tips[ref] = self._made
        return self._made

    def write(self, folder: Path, *options: str) -> list[str]:
        """Make the bare repository; `options` are those of `git init`."""
        git("init", "--quiet", "--bare", "-b", "main", "--template=", *options, str(folder))
        marks = folder / "marks"
        git("fast-import", "--quiet", "--force", f"--export-marks={marks}", cwd=folder,
            given=b"".join(self._stream))
        lines = sorted((int(line[1:line.index(" ")]), line.split(" ")[1])
                       for line in marks.read_text().splitlines())
        marks.unlink()
        return [oid for _, oid in lines]

    def _file(self, path: str, content: Content) -> None:
        if content is None:
            return self._line(f"D {path}")
        mode, text = content if isinstance(content, tuple) else ("100644", content)
        if mode == "160000":
            return self._line(f"M 160000 {text!s} {path}")
        data = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
        self._line(f"M {mode} inline {path}", f"data {len(data)}")
        self._stream.append(data + b"\n")

    def _line(self, *lines: str) -> None:
        self._stream += [line.encode("utf-8", "surrogateescape") + b"\n" for line in lines]


def git(*arguments: str, cwd: Path | None = None, given: bytes = b"") -> str:
    """Run git with nothing of the user's; what it prints. It must succeed."""
    done = subprocess.run(["git", *arguments], cwd=cwd, input=given, capture_output=True,
                          env={**FRAME, "PATH": os.environ["PATH"]}, check=False)
    assert done.returncode == 0, os.fsdecode(done.stderr)
    return os.fsdecode(done.stdout).strip()
