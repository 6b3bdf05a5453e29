"""Queued replays and the daemon: a worker where a job waits, what becomes of it, and no more."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from daemons import Daemon, Heard, Serving, key
from sites import MAIN, Site
from splitters import GAMED, changed, doubling, queued, twice, verdicts

from policyd.adapters import beside, replayfiles
from policyd.daemon import foresight, replays
from policyd.daemon.replays import ENDED, JOB, SAID, Replays


@pytest.fixture(scope="session")
def _ahead(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return doubling(tmp_path_factory.mktemp("ahead"), "{seed: 7, when: ahead}")


@pytest.fixture
def site(_ahead: Site, tmp_path: Path) -> Site:
    return _ahead.copied(tmp_path / "site")


def settings(site: Site, text: str) -> None:
    file = site.home / "policyd.yaml"
    file.write_text(file.read_text().replace("service:\n  rescan_seconds: 60\n", "") + text)
    assert site.policyd("policy", "apply") == 0, site.out


def waits(site: Site, result: str = "n * 2") -> None:
    """Push a tree to main of which nothing is known: it is queued."""
    changed(site, twice(result))
    assert site.push(f"HEAD:{MAIN}", as_="agent-7") == 1, site.err
    assert "not replayed ahead" in " ".join(site.told)


def told(serve: Serving, event: str) -> list[dict[str, object]]:
    lines = (json.loads(line) for line in serve.log().splitlines() if line.startswith("{"))
    return [line for line in lines if line["event"] == event]


def lives(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


# A daemon of its own.

def test_a_job_is_run_as_soon_as_it_waits_and_told_everywhere(site):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    settings(site, f"service: {{rescan_seconds: 3600, listen: '127.0.0.1:{port}'}}\n")
    with Serving(site) as serve:
        serve.until(lambda: serve.is_open() is True)
        waits(site, GAMED)
        serve.until(lambda: told(serve, "replay.done") != [], most=60)
        [done] = told(serve, "replay.done")
        assert (done["came"], done["repository"], done["ref"]) == ("refuses", "r", MAIN)
        assert queued(site) == []
        assert site.push(f"HEAD:{MAIN}", as_="agent-7") == 1
        assert any("relations-hold: D1 breaks" in line for line in site.told)
        page = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5).read().decode()
        assert 'policyd_replay_done_total{result="refuses"} 1.0' in page
        assert "policyd_replay_seconds_count 1.0" in page
        assert "policyd_replay_queued " in page
        assert serve.ended(signal.SIGTERM) == 0


def test_a_branch_is_replayed_before_it_is_pushed_to_main(site):
    settings(site, "service: {rescan_seconds: 3600}\n")
    with Serving(site) as serve:
        serve.until(lambda: serve.is_open() is True)
        changed(site, twice())
        assert site.push("HEAD:refs/heads/topic", as_="agent-7") == 0, site.err
        serve.until(lambda: len(verdicts(site)) == 1, most=60)
        assert site.push(f"HEAD:{MAIN}", as_="agent-7") == 0, site.err
        assert serve.ended(signal.SIGTERM) == 0
    assert told(serve, "replay.done")[0]["ref"] == "refs/heads/topic"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_the_worker_ends_with_the_daemon_and_its_job_stays(site, number):
    waits(site, "n * 2 if __import__('time').sleep(1) is None else 0")
    [name] = queued(site)
    tries = site.state / "jobs" / name / "tries"
    with Serving(site) as serve:
        serve.until(tries.exists, most=60)
        [pid] = workers(serve.process.pid)
        ended = serve.ended(number)
        assert ended in (0, -signal.SIGKILL)
        until = time.monotonic() + 15
        while lives(pid) and time.monotonic() < until:
            time.sleep(0.05)
        assert not lives(pid)
    assert queued(site) == [name]
    assert not tries.exists(), "it was asked to stop, so that this was no try"


def workers(parent: int) -> list[int]:
    """The children of a process."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if int(stat.read_text().rpartition(")")[2].split()[1]) == parent:
                found.append(int(stat.parent.name))
    return found


