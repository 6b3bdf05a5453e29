"""The chain goes through rotated files; no crash, race or missing file makes it begin anew."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import forks
import pytest

from policyd.adapters import decisionlog, logfiles, logprune, logrotate, repoindex
from policyd.adapters.logcheck import verify
from policyd.adapters.logfiles import Rotated
from policyd.core import chain
from policyd.core.errors import CannotJudge
from policyd.core.facts import Op, Update
from policyd.core.index import Index, logged, replayed
from policyd.core.movement import Movement

KEY, OTHER = "1" * 32, "2" * 32
A, B, C = (digit * 40 for digit in "abc")
MAIN = "refs/heads/main"
NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """Two enrolled repositories and one push: entries 1 to 3."""
    folder = tmp_path / "state"
    folder.mkdir(mode=0o700)
    for key in (KEY, OTHER):
        start = Index(key, NOON.isoformat(), False, {MAIN: A})
        decisionlog.begin(folder, start, {"verdict": "enrolled"}, at=NOON)
    decisionlog.record(folder, KEY, push(), at=NOON)
    return folder


def push(old: str = A, new: str = B) -> dict[str, object]:
    return {"verdict": "accepted",
            "updates": logged([Update(MAIN, Op.UPDATE, old, new, guarded=True)])}


def refuse(state: Path) -> str:
    return decisionlog.append(state, {"verdict": "refused"})


def files(state: Path) -> list[str]:
    return sorted(path.name for path in state.iterdir() if path.name.startswith("decisions"))


def lines(state: Path) -> list[bytes]:
    names = [closed.name for closed in logfiles.rotated(state)]
    paths = [state / name for name in [*names, decisionlog.NAME]]
    return [line for path in paths if path.exists() for line in path.read_bytes().splitlines()]


def entries(state: Path) -> list[dict]:
    return [json.loads(line) for line in lines(state)]


def told(state: Path) -> tuple[list[str], list[str]]:
    """Faults and notes."""
    report = verify(state / decisionlog.NAME)
    return tuple([f"{each.file}:{each.line}: {each.message}" for each in some]
                 for some in (report.faults, report.notes))


def replay(state: Path, key: str) -> Index:
    """From the enrolment on, by nothing but the lines of all files."""
    position, index = chain.START, None
    for line in lines(state):
        entry = chain.parse(line)
        if entry is None or (entry.n, entry.prev) != (position.n + 1, position.hash):
            continue
        position = chain.position_of(position, line)
        if index is not None:
            index = replayed(index, entry.fields, position)
        elif entry.fields.get("key") == key:
            index = Index(key, NOON.isoformat(), False, {MAIN: A}, applied=position)
    assert index is not None
    return index


@pytest.fixture
def three(state: Path) -> Path:
    """Two rotated files and the present one: 1 to 3, 4 to 6, 7 to 8."""
    decisionlog.rotate(state, "root")
    refuse(state)
    decisionlog.record(state, KEY, push(B, C))
    decisionlog.rotate(state, "root")
    refuse(state)
    assert files(state) == ["decisions-1-3.jsonl", "decisions-4-6.jsonl", "decisions.jsonl"]
    return state


def test_the_chain_goes_on_in_a_new_file(state: Path):
    old = (state / decisionlog.NAME).read_bytes()
    assert decisionlog.rotate(state, "root", at=NOON) == Rotated(1, 3)
    assert (state / "decisions-1-3.jsonl").read_bytes() == old
    assert entries(state)[3] == {
        "n": 4, "prev": chain.hash_of(old.splitlines()[-1]),
        "time": "2026-05-04T12:00:00.000+00:00", "kind": "rotated",
        "file": "decisions-1-3.jsonl", "operator": "root"}
    assert (state / decisionlog.NAME).stat().st_mode & 0o777 == 0o600
    refuse(state)
    assert (entries(state)[4]["n"], told(state)) == (5, ([], []))
    assert verify(state / decisionlog.NAME).entries == 5


def test_positions_of_indexes_stay_true(state: Path):
    before = repoindex.load(state, KEY)
    decisionlog.rotate(state, "root")
    assert repoindex.load(state, KEY) == before
    assert decisionlog.settled(state, KEY, lambda _: {MAIN: B}) == (
        repoindex.load(state, KEY), ())
    decisionlog.record(state, KEY, push(B, C))
    assert repoindex.load(state, KEY).applied.n == 5
    assert decisionlog.settled(state, KEY, lambda _: {MAIN: A})[1] == (Movement(MAIN, B, A),)


def test_a_log_without_entries_of_its_own_is_not_rotated(state: Path, tmp_path: Path):
    fresh = tmp_path / "fresh"
    fresh.mkdir(mode=0o700)
    assert decisionlog.rotate(fresh, "root") is None
    decisionlog.rotate(state, "root")
    assert decisionlog.rotate(state, "root") is None
    logprune.prune(state, 0, "root")
    assert decisionlog.rotate(state, "root") is None
    assert (files(fresh), files(state)) == ([decisionlog.NAME], [decisionlog.NAME])


def test_an_entry_that_its_index_is_missing_reaches_it_before_the_file_is_closed(
        state: Path, monkeypatch: pytest.MonkeyPatch):
    def fail(*_: object) -> None:
        raise CannotJudge("no room")

    with monkeypatch.context() as patched:
        patched.setattr(repoindex, "store", fail)
        with pytest.raises(CannotJudge, match="no room"):
            decisionlog.record(state, KEY, push(B, C))
    decisionlog.rotate(state, "root")
    refuse(state)
    assert repoindex.load(state, KEY) == replay(state, KEY)
    assert repoindex.load(state, KEY).applied.n == 4


def test_a_tear_is_closed_before_the_file_is(state: Path):
    with (state / decisionlog.NAME).open("ab") as file:
        file.write(b'{"n":4,')
    assert decisionlog.rotate(state, "root") == Rotated(1, 4)
    refuse(state)
    assert told(state) == (
        [], ["decisions-1-4.jsonl:4: torn by a crash or a power cut, and closed"])


def test_a_file_in_the_way_is_left_alone(state: Path):
    (state / "decisions-1-3.jsonl").write_bytes(b"precious")
    with pytest.raises(CannotJudge, match=r"decisions-1-3\.jsonl is there already"):
        decisionlog.rotate(state, "root")
    assert (state / "decisions-1-3.jsonl").read_bytes() == b"precious"
    assert entries_of_present(state) == [1, 2, 3]


def entries_of_present(state: Path) -> list[int]:
    return [json.loads(line)["n"] for line in (state / decisionlog.NAME).read_bytes().splitlines()]


# Crashes: SIGKILL before or after each call that changes anything on disk.

CHILD = """
import os, signal, sys
from policyd.adapters import decisionlog, logprune
state, left, when, what = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
def mortal(call):
    def step(*args, **kwargs):
        global left
        left -= 1
        if left < 0 and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        done = call(*args, **kwargs)
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return done
    return step
