"""The daemon measured: closings at midnight, many repositories, and kills at any moment.

    python bench/serve.py closings [--count 200] [--load 1000]
    python bench/serve.py fleet [--count 1000]
    python bench/serve.py kills [--count 300]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from datetime import timedelta
from pathlib import Path
from statistics import median

import fleets
from fleets import MAIN, Fleet

from policyd.adapters import activepolicy, gatefiles, hints
from policyd.adapters.watch import Watch
from policyd.daemon.look import look
from policyd.rules import OPTIONS


class Serve:
    """`policyd serve` as a process of its own."""

    def __init__(self, fleet: Fleet, *words: str) -> None:
        self._fleet = fleet
        self._log = (fleet.folder / "serve.log").open("ab")
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-m", "policyd", "--home", str(fleet.home), "serve", *words],
            stdout=self._log, stderr=self._log, cwd=fleet.folder)

    def wait_for(self, done, *, most: float = 300.0) -> float:
        """Seconds from the start until `done()`."""
        while not done():
            if self.process.poll() is not None:
                raise SystemExit(f"serve ended; see {self._log.name}")
            if time.monotonic() - self.started > most:
                raise SystemExit(f"nothing after {most} s; see {self._log.name}")
            time.sleep(0.02)
        return time.monotonic() - self.started

    def stop(self, number: int = signal.SIGTERM) -> None:
        self.process.send_signal(number)
        self.process.wait()
        self._log.close()

    def status(self, name: str) -> int:
        """A figure of /proc/PID/status: kB, or a count."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith(f"{name}:"):
                return int(line.split()[1])
        raise SystemExit(f"no {name}")

    def cpu(self) -> float:
        """Seconds of processor time so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def noted(fleet: Fleet, number: int) -> gatefiles.Noted | None:
    return gatefiles.noted(fleet.state, fleet.key(number))


def all_noted(fleet: Fleet, count: int) -> bool:
    beat = gatefiles.heartbeat(fleet.state)
    notes = fleet.state / "gates"
    return beat is not None and beat.repositories == count and notes.is_dir() \
        and len(os.listdir(notes)) >= count


def closings(count: int, load: int) -> None:
    """All rows end at the same midnight; of each gate, how late its state is on disk.

    What is timed is the arrival of the file event; Watch waits for half a second where it has to
    pair a rename, and does not where the other end lies in the same folder.
    """
    end = fleets.midnight()
    with tempfile.TemporaryDirectory(prefix="policyd-bench-") as folder:
        fleet = fleets.made(Path(folder), count + load, ends=str(end.date() - timedelta(days=1)))
        keep_open(fleet, count, load)
        ahead = 20 + (count + load) / 100
        serve = Serve(fleet, "--clock", (end - timedelta(seconds=ahead)).isoformat())
        offset = -1.0
        serve.wait_for(lambda: (fleet.state / "pretended-clock").exists())
        offset = float((fleet.state / "pretended-clock").read_text())
        serve.wait_for(lambda: all_noted(fleet, count + load))
        pushing = [threading.Thread(target=push_on, args=(fleet, range(count + n, count + load, 2),
                                                          end.timestamp() - offset + 3))
                   for n in range(2)] if load else []
        for thread in pushing:
            thread.start()
        seen: dict[str, float] = {}
        watch = Watch([fleet.state / "gates"], lambda path: seen.setdefault(
            path.stem, time.time()) and None, print)
        time.sleep(max(end.timestamp() - offset - time.time() - 0.1, 0))
        watch.start()
        time.sleep(4)
        watch.stop()
        for thread in pushing:
            thread.join()
        late = sorted(seen[fleet.key(number)] - (end.timestamp() - offset)
                      for number in range(count) if is_closed(fleet, number))
        serve.stop()
    pushes = sum(pushed) if load else 0
    print(f"{count} closings at one midnight, {load} further repositories, {pushes} pushes "
          f"meanwhile: median {median(late) * 1000:.0f} ms, worst {late[-1] * 1000:.0f} ms")


def keep_open(fleet: Fleet, count: int, load: int) -> None:
    """The repositories of the load get a ledger whose row ends much later."""
    if not load:
        return
    work = fleet.folder / "work"
    later = str((fleets.midnight() + timedelta(days=20)).date())
    (work / fleets.LEDGER).write_text(fleets.ledger(later, name="later"))
    fleet.run("git", "commit", "-qam", "Later", cwd=work)
    for number in range(count, count + load):
        push(fleet, number, "alice")


pushed: list[int] = []


def push_on(fleet: Fleet, numbers: range, until: float) -> None:
    """Real pushes, one repository after the other."""
    work, done = fleet.folder / "work", 0
    for number in numbers:
        if time.time() > until:
            break
        commit = fleet.run("git", "commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", str(number),
                           cwd=work)
        fleet.run("git", "push", "-q", str(fleet.server(number)), f"{commit}:refs/heads/main",
                  cwd=work, env={"REMOTE_USER": "carol"})
        done += 1
    pushed.append(done)


def push(fleet: Fleet, number: int, who: str) -> None:
    fleet.run("git", "push", "-q", str(fleet.server(number)), "HEAD:main",
              cwd=fleet.folder / "work", env={"REMOTE_USER": who})


def is_closed(fleet: Fleet, number: int) -> bool:
    found = noted(fleet, number)
    if found is None or found.gates[MAIN].gate.is_open:
        raise SystemExit(f"the gate of {number} is not closed")
    return True


def fleet_of(count: int, idle: float) -> None:
    end = (fleets.midnight() + timedelta(days=5)).date()
    with tempfile.TemporaryDirectory(prefix="policyd-bench-") as folder:
        fleet = fleets.made(Path(folder), count, ends=str(end))
        serve = Serve(fleet)
        first = serve.wait_for(lambda: all_noted(fleet, count))
        time.sleep(10)
        serve.stop()
        mark = time.time()
        serve = Serve(fleet)
        second = serve.wait_for(lambda: _passed(fleet, count, mark))
        time.sleep(70)  # past the first rescan, so that what is measured is idle
        before, start = serve.cpu(), time.monotonic()
        time.sleep(idle)
        share = (serve.cpu() - before) / (time.monotonic() - start)
        fresh = [freshness(fleet, number) for number in range(10)]
        print(f"{count} repositories: first start {first:.1f} s, second {second:.1f} s, "
              f"{serve.status('VmRSS') / 1024:.0f} MiB, {serve.status('Threads')} threads, "
              f"idle {share * 100:.2f} % of one processor over {idle:.0f} s, a push is noted "
              f"after {median(fresh) * 1000:.0f} ms (worst {max(fresh) * 1000:.0f} ms)")
        serve.stop()


def _passed(fleet: Fleet, count: int, mark: float) -> bool:
    """Whether the daemon has gone over all repositories: its heartbeat counts them."""
    beat = gatefiles.heartbeat(fleet.state)
    return beat is not None and beat.repositories == count and beat.passed \
        and (fleet.state / gatefiles.DAEMON).stat().st_mtime > mark


def freshness(fleet: Fleet, number: int) -> float:
    """Seconds from the end of an accepted push until its tip is noted."""
    work = fleet.folder / "work"
    fleet.run("git", "checkout", "-q", "--detach", "main", cwd=work)
    (work / "README").write_text(f"{number}\n")
    fleet.run("git", "commit", "-qam", "Again", cwd=work)
    push(fleet, number, "carol")
    start, tip = time.monotonic(), fleet.run("git", "rev-parse", "HEAD", cwd=work)
    while time.monotonic() - start < 90:
        found = noted(fleet, number)
        if found is not None and found.tips.get(MAIN) == tip:
            break
        time.sleep(0.002)
    return time.monotonic() - start


def kills(count: int) -> None:
    """kill -9 at random moments while days pass, rows change and operators hold."""
    end = fleets.midnight()
    with tempfile.TemporaryDirectory(prefix="policyd-bench-") as folder:
        fleet = fleets.made(Path(folder), 20, ends=str(end.date()), rescan=1.0)
        random.seed(11)
        holds: dict[int, bool] = {}
        wrong = 0
        for round_ in range(count):
            serve = Serve(fleet)
            time.sleep(random.uniform(0.3, 1.2))
            _trouble(fleet, holds, round_)
            time.sleep(random.uniform(0.0, 0.3))
            serve.stop(signal.SIGKILL)
            wrong += _damage(fleet, holds)
        serve = Serve(fleet)
        time.sleep(8)
        serve.stop()
        wrong += _open_ones(fleet)
        print(f"{count} kills: {wrong} damaged files, lost holds or gates that are open and "
              "should be closed")


def _trouble(fleet: Fleet, holds: dict[int, bool], round_: int) -> None:
    """One thing that changes a gate, while the daemon runs."""
    number = random.randrange(20)
    match random.randrange(4):
        case 0:
            word = "release" if holds.get(number) else "hold"
            fleet.policyd("gate", word, str(fleet.server(number)), "main", "--reason", "x")
            holds[number] = not holds.get(number)
        case 1:
            (fleet.state / "pretended-clock").write_text(f"{round_ * 600}\n")
        case 2:
            hints.leave(fleet.state, fleet.key(number), hints.Hint(str(fleet.server(number))))
        case _:
            freshness_push(fleet, number, round_)


def freshness_push(fleet: Fleet, number: int, round_: int) -> None:
    work, server = fleet.folder / "work", str(fleet.server(number))
    fleet.run("git", "fetch", "-q", server, "main", cwd=work)
    fleet.run("git", "checkout", "-q", "--detach", "FETCH_HEAD", cwd=work)
    (work / "README").write_text(f"{round_}\n")
    fleet.run("git", "commit", "-qam", "Again", cwd=work)
    push(fleet, number, "carol")


def _damage(fleet: Fleet, holds: dict[int, bool]) -> int:
    """Files that cannot be read, and holds that are not what operators were told."""
    wrong = 0
    for file in (fleet.state / "gates").glob("*.json"):
        try:
            json.loads(file.read_bytes())
        except ValueError:
            wrong += 1
    for number, held in holds.items():
        wrong += bool(gatefiles.acts(fleet.state, fleet.key(number)).holds) is not held
    return wrong


def _open_ones(fleet: Fleet) -> int:
    """Gates whose note differs from a look from scratch."""
    active, wrong = activepolicy.load(fleet.home, OPTIONS), 0
    from policyd.adapters import moment

    for number in range(20):
        found = noted(fleet, number)
        fresh = look(active, fleet.key(number), moment.seen(active.settings)).noted
        wrong += found is None or (found.gates[MAIN].gate.reasons
                                   != fresh.gates[MAIN].gate.reasons)
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("closings", "fleet", "kills"))
    parser.add_argument("--count", type=int)
    parser.add_argument("--load", type=int, default=0)
    parser.add_argument("--idle", type=float, default=120.0)
    asked = parser.parse_args()
    if asked.what == "closings":
        closings(asked.count or 200, asked.load)
    elif asked.what == "fleet":
        fleet_of(asked.count or 1000, asked.idle)
    else:
        kills(asked.count or 300)


if __name__ == "__main__":
    main()