# The worker's keeper, with workers made up.

@pytest.fixture
def keeper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Keeper]:
    monkeypatch.setattr(replays, "PAUSES", (0.2, 0.2, 60.0))
    tmp_path.chmod(0o700)
    made = Keeper(tmp_path)
    yield made
    made.replays.stop()


class Keeper:
    """A `Replays` moved by hand, on a state folder in which a job waits."""

    def __init__(self, state: Path) -> None:
        self.state, self.heard = str(state), Heard()
        self.events: list[tuple[str, str]] = []
        self.replays = Replays(self.state, self.heard, self.events.append)
        with replayfiles.workplace(self.state) as place:
            replayfiles.queue(self.state, "a" * 64, place, "a job")

    def works(self, script: str) -> None:
        self.replays.command = ("/bin/sh", "-c", script)
        self.replays.see()

    def until(self, what: str) -> str:
        """Wait for an event, and let it be taken; what it is about."""
        end = time.monotonic() + 15
        while time.monotonic() < end:
            if self.events:
                event, about = self.events.pop(0)
                self.replays.take(event, about)
                if event == what:
                    return about
            time.sleep(0.01)
        raise AssertionError(f"no event {what}")


def test_one_worker_at_a_time_with_less_right_to_the_processor(keeper):
    keeper.works("echo '{}'; exec sleep 60")
    first = keeper.replays.pid
    assert first is not None
    assert os.getpriority(os.PRIO_PROCESS, first) == 10
    for _ in range(3):
        keeper.replays.take(JOB, "")
        keeper.replays.see()
    assert keeper.replays.pid == first
    start = time.monotonic()
    keeper.replays.stop()
    assert time.monotonic() - start < 4
    assert not lives(first)


def test_a_worker_that_hears_no_signal_is_killed_with_all_that_it_started(keeper, monkeypatch):
    keeper.works("trap '' TERM; sleep 61 & echo $!; wait; wait")
    child = int(keeper.until(SAID))
    monkeypatch.setattr(beside, "PATIENCE", 0.3)
    keeper.replays.stop()
    assert not lives(child)


def test_a_worker_that_fails_is_told_and_followed_by_another_after_a_while(keeper):
    keeper.works("echo no room >&2; kill -9 $$")
    keeper.until(ENDED)
    assert keeper.heard.said == [("replay.worker_failed", {"code": -9, "reason": "no room"})]
    assert keeper.replays.trouble == "the replay worker was ended by signal 9: no room"
    assert keeper.replays.pid is None, "not at once"
    assert keeper.replays.next is not None
    time.sleep(0.25)
    keeper.replays.turn()
    keeper.until(ENDED)
    keeper.works("exit 0")
    assert keeper.replays.pid is None
    time.sleep(0.25)
    keeper.works("exit 0")
    replayfiles.done(keeper.state, "a" * 64)
    keeper.until(ENDED)
    assert (keeper.replays.trouble, keeper.replays.next, keeper.replays.queued) == ("", None, 0)


def test_a_worker_that_cannot_be_started_is_told(keeper):
    keeper.replays.command = ("/nowhere/policyd",)
    keeper.replays.see()
    assert "/nowhere/policyd cannot be started" in keeper.replays.trouble
    assert [what for what, _ in keeper.heard.said] == ["replay.worker_failed"]


def test_what_a_worker_says_is_believed_to_be_words(keeper):
    keeper.works("echo 'not json'; echo '{\"came\": \"holds\"}'; "
                 "echo '{\"name\":\"a\",\"came\":\"holds\",\"seconds\":1,\"why\":\"\","
                 "\"repository\":\"r\",\"ref\":\"x\"}'; sleep 60")
    for _ in range(3):
        keeper.until(SAID)
    assert [what for what, _ in keeper.heard.said] == [
        "the replay worker says what nobody understands"] * 2 + ["replay.done"]


