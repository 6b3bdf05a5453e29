"""An oracle's functions asked in the sandbox: what they answer, and what they cannot do."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from policyd.replay import draws, wire
from policyd.replay.draws import Draw
from policyd.replay.execute import Call, Executor, Limits, Mode
from policyd.replay.outcome import Value
from policyd.replay.sandbox import available

WHY_NOT = available()
MODES = [pytest.param(Mode.WARM, id="sandbox", marks=pytest.mark.skipif(
    WHY_NOT is not None, reason=f"no sandbox: {WHY_NOT}")), pytest.param(Mode.NONE, id="none")]
SEED = b"\x02" * 32
REPLAY = Path(draws.__file__).parent

ORACLE = {
    "oracle/relations/allocation.py": '''
from decimal import Decimal
import helpers

def splits(draw):
    weights = draw.items(lambda: draw.integer(0, 9), 1, 8)
    if draw.every(3): weights[draw.integer(0, len(weights) - 1)] = 0
    if not any(weights): draw.reject("no weight at all")
    return [draw.integer(0, 10**6, often=(0, 1, 2, 99, 100, 101)), weights]

def permuted(draw, amount, weights):
    if len(weights) < 2: draw.reject("one weight has no other order")
    return [amount, draw.shuffled(weights, "P")]

def permuted_back(draw, out):
    return draw.shuffled(out, "P")

def scaled(draw, amount, weights):
    return [amount * draw.integer(2, 4), weights]

def scaled_back(draw, out):
    k = draw.integer(2, 4)
    return [k * value for value in out]

def conserved(draw, out):
    amount, weights = draw.input
    return sum(out) == amount and len(out) == len(weights)

def near(draw):
    return Decimal("0.01") * len(draw.input[1])

def again(draw, *values):
    return [draw.output]

def parts(draw, rows):
    left, right = draw.split(rows, "at")
    return draw.runs([left], [right])

def merged(draw, outs):
    return [one for out in outs for one in out]
''',
    "oracle/relations/helpers.py": "seen = []\n",
    "oracle/relations/store.py": '''
def steps(draw):
    rows = draw.items(lambda: {"id": draw.integer(1, 9), "at": draw.decimal(0, 9, 1)}, 1, 3)
    return [["reset"], ["ingest", rows], ["projection"]]

def twice(draw, *steps):
    return [*steps[:2], *steps[1:]]
''',
    "oracle/relations/odd.py": '''
import helpers
count = 0
kept = []

def counts(draw):
    global count
    count += 1
    helpers.seen.append(count)
    return [count, len(helpers.seen)]

def shares(draw):
    kept.append(draw.index)
    return kept

def ruins(draw, numbers, raw):
    numbers.append(99)
    draw.input.append(98)
    numbers[0].clear()
    raw[0] = 0
    return [numbers, draw.input]

def fails(draw):
    if draw.index == 1: raise ValueError("caf\\u00e9\\n\\x1b[31m " + "x" * 1000)
    if draw.index == 2: raise SystemExit(0)
    if draw.index == 3: return fails(draw)
    if draw.index == 4: return draw.integer(3, 1)
    if draw.index == 5: raise Silent
    if draw.index == 6: draw.reject("not\\nthis")
    if draw.index == 7: raise KeyboardInterrupt
    return [draw.index]

class Silent(Exception):
    def __str__(self): raise RuntimeError

def tuples(draw): return 1, 2
def none(draw): pass
def objects(draw): return [object()]
def iterators(draw): return [iter([1])]
def large(draw): return ["x" * (2 << 20)]
def cycles(draw):
    made = []
    made.append(made)
    return made
def plain(draw):
    from datetime import datetime, timezone
    from fractions import Fraction
    return [None, True, -1, 2**300, 1.5, "\\ud800", b"x", bytearray(b"y"), (1, (2,)), {3}, {1: [2]},
            frozenset({4}), Fraction(1, 3), datetime(2026, 1, 2, tzinfo=timezone.utc)]

def hopeful(draw, *values):
    try:
        return [draw.output + 1]
    except LookupError:
        return [0]

def careful(draw, value):
    return [draw.output if draw.every(2) else value]

def no_runs(draw, *values): return draw.runs()
def text_runs(draw, *values): return draw.runs([1], "ab")
def given(draw, *values): return list(values)
def same(draw, *values): return [draw.input, draw.output, list(values)]
def colliding(draw, out): return {one * (2**61 - 1) for one in out}
def members(draw, out): return set(out)
''',
    "oracle/relations/broken.py": "def f(draw): return []\nx = 1 +\n",
    "oracle/relations/needy.py": "import absent\n",
    "oracle/relations/json.py": "import sys\ndef f(draw): return [__name__]\n",
    "oracle/relations/draws.py": "NAME = 'of the oracle'\n",
    "oracle/relations/calendar.py": """
