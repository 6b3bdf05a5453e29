"""Hostile source costs one file, never the push, and leaves no process behind."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from policyd.adapters import sourcereader
from policyd.adapters.sourcereader import CRASHED, TOO_LONG, Unread, read
from policyd.core.errors import CannotJudge
from policyd.core.sheet import Literal, Sheet
from policyd.languages.literal import Unparseable
from policyd.languages.python import sheet

GOOD = b"x = 'secret-token'\n"
SECRET = sheet(GOOD, 6)
MUCH = 300 << 10
"""Bytes that make two children worth it."""


@pytest.fixture(autouse=True)
def _leaves_no_child() -> Iterator[None]:
    yield
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def reader(source: bytes, min_length: int) -> Sheet:
    """Does what the source says; so that every way to die can be written down."""
    word = source.split()[0].decode() if source.strip() else ""
    if word == "segfault":
        os.kill(os.getpid(), signal.SIGSEGV)
    elif word == "memory":
        raise MemoryError(bytearray(8 << 30))
    elif word == "some":
        bytearray(64 << 20)
    elif word == "kernel":
        os.kill(os.getpid(), signal.SIGKILL)
    elif word == "spin":
        while True:
            pass
    elif word == "sleep":
        time.sleep(60)
    elif word == "bug":
        raise KeyError("a secret of the reader")
    elif word == "exit":
        sys.exit(0)
    elif word == "unparseable":
        raise Unparseable(7, "invalid syntax")
    return Sheet((Literal(word, min_length, "used"),))


def reading(*words: str, seconds: float = 10, size: int = 0) -> dict[str, object]:
    files = [(f"{place} {word}", word.encode().ljust(size)) for place, word in enumerate(words)]
    found = read(files, min_length=6, seconds=seconds, memory_bytes=1 << 28, reader=reader)
    assert list(found) == [key for key, _ in files]
    return {key.split()[1]: value for key, value in found.items()}


def good(word: str) -> Sheet:
    return Sheet((Literal(word, 6, "used"),))


def test_nothing_to_read_starts_nothing() -> None:
    assert read([], min_length=6, seconds=0) == {}


def test_child_reads_what_the_reader_reads() -> None:
    files = [
        (path.name, path.read_bytes()) for path in sorted(Path(os.__file__).parent.glob("s*.py"))
    ]
    found = read(files, min_length=6, seconds=60)
    assert found == {name: sheet(source, 6) for name, source in files}
    assert list(found) == [name for name, _ in files]


def test_unparseable_file_is_a_value_beside_the_others() -> None:
    found = read([("a", GOOD), ("b", b"x = (]"), ("c", GOOD)], min_length=6, seconds=10)
    assert found["a"] == found["c"] == SECRET
    assert SECRET.literals
    assert isinstance(found["b"], Unread)
    assert found["b"].line == 1
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert found["b"].reason == f"invalid syntax for Python {version}"


@pytest.mark.parametrize(
    ("word", "becomes"),
    [
        ("segfault", Unread(1, CRASHED)),
        ("kernel", Unread(1, CRASHED)),
        ("exit", Unread(1, CRASHED)),
        ("memory", Unread(1, "the reader failed (MemoryError)")),
        ("bug", Unread(1, "the reader failed (KeyError)")),
        ("unparseable", Unread(7, "invalid syntax")),
    ],
)
@pytest.mark.parametrize("size", [0, MUCH])
def test_death_costs_the_file_that_was_read_and_no_other(
    word: str, becomes: object, size: int
) -> None:
    found = reading("one", word, "two", "three", size=size)
    assert found == {"one": good("one"), word: becomes, "two": good("two"), "three": good("three")}


def test_every_file_may_kill_its_child() -> None:
    found = reading(*["segfault"] * 20)
    assert found == {"segfault": Unread(1, CRASHED)}


def test_file_that_takes_too_much_processor_time_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A loaded machine stretches the clock: half a processor second has two minutes here."""
    monkeypatch.setattr(sourcereader, "_SHARE", 1 / 240)
    found = reading("one", "spin", "two", seconds=120)
    assert found == {"one": good("one"), "spin": Unread(1, TOO_LONG), "two": good("two")}


def allowance(_source: bytes, _min_length: int) -> Sheet:
    """The processor time that the file at hand has left."""
    return Sheet((Literal(str(signal.getitimer(signal.ITIMER_PROF)[0]), 1, "used"),))


