from __future__ import annotations

import json
import os
import random
import re
import resource
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import forks
import pytest

from policyd.adapters import decisionlog, repoindex, statefolder
from policyd.adapters.logcheck import verify
from policyd.core import chain
from policyd.core.errors import CannotJudge
from policyd.core.facts import Op, Update
from policyd.core.index import Index, Pending, logged, replayed
from policyd.core.movement import Movement

KEY, OTHER = "1" * 32, "2" * 32
A, B, C = (digit * 40 for digit in "abc")
MAIN = "refs/heads/main"
NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)


@pytest.fixture
def state(tmp_path: Path) -> Path:
    folder = tmp_path / "state"
    folder.mkdir(mode=0o700)
    for key in (KEY, OTHER):
        enrol(folder, key)
    return folder


def enrol(state: Path, key: str) -> str:
    start = Index(key, NOON.isoformat(), False, {MAIN: A})
    return decisionlog.begin(state, start, {"verdict": "enrolled"}, at=NOON)


def push(old: str = A, new: str = B, ref: str = MAIN) -> dict[str, object]:
    return {"verdict": "accepted",
            "updates": logged([Update(ref, Op.UPDATE, old, new, guarded=True)])}


def lines(state: Path) -> list[bytes]:
    return (state / decisionlog.NAME).read_bytes().splitlines()


def entries(state: Path) -> list[dict]:
    return [json.loads(line) for line in lines(state)]


def faults(state: Path) -> list[str]:
    return [f"{fault.line}: {fault.message}"
            for fault in verify(state / decisionlog.NAME).faults]


def live(value: str | None) -> Callable[[Index], dict[str, str | None]]:
    return lambda index: dict.fromkeys(index.branches, value)


def test_entries_chain_and_are_named_by_their_hash(state: Path):
    name = decisionlog.append(state, {"verdict": "refused", "rule": "x"}, at=NOON)
    second, third = lines(state)[1:]
    entry = json.loads(third)
    assert entry == {"n": 3, "prev": chain.hash_of(second), "time": "2026-05-04T12:00:00.000+00:00",
                     "verdict": "refused", "rule": "x"}
    assert name == chain.hash_of(third)[:6]
    assert (state / decisionlog.NAME).stat().st_mode & 0o777 == 0o600
    assert verify(state / decisionlog.NAME).entries == 3


def test_names_in_any_bytes_survive_the_log(state: Path):
    ref = b"refs/heads/caf\xe9".decode("utf-8", "surrogateescape")
    decisionlog.record(state, KEY, push(ref=ref))
    assert entries(state)[-1]["updates"][0]["ref"] == ref
    assert repoindex.load(state, KEY).pending[0].ref == ref


def test_a_caller_may_not_write_what_the_chain_fills_in(state: Path):
    with pytest.raises(ValueError, match="the chain fills in prev"):
        decisionlog.append(state, {"prev": "x"})
    with pytest.raises(ValueError, match="record"):
        decisionlog.append(state, {**push(), "key": KEY})
    assert len(lines(state)) == 2


def test_what_follows_an_entry_runs_when_it_is_written_and_before_anyone_else(state: Path):
    def then() -> None:
        assert entries(state)[-1]["verdict"] == "refused"
        with pytest.raises(CannotJudge), statefolder.locked(state, wait=0):
            pass

    decisionlog.append(state, {"verdict": "refused"}, then=then)


def test_a_recorded_push_is_in_the_log_and_in_the_index(state: Path):
    decisionlog.record(state, KEY, push(), at=NOON)
    index = repoindex.load(state, KEY)
    assert index.pending == (Pending(MAIN, A, B, False, "2026-05-04T12:00:00.000+00:00"),)
    assert index.applied == chain.Position(3, chain.hash_of(lines(state)[2]))
    assert repoindex.load(state, OTHER).pending == ()


def test_what_a_replay_cannot_know_is_changed_before_the_entry_applies(state: Path):
    decisionlog.record(state, KEY, push(A, B))
    decisionlog.record(state, KEY, push(B, C), lambda index: replace(index, extra=(C,)))
    index = repoindex.load(state, KEY)
    assert (index.extra, len(index.pending)) == ((C,), 2)


def test_a_malformed_push_reaches_neither_log_nor_index(state: Path):
    with pytest.raises(KeyError):
        decisionlog.record(state, KEY, {"verdict": "accepted", "updates": [{"ref": MAIN}]})
    assert len(lines(state)) == 2