for name in ("rename", "replace", "fsync", "unlink", "write"):
    setattr(os, name, mortal(getattr(os, name)))
if what == "rotate":
    decisionlog.rotate(state, "root")
elif what == "lost":
    decisionlog.go_on_after_loss(state, "root")
else:
    logprune.prune(state, 0, "root")
"""


def killed_after(state: Path, steps: int, when: str, what: str = "rotate") -> bool:
    """Whether the child was killed; False when it had finished by then."""
    code = forks.run(CHILD, state, steps, when, what)
    assert code in (0, -signal.SIGKILL)
    return code != 0


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("torn", [False, True])
def test_a_rotation_may_be_killed_at_any_step(state: Path, when: str, torn: bool):
    steps, seen, name = 0, set(), state / decisionlog.NAME
    while True:
        refuse(state)
        if torn:
            with name.open("ab") as file:
                file.write(b'{"n":')
        count = len(entries_read(state))
        killed = killed_after(state, steps, when)
        seen.add(name.exists())
        faults = told(state)[0]
        assert faults == [] or (torn and "torn: the next push" in faults[-1]), (steps, faults)
        refuse(state)
        decisionlog.record(state, KEY, push())
        assert told(state)[0] == [], steps
        assert len(entries_read(state)) >= count + 2
        for key in (KEY, OTHER):
            assert repoindex.load(state, key) == replay(state, key)
        if not killed:
            break
        steps += 1
    assert steps >= 8
    assert seen == {True, False}
    assert decisionlog.rotate(state, "root") is not None
    assert told(state)[0] == []


def entries_read(state: Path) -> list[bytes]:
    return [line for line in lines(state) if chain.parse(line)]


@pytest.mark.parametrize("opener", [
    refuse,
    lambda state: decisionlog.record(state, OTHER, push()),
    lambda state: decisionlog.settled(state, KEY, lambda _: {MAIN: B}),
    lambda state: decisionlog.rotate(state, "root"),
], ids=["append", "record", "settle", "rotate"])
def test_whoever_finds_no_log_finishes_the_rotation(state: Path, opener: Callable[[Path], object]):
    interrupt(state)
    assert told(state) == ([], ["decisions.jsonl:1: a rotation was interrupted: "
                                "the next push finishes it"])
    opener(state)
    assert entries(state)[3]["kind"] == "rotated"
    assert told(state) == ([], [])


def interrupt(state: Path) -> None:
    """Kill a rotation between its two renames of the log."""
    steps = 0
    while (state / decisionlog.NAME).exists():
        killed_after(state, steps, "before")
        steps += 1
        assert steps < 20


# What somebody took away.

@pytest.mark.parametrize("leave", [None, b"", b"\n", b'{"n":5,"prev'])
def test_a_log_that_is_lost_behind_a_rotated_file_never_begins_anew(
        state: Path, leave: bytes | None):
    decisionlog.rotate(state, "root")
    path = state / decisionlog.NAME
    path.unlink()
    if leave is not None:
        path.write_bytes(leave)
    for use in (refuse, lambda state: decisionlog.record(state, KEY, push()),
                lambda state: decisionlog.rotate(state, "root")):
        with pytest.raises(CannotJudge) as caught:
            use(state)
        assert str(caught.value) == (
            f"decision log {path} is lost: nothing follows decisions-1-3.jsonl; put it back from a "
            "backup, or `policyd log rotate --lost` to go on without it")
    assert told(state)[0][-1] == (
        "decisions.jsonl:1: no entry is here: what followed entry 3 is missing")
    assert (path.read_bytes() if path.exists() else None) == leave


def test_a_draft_that_continues_something_else_finishes_nothing(state: Path):
    killed_before_the_old_log_moves(state)
    refuse(state)
    (state / decisionlog.NAME).rename(state / "decisions-1-4.jsonl")
    with pytest.raises(CannotJudge, match="is lost"):
        refuse(state)


def killed_before_the_old_log_moves(state: Path) -> None:
    steps = 0
    while not (state / logrotate.DRAFT).exists():
        assert killed_after(state, steps, "after")
        steps += 1
    assert (state / decisionlog.NAME).exists()


@pytest.mark.parametrize("leave", [None, b'{"n":5,"prev'])
def test_going_on_after_a_loss_is_told_for_ever_and_stops_who_lost_entries(
        three: Path, leave: bytes | None):
    decisionlog.record(three, OTHER, push())
    path = three / decisionlog.NAME
    path.unlink()
    if leave is not None:
        path.write_bytes(leave)
    assert decisionlog.go_on_after_loss(three, "root") == Rotated(4, 6)
    assert (three / logrotate.REMAINS).exists() == (leave is not None)
    decisionlog.record(three, KEY, push(C, A))
    with pytest.raises(CannotJudge, match="has lost entries"):
        decisionlog.record(three, OTHER, push(B, C))
    assert told(three)[1] == ["decisions.jsonl:1: the log behind entry 6 was lost; "
                              "`policyd log rotate --lost` went on without it"]


@pytest.mark.parametrize("when", ["before", "after"])
def test_going_on_after_a_loss_may_be_killed_at_any_step(three: Path, when: str):
    steps, killed = 0, True
    while killed:
        (three / decisionlog.NAME).unlink(missing_ok=True)
        (three / logrotate.DRAFT).unlink(missing_ok=True)
        killed = killed_after(three, steps, when, "lost")
        if not (three / decisionlog.NAME).exists() and not (three / logrotate.DRAFT).exists():
            decisionlog.go_on_after_loss(three, "root")
        refuse(three)
        assert told(three)[0] == []
        steps += 1
    assert steps > 4


def test_nothing_is_gone_on_behind_where_nothing_is_lost(state: Path, tmp_path: Path):
    fresh = tmp_path / "fresh"
    fresh.mkdir(mode=0o700)
    for folder in (state, fresh):
        with pytest.raises(CannotJudge, match="is not lost"):
            decisionlog.go_on_after_loss(folder, "root")
    interrupt(state)
    with pytest.raises(CannotJudge, match="is not lost"):
        decisionlog.go_on_after_loss(state, "root")


def edited(path: Path, change: Callable[[list[bytes]], list[bytes]]) -> None:
    path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))


FIRST, SECOND, PRESENT = "decisions-1-3.jsonl", "decisions-4-6.jsonl", "decisions.jsonl"


@pytest.mark.parametrize(("harm", "expected"), [
    (lambda _: None, []),
    (lambda s: (s / SECOND).unlink(),
     [f"{PRESENT}:1: entries 4 to 6 before this one are missing: a file, or the end of {FIRST}"]),
    (lambda s: (s / PRESENT).unlink(),
     [f"{PRESENT}:1: no entry is here: what followed entry 6 is missing"]),
    (lambda s: edited(s / FIRST, lambda x: x[:-1]),
     [f"{FIRST}:1: named for entries 1 to 3, and holds 1 to 2",
      f"{SECOND}:1: entries 3 to 3 before this one are missing: a file, or the end of {FIRST}"]),
    (lambda s: edited(s / FIRST, lambda _: []),
     [f"{FIRST}:1: named for entries 1 to 3, and holds none"]),
    (lambda s: edited(s / FIRST, lambda x: x[1:]),
     [f"{FIRST}:1: named for entries 1 to 3, and holds 2 to 3",
      f"{FIRST}:1: the log begins with entry 2: what was before it is missing"]),
    (lambda s: edited(s / SECOND, lambda x: x[1:]),
     [f"{SECOND}:1: named for entries 4 to 6, and holds 5 to 6",
      f"{SECOND}:1: entries 4 to 4 before this one are missing: a file, or the end of {FIRST}"]),
    (lambda s: edited(s / SECOND, lambda x: [*x[:2], x[2].replace(b"accepted", b"ACCEPTED")]),
     [f"{SECOND}:3: edited: entry 7 names another hash for it",
      f"{SECOND}:3: entry 6 is not the one that repository {KEY} was recorded with: "
      "edited or replaced"]),
    (lambda s: edited(s / FIRST, lambda x: [*x, b'{"n":4,"pre']),
     [f"{FIRST}:4: not an entry: inserted or overwritten"]),
    (lambda s: edited(s / PRESENT, lambda x: [*x[:1], b"junk\n", *x[1:]]),
     [f"{PRESENT}:2: not an entry: inserted or overwritten"]),
    (lambda s: (s / FIRST).rename(s / "decisions-1-2.jsonl"),
     ["decisions-1-2.jsonl:1: named for entries 1 to 2, and holds 1 to 3"]),
], ids=["untouched", "hole", "present gone", "end cut", "emptied", "front cut", "rotation cut",
        "last edited", "torn by hand", "junk", "renamed"])
def test_verifying_finds_what_was_done_to_the_files(
        three: Path, harm: Callable[[Path], object], expected: list[str]):
    harm(three)
    assert sorted(told(three)[0]) == sorted(expected)


@pytest.mark.parametrize(("gone", "upto"), [([FIRST], 3), ([FIRST, SECOND], 6)])
def test_whole_files_removed_from_the_front_are_told_and_no_fault(
        three: Path, gone: list[str], upto: int):
    for name in gone:
        (three / name).unlink()
    first = files(three)[0]
    assert told(three) == ([], [f"{first}:1: entries 1 to {upto} are not here: "
                                "whole files were removed by hand"])


def test_pruning_keeps_the_newest_and_says_so(three: Path):
    assert logprune.prune(three, 5, "root") == ()
    assert logprune.prune(three, 1, "root") == (Rotated(1, 3),)
    assert files(three) == [SECOND, PRESENT]
    last = entries(three)[-1]
    assert (last["kind"], last["files"], last["last"]) == ("removed", [FIRST], 3)
    assert told(three) == ([], [f"{SECOND}:1: entries 1 to 3 are not here: whole files were "
                                "removed, as entry 9 says"])
    assert logprune.prune(three, 1, "root") == ()
    decisionlog.record(three, KEY, push(C, A))


@pytest.mark.parametrize("harm", [
    lambda s: edited(s / FIRST, lambda x: [x[0], x[1].replace(b"enrolled", b"ENROLLED"), x[2]]),
    lambda s: edited(s / FIRST, lambda x: x[:2]),
    lambda s: edited(s / FIRST, lambda x: [*x[:2], x[2].replace(b"accepted", b"ACCEPTED")]),
    lambda s: edited(s / SECOND, lambda x: [x[0].replace(b'"n":4', b'"n":5'), *x[1:]]),
    lambda s: edited(s / SECOND, lambda _: []),
], ids=["edited", "cut", "last edited", "next edited", "next emptied"])
def test_what_does_not_verify_is_not_removed(three: Path, harm: Callable[[Path], object]):
    harm(three)
    before = len(lines(three))
    with pytest.raises(CannotJudge, match=r"no rotated file was removed: decisions-"):
        logprune.prune(three, 1, "root")
    assert (files(three)[0], len(lines(three))) == (FIRST, before)


def test_a_fault_in_what_stays_does_not_keep_the_oldest(three: Path):
    edited(three / PRESENT, lambda x: [*x, b"junk\n"])
    assert logprune.prune(three, 1, "root") == (Rotated(1, 3),)


@pytest.mark.parametrize("when", ["before", "after"])
def test_pruning_may_be_killed_at_any_step(three: Path, when: str):
    steps = 0
    while killed_after(three, steps, when, "prune"):
        assert told(three)[0] == []
        steps += 1
    assert (files(three), told(three)[0]) == ([PRESENT], [])
    assert steps >= 3


# Many at once.

WORKER = """
import os, random, sys
from policyd.adapters import decisionlog
state, keys, count = sys.argv[1], sys.argv[2].split(","), int(sys.argv[3])
for _ in range(count):
    entry = {"verdict": "accepted", "updates": [
        {"ref": "refs/heads/main", "old": os.urandom(20).hex(), "new": os.urandom(20).hex(),
         "rewrites": False, "guarded": True}]}
    if random.random() < 0.3:
        done = decisionlog.append(state, {"verdict": "refused", "pad": "x" * 3000})
    else:
        done = decisionlog.record(state, random.choice(keys), entry)
    print(done)
