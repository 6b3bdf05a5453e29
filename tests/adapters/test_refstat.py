"""What stat alone shows of a repository: every way in which something may have changed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from history import History

from policyd.adapters import refstat

KEY, MAIN, RELEASE = "ab" * 16, "refs/heads/main", "refs/heads/release/1"
OLD, NEW = "1" * 40, "2" * 40


class Watched:
    """A repository with two guarded branches, and its files in a state folder."""

    def __init__(self, folder: Path) -> None:
        self.git, self.state = folder / "r.git", folder / "state"
        History(self.git)
        for name in (f"repos/{KEY}.json", f"acts/{KEY}.json"):
            self.write(self.state / name, "{}")
        self.write(self.git / "policyd-key", KEY)
        self.write(self.git / "packed-refs", f"{OLD} {RELEASE}\n")
        self.write(self.git / MAIN, f"{OLD}\n")

    def seen(self, *, names: tuple[str, ...] = (MAIN, RELEASE), digest: str = "d",
             key: str = KEY) -> str:
        return refstat.seen(str(self.state), key, str(self.git), names, digest)

    def write(self, path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def replace(self, path: Path, text: str) -> None:
        """As git and policyd do: beside it, and put in place with the time that it had."""
        before = path.stat()
        draft = path.with_name("draft")
        draft.write_text(text)
        os.utime(draft, ns=(before.st_atime_ns, before.st_mtime_ns))
        draft.replace(path)


@pytest.fixture
def there(tmp_path: Path) -> Watched:
    return Watched(tmp_path)


def in_place(there: Watched) -> None:
    path = there.git / MAIN
    before = path.stat().st_mtime_ns
    path.write_text(f"{NEW}\n")
    os.utime(path, ns=(before + 1, before + 1))


CHANGES: dict[str, Callable[[Watched], None]] = {
    "a ref rewritten in place": in_place,
    "a ref put in place": lambda t: t.replace(t.git / MAIN, f"{NEW}\n"),
    "a ref deleted": lambda t: (t.git / MAIN).unlink(),
    "a packed ref loose": lambda t: t.write(t.git / RELEASE, f"{NEW}\n"),
    "refs packed": lambda t: t.replace(t.git / "packed-refs", f"{NEW} {RELEASE}\n{OLD} {MAIN}\n"),
    "another branch": lambda t: t.write(t.git / "refs/heads/topic", f"{OLD}\n"),
    "a branch in a folder": lambda t: t.write(t.git / "refs/heads/release/2", f"{OLD}\n"),
    "a branch in folders": lambda t: t.write(t.git / "refs/heads/a/b/c", f"{OLD}\n"),
    "the index": lambda t: t.replace(t.state / f"repos/{KEY}.json", "[]"),
    "the acts": lambda t: t.replace(t.state / f"acts/{KEY}.json", "[]"),
    "the acts removed": lambda t: (t.state / f"acts/{KEY}.json").unlink(),
    "the key": lambda t: t.replace(t.git / "policyd-key", "cd" * 16),
    "a table of refs": lambda t: t.write(t.git / "reftable/tables.list", "x"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_it_is_seen(there, change):
    before = there.seen()
    assert there.seen() == before
    CHANGES[change](there)
    assert there.seen() != before


def test_a_branch_in_a_folder_that_held_no_guarded_one_is_seen(there):
    there.write(there.git / "refs/heads/release/old/draft", f"{OLD}\n")
    before = there.seen(names=(MAIN,))
    there.write(there.git / "refs/heads/release/2", f"{OLD}\n")
    between = there.seen(names=(MAIN,))
    assert between != before
    there.write(there.git / "refs/heads/release/old/2", f"{OLD}\n")
    assert there.seen(names=(MAIN,)) != between


def test_what_is_asked_for_counts(there):
    asked = [there.seen(), there.seen(names=(MAIN,)), there.seen(digest="e"),
             there.seen(key="cd" * 16)]
    assert len(set(asked)) == len(asked)
    assert there.seen(names=(RELEASE, MAIN)) == there.seen()


def test_what_others_write_is_no_change(there):
    before = there.seen()
    there.write(there.state / "gates" / f"{KEY}.json", "{}")
    there.write(there.git / "refs/tags/v1", f"{OLD}\n")
    there.write(there.git / "objects/11/1", "")
    assert there.seen() == before


def test_a_repository_that_is_gone_and_a_link_that_leads_round_are_no_error(there, tmp_path):
    (there.git / "refs/heads/round").symlink_to(there.git / "refs/heads")
    before = there.seen()
    there.git.rename(tmp_path / "gone")
    assert there.seen() != before


def test_what_a_link_leads_to_is_no_folder_of_branches(there, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (there.git / "refs/heads/link").symlink_to(tmp_path / "elsewhere")
    before = there.seen()
    there.write(tmp_path / "elsewhere/x", "x")
    assert there.seen() == before


def test_names_of_any_bytes_are_seen(there):
    there.write(there.git / "refs/heads/caf\udce9/x", f"{OLD}\n")
    assert there.seen(names=("refs/heads/caf\udce9/x",)) != there.seen()
