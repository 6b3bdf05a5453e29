"""Made-up histories of any length by `git fast-import`: the same seed, the same repository."""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

FOLDERS = ("src/app/core", "src/app/web/views", "src/lib", "src/lib/io", "tests/unit", "tests/web",
           "docs/guide", "oracle/receipts", "oracle/relations", "fixtures/data", "tools", "po")
FILES_PER_FOLDER = 30
BRANCH_LENGTH = (1, 4)


def environment() -> dict[str, str]:
    """This process's environment without anything that changes what git does."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}


def make(folder: Path, commits: int, *, merges: float = 0.2, seed: int = 1) -> Path:
    """A bare repository whose main has `commits` commits or a few more, `merges` of them merges.

    More than 0.22 cannot be: a merge brings at least a branch and a commit on main with it.
    """
    env = environment()
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
    often = _share_of_branches(merges)
    yield _commit(1, None, None, [(f, f"start {f}\n") for f in files])
    main = 1
    while main < commits:
        if chance.random() < often:
            length = chance.randint(*BRANCH_LENGTH)
            yield from _branch_and_merge(main, length, files, chance)
            main += length + 2
        else:
            yield _commit(main + 1, main, None, _edits(chance, files, main + 1))
            main += 1


def _share_of_branches(merges: float) -> float:
    """How often a step of main is a merged branch, so that `merges` of all commits are merges.

    A step brings one commit, or a branch, a commit on main beside it, and the merge.
    """
    length = sum(BRANCH_LENGTH) / 2
    return merges / (1 - merges * (length + 1))


def _branch_and_merge(main: int, length: int, files: list[str],
                      chance: random.Random) -> Iterator[bytes]:
    """The commits main+1 .. main+length+2; the two sides never edit the same file."""
    ours, theirs = files[1::2], files[::2]
    gained: dict[str, str] = {}
    for mark in range(main + 1, main + length + 1):
        edits = _edits(chance, theirs, mark)
        gained.update(edits)
        yield _commit(mark, main if mark == main + 1 else mark - 1, None, edits)
    beside, merge = main + length + 1, main + length + 2
    yield _commit(beside, main, None, _edits(chance, ours, beside))
    yield _commit(merge, beside, merge - 2, list(gained.items()))


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