def test_settling_reads_the_refs_under_the_lock_and_is_stored(state: Path):
    decisionlog.record(state, KEY, push(A, B))
    index, movements = decisionlog.settled(state, KEY, live(B))
    assert (index.branches, movements) == ({MAIN: B}, ())
    assert repoindex.load(state, KEY) == index
    assert decisionlog.settled(state, KEY, live(C)) == (index, (Movement(MAIN, B, C),))


def test_nothing_is_written_into_a_folder_that_others_may_write(state: Path):
    state.chmod(0o770)
    with pytest.raises(CannotJudge, match="may be written by others"):
        decisionlog.record(state, KEY, push())
    assert len(lines(state)) == 2


def test_a_repository_that_is_not_enrolled_cannot_record(state: Path):
    with pytest.raises(CannotJudge, match="policyd enroll"):
        decisionlog.record(state, "3" * 32, push())
    assert len(lines(state)) == 2


# Crashes. A child is killed by SIGKILL at a chosen place, as nothing in it could prevent.

CHILD = """
import os, signal, sys
from policyd.adapters import decisionlog, repoindex, statefolder
def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)
def half(fd, data):
    os.write(fd, data[:int(sys.argv[4])])
    die()
if sys.argv[2] == "between":
    repoindex.store = die
else:
    statefolder.write_all = half
entry = {"verdict": "accepted", "updates": [
    {"ref": "refs/heads/main", "old": "a" * 40, "new": "b" * 40, "rewrites": False,
     "guarded": True}]}
decisionlog.record(sys.argv[1], sys.argv[3], entry)
"""


def crash(state: Path, where: str, key: str = KEY, written: int = 0) -> None:
    assert forks.run(CHILD, state, where, key, written) == -signal.SIGKILL


@pytest.mark.parametrize("opener", [
    lambda state: decisionlog.append(state, {"verdict": "refused"}),
    lambda state: decisionlog.record(state, OTHER, push()),
    lambda state: decisionlog.record(state, KEY, push(B, C)),
    lambda state: decisionlog.settled(state, KEY, live(A)),
    lambda state: decisionlog.settled(state, OTHER, live(A)),
], ids=["append", "record other", "record same", "settle same", "settle other"])
def test_a_crash_between_log_and_index_is_repaired_by_whoever_comes_next(
        state: Path, opener: Callable[[Path], object]):
    crash(state, "between")
    assert len(lines(state)) == 3
    assert repoindex.load(state, KEY).pending == ()
    opener(state)
    assert (repoindex.load(state, KEY).pending[0].old,
            repoindex.load(state, KEY).pending[0].new) == (A, B)
    assert faults(state) == []


def test_the_log_alone_does_not_lose_what_the_index_is_missing(state: Path):
    crash(state, "between")
    assert decisionlog.settled(state, KEY, live(B))[1] == ()


def test_an_interrupted_line_is_kept_and_closed(state: Path):
    crash(state, "inside", written=40)
    torn = lines(state)[2]
    assert len(torn) == 40
    assert faults(state) == ["3: torn: the next push closes it"]
    decisionlog.record(state, KEY, push())
    assert lines(state)[2] == torn
    closing, mine = (json.loads(line) for line in lines(state)[3:])
    assert (closing["kind"], closing["n"], closing["torn"], closing["lines"]) == (
        "recovered", 3, chain.hash_of(torn), 1)
    assert mine["n"] == 4
    report = verify(state / decisionlog.NAME)
    assert (report.faults, report.tears, report.entries) == ((), (3,), 4)


@pytest.mark.parametrize("written", [1, 3, 60, 200, 240, 300, 400, 500])
def test_a_recovery_may_be_interrupted_itself(state: Path, written: int):
    crash(state, "inside", written=40)
    crash(state, "inside", written=written)
    crash(state, "inside", written=30)
    decisionlog.record(state, KEY, push())
    decisionlog.append(state, {"verdict": "refused"})
    assert faults(state) == []
    assert len(repoindex.load(state, KEY).pending) >= 1


