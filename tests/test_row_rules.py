"""What the rules about records take as options, and which repair they ask for."""

from __future__ import annotations

import pytest

from policyd.core import decoding, documents
from policyd.core.errors import FileInvalid
from policyd.core.rule import Next
from policyd.rules import BY_ID

ZONES, GROUPS = frozenset({"source", "oracle"}), frozenset({"maintainers", "agents"})


def decoded(rule: str, text: str):
    return decoding.decode(documents.parse(text.encode(), "p.yaml"), BY_ID[rule].options)


FAULTS = [
    # rule, options as written, the places of what is wrong
    ("gate-open", "{}", []),
    ("gate-open", "{source: src}", [("source",)]),
    ("bounded-renewals", "{}", []),
    ("bounded-renewals", "{days: {flake: 7, lease: 365}, times: {policy: 1}, bulk: 2}", []),
    ("bounded-renewals", "{days: {flakes: 7}}", [("days", "flakes")]),
    ("bounded-renewals", "{times: {leases: 7}}", [("times", "leases")]),
    ("bounded-renewals", "{days: {flake: 0}, times: {freeze: -1}}",
     [("days", "flake"), ("times", "freeze")]),
    ("bounded-renewals", "{bulk: 1}", [("bulk",)]),
    ("kept-rows", "{}", []),
    ("kept-rows", "{by: [agents, bookkeepers]}", [("by",)]),
    ("recorded-receipts", "{source: oracle}", []),
    ("recorded-receipts", "{source: src}", [("source",)]),
]


@pytest.mark.parametrize(("rule", "text", "places"), FAULTS)
def test_options_that_cannot_mean_anything_are_faults(rule, text, places):
    found = list(decoded(rule, text).faults(ZONES, GROUPS))
    assert [where for where, _ in found] == places
    assert all(message[0].islower() for _, message in found)


@pytest.mark.parametrize(("rule", "text"), [
    ("bounded-renewals", "{days: {flake: soon}}"), ("bounded-renewals", "{days: 30}"),
    ("kept-rows", "{by: maintainers}"), ("owned-rows", "{owners: [1]}"),
    ("bare-seeds", "{answers: expected}"), ("valid-records", "{strict: true}")])
def test_options_of_another_type_are_refused(rule, text):
    with pytest.raises(FileInvalid):
        decoded(rule, text)


REPAIRS = [
    # rule, example, kind of the repair, next
    ("gate-open", "source while a row is over", "wait", Next.WAIT),
    ("gate-open", "source with the very change that closes the gate", "edit", Next.EDIT),
    ("kept-rows", "a row removed by an agent", "give-back", Next.SPLIT),
    ("kept-rows", "a removal that arrives from another branch", "writer-pushes", Next.STOP),
    ("bare-seeds", "the last seeds go", "drop", Next.EDIT),
    ("bounded-renewals", "bulk re-dating", "edit", Next.SPLIT),
    ("bounded-renewals", "a third renewal", "edit", Next.EDIT),
    ("recorded-receipts", "a receipt with source, by a maintainer", "apart", Next.SPLIT),
]


@pytest.mark.parametrize(("rule", "title", "kind", "word"), REPAIRS)
def test_a_finding_asks_for_the_repair_that_mends_it(rule, title, kind, word):
    example = next(e for e in BY_ID[rule].rejects() if e.title == title)
    found, *_ = BY_ID[rule].check(example.given, example.options)
    assert (found.repair.kind, found.repair.next) == (kind, word)
    assert set(found.repair.paths) <= {place.path for place in found.places}


def test_one_push_can_break_several_bounds_each_told_once():
    example = next(e for e in BY_ID["bounded-renewals"].rejects() if e.title == "bulk re-dating")
    options = decoded("bounded-renewals", "{days: {lease: 5}, times: {lease: 1}}")
    found = list(BY_ID["bounded-renewals"].check(example.given, options))
    assert [one.says.split(" ", 1)[1] for one in found] == ["ends too late", "re-dated in bulk"]
    assert [len(one.places) for one in found] == [3, 3]
