"""What replays leave in the state folder: kept whole, thinned out, and nothing of killed ones."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from policyd.adapters import replayfiles
from policyd.core.errors import CannotJudge, TryAgain
from policyd.core.witness import Bucket, Counts, Replay, Row

KEY, OLD = "ab" * 16, time.time() - 2 * replayfiles.LEFT
ROW = Row("MR02", "shuffled alike", "split:allocate", "blocking", Bucket.BLOCK, Counts(4, broken=1))


@pytest.fixture
def state(tmp_path: Path) -> str:
    tmp_path.chmod(0o700)
    return str(tmp_path)


def named(number: int) -> str:
    return f"{number:064x}"


def never() -> float:
    return 0.0


def waiting(state: str, name: str = named(1)) -> Path:
    """A job in the queue, with a tree."""
    with replayfiles.workplace(state) as place:
        (place / "candidate").mkdir()
        replayfiles.queue(state, name, place, ROW)
    return Path(state, replayfiles.JOBS, name)


def aged(path: Path) -> Path:
    os.utime(path, (OLD, OLD))
    return path


# Verdicts.

def test_a_verdict_is_read_as_it_was_written(state):
    found = Replay(named(1), "00" * 16, (ROW,), "digest", seconds=1.5)
    assert replayfiles.verdict(state, KEY, named(1)) is None
    assert replayfiles.age(state, KEY, named(1)) == float("inf")
    replayfiles.keep(state, KEY, found, {"at": "now"})
    assert replayfiles.verdict(state, KEY, named(1)) == found
    assert replayfiles.verdict(state, "cd" * 16, named(1)) is None, "of another repository"
    assert replayfiles.age(state, KEY, named(1)) < 60
    assert [raw["about"] for _, raw in replayfiles.told(state)] == [{"at": "now"}]


@pytest.mark.parametrize("damage", [
    b"", b"{", b"[]", b'{"format": 1}', b'{"format": 1, "replay": 3}',
    b'{"format": 1, "replay": {"key": 1}}', b"[" * 100_000])
def test_a_damaged_verdict_is_none(state, damage):
    replayfiles.keep(state, KEY, Replay(named(1)), {})
    Path(state, replayfiles.REPLAYS, KEY, f"{named(1)}.json").write_bytes(damage)
    assert replayfiles.verdict(state, KEY, named(1)) is None
    list(replayfiles.told(state))


def test_the_oldest_go_with_their_logs_and_those_of_jobs_without_a_verdict(state, monkeypatch):
    monkeypatch.setattr(replayfiles, "MOST_VERDICTS", 3)
    there = replayfiles.folder(state, KEY)
    replayfiles.keep_breaks(state, KEY, {"MR02": [{"seed": "1", "choices": [1]}]})
    for number in range(6):
        replayfiles.write_log(state, KEY, named(number), [{"event": "job"}])
        if number % 2:
            replayfiles.keep(state, KEY, Replay(named(number)), {})
        for path in there.glob(f"{named(number)}.*"):
            os.utime(path, (1_000 + number, 1_000 + number))
    assert sorted(path.name for path in there.iterdir()) == sorted(
        [f"{named(3)}.json", f"{named(3)}.jsonl", f"{named(4)}.jsonl", f"{named(5)}.json",
         f"{named(5)}.jsonl", "breaks.json"])


def test_breaking_draws_are_kept_once_the_newest_first(state):
    draws = [{"seed": "1", "choices": [number]} for number in range(12)]
    for draw in draws:
        replayfiles.keep_breaks(state, KEY, {"MR02": [draw]})
    replayfiles.keep_breaks(state, KEY, {"MR02": [draws[9]], "MR03": [draws[0]]})
    found = replayfiles.breaks(state, KEY)
    assert [draw["choices"] for draw in found["MR02"]] == [[9], [11], [10], [8], [7], [6], [5], [4]]
    assert found["MR03"] == [draws[0]]


def test_the_secret_is_made_once_and_said_when_damaged(state):
    first = replayfiles.secret(state)
    assert len(first) == 32
    assert replayfiles.secret(state) == first
    assert Path(state, replayfiles.SECRET).stat().st_mode & 0o777 == 0o600
    Path(state, replayfiles.SECRET).write_bytes(b"short")
    with pytest.raises(CannotJudge, match="is damaged"):
        replayfiles.secret(state)


# The queue.

def test_a_workplace_is_gone_unless_it_was_queued(state):
    with replayfiles.workplace(state) as place:
        (place / "candidate").mkdir()
    assert not place.exists()
    there = waiting(state)
    assert (there / "candidate").is_dir()
    assert replayfiles.queued(state) == [named(1)]
    assert replayfiles.job(state, named(1), Row) == ROW
    replayfiles.done(state, named(1))
    assert list(Path(state, replayfiles.JOBS).iterdir()) == []


def test_the_same_job_is_queued_once_and_the_oldest_comes_first(state):
    second, first = waiting(state, named(2)), waiting(state, named(1))
    os.utime(first / replayfiles.JOB, (2_000, 2_000))
    os.utime(second / replayfiles.JOB, (1_000, 1_000))
    before = (second / replayfiles.JOB).stat().st_ino
    waiting(state, named(2))
    assert (second / replayfiles.JOB).stat().st_ino == before
    assert replayfiles.queued(state) == [named(2), named(1)]
    assert list(Path(state, replayfiles.JOBS).glob(".*")) == []


def test_the_queue_is_not_endless(state, monkeypatch):
    monkeypatch.setattr(replayfiles, "MOST_QUEUED", 2)
    waiting(state, named(1))
    waiting(state, named(2))
    with pytest.raises(TryAgain, match="2 replays wait already"):
        waiting(state, named(3))
    waiting(state, named(2))
    assert replayfiles.queued(state) == [named(1), named(2)]


def test_what_is_left_of_a_job_whose_end_was_cut_short_keeps_no_other_out(state):
    there = waiting(state)
    (there / replayfiles.JOB).unlink()
    assert replayfiles.queued(state) == []
    waiting(state)
    assert replayfiles.queued(state) == [named(1)]


def test_tries_are_counted_until_they_are_taken_back(state):
    waiting(state)
    assert [replayfiles.begun(state, named(1)) for _ in range(3)] == [0, 1, 2]
    replayfiles.not_begun(state, named(1))
    assert replayfiles.begun(state, named(1)) == 0


def test_what_killed_processes_left_is_gone_after_an_hour(state):
    kept = waiting(state)
    jobs = Path(state, replayfiles.JOBS)
    for name in (".work-old", ".work-new"):
        (jobs / name).mkdir()
    for name in (".key-old", ".key-new", ".key-held"):
        (jobs / name).touch()
    draft = replayfiles.folder(state, KEY) / f".{named(1)}.json.77"
    draft.touch()
    for path in (kept, jobs / ".work-old", jobs / ".key-old", draft):
        aged(path)
    with replayfiles.alone(state, "held", never) as mine:
        aged(jobs / ".key-held")
        replayfiles.sweep(state)
        assert mine
        assert (jobs / ".key-held").exists()
    assert sorted(path.name for path in jobs.iterdir()) == [".key-new", ".work-new", named(1)]
    assert not draft.exists()


# Who works on what.

def test_one_works_on_a_key_and_the_next_after_him(state):
    order: list[str] = []

    def second() -> None:
        with replayfiles.alone(state, "k", lambda: 10.0) as mine:
            order.append(f"second {mine}")

    with replayfiles.alone(state, "k", never) as mine:
        assert mine
        with replayfiles.alone(state, "k", never) as other, \
                replayfiles.alone(state, "another", never) as more:
            assert (other, more) == (False, True)
        thread = threading.Thread(target=second)
        thread.start()
        time.sleep(0.2)
        order.append("first")
    thread.join(10)
    assert order == ["first", "second True"]
    assert list(Path(state, replayfiles.JOBS).iterdir()) == []


def test_so_many_run_at_once_and_no_more(state):
    with replayfiles.turn(state, 2, never) as one, replayfiles.turn(state, 2, never) as two:
        assert (one, two) == (True, True)
        with replayfiles.turn(state, 2, never) as three:
            assert three is False
        with replayfiles.turn(state, 3, never) as four:
            assert four
    with replayfiles.turn(state, 1, never) as again:
        assert again