from datetime import datetime
import shop_calendar
def f(draw): return [__name__, datetime.strptime("2026-01-02", "%Y-%m-%d"), shop_calendar.DAYS]
""",
    "oracle/relations/shop_calendar.py": "DAYS = 7\n",
    "oracle/relations/careless.py": """
import decimal, random
from lib import state
order = random.Random(7)
def f(draw):
    state.asked += 1
    decimal.getcontext().prec += 1
    return [random.random(), order.random(), state.asked, decimal.getcontext().prec]
def again(draw, *values): return f(draw)
""",
    "oracle/relations/lib/state.py": "asked = 0\n",
    "oracle/seeds/b.csv": "",
    "top.py": "import second\ndef f(draw):\n    second.x += 1\n    return [second.x]\n",
    "second.py": "x = 1\n",
    "oracle/relations/reader.py": '''
import draws
def f(draw):
    name, data = draw.file()
    return [name, data, draw.leased("prices"), draws.NAME]
''',
    "oracle/relations/records.py": '''
from __future__ import annotations
from dataclasses import dataclass, astuple
@dataclass
class Row:
    one: int
def f(draw): return [astuple(Row(draw.integer(5, 5)))]
''',
    "oracle/more/outside.py": 
        "def f(draw): return ['outside']\ndef needs(draw):\n    import helpers\n",
    "oracle/seeds/a.csv": "1,2\n",
    "fixtures/prices.csv": "3,4\n",
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("oracle")
    for name, text in ORACLE.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "_policyd").mkdir()
    for name in ("asking.py", "draws.py"):
        shutil.copy(REPLAY / name, folder / "_policyd" / name)
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755)
    return folder


@pytest.fixture(scope="module", params=MODES)
def executor(request, tree) -> Iterator[Executor]:
    limits = Limits(cpu_seconds=10, wall_seconds=30, output_bytes=4 << 20)
    with Executor(tree, roots=["_policyd"], mode=request.param, limits=limits) as made:
        yield made


@pytest.fixture
def ask(executor):
    """Ask a function; `asked` are items, or (index, more) of a domain draw."""
    def asked_for(phase, function, asked, *, module="allocation", **changed):
        setup = {"path": ["oracle/relations"], "module": module, "function": function,
                 "seed": SEED, "relation": "MR02", "files": []} | changed
        asked = [[index, "domain", [], more] if not rest else [index, more, *rest]
                 for index, more, *rest in asked]
        outcome = executor.run(Call(f"asking:{phase}", wire.encode([setup, asked])))
        assert isinstance(outcome, Value), outcome
        return wire.decode(outcome.data, 4 << 20)

    return asked_for


def inputs(count: int) -> list[tuple[int, None]]:
    return [(index, None) for index in range(count)]


def at(code: str) -> str:
    """Where odd.py says that."""
    before = ORACLE["oracle/relations/odd.py"].partition(code)[0]
    return f" (oracle/relations/odd.py:{before.count(chr(10)) + 1})"


def test_a_generator_makes_the_inputs_that_its_draws_make(ask):
    found = ask("inputs", "splits", inputs(48))
    assert {kind for kind, *_ in found} <= {"input", "rejected"}
    for index, answer in enumerate(found):
        if answer[0] == "rejected":
            assert answer[1] == "no weight at all"
            continue
        draw = Draw(SEED, "MR02", index=index, follow=answer[2])
        weights = draw.items(lambda draw=draw: draw.integer(0, 9), 1, 8)
        if index % 3 == 0:
            weights[draw.integer(0, len(weights) - 1)] = 0
        assert [draw.integer(0, 10**6), weights] == answer[1]
        alone = Draw(SEED, "MR02", index=index).items(lambda: 0, 1, 8)
        assert len(alone) == len(weights)
    assert sum(answer[0] == "input" for answer in found) > 40


def test_asked_alone_in_another_order_or_twice_the_answers_are_the_same(ask):
    for function, module in (("splits", "allocation"), ("counts", "odd"), ("shares", "odd"),
                             ("steps", "store")):
        batch = ask("inputs", function, inputs(12), module=module)
        again = ask("inputs", function, inputs(12)[::-1] * 2, module=module)
        assert again == batch[::-1] * 2
        assert [ask("inputs", function, [(index, None)], module=module)[0]
                for index in (0, 5, 11)] == [batch[index] for index in (0, 5, 11)]
    assert ask("inputs", "counts", inputs(3), module="odd") == [["input", [1, 1], []]] * 3


def test_what_an_oracle_leaves_behind_in_the_standard_library_is_not_found(ask):
    found = [answer[1] for answer in ask("inputs", "f", inputs(8), module="careless")]
    assert [answer[1] for answer in ask("inputs", "f", inputs(8)[::-1], module="careless")] == (
        found[::-1])
    assert len({answer[0] for answer in found}) == 8
    assert len({tuple(answer[1:]) for answer in found}) == 1
    assert ask("changes", "again", [(5, [[], None, False])], module="careless") == [
        ["runs", [found[5]]]]


def test_choices_are_followed(ask):
    [first] = ask("inputs", "splits", [[4, "documented", [5, 777], None]])
    assert 777 in first[1]
    assert ask("inputs", "splits", [[4, "documented", [5, 777], first[2]]]) == [first]
    assert ask("inputs", "splits", [(4, first[2]), (4, [2, 0, 1]), (4, [])]) == [
        first, ["input", [0, [0, 1, 0]], [2, 0, 1, 0, 0]], ["rejected", "no weight at all"]]


def test_words_reach_the_generator_by_kind(ask):
    words = [1234, [4, 5, 6]]
    for kind, expected in (("documented", True), ("domain", False), ("boundary", False)):
        [answer] = ask("inputs", "splits", [[4, kind, words, None]])
        assert (answer[1] == words) == expected


def test_a_transform_changes_the_input_and_the_map_knows_how(ask):
    sources = [[1, "domain", [], [[100, [1, 2, 3]], None, False]],
               [2, "domain", [], [[7, [5]], None, False]],
               [3, "domain", [], [[9, [1, 2, 3, 4]], [0, 0, 0, 0], True]]]
    first, second, third = ask("changes", "permuted", sources)
    assert second == ["rejected", "one weight has no other order"]
    for answer, (index, _, _, (source, *_)) in ((first, sources[0]), (third, sources[2])):
        order = Draw(SEED, "MR02", index=index).permutation(len(source[1]), "P")
        assert answer == ["runs", [[source[0], [source[1][at] for at in order]]]]
        out = [10 * one for one in source[1]]
        assert ask("values", "permuted_back", [(index, [source, out, out])]) == [
            ["value", [10 * one for one in answer[1][0][1]]]]


def test_a_number_drawn_in_transform_and_map_alike_is_the_same(ask):
    [[_, [[amount, _]]]] = ask("changes", "scaled", [(8, [[10, [1]], None, False])])
    assert amount == 10 * Draw(SEED, "MR02", index=8, stream="change").integer(2, 4)
    [[_, mapped]] = ask("values", "scaled_back", [(8, [[10, [1]], [10], [10]])])
    assert mapped == [amount]


def test_holds_and_within_see_input_and_output(ask):
    source = [100, [1, 3]]
    asked = [(0, [source, out, out]) for out in ([25, 75], [25, 76], [100], [])]
    assert ask("values", "conserved", asked) == [
        ["value", True], ["value", False], ["value", False], ["value", False]]
    assert ask("values", "near", [(0, [source, [25, 75]])]) == [["value", Decimal("0.02")]]


def test_what_reads_the_output_waits_for_it(ask):
    early = (0, [[1], None, False])
    failed = ["failed", "there is no output yet", True]
    assert ask("changes", "again", [early, (0, [[1], [4, 5], True])]) == [
        failed, ["runs", [[[4, 5]]]]]
    assert ask("changes", "hopeful", [early, (0, [[1], 6, True])], module="odd") == [
        failed, ["runs", [[7]]]]
    assert ask("changes", "careful", [early, (1, [[1], None, False])], module="odd") == [
        failed, ["runs", [[1]]]]
    [broken] = ask("changes", "hopeful", [(0, [[1], "text", True])], module="odd")
    assert broken == ["failed", 'TypeError: can only concatenate str (not "int") to str'
                      + at("draw.output + 1"), True]


def test_several_runs_are_merged(ask):
    rows = [1, 2, 3, 4]
    [[kind, runs]] = ask("changes", "parts", [(2, [[rows], None, False])])
    assert (kind, len(runs), runs[0][0] + runs[1][0]) == ("runs", 2, rows)
    outs = [[1], [2, 3]]
    assert ask("values", "merged", [(2, [[rows], None, outs])]) == [["value", [1, 2, 3]]]


def test_steps_pass_through_as_they_are(ask):
    found = ask("inputs", "steps", inputs(6), module="store")
    for kind, steps, _ in found:
        assert (kind, steps[0], steps[1][0], steps[2]) == (
            "input", ["reset"], "ingest", ["projection"])
    asked = [(index, [steps, None, False]) for index, (_, steps, _) in enumerate(found)]
    assert ask("changes", "twice", asked, module="store") == [
        ["runs", [[*steps[:2], *steps[1:]]]] for _, steps, _ in found]


def test_a_function_that_fails_says_where_on_one_line(ask):
    found = ask("inputs", "fails", inputs(9), module="odd")
    assert found[0] == ["input", [0], []]
    kind, text = found[1]
    assert (kind, len(text)) == ("failed", 300)
    assert text.startswith("ValueError: caf\\xe9\\n\\x1b[31m xxx")
    assert text.endswith("x..." + at("index == 1"))
    assert found[2] == ["failed", "SystemExit: 0" + at("index == 2")]
    assert found[3][1].startswith("RecursionError: maximum recursion depth exceeded")
    assert found[3][1].endswith(at("index == 3"))
    assert found[4:9] == [
        ["failed", "ValueError: no integer lies from 3 to 1" + at("index == 4")],
        ["failed", "Silent: an error that does not say which" + at("index == 5")],
        ["rejected", "not\\nthis"],
        ["failed", "KeyboardInterrupt" + at("index == 7")],
        ["input", [8], []]]


@pytest.mark.parametrize(("function", "text"), [
    ("tuples", "tuples returned a tuple; a generator returns the list of the arguments, such as "
               "[100, [1, 2]]"),
    ("none", "none returned None; a generator returns the list of the arguments, such as "
             "[100, [1, 2]]"),
    ("objects", "objects returned a object, which cannot be sent"),
    ("iterators", "iterators returned a list_iterator, which cannot be sent"),
    ("large", "large returned more than 1048576 bytes, which cannot be sent"),
    ("cycles", "cycles returned what is nested more than 180 deep, which cannot be sent"),
    ("absent", "there is no function absent in oracle/relations/odd.py")])
def test_an_answer_of_another_form_fails_alone(ask, function, text):
    assert ask("inputs", function, inputs(2), module="odd") == [["failed", text]] * 2


def test_a_transform_returns_arguments_or_runs_of_them(ask):
    asked = [(0, [[], None, False])]
    assert ask("changes", "no_runs", asked, module="odd") == [
        ["failed", "no_runs returned draw.runs() of no run", False]]
    for function in ("text_runs", "none", "tuples"):
        [[kind, text, used]] = ask("changes", function, asked, module="odd")
        assert (kind, used) == ("failed", False)
        assert text.endswith("a transform returns the list of the arguments of the follow-up run, "
                             "or draw.runs([...], [...])")
    assert ask("changes", "given", [(0, [[[1], 2], None, False])], module="odd") == [
        ["runs", [[[1], 2]]]]


def test_all_plain_values_come_through(ask):
    [[kind, made, _]] = ask("inputs", "plain", inputs(1), module="odd")
    assert (kind, made) == ("input", [
        None, True, -1, 2**300, 1.5, "\ud800", b"x", bytearray(b"y"), (1, (2,)), {3}, {1: [2]},
        frozenset({4}), Fraction(1, 3), datetime(2026, 1, 2, tzinfo=UTC)])
    assert ask("values", "same", [(0, [made, made, made, 1])], module="odd") == [
        ["value", [made, made, [made, 1]]]]


def test_inputs_are_copies_that_may_be_ruined(ask):
    asked = [(0, [[[[1]], bytearray(b"x")], None, False])] * 2
    assert ask("changes", "ruins", asked, module="odd") == [
        ["runs", [[[[], 99], [[[1]], bytearray(b"x"), 98]]]]] * 2


@pytest.mark.parametrize(("module", "text"), [
    ("broken", "SyntaxError: invalid syntax (oracle/relations/broken.py:2)"),
    ("needy", "ModuleNotFoundError: No module named 'absent' (oracle/relations/needy.py:1)"),
    ("missing", "there is no missing.py in oracle/relations")])
def test_a_module_that_cannot_be_loaded_fails_each_draw(ask, module, text):
    assert ask("inputs", "f", inputs(2), module=module) == [["failed", text]] * 2
    assert ask("changes", "f", [(0, [[], None, False])], module=module) == [
        ["failed", text, False]]


def test_modules_are_found_by_folder_whatever_they_are_called(ask):
    assert ask("inputs", "f", inputs(1), module="json") == [["input", ["_oracle_json"], []]]
    assert ask("inputs", "f", inputs(1), module="outside", path=[
        "oracle/relations", "oracle/more"]) == [["input", ["outside"], []]]
    [[_, (name, moment, days), _]] = ask("inputs", "f", inputs(1), module="calendar")
    assert (name, moment, days) == ("_oracle_calendar", datetime(2026, 1, 2), 7)
    for path in (".", "", "oracle/.."):
        assert ask("inputs", "f", inputs(2), module="top", path=[path]) == [
            ["input", [2], []]] * 2
    assert ask("inputs", "f", inputs(2), module="records") == [["input", [(5,)], [0]]] * 2


def test_files_of_the_row_are_read_below_the_tree(ask):
    files = [["prices", "fixtures/prices.csv"], ["", "oracle/seeds/a.csv"]]
    prices = ["fixtures/prices.csv", b"3,4\n", b"3,4\n", "of the oracle"]
    assert ask("inputs", "f", inputs(2), module="reader", files=files) == [
        ["input", prices, [0]],
        ["input", ["oracle/seeds/a.csv", b"1,2\n", b"3,4\n", "of the oracle"], [1]]]
    assert ask("inputs", "f", [(1, [0])], module="reader", files=files) == [["input", prices, [0]]]
    assert ask("inputs", "f", inputs(1), module="reader") == [
        ["failed", "LookupError: the row names no files: leases or seeds "
                   "(oracle/relations/reader.py:4)"]]


HOSTILE = [None, True, 0, -1.5, float("nan"), "", "text", b"\x00", (), {}, {"a": 1}, {1, 2}, [[]],
           [None, "1"], [float("nan")] * 3, [2**5000, -1], list(range(3_000)), ["\ud800"],
           Decimal("NaN"), [Decimal("sNaN")], [{"x": (1, frozenset({2}))}]]


def _deep(levels):
    return [_deep(levels - 1)] if levels else []


def test_no_output_of_a_candidate_stops_the_answers_to_others(ask):
    good = [7, 8, 9]
    for function, module in (("conserved", "allocation"), ("permuted_back", "allocation"),
                             ("scaled_back", "allocation"), ("merged", "allocation"),
                             ("members", "odd"), ("colliding", "odd"), ("same", "odd")):
        asked = []
        for out in (*HOSTILE, _deep(185)):
            asked += [(3, [[24, [1, 1, 1]], out, out]), (3, [[24, [1, 1, 1]], good, good])]
        found = ask("values", function, asked, module=module)
        assert {answer[0] for answer in found} <= {"value", "failed"}
        assert all(answer == found[1] for answer in found[1::2])
        assert all(answer[1].isascii() and answer[1].isprintable() and len(answer[1]) <= 300
                   for answer in found if answer[0] == "failed")


def test_keys_that_the_judge_would_not_read_are_refused_here(ask):
    out = list(range(200))
    assert ask("values", "colliding", [(0, [[], out, out])], module="odd") == [
        ["failed", "colliding returned more than 64 keys of one hash, which cannot be sent"]]
    out = [float("nan"), float("nan")]
    assert ask("values", "members", [(0, [[], out, out])], module="odd") == [
        ["failed", "members returned a key or member that is no number, which cannot be sent"]]


def test_one_process_that_is_asked_twice_answers_the_same(executor):
    def call(phase, module, function, *more, folder="oracle/relations"):
        setup = {"path": [folder], "module": module, "function": function,
                 "seed": SEED, "relation": "MR02", "files": []}
        return Call(f"asking:{phase}", wire.encode([setup, [[3, "domain", [], *more]]]))

    calls = [call("inputs", "odd", "counts", None), call("inputs", "allocation", "splits", None),
             call("changes", "allocation", "permuted", [[5, [1, 2, 3]], None, False]),
             call("inputs", "outside", "needs", None, folder="oracle/more")]
    assert executor.run_sequence(calls + calls[::-1]) == [
        *executor.run_many(calls), *executor.run_many(calls[::-1])]