@pytest.mark.parametrize("torn", [b"\x00" * 5_000, b"\x00" * 100 + b"\n", b"{}\n", b"\n\n", b"x"])
def test_whatever_a_power_cut_leaves_is_closed(state: Path, torn: bytes):
    with (state / decisionlog.NAME).open("ab") as file:
        file.write(torn)
    decisionlog.append(state, {"verdict": "refused"})
    assert faults(state) == []
    assert verify(state / decisionlog.NAME).tears


def test_a_line_that_lost_only_its_newline_was_never_acknowledged(state: Path):
    path = state / decisionlog.NAME
    decisionlog.append(state, {"verdict": "refused"})
    path.write_bytes(path.read_bytes()[:-1])
    decisionlog.append(state, {"verdict": "refused"})
    assert [json.loads(line)["n"] for line in lines(state)] == [1, 2, 3, 3, 4]
    assert faults(state) == []


def test_a_log_that_is_all_torn_begins_anew(tmp_path: Path):
    tmp_path.chmod(0o700)
    (tmp_path / decisionlog.NAME).write_bytes(b"{half")
    decisionlog.append(tmp_path, {"verdict": "refused"})
    assert faults(tmp_path) == []
    assert verify(tmp_path / decisionlog.NAME).entries == 2


def test_a_long_damaged_end_is_not_taken_for_a_power_cut(state: Path):
    with (state / decisionlog.NAME).open("ab") as file:
        file.write(b"garbage\n" * 20)
    with pytest.raises(CannotJudge, match="is damaged at its end; see `policyd log verify`"):
        decisionlog.append(state, {"verdict": "refused"})


def test_entries_longer_than_the_first_read_still_chain(state: Path):
    for size in (200_000, 10, 70_000, 16_384):
        decisionlog.append(state, {"verdict": "refused", "findings": "x" * size})
    with (state / decisionlog.NAME).open("ab") as file:
        file.write(b"y" * 90_000)
    decisionlog.append(state, {"verdict": "refused"})
    assert faults(state) == []
    assert verify(state / decisionlog.NAME).entries == 8


def test_finding_the_last_hash_does_not_read_the_whole_log(state: Path):
    path = state / decisionlog.NAME
    whole = path.read_bytes()
    with path.open("wb") as file:
        file.truncate(1 << 33)  # eight sparse gigabytes of nothing
        file.seek(0, os.SEEK_END)
        file.write(b"\n" + whole)
    name = decisionlog.append(state, {"verdict": "refused"})
    with path.open("rb") as file:
        file.seek(-300, os.SEEK_END)
        last = file.read().splitlines()[-1]
    assert (chain.hash_of(last)[:6], json.loads(last)["n"]) == (name, 3)


WORKER = """
import os, random, sys
from policyd.adapters import decisionlog
state, keys = sys.argv[1], sys.argv[2].split(",")
def oid():
    return os.urandom(20).hex()
while True:
    entry = {"verdict": "accepted", "updates": [
        {"ref": "refs/heads/main", "old": oid(), "new": oid(), "rewrites": False,
         "guarded": True}]}
    if random.random() < 0.3:
        done = decisionlog.append(state, {"verdict": "refused", "pad": "x" * 3000})
    else:
        done = decisionlog.record(state, random.choice(keys), entry)
    os.write(1, f"{done}\\n".encode())
"""


def start_worker(state: Path) -> forks.Fork:
    return forks.Fork(WORKER, state, f"{KEY},{OTHER}")


def kill(worker: forks.Fork) -> list[str]:
    worker.kill()
    return worker.end()[1].decode().split()


def replay(state: Path, key: str) -> Index:
    """From the enrolment on, by nothing but the lines of the log."""
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


def test_processes_killed_at_random_lose_nothing_that_they_reported(state: Path):
    luck, reported = random.Random(), []
    workers = [start_worker(state) for _ in range(3)]
    for _ in range(21):
        which = luck.randrange(len(workers))
        line = workers[which].stdout.readline().decode().strip()  # however slow the machine is
        reported += [line] if line else []  # one that waited too long for the lock says nothing
        time.sleep(luck.uniform(0, 0.05))
        reported += kill(workers[which])
        workers[which] = start_worker(state)
    for worker in workers:
        reported += kill(worker)
    decisionlog.append(state, {"verdict": "refused"})
    assert faults(state) == []
    assert len(reported) > 20
    assert set(reported) <= {chain.hash_of(line)[:6] for line in lines(state)}
    for key in (KEY, OTHER):
        assert repoindex.load(state, key) == replay(state, key)


