"""Hooks in other places than git's own, killed at any moment."""

from __future__ import annotations

import os
from pathlib import Path

import forks
import pytest
from emulators import hooks_servers as servers
from sites import listing

from policyd.adapters import hookfiles, nexthook
from policyd.adapters.hosts import seat as seats
from policyd.adapters.hosts.seat import Kind, Seat
from policyd.core.errors import CannotJudge

HOOK = hookfiles.MARK + b"\necho ours\n"
PLACES = {
    "a file beside others, in two folders made for it": (
        Kind.PART, "custom_hooks/pre-receive.d", "policyd", ""),
    "a file beside others": (Kind.PART, "hooks/pre-receive.d", "policyd", "gitea"),
    "a common hook": (Kind.COMMON, "common", "pre-receive", ""),
    "a common hook in front of another": (Kind.COMMON, "common", "pre-receive", "pre-receive"),
}
CRASHING = """
import os, signal, sys
from pathlib import Path
from policyd.adapters import hookfiles
from policyd.adapters.hosts.seat import Kind, Seat

left, what, kind, folder, name = int(sys.argv[1]), *sys.argv[2:]
def stop(event, arguments):
    global left
    names = ("open", "os.mkdir", "os.link", "os.rename", "os.remove", "os.rmdir", "os.chmod")
    if event in names and (event == "os.chmod" or any(folder in str(a) for a in arguments)):
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)

seat = Seat("gitea", Kind(kind), Path(folder), name)
sys.addaudithook(stop)
if what == "put in":
    hookfiles.put_in(seat, hookfiles.MARK + b"\\necho ours\\n")
else:
    hookfiles.take_out(seat)
"""


def laid_out(folder: Path, place: str) -> tuple[Seat, dict[str, object]]:
    kind, where, name, other = PLACES[place]
    folder.mkdir()
    if other:
        servers.script(folder / where / other, "echo other\n")
    return Seat("gitea", kind, folder / where, name), dict(listing(folder))


@pytest.mark.parametrize("what", ["put in", "take out"])
@pytest.mark.parametrize("place", list(PLACES)[::2] + list(PLACES)[3:])
def test_a_crash_leaves_ours_or_what_was_there_and_no_draft_that_runs(tmp_path, place, what):
    steps = 0
    while True:
        seat, before = laid_out(tmp_path / str(steps), place)
        if what == "take out":
            hookfiles.put_in(seat, HOOK)
        code = forks.run(CRASHING, steps, what, seat.kind.value, seat.folder, seat.name)
        assert code in (0, -9)
        if before.get(str(seat.path.relative_to(tmp_path / str(steps)))):
            assert seat.path.exists()
        if seat.path.exists():
            assert b"echo o" in seat.path.read_bytes()
        visible = [path for path in seat.folder.glob("*") if path.name[0] != "."] \
            if seat.folder.exists() else []
        assert {path.name for path in visible} <= {seat.name, "gitea"}
        if steps % 2:
            hookfiles.put_in(seat, HOOK)
            assert hookfiles.is_current(seat, HOOK)
        hookfiles.take_out(seat)
        left = listing(tmp_path / str(steps))
        assert {p for p in left if left[p][0] != "folder"} == {
            p for p in before if before[p][0] != "folder"}
        if code == 0:
            break
        steps += 1
    assert steps >= 3


@pytest.mark.parametrize("place", PLACES)
def test_what_was_there_comes_back_byte_for_byte(tmp_path, place):
    seat, before = laid_out(tmp_path / "x", place)
    for _ in range(2):
        hookfiles.put_in(seat, HOOK)
    assert os.stat(seat.path).st_mode & 0o777 == 0o755
    hookfiles.put_in(seat, HOOK + b"# newer\n")
    assert hookfiles.is_there(seat)
    hookfiles.take_out(seat)
    assert listing(tmp_path / "x") == before


def test_each_kind_says_what_it_is_and_only_the_admin_repository_is_spared(tmp_path):
    for kind in Kind:
        text = hookfiles.text(Path("/p"), Path("/h"), Seat("plain", kind, tmp_path))
        assert f"POLICYD_HOOK={kind.value}:$0".encode() in text
        assert b"gitolite-admin" not in text
    common = Seat("gitolite", Kind.COMMON, tmp_path)
    assert b"gitolite-admin.git" in hookfiles.text(Path("/p"), Path("/h"), common)


def test_the_hook_before_is_looked_for_beside_the_one_that_ran(tmp_path):
    for folder, name in (("own", nexthook.CHAINED), ("common", nexthook.HIDDEN),
                         ("part", nexthook.CHAINED), ("part", nexthook.HIDDEN)):
        servers.script(tmp_path / folder / name, "cat; exit 3\n")
    (tmp_path / "hooks").symlink_to("own")
    (tmp_path / "linked").symlink_to("common/pre-receive")

    def code(told: str | None) -> int:
        return nexthook.run(str(tmp_path), b"", {} if told is None else {nexthook.TOLD: told})

    assert code(None) == code("own:hooks/pre-receive") == code("common:linked") == 3
    assert code("own:common/pre-receive") == code("part:part/policyd") == 0
    assert code("common-part:part/policyd") == code("") == code("else:own/x") == 0


@pytest.mark.parametrize("text", ["", "plain", "plain own", "gittea part x", "plain owned x"])
def test_a_damaged_note_of_where_the_hook_is_says_what_to_do(tmp_path, text):
    with pytest.raises(CannotJudge, match="config --unset-all"):
        seats.read(text, tmp_path)