def test_each_file_may_take_most_of_the_time_for_all_and_not_all_of_it() -> None:
    files = [("a", b""), ("b", b"")]
    for found in read(files, min_length=6, seconds=40, reader=allowance).values():
        assert not isinstance(found, Unread)
        assert 25 < float(found.literals[0].value) <= 30.1


@pytest.mark.parametrize("size", [0, MUCH])
def test_end_of_the_time_for_all_cannot_be_judged(size: int) -> None:
    begun = time.monotonic()
    with pytest.raises(CannotJudge, match="`seconds`"):
        reading("one", "sleep", "sleep", seconds=0.5, size=size)
    assert time.monotonic() - begun < 5


def test_no_time_at_all_cannot_be_judged() -> None:
    with pytest.raises(CannotJudge, match="`seconds`"):
        reading("one", seconds=0)


def test_memory_is_counted_beyond_what_the_hook_has_mapped() -> None:
    mapped = bytearray(1 << 29)
    assert reading("some", "memory") == {
        "some": good("some"),
        "memory": Unread(1, "the reader failed (MemoryError)"),
    }
    assert len(mapped) == 1 << 29


def test_large_source_runs_out_of_memory_and_the_next_file_is_read() -> None:
    large = b"x = [" + b"a.b," * (1 << 19) + b"]"
    found = read([("a", large), ("b", GOOD)], min_length=6, seconds=60, memory_bytes=1 << 27)
    assert isinstance(found["a"], Unread)
    assert found["b"] == SECRET


def surroundings(_source: bytes, _min_length: int) -> Sheet:
    """What the child has left, as literals."""
    told = {
        "open files": sorted(int(each) for each in os.listdir("/proc/self/fd"))[:-1],
        "standard files": {os.readlink(f"/proc/self/fd/{each}") for each in range(3)},
        "leads its group": os.getpgid(0) == os.getpid(),
        "core": resource.getrlimit(resource.RLIMIT_CORE),
        "file size": resource.getrlimit(resource.RLIMIT_FSIZE),
        "handler": signal.getsignal(signal.SIGTERM) == signal.SIG_DFL,
    }
    return Sheet(tuple(Literal(f"{name}: {value}", 1, "used") for name, value in told.items()))


def test_child_keeps_nothing_of_its_parent() -> None:
    before = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        found = read([("a", b"")], min_length=6, seconds=10, reader=surroundings)["a"]
    finally:
        signal.signal(signal.SIGTERM, before)
    assert not isinstance(found, Unread)
    assert [each.value for each in found.literals] == [
        "open files: [0, 1, 2, 3]",
        "standard files: {'/dev/null'}",
        "leads its group: True",
        "core: (0, 0)",
        "file size: (0, 0)",
        "handler: True",
    ]


SCRIPT = """
import atexit, os, sys
from policyd.adapters import sourcereader
from policyd.adapters.sourcereader import read
def leave(source, min_length):
    sys.exit(0)
light = "policyd.languages.python" not in sys.modules
atexit.register(print, "once")
print("buffered, light" if light else "buffered, heavy", end=" ")
try:
    found = read([("a", b"x = 'secret'"), ("b", b"x = (")], min_length=6, seconds=10)
    found = read([("a", b""), ("b", b"")], min_length=6, seconds=10, reader=leave)
finally:
    os.mkdir(f"left by {os.getpid()}")
    print(len(found), end=" ")
"""


def test_nothing_of_the_parent_leaks_through_a_child(tmp_path: Path) -> None:
    """Neither buffered output nor exit handlers nor `finally` run twice."""
    done = subprocess.run(
        [sys.executable, "-I", "-c", SCRIPT], capture_output=True, check=True, cwd=tmp_path
    )
    assert len(list(tmp_path.iterdir())) == 1
    assert done.stdout == b"buffered, light 2 once\n"
    assert done.stderr == b""


HANGING = """
import os, sys, time
from policyd.adapters import sourcereader
from policyd.adapters.sourcereader import read
def reader(source, min_length):
    time.sleep(6)
print("asleep", flush=True)
read([("a", b"")], min_length=6, seconds=60, reader=reader)
"""


def test_child_of_a_killed_hook_does_not_hold_its_output_open() -> None:
    hook = subprocess.Popen([sys.executable, "-I", "-c", HANGING], stdout=subprocess.PIPE)
    assert hook.stdout
    assert hook.stdout.readline() == b"asleep\n"
    time.sleep(0.3)
    hook.kill()
    begun = time.monotonic()
    assert hook.communicate()[0] == b""
    assert time.monotonic() - begun < 3