def test_a_job_that_never_ends_well_is_tried_twice_and_then_undecided(site):
    waits(site)
    [name] = queued(site)
    kill = "import os, policyd.witness as w, policyd.replaying as r\n" \
           "r.run = lambda *a: os.kill(os.getpid(), 9)\n" \
           f"list(r.work(__import__('pathlib').Path({str(site.home)!r})))\n"
    for tries in ("1", "2"):
        assert os.spawnv(os.P_WAIT, sys.executable, [sys.executable, "-c", kill]) == -9
        assert (site.state / "jobs" / name / "tries").read_text().strip() == tries
    assert site.policyd("replay", "work") == 0
    assert re.search(r"undecided: the process .* 2 times", site.out)
    assert queued(site) == []
    assert verdicts(site)[0]["replay"]["undecided"] != ""


def test_a_fault_of_policyd_is_an_incident_and_the_job_is_tried_once_more(site, monkeypatch):
    from policyd import replaying

    waits(site)
    run = replaying.run
    monkeypatch.setattr(replaying, "run", lambda *_: 1 // 0)
    [done] = replaying.work(site.home)
    assert (done.came, site.incidents()[-1]["error"].split(":")[0]) == (
        "failed", "ZeroDivisionError")
    monkeypatch.setattr(replaying, "run", run)
    [done] = replaying.work(site.home)
    assert done.came == "holds"
    assert queued(site) == []


# What is queued ahead.

def test_no_more_trees_than_a_few_are_queued_at_a_look(site, monkeypatch):
    monkeypatch.setattr(foresight, "MOST", 2)
    for number in range(3):
        changed(site, twice(f"n * 2 + {number} - {number}"))
        site.git("push", "-q", "--receive-pack", "git -c core.hooksPath=/dev/null receive-pack",
                 "origin", f"HEAD:refs/heads/t{number}")
    daemon = Daemon(site)
    daemon.look()
    first = len(queued(site))
    assert first >= 2
    daemon.loop.replays.foresee_more(daemon.loop.active, daemon.loop._moment())
    assert len(queued(site)) == 3
    daemon.look()
    assert len(queued(site)) == 3


def test_only_what_could_be_pushed_to_main_as_it_is_is_queued(site):
    """Behind main, beside it, without a change of source, odd, or guarded: not queued."""
    past = "git -c core.hooksPath=/dev/null receive-pack"

    def put(files: dict[str, object], name: str, on: str = "origin/main") -> None:
        changed(site, files, on=on)
        site.git("push", "-q", "--receive-pack", past, "origin", f"HEAD:refs/heads/{name}")

    put(twice(), "beside")
    put({"docs/a.md": "a\n"}, "main")
    put({"docs/b.md": "a\n"}, "no-source")
    put({**twice(), "src/a.pth": "x\n"}, "odd")
    put(twice(), "release/1")
    put({}, "behind", on=site.base_tip)
    site.git("symbolic-ref", "refs/heads/alias", "refs/heads/odd", cwd=site.server)
    daemon = Daemon(site)
    daemon.look()
    assert queued(site) == []
    put(twice(), "ready")
    daemon.look()
    [name] = queued(site)
    job = json.loads((site.state / "jobs" / name / "job.json").read_text())["job"]
    assert job["trial"]["about"] == {"repository": "r", "ref": "refs/heads/ready"}
    assert job["repository"] == key(site)


def test_without_that_wish_no_branch_is_looked_at(site):
    site.edit_policy("when: ahead", "when: push")
    changed(site, twice())
    assert site.push("HEAD:refs/heads/topic", as_="agent-7") == 0
    daemon = Daemon(site)
    daemon.look()
    assert queued(site) == []
    assert not daemon.loop.replays.looks_ahead(daemon.key)
