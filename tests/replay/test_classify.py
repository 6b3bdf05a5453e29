"""Each bucket of a relation, with a candidate that really does it."""

from __future__ import annotations

from datetime import date

import pytest
from trials import Bench, Found, needs_sandbox, row

pytestmark = needs_sandbox

SOURCE = """
import os, time

def honest(n):
    return 7

def by_value(n):
    return n % 3

def by_exception(n):
    if n % 2:
        return {}[n]
    return 7

def by_exit(n):
    if n > 5:
        os._exit(0)
    return 7

def by_system_exit(n):
    raise SystemExit(0)

seen = []

def remembers(n):
    seen.append(n)
    return len(seen) > 1

def of_the_clock(n):
    return time.monotonic_ns()

def of_hashes(n):
    return list({"a", "b", "c", "d", "e", "f", "g", "h"})

def of_chance(n):
    return os.urandom(1)[0] < 128

def refuses(n):
    raise ValueError(n)

def mostly_refuses(n):
    if n % 10:
        raise ValueError(n)
    return 7

def object_of(n):
    return object()
"""

ROWS = [
    row("holds", "m:honest"),
    row("value", "m:by_value"),
    row("exception", "m:by_exception"),
    row("exit", "m:by_exit"),
    row("system-exit", "m:by_system_exit", arity=1, compare="raises"),
    row("policy", "m:by_value", status="policy", owner="mei", expires=date(2026, 12, 1)),
    row("policy-exit", "m:by_exit", status="policy", owner="mei", expires=date(2026, 12, 1)),
    row("hysteresis", "m:remembers"),
    row("clock", "m:of_the_clock", holds="is_int"),
    row("hashes", "m:of_hashes", compare="bag"),
    row("chance", "m:of_chance", holds="is_bool", draws=16),
    row("vacuous", "m:refuses"),
    row("mostly-vacuous", "m:mostly_refuses", transform="ten_more"),
    row("raises", "m:refuses", arity=1, compare="raises"),
    row("same-call", "m:honest", transform="same_call"),
    row("same-error", "m:refuses", transform="same_call", compare="raises"),
    row("unsendable", "m:object_of"),
    row("absent", "m:absent"),
    row("absent-raises", "m:absent", arity=1, compare="raises"),
]
FUNCTIONS = """
def is_bool(draw, out):
    return type(out) is bool

def ten_more(draw, n):
    return [n + 10]
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory) -> Found:
    folder = tmp_path_factory.mktemp("classify")
    return Bench(folder, ROWS, FUNCTIONS, {"src/m.py": SOURCE}).run()


def test_what_holds_is_told_with_nothing(found):
    one = found["holds"]
    assert (one.bucket.value, one.cause.value, one.first, one.input, one.reason) == (
        "holds", "", None, "", "")


@pytest.mark.parametrize(("name", "reason"), [
    ("value", "the value differs"),
    ("exit", "it ends without an answer (it ended without an answer)"),
    ("system-exit", "it raises SystemExit where it must refuse"),
    ("unsendable", "it returns what is no plain value (a builtins.object)"),
    ("absent", "its import raises AttributeError: module 'm' has no attribute 'absent'"),
    ("absent-raises", "its import raises AttributeError: module 'm' has no attribute 'absent'")])
def test_a_break_blocks_and_says_how(found, name, reason):
    one = found[name]
    assert (one.bucket.value, one.cause.value, one.reason) == ("block", "breaks", reason)
    assert one.counts.broken > 0
    assert one.first is not None


def test_an_error_blocks_with_its_trace(found):
    one = found["exception"]
    assert one.bucket.value == "block"
    assert one.reason == "the follow-up run alone: it raises KeyError: 1"
    assert one.trace == ("m.py:12 in by_exception",)
    assert (one.input, one.shrunk) == ("(0)", True)


def test_a_policy_row_that_breaks_is_listed_with_owner_and_last_day(found):
    one = found["policy"]
    assert (one.bucket.value, one.owner, one.last) == (
        "policy-sensitive", "mei", date(2026, 12, 1))
    assert one not in found.replay.refusing
    assert "policy breaks, a policy row of mei until 2026-12-01" in found.replay.summary


def test_what_remembers_is_hysteresis_though_a_policy_row_ends_the_process(found):
    one = found["hysteresis"]
    assert (one.bucket.value, one.counts.broken) == ("hysteresis", 0)
    assert one.polluters == ("(hysteresis, 0)",)
    assert one in found.replay.refusing


@pytest.mark.parametrize(("name", "reason"), [
    ("clock", "identical runs differ: a clock or chance"),
    ("chance", "identical runs differ: a clock or chance"),
    ("hashes", "identical runs differ with the seed of hashes: the order of a set, or an address")])
def test_a_flicker_blocks_and_says_of_what(found, name, reason):
    one = found[name]
    assert (one.bucket.value, one.cause.value, one.reason) == ("block", "flickers", reason)
    assert one.polluters == ()


@pytest.mark.parametrize(("name", "reason"), [
    ("vacuous", "both runs raise ValueError"), ("mostly-vacuous", "both runs raise ValueError"),
    ("same-call", "both runs are the same call"), ("same-error", "both runs are the same call")])
def test_pairs_that_prove_nothing_block(found, name, reason):
    one = found[name]
    assert (one.bucket.value, one.cause.value, one.reason) == ("block", "vacuous", reason)
    assert one.counts.vacuous > one.counts.applied / 4
    assert one.counts.broken == 0
    assert bool(one.trace) == ("raise" in reason)


def test_a_property_may_be_that_it_raises(found):
    assert found["raises"].bucket.value == "holds"
