"""Executions in all three modes: honest functions, errors, sequences, seeds, sites, other users."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from forgeries import told

from policyd.core.errors import CannotJudge
from policyd.replay import wire
from policyd.replay.execute import Call, Executor, Limits, Mode
from policyd.replay.outcome import Break, Broken, Raised, Value, digest
from policyd.replay.sandbox import available

WHY_NOT = available()
needs_sandbox = pytest.mark.skipif(WHY_NOT is not None, reason=f"no sandbox: {WHY_NOT}")
MODES = [pytest.param(Mode.STRICT, marks=needs_sandbox, id="strict"),
         pytest.param(Mode.WARM, marks=needs_sandbox, id="warm"),
         pytest.param(Mode.NONE, id="none")]

SOURCE = {
    "src/pkg/__init__.py": "",
    "src/pkg/mod.py": """
import os, sys, time
from pkg.errors import Odd

def allocate(total, weights):
    return [total * w // sum(weights) for w in weights]

def same(*values):
    return list(values)

def fail(text):
    raise Odd(text)

class Box:
    @staticmethod
    def of(x):
        return (x,)

count = 0
def counted():
    global count
    count += 1
    return count

def leave(x):
    if x == 2:
        os._exit(0)
    return counted()

def words():
    return list({"a", "b", "c", "d", "e", "f", "g", "h"})

def seen():
    flags = sys.flags
    return [sorted(os.environ), flags.safe_path, flags.no_user_site, flags.no_site,
            flags.dont_write_bytecode, sys.argv, os.getcwd(),
            time.tzname[0], sys.stdin.read(), "policyd" in sys.modules]

def third():
    import third_party
    return third_party.NAME

def sleep(x):
    time.sleep(x)
""",
    "src/pkg/errors.py": "class Odd(Exception): pass\n",
    "src/broken.py": "def f(: pass\n",
    "other/extra.py": "def f(): return 'other root'\n",
    "site/third_party.py": "NAME = 'third'\n",
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("tree")
    for name, text in SOURCE.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755)
    return folder


@pytest.fixture(scope="module", params=MODES)
def executor(request, tree) -> Iterator[Executor]:
    with Executor(tree, roots=["src", "other"], mode=request.param) as made:
        yield made


def call(name: str, *arguments: object, module: str = "pkg.mod") -> Call:
    return Call(f"{module}:{name}", wire.encode(list(arguments)))


def value(outcome):
    assert isinstance(outcome, Value), outcome
    return wire.decode(outcome.data)


def test_each_execution_comes_to_what_it_computes_in_order(executor):
    calls = [call("allocate", n, [1, 2, 3]) for n in range(6)]
    expected = [[n * w // 6 for w in (1, 2, 3)] for n in range(6)]
    assert [value(outcome) for outcome in executor.run_many(calls)] == expected
    assert executor.run_many([]) == []


def test_arguments_and_results_keep_their_types(executor):
    sent = [1, 1.0, True, (b"x", {"k": {2}}), "\ud800", None]
    assert executor.run(call("same", *sent)) == Value(wire.encode(sent))


def test_an_error_has_a_name_and_says_where(executor):
    raised = executor.run(call("fail", "caf\u00e9 \x1b[31m"))
    assert raised == Raised("pkg.errors.Odd")
    assert (raised.message, raised.trace) == ("caf\\xe9 \\x1b[31m", ("pkg/mod.py:12 in fail",))


@pytest.mark.parametrize(("entry", "name"), [
    ("broken:f", "SyntaxError"), ("absent:f", "ModuleNotFoundError"),
    ("pkg.mod:absent", "AttributeError")])
def test_what_cannot_be_imported_is_an_error_at_import(executor, entry, name):
    assert executor.run(Call(entry, b"[]")) == Raised(name, at_import=True)


def test_methods_and_other_roots_are_found(executor):
    assert value(executor.run(call("Box.of", 1))) == (1,)
    assert value(executor.run(call("f", module="extra"))) == "other root"


def test_processes_are_clean_and_a_sequence_is_one_process(executor):
    calls = [call("counted")] * 3
    assert [value(outcome) for outcome in executor.run_many(calls)] == [1, 1, 1]
    assert [value(outcome) for outcome in executor.run_sequence(calls)] == [1, 2, 3]
    assert [value(outcome) for outcome in executor.run_sequence(calls)] == [1, 2, 3]
    assert executor.run_sequence([]) == []


def test_a_break_ends_a_sequence_and_leaves_the_rest_unreached(executor):
    found = executor.run_sequence([call("leave", n) for n in range(5)])
    assert [told(outcome) for outcome in found] == [
        "value 1", "value 2", "broken missing", "broken unreached", "broken unreached"]
    assert value(executor.run(call("counted"))) == 1


def test_an_error_does_not_end_a_sequence(executor):
    found = executor.run_sequence([call("counted"), call("fail", "x"), call("counted")])
    assert [told(outcome) for outcome in found] == ["value 1", "raised pkg.errors.Odd", "value 2"]


def test_a_candidate_sees_a_bare_interpreter(executor):
    environment, *flags, argv, folder, zone, stdin, policyd = value(executor.run(call("seen")))
    extra = set() if executor.mode is Mode.NONE else {"PWD"}
    assert set(environment) - {"LC_CTYPE"} == {"LC_ALL", "PYTHONHASHSEED", "TZ"} | extra
    assert (flags, argv, zone, stdin, policyd) == ([True, 1, 1, 1], [""], "UTC", "", False)
    assert folder == ("/" if executor.mode is Mode.NONE else "/tmp")


def test_the_seed_of_hashes_is_the_judges(executor, tree):
    one, two = executor.run_many([call("words")] * 2)
    assert one == two
    seeds = set()
    for seed in (1, 2, 3):
        with Executor(tree, mode=executor.mode, hash_seed=seed, jobs=1) as other:
            seeds.add(other.run(call("words")))
    assert len(seeds | {one}) > 1


def test_without_a_site_there_is_the_standard_library_alone(executor, tree):
    assert executor.run(call("third")) == Raised("ModuleNotFoundError")
    assert executor.run(call("same", module="pytest")) == Raised("ModuleNotFoundError", True)
    with Executor(tree, mode=executor.mode, site=tree / "site", jobs=1) as other:
        assert value(other.run(call("third"))) == "third"


def test_what_takes_too_long_is_ended_and_others_are_not(executor, tree):
    with Executor(tree, mode=executor.mode, limits=Limits(wall_seconds=1.0)) as other:
        began = time.monotonic()
        found = other.run_many([call("sleep", 60), *[call("counted")] * 4])
        assert time.monotonic() - began < 30
    assert [told(outcome) for outcome in found] == ["broken timeout", *["value 1"] * 4]


@needs_sandbox
def test_a_break_in_a_warm_sandbox_is_tried_again_strictly(tree):
    calls = [call("counted"), call("leave", 2), call("fail", "x")]
    with Executor(tree, mode=Mode.WARM) as executor:
        confirmed = executor.run_many(calls, confirm=True)
        assert executor.strictly([]) == []
    assert [told(outcome) for outcome in confirmed] == [
        "value 1", "broken missing", "raised pkg.errors.Odd"]


def test_outcomes_are_one_digest_however_often_they_are_made(executor):
    calls = [call("words"), call("fail", "x"), call("leave", 2), call("allocate", 9, [1, 2])]
    assert len({digest(executor.run_many(calls)) for _ in range(3)}) == 1


def test_a_digest_counts_what_counts():
    assert digest([Raised("E", False, "a", ("b",))]) == digest([Raised("E")])
    different = [[], [Value(b"1")], [Value(b"1"), Value(b"1")], [Value(b"11")], [Raised("E")],
                 [Raised("E", True)], [Broken(Break.MISSING)], [Broken(Break.SIGNAL)]]
    assert len({digest(outcomes) for outcomes in different}) == len(different)


@pytest.mark.parametrize(("entry", "data"), [
    ("mod", b"[]"), ("mod:", b"[]"), (":f", b"[]"), ("a b:f", b"[]"), ("m:f()", b"[]"),
    ("m:f", b"1"), ("m:f", b'{"tuple":[]}'), ("m:f", b"[" + b" " * (2 << 20))])
def test_a_call_that_makes_no_sense_is_refused_before_it_is_made(entry, data):
    with pytest.raises(ValueError, match=r"entry point|input"):
        Call(entry, data)


def test_a_judge_that_gives_up_leaves_no_process(executor, tree):
    from test_forgery import children

    before = children()
    other = Executor(tree, mode=executor.mode)
    def judge():
        with other:
            other.run(call("counted"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        judge()
    assert children() <= before


@pytest.mark.parametrize("mode", MODES[:2])
def test_a_sandbox_that_fails_is_no_outcome(mode, tmp_path):
    with Executor(tmp_path / "absent", mode=mode) as other, \
            pytest.raises(CannotJudge, match="absent"):
        other.run(call("counted"))


def test_without_bubblewrap_nothing_runs(tree, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "install the package `bubblewrap`" in (available() or "")
    with pytest.raises(CannotJudge, match="`bubblewrap`"):
        Executor(tree, mode=Mode.STRICT)
    with Executor(tree, mode=Mode.NONE, jobs=1) as executor:
        assert value(executor.run(call("counted"))) == 1


SCRIPT = """
import sys
from pathlib import Path
from policyd.replay import wire
from policyd.replay.execute import Call, Executor, Mode
for mode in (Mode.STRICT, Mode.WARM):
    with Executor(Path(sys.argv[1]), roots=["src", "other"], mode=mode) as executor:
        outcomes = executor.run_many([Call("pkg.mod:allocate", wire.encode([6, [1, 2, 3]])),
                                      Call("who:f", wire.encode([]))])
        print([outcome.data.decode() for outcome in outcomes])
"""
WHO = """
import os, re
def f():
    status = open("/proc/self/status").read()
    for place in "/x", "/replay/x", "/tree/x", "/dev/x", "/etc/x":
        try: os.mkdir(place)
        except OSError: continue
        return place
    return os.getuid(), os.getgroups(), re.findall("Cap(?:Prm|Eff|Amb):.0*([1-9a-f]+)", status)
"""


@needs_sandbox
def test_an_ordinary_user_has_sandboxes_too(open_python, open_folder, tree):
    subprocess.run(["cp", "-r", str(tree), str(open_folder / "tree")], check=True)
    (open_folder / "tree/other/who.py").write_text(WHO)
    run = subprocess.run([open_python, "-I", "-B", "-c", SCRIPT, open_folder / "tree"], user=65534,
                         group=65534, extra_groups=[], capture_output=True, text=True, cwd="/")
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines() == [
        str(["[1,2,3]", '{"tuple":[65534,[],[]]}'])] * 2


@needs_sandbox
@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes somebody else")
@pytest.mark.parametrize("mode", [Mode.STRICT, Mode.WARM], ids=lambda mode: mode.value)
def test_a_candidate_of_root_is_not_root(mode, tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src/who.py").write_text(WHO)
    tmp_path.chmod(0o755)
    with Executor(tmp_path, mode=mode, jobs=1) as executor:
        user, groups, capabilities = value(executor.run(Call("who:f", b"[]")))
    assert (user > 0x7FFFFFFF, groups, capabilities) == (True, [], [])