# Writing that fails.

@contextmanager
def file_size_limit(size: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_log_that_may_not_grow_is_named_and_stays_whole(state: Path):
    path = state / decisionlog.NAME
    before = path.read_bytes()
    with file_size_limit(len(before) + 50), \
            pytest.raises(CannotJudge, match=f"decision log {path} cannot be written: file too"):
        decisionlog.record(state, KEY, push())
    assert path.read_bytes() == before
    decisionlog.record(state, KEY, push())
    assert (faults(state), verify(path).tears) == ([], ())


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k,mode=0700", "tmpfs", folder],
                             capture_output=True)
    if mounted.returncode:
        pytest.skip("no tmpfs may be mounted here")
    yield folder
    subprocess.run(["umount", folder], check=True)


def fill(state: Path) -> None:
    for _ in range(100):
        decisionlog.append(state, {"verdict": "refused", "pad": "x" * 3_000})


def test_a_full_disk_is_named_and_the_log_stays_whole(small_disk: Path):
    enrol(small_disk, KEY)
    path = small_disk / decisionlog.NAME
    with pytest.raises(CannotJudge) as caught:
        fill(small_disk)
    assert str(caught.value) == (f"decision log {path} cannot be written: no space left on "
                                 "device; free some space there and push again")
    assert path.read_bytes().endswith(b"\n")
    assert faults(small_disk) == []
    decisionlog.append(small_disk, {"v": 1})


def test_an_index_that_cannot_be_written_refuses_and_is_caught_up_later(state: Path):
    large = replace(repoindex.load(state, KEY), extra=tuple(f"{n:040x}" for n in range(5_000)))
    repoindex.store(state, large)
    with file_size_limit(100_000), pytest.raises(CannotJudge, match=f"file {state}/repos/{KEY}"):
        decisionlog.record(state, KEY, push())
    assert repoindex.load(state, KEY) == large
    decisionlog.append(state, {"verdict": "refused"})
    assert [step.new for step in repoindex.load(state, KEY).pending] == [B]


def test_a_damaged_index_stops_its_own_repository_and_no_other(state: Path):
    decisionlog.record(state, KEY, push())
    (state / "repos" / f"{KEY}.json").write_bytes(b"{")
    decisionlog.record(state, OTHER, push())
    with pytest.raises(CannotJudge, match="is damaged"):
        decisionlog.record(state, KEY, push())


def test_a_log_that_is_a_symlink_or_a_device_is_refused(state: Path):
    path = state / decisionlog.NAME
    path.rename(state / "elsewhere")
    path.symlink_to(state / "elsewhere")
    with pytest.raises(CannotJudge, match="cannot be written: too many levels"):
        decisionlog.append(state, {"verdict": "refused"})
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(CannotJudge, match="not an ordinary file"):
        decisionlog.append(state, {"verdict": "refused"})


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_a_log_that_may_not_be_written_is_named(state: Path):
    (state / decisionlog.NAME).chmod(0o400)
    with pytest.raises(CannotJudge, match=r"permission denied; let its owner write"):
        decisionlog.append(state, {"verdict": "refused"})


# Verifying.

@pytest.fixture
def ten(state: Path) -> Path:
    for n in range(8):
        if n % 2:
            decisionlog.record(state, KEY, push())
        else:
            decisionlog.append(state, {"verdict": "refused", "by": f"agent-{n}"})
    return state


def rewrite(state: Path, change: Callable[[list[bytes]], list[bytes]]) -> None:
    path = state / decisionlog.NAME
    path.write_bytes(b"".join(line + b"\n" for line in change(lines(state))))


def forged(prev: bytes, n: int) -> bytes:
    return chain.line_of(chain.Position(n - 1, chain.hash_of(prev)), NOON.isoformat(), {"by": "x"})


