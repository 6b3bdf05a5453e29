"""Whether git or this process compares the trees, a push is seen in the same way."""

from __future__ import annotations

import os
import random
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from policyd.adapters import bulk
from policyd.adapters.gitchild import GitChild
from policyd.adapters.gitrepo import PushedRepo
from policyd.adapters.look import Look, RefLine
from policyd.core import documents
from policyd.core.authored import compile_policy
from policyd.core.facts import Need, Update
from policyd.rules import BY_ID

SHIPPED = Path(__file__).parents[2] / "policies/default.yaml"
POLICY = compile_policy(documents.parse(SHIPPED.read_bytes(), "default.yaml"), "default", BY_ID)
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | {
    "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
NEVER, ALWAYS = 1_000_000, 0
"""For `touched.FEW`: up to how many commits git is not asked."""

Files = Mapping[str, str]

START = {"src/a.py": "1", "src/b.py": "1", "src/x/c.py": "1", "oracle/r.json": "1",
         "docs/d.md": "1", "tests/t.py": "1"}


@dataclass
class History:
    """A bare repository that `git fast-import` fills with commits given by all their files."""

    git_dir: Path
    stream: list[str] = field(default_factory=list)
    files: dict[int, Files] = field(default_factory=dict)

    def commit(self, files: Files, *parents: int) -> int:
        mark = len(self.files) + 1
        self.files[mark] = dict(files)
        start = [] if parents else ["reset refs/heads/r"]
        links = [f"{'merge' if n else 'from'} :{parent}" for n, parent in enumerate(parents)]
        entries = [f"M {'120000' if text.startswith('->') else '100644'} inline {path}\n"
                   f"data {len(text)}\n{text}" for path, text in files.items()]
        self.stream += [
            *start, f"commit refs/heads/r\nmark :{mark}",
            f"committer Ada <ada@example.org> {1_600_000_000 + 60 * mark} +0000\ndata 0",
            *links, "deleteall", *entries]
        return mark

    def change(self, parent: int, *others: int, **changed: str | None) -> int:
        """A commit like its first parent but for `src_a="2"`; None takes the file out."""
        files = dict(self.files[parent])
        for name, text in changed.items():
            path = next((p for p in START if name == _short(p)), name)
            files.pop(path, None)
            if text is not None:
                files[path] = text
        return self.commit(files, parent, *others)

    def tip(self) -> str:
        """Write all that was committed; the id of the last commit."""
        _git(self.git_dir.parent, "init", "-q", "--bare", str(self.git_dir))
        data = "\n".join([*self.stream, ""]).encode()
        _git(self.git_dir, "fast-import", "--quiet", "--force", data=data)
        return _git(self.git_dir, "rev-parse", "refs/heads/r")


def _short(path: str) -> str:
    return path.rpartition(".")[0].replace("/", "_")


def _git(folder: Path, *command: str, data: bytes | None = None) -> str:
    done = subprocess.run(["git", *command], cwd=folder, env=ENVIRONMENT, input=data, check=True,
                          capture_output=True)
    return done.stdout.decode().strip()


def seen(git_dir: Path, tip: str, *, extra: Sequence[str] = (), group: str = "agents",
         environment: Mapping[str, str] = ENVIRONMENT) -> tuple[Update, ...]:
    deadline = time.monotonic() + 60
    looked = Look(PushedRepo(str(git_dir)), GitChild(str(git_dir), environment, deadline), POLICY,
                  tips={}, extra=extra, groups=frozenset({group}), deadline=deadline)
    return looked.updates([RefLine("refs/heads/topic", None, tip, None, False)],
                          frozenset({Need.PATHS}))


def both(monkeypatch: pytest.MonkeyPatch, git_dir: Path, tip: str,
         **options: object) -> Iterator[tuple[Update, ...]]:
    for few in (NEVER, ALWAYS):
        monkeypatch.setattr("policyd.adapters.touched.FEW", few)
        yield seen(git_dir, tip, **options)  # type: ignore[arg-type]


def touched(updates: tuple[Update, ...]) -> list[list[str]]:
    return [[touch.path for touch in commit.touches] for commit in updates[0].commits]


MERGES = {
    # name of the history: what its two sides and its merge do, what the merge is said to touch
    "clean": ({"src_a": "2"}, {"src_b": "2"}, {"src_b": "2"}, []),
    "evil": ({"src_a": "2"}, {"src_b": "2"}, {"src_b": "2", "oracle_r": "9"}, ["oracle/r.json"]),
    "drops what was brought": ({"src_a": "2"}, {"src_b": "2"}, {}, ["src/b.py"]),
    "drops its own": ({"src_a": "2"}, {"src_b": "2"}, {"src_a": "1", "src_b": "2"}, ["src/a.py"]),
    "same on both sides": ({"src_a": "2"}, {"src_a": "2"}, {}, []),
    "same, then taken back": ({"src_a": "2"}, {"src_a": "2"}, {"src_a": "1"}, ["src/a.py"]),
    "conflict, ours": ({"src_a": "2"}, {"src_a": "3"}, {}, ["src/a.py"]),
    "conflict, theirs": ({"src_a": "2"}, {"src_a": "3"}, {"src_a": "3"}, ["src/a.py"]),
    "deleted and changed": ({"src_a": None}, {"src_a": "3"}, {"src_a": "3"}, ["src/a.py"]),
    "deleted on both": ({"src_a": None}, {"src_a": None}, {}, []),
    "link for a file": ({"src_b": "2"}, {"src_a": "->b"}, {"src_a": "->b"}, []),
    "outside of zones": ({"docs_d": "2"}, {"docs_d": "3"}, {"docs_d": "4"}, []),
    "folder for a file": ({"src_a": None, "src/a.py/n.py": "1"}, {"src_b": "2"},
                          {"src_b": "2"}, []),
    "folder brought": ({"src_b": "2"}, {"src_a": None, "src/a.py/n.py": "1"},
                       {"src_a": None, "src/a.py/n.py": "1"}, []),
}


@pytest.mark.parametrize("name", MERGES)
def test_a_merge_touches_the_same_by_git_and_by_hand(monkeypatch, tmp_path, name):
    ours, theirs, made, expected = MERGES[name]
    history = History(tmp_path / "r.git")
    base = history.commit(START)
    one, other = history.change(base, **ours), history.change(base, **theirs)
    history.change(one, other, **made)
    by_hand, by_git = both(monkeypatch, history.git_dir, history.tip())
    assert by_git == by_hand
    merge = by_hand[0].commits[-1]
    last = [touch.path for touch in merge.touches] if merge.oid == by_hand[0].tip else []
    assert last == expected


def test_criss_cross_octopus_and_unrelated_roots_are_the_same(monkeypatch, tmp_path):
    history = History(tmp_path / "r.git")
    root = history.commit(START)
    a, b = history.change(root, src_a="2"), history.change(root, src_b="2")
    ab, ba = history.change(a, b, src_b="2"), history.change(b, a, src_a="2")
    crossed = history.change(ab, ba)
    evil = history.change(ba, ab, oracle_r="7")
    octopus = history.change(crossed, evil, b, oracle_r="8")
    stranger = history.commit({"src/z.py": "1"})
    history.change(octopus, stranger, **{"src/z.py": "1", "tests_t": "5"})
    by_hand, by_git = both(monkeypatch, history.git_dir, history.tip())
    assert by_git == by_hand
    assert touched(by_hand)[-1] == ["tests/t.py"]


@pytest.mark.parametrize("group", ["agents", "maintainers"])
@pytest.mark.parametrize("seed", range(6))
def test_random_histories_are_the_same(monkeypatch, tmp_path, seed, group):
    chance = random.Random(seed)
    history = History(tmp_path / "r.git")
    history.commit(START)
    for _ in range(120):
        _grow(history, chance)
    tip = history.tip()
    accepted = _git(history.git_dir, "rev-list", "--topo-order", tip).split()
    monkeypatch.setattr(bulk, "FIRST_PORTION", 7)
    for extra in ((), (accepted[len(accepted) // 2],)):
        by_hand, by_git = both(monkeypatch, history.git_dir, tip, extra=extra, group=group)
        assert by_git == by_hand
        assert by_hand[0].commits


def test_conflicts_of_accepted_sides_are_settled_by_a_maintainer(monkeypatch, tmp_path):
    history = History(tmp_path / "r.git")
    base = history.commit(START)
    one, other = history.change(base, src_a="2"), history.change(base, src_a="3")
    history.change(one, other, src_a="4", oracle_r="9")
    tip = history.tip()
    sides = _git(history.git_dir, "rev-parse", f"{tip}^1", f"{tip}^2").split()
    for group, expected in (("maintainers", ["oracle/r.json"]),
                            ("agents", ["oracle/r.json", "src/a.py"])):
        by_hand, by_git = both(monkeypatch, history.git_dir, tip, extra=sides, group=group)
        assert by_git == by_hand
        assert touched(by_hand) == [expected]


def _grow(history: History, chance: random.Random) -> None:
    """One more commit on the last: plain, root, or a merge that mixes its parents' files."""
    last = len(history.files)
    parents = [last, *chance.sample(range(1, last), min(last - 1, chance.choice([0, 0, 1, 1, 2])))]
    files: dict[str, str] = {}
    for path in {path for parent in parents for path in history.files[parent]}:
        held = [history.files[parent].get(path) for parent in parents]
        text = chance.choice([held[-1], *held])
        if text is not None:
            files[path] = text
    for path in chance.sample(sorted(START), chance.choice([0, 0, 1, 2])):
        files[path] = str(chance.randint(1, 3))
    history.commit(files, *parents)


def test_a_tree_that_git_cannot_read_is_compared_by_hand(monkeypatch, tmp_path):
    history = History(tmp_path / "r.git")
    last = history.commit(START)
    for number in range(20):
        last = history.change(last, src_a=str(number))
    tip = history.tip()
    blob = _git(tmp_path / "r.git", "rev-parse", f"{tip}:oracle/r.json")
    tree = _git(history.git_dir, "hash-object", "-t", "tree", "-w", "--literally", "--stdin",
                data=b"100649 conftest.py\0" + bytes.fromhex(blob))
    damaged = _git(history.git_dir, "hash-object", "-t", "commit", "-w", "--literally", "--stdin",
                   data=(f"tree {tree}\nparent {tip}\nauthor a <a> 1700000000 +0000\n"
                         "committer a <a> 1700000000 +0000\n\n").encode())
    with pytest.raises(subprocess.CalledProcessError):
        _git(history.git_dir, "diff-tree", "-r", tip, damaged)
    by_hand, by_git = both(monkeypatch, history.git_dir, damaged)
    assert by_git == by_hand
    assert "conftest.py" in touched(by_hand)[-1]


def test_without_git_all_is_compared_by_hand(monkeypatch, tmp_path):
    history = History(tmp_path / "r.git")
    history.change(history.commit(START), oracle_r="2")
    tip = history.tip()
    by_hand, by_git = both(monkeypatch, history.git_dir, tip, environment={"PATH": "/absent"})
    assert by_git == by_hand
    assert touched(by_hand)[-1] == ["oracle/r.json"]
