"""Made-up histories of any length, through `git fast-import`: the same seed, the same repository."""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

FOLDERS = ("src/app/core", "src/app/web/views", "src/lib", "src/lib/io", "tests/unit", "tests/web",
           "docs/guide", "oracle/receipts", "oracle/relations", "fixtures/data", "tools", "po")
FILES_PER_FOLDER = 30
BRANCH_LENGTH = (1, 6)


def make(folder: Path, commits: int, *, merges: float = 0.2, seed: int = 1) -> Path:
    """A bare repository in `folder` whose main has about `commits` commits, `merges` of them merges."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    env |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(folder)], check=True, env=env)
    with subprocess.Popen(["git", "fast-import", "--quiet", "--force"], cwd=folder, env=env,
                          stdin=subprocess.PIPE) as importer:
        assert importer.stdin is not None
        for chunk in _stream(commits, merges, random.Random(seed)):
            importer.stdin.write(chunk)
        importer.stdin.close()
        assert importer.wait() == 0
    subprocess.run(["git", "repack", "-adq"], cwd=folder, check=True, env=env)
    return folder


def _stream(commits: int, merges: float, chance: random.Random) -> Iterator[bytes]:
    files = [f"{folder}/f{n}.py" for folder in FOLDERS for n in range(FILES_PER_FOLDER)]
    ours, theirs = files[1::2], files[::2]
    mark = main = 1
    yield _commit(1, None, None, [(f, f"start {f}\n") for f in files])
    while mark < commits:
        length = chance.randint(*BRANCH_LENGTH)
        branch = chance.random() < merges / (1 - merges * (length + 1) * 0.5)
        if not branch:
            mark += 1
            yield _commit(mark, main, None, _edits(chance, files, mark))
            main = mark
            continue
        side, gained = main, {}
        for _ in range(length):
            mark += 1
            edits = _edits(chance, theirs, mark)
            gained.update(edits)
            yield _commit(mark, side, None, edits)
            side = mark
        mark += 2
        yield _commit(mark - 1, main, None, _edits(chance, ours, mark))
        yield _commit(mark, mark - 1, side, list(gained.items()))
        main = mark


def _edits(chance: random.Random, files: list[str], mark: int) -> list[tuple[str, str]]:
    return [(f, f"{mark} {f}\n" * 3) for f in chance.sample(files, chance.randint(1, 3))]


def _commit(mark: int, parent: int | None, merged: int | None,
            edits: list[tuple[str, str]]) -> bytes:
    lines = [f"commit refs/heads/main\nmark :{mark}\n"
             f"committer Ada <ada@example.org> {1_600_000_000 + 60 * mark} +0000\n"
             f"data {len(str(mark))}\n{mark}\n"]
    if parent is not None:
        lines.append(f"from :{parent}\n")
    if merged is not None:
        lines.append(f"merge :{merged}\n")
    lines += [f"M 100644 inline {path}\ndata {len(text)}\n{text}\n" for path, text in edits]
    return "".join(lines).encode()
