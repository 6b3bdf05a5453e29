"""Whole jobs: the same digest always, no verdict without time, no value in any text."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import date
from pathlib import Path
from time import monotonic

import pytest
from sampling import LONG
from trials import Bench, Found, needs_sandbox, row

from policyd.core.errors import CannotJudge
from policyd.replay import job
from policyd.replay.budget import Budget, OutOfTime
from policyd.replay.pairs import State

pytestmark = needs_sandbox

SECRET = 7_391_824_650
"""Makes every output one that stands in no text."""

BASE = f"""
def scaled(n):
    return [{SECRET} + n, "x"]

def first(items):
    return sorted(items)[0]

kept = []
def put(n):
    kept.append(n)

def total():
    return sum(kept)
"""
CANDIDATE = BASE.replace('return [', """if n == 737:
        return []
    if n > 900:
        raise ValueError("large")
    return [""")
FUNCTIONS = f"""
def plus(draw, out):
    return [out[0] + 1, out[1]]

def is_right(draw, out):
    return out[0] == {SECRET} + draw.input[0]

def step_by_step(draw):
    return [["put", draw.integer(0, 9)], ["put", draw.integer(0, 9)], ["total"]]

def is_sum(draw, out):
    return out == draw.input[0][1] + draw.input[1][1]

def rarely(draw):
    n = draw.integer(0, 1000)
    if n < 990:
        draw.reject("too small")
    return [n]

def words_of_tests(draw):
    return [draw.integer(0, 10**9)]
"""
ROWS = [
    row("pair", "m:scaled", compare="map", map="plus"),
    row("property", "m:scaled", holds="is_right"),
    row("exact", "m:scaled"),
    row("bag", "m:first", generator="numbers", transform="shuffled", compare="exact"),
    row("steps", "m:total", generator="step_by_step", holds="is_sum", steps={"put": "m:put"},
        status="policy", owner="mei", expires=date(2026, 12, 1)),
]


@pytest.fixture(scope="module")
def bench(tmp_path_factory) -> Bench:
    return Bench(tmp_path_factory.mktemp("job"), ROWS, FUNCTIONS, {"src/m.py": BASE})


@pytest.fixture(scope="module")
def found(bench) -> Found:
    return bench.run({"src/m.py": CANDIDATE})


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Bench:
    """One relation alone: a job takes a second."""
    return Bench(tmp_path_factory.mktemp("small"), ROWS[1:2], FUNCTIONS, {"src/m.py": BASE})


@pytest.fixture(scope="module")
def given(small) -> job.Given:
    return small.given({"src/m.py": CANDIDATE})


@pytest.fixture(scope="module")
def alone(small) -> Found:
    return small.run({"src/m.py": CANDIDATE})


def test_a_special_case_of_the_source_is_found_and_replayed_to_the_next(alone, small):
    assert alone["property"].bucket.value == "block"
    kept = [{key: event[key] for key in ("seed", "index", "kind", "choices")}
            for event in alone.events if event["event"] == "break" and event["draw"] >= 400_000]
    sneaky = BASE.replace("return [", "if str(n) == '73' + chr(55):\n        return []\n"
                                      "    return [")
    assert small.run({"src/m.py": sneaky}, seed=2)["property"].bucket.value == "holds"
    again = small.run({"src/m.py": sneaky}, seed=2, kept={"property": kept})["property"]
    assert (again.bucket.value, again.first) == ("block", 500_000)
    assert "(737)" in again.input


def test_what_a_test_of_the_base_asks_is_asked_too(tmp_path):
    rows = [row("property", "m:f", holds="is_int", draws=8)]
    sneaky = "def f(n):\n    return None if str(n) == '73' + chr(55) else n\n"
    for name, bucket in (("test_f.py", "block"), ("test_f.txt", "holds")):
        bench = Bench(tmp_path / name, rows, "", {
            "src/m.py": "def f(n):\n    return n\n",
            f"tests/deep/{name}": "from m import f\n\ndef test_f():\n    assert f(737) == 737\n"})
        assert bench.run({"src/m.py": sneaky})["property"].bucket.value == bucket


def test_no_text_holds_an_output_or_what_would_have_been_due(found):
    assert {"block", "holds"} <= {row.bucket.value for row in found.replay.rows}
    said = found.says()
    for number in range(1_002):
        assert str(SECRET + number) not in said


def test_each_relation_and_each_break_is_told_to_the_log(found):
    kinds = [event["event"] for event in found.events]
    assert kinds.count("relation") == len(ROWS)
    assert kinds.count("break") == sum(row.counts.broken for row in found.replay.rows)


def test_the_runs_of_a_store_are_one_process(found):
    one = found["steps"]
    assert one.counts.broken == 0  # alone each is what it is; behind another it is not
    assert one.bucket.value == "hysteresis"


SCRIPT = """
import sys
sys.path[:0] = sys.argv[2:]
from pathlib import Path
from trials import Bench
from test_job import BASE, CANDIDATE, FUNCTIONS, ROWS
bench = Bench(Path(sys.argv[1]), ROWS[1:2], FUNCTIONS, {"src/m.py": BASE})
found = bench.run({"src/m.py": CANDIDATE})
print(found.replay.digest, found.replay.key, found.buckets)
"""


def test_the_digest_is_one_for_any_judge(alone, tmp_path):
    tests = Path(__file__).parents[1]
    for seed in ("1", "77"):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, tmp_path / seed, tests.parent, tests, tests / "replay"],
            env=os.environ | {"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True)
        replay = alone.replay
        assert done.stdout.strip() == f"{replay.digest} {replay.key} {alone.buckets}"


def test_the_same_job_has_the_same_digest_and_another_seed_another(small, alone):
    same, other = (small.run({"src/m.py": CANDIDATE}, seed=seed).replay for seed in (1, 3))
    assert (same.digest, same.rows) == (alone.replay.digest, alone.replay.rows)
    assert other.digest != same.digest


@pytest.mark.parametrize("seconds", [0.0, 0.05])
def test_without_time_there_is_no_verdict(given, seconds):
    with pytest.raises(OutOfTime, match=r"did not end in its time; about \d+ s are missing") as of:
        job.run(given, Budget(seconds))
    assert of.value.seconds > 0


def test_what_wastes_time_in_one_process_alone_is_ended_too(tmp_path):
    slow = ("import time\nseen = []\ndef f(n):\n    seen.append(n)\n    if len(seen) > 1:\n"
            "        time.sleep(4)\n    return n\n")
    rows = [row("R", "m:f", holds="is_int", draws=30)]
    bench = Bench(tmp_path / "b", rows, "", {"src/m.py": slow})
    began = monotonic()
    with pytest.raises(OutOfTime):
        bench.run(seconds=6.0)
    assert monotonic() - began < 20


@pytest.mark.skipif(not LONG, reason="waits for 15 seconds; POLICYD_LONG=1 runs it")
def test_what_never_ends_is_refused_before_the_time_of_the_job_is_over(bench):
    found = bench.run({"src/m.py": "import time\ntime.sleep(1000)\n"}, seconds=60.0)
    assert found.buckets == {"pair": "block"}
    assert found["pair"].reason == "its time runs out (the wall time ran out)"


def test_progress_says_where_the_job_is(given):
    told: list[str] = []
    job.run(given, Budget(300, told.append, every=0.0))
    assert told[0].startswith("replay: property: ")
    assert told[-1].startswith("replay: ")
    assert any("all in one process" in line for line in told)


def test_a_pair_is_made_again_alone(given, alone):
    one = next(row for row in given.table.rows if row.id == "property")
    broken = next(event for event in alone.events if event["event"] == "break")
    again = job.again(given, one, int(str(broken["draw"])), Budget(60))
    assert again is not None
    assert again.state is State.BREAKS
    with pytest.raises(CannotJudge, match="no job makes a draw 500000 of property: one behind"):
        job.again(given, one, 500_000, Budget(60))


def test_too_few_draws_that_apply_are_no_verdict(tmp_path):
    bench = Bench(tmp_path / "b", [row("R", "m:first", generator="rarely", holds="is_int")],
                  FUNCTIONS, {"src/m.py": BASE})
    with pytest.raises(CannotJudge, match=r"R applies to \d of \d+ draws, and min_applied is 4; a "
                                          "maintainer repairs its generator"):
        bench.run()


@pytest.mark.parametrize(("function", "says"), [
    ("def broken(draw):\n    return 1 / 0\n", "broken of R: ZeroDivisionError: division by zero"),
    ("def broken(draw):\n    return 7\n", "broken of R: broken returned a int; a gener"),
    ("def broken(draw):\n    import os; os._exit(0)\n", "broken of R does not run: it ends"),
    ("import absent\ndef broken(draw):\n    return [1]\n", "No module named 'absent'")])
def test_a_generator_that_fails_is_no_verdict(tmp_path, function, says):
    bench = Bench(tmp_path / "b", [row("R", "m:first", generator="broken", holds="is_int")],
                  function, {"src/m.py": BASE})
    with pytest.raises(CannotJudge, match=says):
        bench.run()


@pytest.mark.parametrize("text", [
    "# coding: utf-7\n+AGEAYgBj-\n", "# x\r# coding: rot13\r", "# coding: no-such-thing\n",
    "# -*- coding: latin-1 -*-\n# caf\xe9\n"])
def test_a_source_whose_literals_could_hide_is_no_verdict(bench, text):
    with pytest.raises(CannotJudge, match=r"src/odd.py is no UTF-8.*save it as UTF-8"):
        bench.given({"src/odd.py": text})


def test_a_source_that_says_latin_and_is_ascii_is_read(bench):
    assert bench.given({"src/odd.py": "# -*- coding: latin-1 -*-\nX = 8\n"}).sources == (
        "# -*- coding: latin-1 -*-\nX = 8\n",)