"""


def test_rotating_while_others_record_loses_nothing(state: Path):
    workers = [subprocess.Popen([sys.executable, "-c", WORKER, state, f"{KEY},{OTHER}", "60"],
                                stdout=subprocess.PIPE) for _ in range(4)]
    rotations = 0
    while any(worker.poll() is None for worker in workers):
        rotations += decisionlog.rotate(state, "root") is not None
        if rotations % 5 == 0:
            assert told(state)[0] == []
    reported = {name for worker in workers for name in worker.communicate()[0].decode().split()}
    assert [worker.returncode for worker in workers] == [0] * 4
    assert rotations
    assert told(state) == ([], [])
    assert verify(state / decisionlog.NAME).entries == 3 + 4 * 60 + rotations
    assert reported <= {chain.hash_of(line)[:6] for line in lines(state)}
    for key in (KEY, OTHER):
        assert repoindex.load(state, key) == replay(state, key)


def test_a_reader_keeps_what_it_saw_while_the_log_is_rotated(state: Path):
    reading = logfiles.read_undisturbed(state)
    decisionlog.rotate(state, "root")
    refuse(state)
    assert len(list(reading.of_present())) == 3
    reading.close()


def test_a_file_that_goes_while_it_is_read_is_named(three: Path):
    reading = logfiles.read_undisturbed(three)
    (three / FIRST).unlink()
    with pytest.raises(CannotJudge, match=f"{FIRST} was removed while it was read"):
        list(reading.of(reading.rotated[0]))
    reading.close()


def test_a_line_as_long_as_a_disk_is_not_taken_into_memory(tmp_path: Path):
    path = tmp_path / decisionlog.NAME
    with path.open("wb") as file:
        file.truncate(1 << 28)
        file.seek(0, os.SEEK_END)
        file.write(b"\nnext\n")
    found = [(len(line), line[-5:]) for line in logfiles.lines(str(path))]
    assert found == [(1 << 26, b"\x00" * 5), (5, b"next\n")]
