"""What a pusher reads in the end, whichever way a push or a question went."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date, timedelta

import pytest

from policyd.core import telling
from policyd.core.evaluate import Verdict, Violation
from policyd.core.facts import Pusher
from policyd.core.gates import SOON, Gate
from policyd.core.paused import Pause
from policyd.core.policy import Mode
from policyd.core.repair import Block
from policyd.core.rows import DatedRow, Kind
from policyd.core.rule import Next
from policyd.core.telling import SHOWN, Answer
from policyd.rules import BY_ID

TODAY, MAIN = date(2026, 9, 7), "refs/heads/main"
RULE = BY_ID["gate-open"]
CLOSED = RULE.rejects()[0].given.updates[0].gate
FINDING = next(iter(RULE.check(RULE.rejects()[0].given, RULE.options())))
WAIT = Block("nothing you push opens it.", ("tell mei",), Next.WAIT)
FLAKE = DatedRow(Kind.FLAKE, "f.json", 3, "api.rates", "t.py::t", "mei", last=TODAY)
FREEZE = replace(FLAKE, kind=Kind.FREEZE, id="R1")
HOSTILE = "\x1b[2J\rpolicyd: accepted\n\u202e\udce9" + "x" * 90


def told(*modes: Mode, check: str | None = None, gate: Gate | None = None,
         everything: bool = False) -> list[str]:
    found = tuple(Violation(RULE, FINDING, mode, "default") for mode in modes)
    text = telling.answer(Answer(
        "abc123", Pusher("carol"), Verdict(found),
        {n: WAIT for n, mode in enumerate(modes) if mode is Mode.ENFORCE}, check, gate, TODAY),
        everything=everything)
    assert text == "" or text.endswith("\n")
    return text.splitlines()


def program(line: str) -> dict[str, object]:
    return json.loads(line.removeprefix("policyd "))


def flat(lines: list[str]) -> str:
    return " ".join(map(str.strip, lines))


def test_a_push_that_is_taken_is_told_nothing_but_warnings():
    assert told() == told(Mode.OBSERVE) == []
    warned = told(Mode.WARN)
    assert warned[0].startswith("policyd: warning: gate-open")
    assert told(Mode.ENFORCE)[0].startswith("policyd: gate-open: main closed by")
    assert program(told(Mode.ENFORCE)[-1])["next"] == "wait"


@pytest.mark.parametrize(("modes", "verdict", "after"), [
    ((), "accepted", "push"), ((Mode.WARN,), "accepted", "push"),
    ((Mode.OBSERVE,), "accepted", "push"),
    ((Mode.ENFORCE,), "refused", "wait"), ((Mode.ENFORCE, Mode.WARN), "refused", "wait")])
def test_everything_is_one_last_line_in_the_place_of_the_short_one(modes, verdict, after):
    lines = told(*modes, everything=True)
    said = program(lines[-1])
    assert (said["id"], said["verdict"], said["next"]) == ("abc123", verdict, after)
    assert [f["mode"] for f in said["findings"]] == [
        mode.value for mode in modes if mode is not Mode.OBSERVE]
    assert [line for line in lines if line.startswith("policyd {")] == lines[-1:]
    for finding in said["findings"]:
        assert finding["rule"] == "gate-open"
        assert finding["places"][0]["path"] == "tests/ledger/flake_ledger.json"
        assert ("do" in finding) is (finding["mode"] == "enforce")


@pytest.mark.parametrize(("gate", "says"), [
    (None, ""),
    (Gate(MAIN), f"main is open; nothing closes it within {SOON} days"),
    (Gate(MAIN, soon=(FREEZE,)), f"main is open; nothing closes it within {SOON} days"),
    (Gate(MAIN, soon=(FREEZE, FLAKE)),
     "main is open; row api.rates closes it behind 2026-09-07, owner mei"),
    (CLOSED, "main is closed to source by row billing.currency"),
    (replace(CLOSED, reasons=CLOSED.reasons * 3),
     "main is closed to source by row billing.currency and 2 more"),
])
def test_a_question_is_answered_with_the_gate(gate, says):
    lines = told(check=MAIN, gate=gate)
    assert lines[0] == "policyd: check: main would take this"
    assert flat(lines[1:-1]) == says
    assert program(lines[-1])["next"] == "push"
    refused = told(Mode.ENFORCE, check=MAIN, gate=gate)
    assert refused[0] == "policyd: check: main would refuse this"
    assert says in flat(refused)
    assert program(refused[-1])["next"] == "wait"
    assert told(Mode.WARN, check=MAIN)[1].startswith("policyd: warning: gate-open")


@pytest.mark.parametrize(("days", "says"), [
    (0, "closes main behind 2026-09-07, today is its last day"),
    (1, "closes main behind 2026-09-08, tomorrow is its last day"),
    (2, "closes main behind 2026-09-09, 2 days left")])
def test_a_row_that_ends_soon_is_told_with_its_days(days, says):
    row = replace(FLAKE, last=TODAY + timedelta(days=days))
    text = flat(telling.due([row], "main", TODAY).splitlines())
    assert text == f"policyd: note: flake row api.rates {says}; f.json:3, owner mei"
    assert "freeze row R1 ends 2026-09-07, today" in flat(
        telling.due([FREEZE], "main", TODAY).splitlines())


def test_so_many_rows_are_shown_and_the_rest_are_a_number():
    assert telling.due([], "main", TODAY) == ""
    assert telling.due([FLAKE] * SHOWN, "main", TODAY).count("policyd: note:") == SHOWN
    more = telling.due([FLAKE] * (SHOWN + 2), "main", TODAY)
    assert more.count("policyd: note:") == SHOWN
    assert more.endswith("  and 2 more; see `policyd status`\n")


def test_whatever_is_named_every_line_is_short_and_plain():
    row = replace(FLAKE, id=HOSTILE, owner=HOSTILE, path=HOSTILE)
    texts = [
        telling.due([row], HOSTILE, TODAY), telling.cannot_ask(HOSTILE, "abc123"),
        telling.paused(Pause("2026-09-07T12:00:00+00:00", HOSTILE, HOSTILE, "x")),
        "\n".join(told(check=f"refs/heads/{HOSTILE}", gate=Gate(MAIN, soon=(row,)))),
        "\n".join(told(Mode.ENFORCE, check=f"refs/heads/{HOSTILE}")[:3])]
    for text in texts:
        for line in text.splitlines():
            assert len(line) <= 72, line
            assert line.isascii()
            assert line.isprintable()
            assert "policyd: accepted" not in line[:20]
