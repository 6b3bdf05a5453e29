"""A real watcher on real folders; what must be seen has a deadline."""

from __future__ import annotations

import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from policyd.adapters import statefolder
from policyd.adapters.watch import Watch

DEADLINE = 5.0
QUIET = 0.3

CHILD = """
import json, os, resource, signal, sys
from pathlib import Path
from policyd.adapters.watch import Watch
signal.alarm(30)  # so that no answer is waited for too long
folder, limit = Path(sys.argv[1]), sys.argv[2]
say = lambda *what: os.write(1, json.dumps(what).encode() + b"\\n")
if limit == "files":
    free = os.open("/dev/null", os.O_RDONLY)
    os.close(free)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free, hard))
elif limit.startswith("max_"):
    Path("/proc/sys/user", limit).write_text("0")
elif limit == "nobody":
    os.setuid(65534)
watch = Watch([folder], lambda path: say("woke", str(path)), lambda reason: say("lost", reason))
watch.start()
say("started")
for line in sys.stdin:
    if limit == "files":
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    watch.check()
    say("checked")
watch.stop()
"""


class Watched:
    """A running watch and what it said."""

    def __init__(self, *folders: Path) -> None:
        self.woken: queue.Queue[Path] = queue.Queue()
        self.said: queue.Queue[str] = queue.Queue()
        self.watch = Watch(folders, self.woken.put, self.said.put)
        self.watch.start()

    def sees(self, path: Path) -> None:
        end = time.monotonic() + DEADLINE
        while time.monotonic() < end:
            try:
                if self.woken.get(timeout=end - time.monotonic()) == path:
                    return
            except queue.Empty:
                break
        pytest.fail(f"{path} was not seen")

    def lost(self) -> str:
        return self.said.get(timeout=DEADLINE)

    def rest(self, quiet: float = QUIET) -> list[Path]:
        """What else is seen until it is quiet. watchdog keeps a rename for 0.5 s at worst."""
        found = []
        while True:
            try:
                found.append(self.woken.get(timeout=quiet))
            except queue.Empty:
                return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "watched"
    path.mkdir()
    return path


@pytest.fixture
def watched(folder: Path) -> Iterator[Watched]:
    made = Watched(folder)
    yield made
    made.watch.stop()