@pytest.mark.parametrize(("change", "expected"), [
    (lambda x: x, []),
    (lambda x: [*x[:4], x[4].replace(b"agent-2", b"agent-9"), *x[5:]],
     ["5: edited: entry 6 names another hash for it"]),
    (lambda x: [*x[:4], *x[5:]], ["5: entries 5 to 5 before this one are missing"]),
    (lambda x: [*x[:4], *x[7:]], ["5: entries 5 to 7 before this one are missing"]),
    (lambda x: [*x[:4], b"not json", *x[4:]], ["5: not an entry: inserted or overwritten"]),
    (lambda x: [*x[:4], x[1], *x[4:]], ["5: entry 2 stands behind entry 4: inserted or moved"]),
    (lambda x: [*x[:4], forged(x[3], 5), *x[4:]],
     ["6: entry 5 stands behind entry 5: inserted or moved",
      "5: edited: entry 6 names another hash for it"]),
    (lambda x: [*x[:4], x[5], x[4], *x[6:]],
     ["5: entries 5 to 5 before this one are missing",
      "6: entry 5 stands behind entry 6: inserted or moved"]),
    (lambda x: x[3:], ["1: the log begins with entry 4: what was before it is missing"]),
    (lambda x: x[:-3], [f"7: entries 8 to 10 are missing at the end: "
                        f"recorded for repository {KEY}"]),
    (lambda _: [], [f"1: entries 1 to 10 are missing at the end: "
                    f"recorded for repository {KEY}, repository {OTHER}"]),
    (lambda x: [*x[:-1], x[-1].replace(b'"accepted"', b'"refused!"')],
     [f"10: entry 10 is not the one that repository {KEY} was recorded with: "
      "edited or replaced"]),
], ids=["untouched", "edited", "removed", "three removed", "text inserted", "old line inserted",
        "forged line inserted", "swapped", "front cut", "end cut", "emptied", "last edited"])
def test_verifying_finds_what_was_done_to_a_log(
        ten: Path, change: Callable[[list[bytes]], list[bytes]], expected: list[str]):
    rewrite(ten, change)
    assert sorted(faults(ten)) == sorted(expected)


def test_every_flipped_byte_is_found(ten: Path):
    path = ten / decisionlog.NAME
    whole = path.read_bytes()
    for at in range(0, len(whole), 7):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:])
        assert not verify(path).whole, (at, whole[at - 20:at + 20])


def test_a_removed_log_is_found_and_nothing_more_is_recorded(ten: Path):
    (ten / decisionlog.NAME).unlink()
    assert len(faults(ten)) == 1
    with pytest.raises(CannotJudge, match="has lost entries: it ends with 0, and repository "):
        decisionlog.record(ten, KEY, push())


def test_a_last_entry_that_was_replaced_stops_its_repository(ten: Path):
    rewrite(ten, lambda x: [*x[:-1], forged(x[-2], 10)])
    with pytest.raises(CannotJudge, match="has lost entries: it ends with 10, and repository "):
        decisionlog.record(ten, KEY, push())


def test_a_last_entry_with_a_number_of_its_own_is_not_followed(ten: Path):
    decisionlog.append(ten, {"verdict": "refused"})
    rewrite(ten, lambda x: [*x[:-1], forged(x[-2], 99)])
    decisionlog.append(ten, {"verdict": "refused"})
    assert [entry["n"] for entry in entries(ten)[-3:]] == [99, 11, 12]
    assert faults(ten) == ["11: entries 11 to 98 before this one are missing"]


def test_torn_lines_that_were_removed_later_are_found(state: Path):
    crash(state, "inside", written=40)
    decisionlog.append(state, {"verdict": "refused"})
    rewrite(state, lambda x: [*x[:2], *x[3:]])
    assert faults(state) == ["3: the torn lines that this entry closes are missing or edited"]


def test_a_rotated_log_may_begin_in_the_middle(ten: Path):
    here = chain.Position(10, chain.hash_of(lines(ten)[-1]))
    line = chain.line_of(here, NOON.isoformat(), {"kind": "rotated"})
    (ten / decisionlog.NAME).write_bytes(line + b"\n")
    assert faults(ten) == []
    decisionlog.record(ten, KEY, push())
    assert faults(ten) == []


def test_an_absent_log_is_empty_and_an_absent_folder_is_an_error(tmp_path: Path):
    assert verify(tmp_path / decisionlog.NAME).entries == 0
    with pytest.raises(CannotJudge, match=re.escape(str(tmp_path / "gone"))):
        verify(tmp_path / "gone" / decisionlog.NAME)


def test_verifying_while_others_write_sees_no_torn_line(state: Path):
    workers = [start_worker(state) for _ in range(2)]
    try:
        deadline = time.monotonic() + 1
        while time.monotonic() < deadline:
            assert faults(state) == []
    finally:
        for worker in workers:
            kill(worker)
