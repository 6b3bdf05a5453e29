"""What is written down of gates: promises that hold though damaged, and notes that do not."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from datetime import date
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from policyd.adapters import decisionlog, gateacts, gatefiles, hints
from policyd.adapters.gatefiles import Heartbeat, Noted
from policyd.core import operating
from policyd.core.errors import CannotJudge, PolicydError
from policyd.core.gates import Acts, Cause, Gate, Hold, Reason, Waiver, Written
from policyd.core.paused import Pause
from policyd.core.rows import DatedRow, Kind

KEY, OTHER, MAIN = "ab" * 16, "cd" * 16, "refs/heads/main"
NOON = "2026-09-22T12:00:00+00:00"
HOLD = Hold(MAIN, "fire \udce9 drill", "joe", NOON)
WAIVER = Waiver(MAIN, Kind.FLAKE, "t.py::t", date(2026, 9, 20), date(2026, 9, 23), "ill", "joe",
                NOON)
ACTS = Acts((HOLD,), (WAIVER,))
PAUSE = Pause("2026-09-22T12:30:00+00:00", "fire", "joe", NOON)
ROW = DatedRow(Kind.FLAKE, "f.json", 3, "x", "t.py::t", "mei", last=date(2026, 9, 20))
GATE = Gate(MAIN, (Reason(Cause.EXPIRED, "row x", "f.json", 3, "x", Kind.FLAKE, "mei",
                          date(2026, 9, 20)),), (("y", date(2026, 9, 23)),), (ROW,))
NOTED = Noted("site/r", "/srv/r.git", {MAIN: Written(GATE, NOON, {"flake:x:2026-09-20": 7})}, NOON,
              "d" * 64, {MAIN: "1" * 40}, NOON, "", "seen")
BEAT = Heartbeat(7, NOON, NOON, "1.0", "d" * 64, 3, 60.0, True, "")


@pytest.fixture
def state(tmp_path: Path) -> Path:
    folder = tmp_path / "state"
    folder.mkdir(mode=0o700)
    return folder


def test_everything_comes_back_as_it_was_written(state):
    assert gatefiles.acts(state, KEY) == Acts()
    assert gatefiles.pause(state) is None
    assert gatefiles.noted(state, KEY) is None
    assert gatefiles.heartbeat(state) is None
    write_all(state)
    assert gatefiles.acts(state, KEY) == ACTS
    assert gatefiles.pause(state) == PAUSE
    assert gatefiles.noted(state, KEY) == NOTED
    assert gatefiles.heartbeat(state) == BEAT
    assert gatefiles.acts(state, OTHER) == Acts()


def write_all(state: Path) -> None:
    gatefiles.store_acts(state, KEY, ACTS)
    gatefiles.store_pause(state, PAUSE)
    gatefiles.note(state, KEY, NOTED)
    gatefiles.beat(state, BEAT)


FILES = {"acts": f"acts/{KEY}.json", "pause": "pause.json"}
NOTES = {"gates": f"gates/{KEY}.json", "heartbeat": "daemon.json"}
READ: dict[str, Callable[[Path], Any]] = {
    "acts": lambda state: gatefiles.acts(state, KEY), "pause": gatefiles.pause,
    "gates": lambda state: gatefiles.noted(state, KEY), "heartbeat": gatefiles.heartbeat}
DAMAGES = [b"", b"{", b"[]", b"7", b"null", b"{}", b"\xff", b"\0" * 100, b"[" * 100_000,
           b'{"format": 2, "value": {}}', b'{"format": 1}', b'{"format": 1, "value": null}',
           b'{"format": 1, "value": {}}', b'{"format": 1, "value": []}',
           b'{"value": {"holds": [], "waivers": []}}']


@pytest.mark.parametrize("data", DAMAGES)
@pytest.mark.parametrize("what", FILES)
def test_a_damaged_promise_holds(state, what, data):
    write_all(state)
    (state / FILES[what]).write_bytes(data)
    with pytest.raises(CannotJudge, match=rf"{what} .* is damaged .*; put it back from a backup"):
        READ[what](state)
    assert (state / FILES[what]).read_bytes() == data


@pytest.mark.parametrize("data", DAMAGES)
@pytest.mark.parametrize("what", NOTES)
def test_a_damaged_note_is_none(state, what, data):
    write_all(state)
    (state / NOTES[what]).write_bytes(data)
    assert READ[what](state) is None


@pytest.mark.parametrize("what", [*FILES, *NOTES])
def test_what_is_cut_short_is_damaged(state, what):
    write_all(state)
    file = state / {**FILES, **NOTES}[what]
    whole = file.read_bytes()
    for length in range(0, len(whole) - 1, 5):
        file.write_bytes(whole[:length])
        if what in NOTES:
            assert READ[what](state) is None
        else:
            with pytest.raises(CannotJudge):
                READ[what](state)


@pytest.mark.parametrize(("change", "what"), [
    (lambda value: value["holds"][0].pop("ref"), "acts"),
    (lambda value: value["holds"][0].update(ref=7), "acts"),
    (lambda value: value.update(holds="refs/heads/main"), "acts"),
    (lambda value: value["waivers"][0].update(until="soon"), "acts"),
    (lambda value: value["waivers"][0].update(kind="flak"), "acts"),
    (lambda value: value.update(until="soon"), "pause"),
    (lambda value: value.update(at="2026-09-22T12:00:00"), "pause"),
    (lambda value: value.update(next="soon"), "gates"),
    (lambda value: value.update(next="2026-09-22T12:00:00"), "gates"),
    (lambda value: value.update(tips=[]), "gates"),
    (lambda value: value["gates"][MAIN].update(told={"x": "y"}), "gates"),
    (lambda value: value.update(pid="x"), "heartbeat"),
])
def test_a_value_that_is_none_is_damage(state, change, what):
    write_all(state)
    file = state / {**FILES, **NOTES}[what]
    raw = json.loads(file.read_bytes())
    change(raw["value"])
    file.write_text(json.dumps(raw))
    if what in NOTES:
        assert READ[what](state) is None
    else:
        with pytest.raises(CannotJudge, match="is damaged"):
            READ[what](state)


@pytest.mark.parametrize("what", [*FILES, *NOTES])
def test_another_format_is_not_read(state, what):
    write_all(state)
    file = state / {**FILES, **NOTES}[what]
    file.write_text(file.read_text().replace('"format":1', '"format":2', 1))
    if what in NOTES:
        assert READ[what](state) is None
    else:
        with pytest.raises(CannotJudge, match="format 2, this policyd reads 1"):
            READ[what](state)


def test_the_acts_of_another_repository_are_not_believed(state):
    """A file that was put back from a backup under the wrong name would let a hold go."""
    write_all(state)
    gatefiles.store_acts(state, OTHER, Acts())
    (state / f"acts/{OTHER}.json").replace(state / f"acts/{KEY}.json")
    with pytest.raises(CannotJudge, match=f"it belongs to key {OTHER}"):
        gatefiles.acts(state, KEY)


@pytest.mark.parametrize("what", [*FILES, *NOTES])
def test_a_folder_in_the_way_is_told(state, what):
    file = state / {**FILES, **NOTES}[what]
    file.mkdir(parents=True)
    if what in NOTES:
        assert READ[what](state) is None
    else:
        with pytest.raises(CannotJudge, match="cannot be read: is a directory"):
            READ[what](state)
    with pytest.raises(CannotJudge, match="cannot be written"):
        write_all(state)


def test_a_note_is_forgotten_once(state):
    write_all(state)
    for _ in range(2):
        gatefiles.forget(state, KEY)
    assert gatefiles.noted(state, KEY) is None


# Acts with their log entry.


def change(state: Path, how: Callable[[Acts], Acts], verdict: str = "gate-held") -> None:
    gateacts.change(state, KEY, "/srv/r.git", {"verdict": verdict}, how)


def entries(state: Path) -> list[str]:
    file = state / decisionlog.NAME
    return [json.loads(line)["verdict"] for line in file.read_text().splitlines()] \
        if file.exists() else []


def test_an_act_leaves_its_entry_its_file_and_a_hint(state):
    change(state, lambda acts: operating.held(acts, HOLD))
    assert gatefiles.acts(state, KEY) == Acts((HOLD,))
    assert json.loads((state / decisionlog.NAME).read_text())["key"] == KEY
    assert hints.read(state, KEY) == hints.Hint("/srv/r.git")


def test_what_is_refused_leaves_nothing(state):
    change(state, lambda acts: operating.held(acts, HOLD))
    (state / hints.FOLDER / KEY).unlink()
    with pytest.raises(PolicydError, match="is held already"):
        change(state, lambda acts: operating.held(acts, HOLD))
    assert entries(state) == ["gate-held"]
    assert hints.read(state, KEY) is None


def test_damaged_acts_are_not_written_over(state):
    change(state, lambda acts: operating.held(acts, HOLD))
    (state / f"acts/{KEY}.json").write_text("{")
    with pytest.raises(CannotJudge, match="is damaged"):
        change(state, lambda acts: operating.released(acts, MAIN))
    assert (state / f"acts/{KEY}.json").read_text() == "{"
    assert entries(state) == ["gate-held"]


def test_operators_at_the_same_time_lose_no_hold(state):
    with ProcessPoolExecutor(4, mp_context=get_context("fork")) as pool:
        list(pool.map(_hold, [(state, n) for n in range(24)]))
    assert sorted(hold.ref for hold in gatefiles.acts(state, KEY).holds) == sorted(
        f"refs/heads/release/{n}" for n in range(24))
    assert len(entries(state)) == 24


def _hold(asked: tuple[Path, int]) -> None:
    state, number = asked
    change(state, lambda acts: operating.held(
        acts, Hold(f"refs/heads/release/{number}", "drill", "joe", NOON)))
