"""What is told of a closed gate: the row, the day, the owner, and the way out for each reader."""

from __future__ import annotations

import json

import pytest

from policyd.core import closure
from policyd.core.evaluate import Violation
from policyd.core.gates import Cause, Reason
from policyd.core.owners import is_known, named
from policyd.core.policy import Mode
from policyd.core.render import Told, rejection
from policyd.core.repair import Ground, advice, block
from policyd.core.rows import Kind
from policyd.rules import BY_ID

MEMBERS = {"maintainers": ("mei", "joe"), "billing": ("mei", "joe"), "agents": ("agent-7", "bot-*")}
RULE = BY_ID["gate-open"]


def shown(title: str) -> list[str]:
    """The whole message of an example."""
    example = next(e for e in RULE.rejects() if e.title == title)
    found = tuple(RULE.check(example.given, example.options))
    ground = Ground(found[0].ref, "f" * 40, None, "", "refs/heads/main-4e1c0d", "f" * 40)
    text = rejection(Told("4e1c0d", example.given.pusher, [
        Violation(RULE, one, Mode.ENFORCE, "default") for one in found],
        {0: advice(found[0]) or block(found[0], ground, "4e1c0d")}))
    return text.splitlines()


def test_an_agent_is_told_the_row_its_day_its_owner_and_that_waiting_is_all():
    assert shown("source while a row is over") == [
        "policyd: gate-open: main closed by row billing.currency; src/app.py",
        "  agent-7 to refs/heads/main, closed to source",
        "  tests/ledger/flake_ledger.json:5 last day 2026-09-22, closed since 2026-09-23, "
        "owner billing (mei, joe)",
        "why: expired debt stops source until a maintainer settles it.",
        "do:  nothing in your push is wrong and nothing you push opens it.",
        "  git push origin ffffffffffff:refs/heads/main-4e1c0d",
        '  # tell billing: "row billing.currency expired 2026-09-22"',
        "  # maintainers: in a push of its own: policyd record flake remove billing.currency",
        "  # open again? git push origin HEAD:refs/check/main",
        'policyd {"id":"4e1c0d","rule":"gate-open","next":"wait"}']


def test_a_maintainer_is_told_what_opens_it():
    lines = shown("source by a maintainer")
    assert lines[4] == "do:  nothing in your push is wrong; keep it until the gate is open:"
    assert ("  # first: in a push of its own: policyd record flake remove billing.currency"
            in lines)
    assert not any("nothing you push" in line for line in lines)


def test_only_a_maintainer_reads_an_operators_command():
    held, moved = shown("source past an operator's hold"), \
        shown("source on a branch that moved by itself")
    assert not any("policyd gate" in line for line in held)
    assert "  held by ops: fire drill" in held
    assert any("policyd movement accept REPO main --reason" in line for line in moved)
    assert "  moved past policyd, 9d8e11c00000 to 71aa0c200000" in moved


def test_who_closes_the_gate_by_the_same_push_is_told_to_mend_it():
    lines = shown("source with the very change that closes the gate")
    assert lines[4] == "do:  the gate is open; this push closes it by oracle/quarantine.yaml:4."
    assert json.loads(lines[-1].removeprefix("policyd "))["next"] == "edit"


def test_several_reasons_are_counted_and_listed():
    lines = shown("source past a leased corpus that is gone, and more")
    assert lines[0].endswith("main closed by lease rates and 1 more; src/app.py")
    assert [line.split(":")[0] for line in lines[2:4]] == [
        "  fixtures/leases/rates.yaml", "  tests/ledger/flake_ledger.json"]


@pytest.mark.parametrize("cause", Cause)
def test_every_cause_has_words(cause):
    reason = Reason(cause, "row x", "oracle/q.yaml", 4, "x", owner="mei")
    assert closure.WHY[cause].endswith(".")
    assert closure.brief(reason)
    assert closure.news(reason, "main")
    assert closure.whom(reason, MEMBERS) == ("the operator" if cause is Cause.MOVED else "mei")
    assert closure.settled_by(reason, "main")


def test_who_has_no_owner_to_tell_tells_the_maintainers():
    reason = Reason(Cause.INVALID, "expected a date", "oracle/q.yaml", 4)
    assert closure.whom(reason, MEMBERS) == "mei, joe"
    assert closure.whom(reason, {}) == "a maintainer"


OWNERS = [
    # owner, known, named
    ("billing", True, "billing (mei, joe)"),
    ("mei", True, "mei"),
    ("bot-12", True, "bot-12"),
    ("nobody", False, "nobody"),
    ("me", False, "me"),
    ("", False, ""),
]


@pytest.mark.parametrize(("owner", "known", "name"), OWNERS)
def test_an_owner_is_a_group_or_somebody_in_one(owner, known, name):
    assert is_known(owner, MEMBERS) == known
    assert named(owner, MEMBERS) == name


def test_a_long_group_is_named_by_its_first_members():
    assert named("all", {"all": tuple("abcdef")}) == "all (a, b, c, d and others)"
    assert named("none", {"none": ()}) == "none"


@pytest.mark.parametrize(("kind", "row", "command"), [
    (Kind.FLAKE, "api.rates", "policyd record flake remove api.rates"),
    (Kind.FLAKE, "-x", "policyd record flake remove -- -x"),
    (Kind.QUARANTINE, "a.py::t[1 2]", "policyd record quarantine remove 'a.py::t[1 2]'"),
    (Kind.LEASE, "rates", "policyd record lease renew rates"),
    (Kind.POLICY, "MR02", None), (None, "x", None), (Kind.FLAKE, None, None),
])
def test_a_row_that_is_over_names_the_command_that_settles_it(kind, row, command):
    reason = Reason(Cause.EXPIRED, "row x", "oracle/q.yaml", 4, row, kind)
    assert closure.settled_by(reason, "main") == (
        f"in a push of its own: {command}" if command else
        "remove or renew the row in oracle/q.yaml, pushed alone")