def child(folder: Path, limit: str = "none", *before: str) -> subprocess.Popen[str]:
    return subprocess.Popen([*before, sys.executable, "-c", CHILD, folder, limit], text=True,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def answers(process: subprocess.Popen[str], *, until: str) -> list[list[str]]:
    assert process.stdout is not None
    found = []
    for line in process.stdout:
        found.append(json.loads(line))
        if found[-1][0] == until:
            return found
    pytest.fail(f"the child ended after {found}")


def check(process: subprocess.Popen[str]) -> list[list[str]]:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()
    return answers(process, until="checked")[:-1]


def end(process: subprocess.Popen[str]) -> None:
    process.communicate(timeout=DEADLINE)
    assert process.returncode == 0


def test_a_file_put_in_place_wakes_once_under_its_name(watched: Watched, folder: Path):
    statefolder.replace(str(folder / "hint"), b"one")
    statefolder.replace(str(folder / "hint"), b"two")
    assert watched.rest(2 * QUIET) == [folder / "hint"] * 2


def test_what_another_folder_gives_and_takes_is_seen(watched: Watched, folder: Path):
    (folder.parent / "draft").write_text("x")
    os.replace(folder.parent / "draft", folder / "hint")
    watched.sees(folder / "hint")
    os.replace(folder / "hint", folder.parent / "gone")
    watched.sees(folder / "hint")


def test_a_file_written_in_place_wakes_when_it_is_closed(watched: Watched, folder: Path):
    with (folder / "hint").open("w") as file:
        watched.sees(folder / "hint")
        file.write("x")
        file.flush()
        assert watched.rest() == []
    watched.sees(folder / "hint")


def test_removing_wakes(watched: Watched, folder: Path):
    (folder / "hint").touch()
    watched.rest()
    (folder / "hint").unlink()
    assert watched.rest() == [folder / "hint"]


def test_reading_does_not_wake(watched: Watched, folder: Path):
    (folder / "hint").write_text("x")
    watched.rest()
    for _ in range(3):
        assert (folder / "hint").read_text() == "x"
        assert os.listdir(folder) == ["hint"]
    assert watched.rest() == []
    assert watched.said.empty()


def test_what_lies_deeper_is_not_watched(watched: Watched, folder: Path):
    (folder / "deep").mkdir()
    (folder / "deep/hint").touch()
    assert watched.rest() == []


def test_a_save_with_a_backup_is_seen_to_its_end(watched: Watched, folder: Path):
    """C156: the file is renamed, written anew 200 ms later, and the backup is removed."""
    current = folder / "current"
    current.write_text("old")
    watched.rest()
    current.rename(folder / "current~")
    watched.sees(current)
    time.sleep(0.2)
    current.write_text("new")
    watched.sees(current)
    (folder / "current~").unlink()
    watched.sees(folder / "current~")


def test_a_configmap_swap_wakes_though_no_event_names_the_file(watched: Watched, folder: Path):
    """C157: the file leads through `..data`, which alone is replaced."""
    for number in "12":
        (folder / f"..{number}").mkdir()
        (folder / f"..{number}/current").write_text(number)
    (folder / "..data").symlink_to("..1")
    (folder / "current").symlink_to("..data/current")
    watched.rest()
    (folder / "..data_tmp").symlink_to("..2")
    os.replace(folder / "..data_tmp", folder / "..data")
    watched.sees(folder / "..data")
    assert (folder / "current").read_text() == "2"


def test_a_folder_behind_a_swapped_link_is_watched_anew(folder: Path):
    link, other = folder.parent / "link", folder.parent / "other"
    other.mkdir()
    link.symlink_to(folder)
    watched = Watched(link)
    (link.parent / "next").symlink_to(other)
    os.replace(link.parent / "next", link)
    watched.watch.check()
    assert watched.lost() == f"{link} was replaced or is watched anew"
    (other / "hint").touch()
    watched.sees(link / "hint")
    watched.watch.stop()


def test_a_folder_deleted_and_made_again_is_watched_again(watched: Watched, folder: Path):
    """C160: the new folder often has the number of the old one."""
    shutil.rmtree(folder)
    assert watched.lost() == f"{folder} was removed"
    folder.mkdir()
    watched.watch.check()
    assert watched.lost() == f"{folder} was replaced or is watched anew"
    (folder / "hint").touch()
    watched.sees(folder / "hint")
    watched.watch.check()
    assert watched.said.empty()


def test_a_folder_put_over_another_is_watched(watched: Watched, folder: Path):
    os.replace(folder, folder.parent / "old")
    folder.mkdir()
    watched.watch.check()
    assert watched.lost() == f"{folder} was replaced or is watched anew"
    (folder / "hint").touch()
    watched.sees(folder / "hint")


def test_an_absent_folder_is_said_once_and_watched_when_it_comes(folder: Path):
    absent = folder.parent / "absent"
    watched = Watched(absent, folder)
    assert watched.lost() == f"{absent} is not watched: no such file or directory"
    watched.watch.check()
    (folder / "hint").touch()
    watched.sees(folder / "hint")
    assert watched.said.empty()
    absent.mkdir()
    watched.watch.check()
    assert watched.lost() == f"{absent} is watched again"
    (absent / "hint").touch()
    watched.sees(absent / "hint")
    watched.watch.stop()


def test_a_file_in_the_place_of_a_folder_is_not_watched(folder: Path):
    (folder / "file").touch()
    watched = Watched(folder / "file")
    assert watched.lost() == f"{folder / 'file'} is not watched: not a folder"
    watched.watch.stop()


def test_stopping_ends_every_thread_and_can_be_said_twice(folder: Path):
    before = set(threading.enumerate())
    watched = Watched(folder)
    watched.watch.check()
    assert set(threading.enumerate()) > before
    for _ in range(2):
        watched.watch.stop()
        watched.watch.check()
        assert set(threading.enumerate()) == before
    (folder / "hint").touch()
    assert watched.rest() == []


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("part", ["_Queue", "_Observer"])
def test_an_observer_whose_thread_ended_is_replaced(watched: Watched, folder: Path, part: str):
    """C160: it goes silent, and nothing says so."""
    (thread,) = (t for t in threading.enumerate() if type(t).__name__ == part)
    if part == "_Queue":
        thread.stop()
    else:
        thread.event_queue.put(None)  # no event, so that the thread fails
    thread.join(DEADLINE)
    watched.watch.check()
    assert watched.lost() == "the thread that waits for file events ended"
    (folder / "hint").touch()
    watched.sees(folder / "hint")
    assert watched.said.empty()


def test_who_fails_when_woken_is_woken_again(folder: Path):
    woken: queue.Queue[Path] = queue.Queue()
    said: queue.Queue[str] = queue.Queue()

    def wake(path: Path) -> None:
        woken.put(path)
        raise ValueError(path)

    def lost(reason: str) -> None:
        said.put(reason)
        raise ValueError(reason)

    watch = Watch([folder], wake, lost)
    watch.start()
    for name in ("one", "two"):
        os.symlink("nowhere", folder / name)
        assert woken.get(timeout=DEADLINE) == folder / name
        assert said.get(timeout=DEADLINE) == "a hint was not taken: ValueError"
    watch.stop()


def test_an_overflow_is_said_and_the_folder_is_watched_on(folder: Path):
    """C158: the reader stands still while more happens than the kernel keeps."""
    keeps = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    if keeps > 200_000:
        pytest.skip(f"the kernel keeps {keeps} events here")
    process = child(folder)
    answers(process, until="started")
    os.kill(process.pid, signal.SIGSTOP)
    os.waitid(os.P_PID, process.pid, os.WSTOPPED)
    for _ in range(keeps // 2 + 1):
        os.symlink("nowhere", folder / "hint")
        os.unlink(folder / "hint")
    os.kill(process.pid, signal.SIGCONT)
    assert answers(process, until="lost")[-1] == ["lost", "more file events than the kernel keeps"]
    assert ["lost", f"{folder} was replaced or is watched anew"] in check(process)
    (folder / "later").touch()
    while answers(process, until="woke")[-1] != ["woke", str(folder / "later")]:
        pass
    end(process)


@pytest.mark.parametrize(("limit", "reason"), [
    ("max_inotify_instances", "no file events: inotify instance limit reached"),
    ("max_inotify_watches", "{folder} is not watched: inotify watch limit reached"),
])
def test_a_limit_of_the_kernel_is_said_once(folder: Path, limit: str, reason: str):
    if subprocess.run(["unshare", "-Ur", "sh", "-c", f"echo 0 >/proc/sys/user/{limit}"],
                      stderr=subprocess.DEVNULL).returncode:
        pytest.skip("no user namespaces here")
    process = child(folder, limit, "unshare", "-Ur")
    assert answers(process, until="started")[0] == ["lost", reason.format(folder=folder)]
    assert check(process) == []
    end(process)


def test_without_a_free_descriptor_it_lives_and_tries_again(folder: Path):
    process = child(folder, "files")
    assert answers(process, until="started")[0] == [
        "lost", "no file events: inotify instance limit reached"]
    assert check(process) == [["lost", "file events are to be had again"]]
    (folder / "hint").touch()
    assert answers(process, until="woke")[-1] == ["woke", str(folder / "hint")]
    end(process)


def test_a_folder_that_may_not_be_read_is_not_taken_for_watched(open_folder: Path):
    closed = open_folder / "closed"
    closed.mkdir(mode=0o700)
    if os.geteuid() != 0:
        pytest.skip("only root can act for another user")
    process = child(closed, "nobody")
    assert answers(process, until="started")[0] == [
        "lost", f"{closed} is not watched: permission denied"]
    end(process)
