from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policyd.core.chain import Position
from policyd.core.errors import CannotJudge
from policyd.core.facts import ZERO, Op, Update
from policyd.core.index import (
    Index,
    Movement,
    Pending,
    accepted,
    from_json,
    logged,
    replayed,
    settle,
    to_json,
    watched,
    with_accepted,
)

KEY = "0123456789abcdef" * 2
A, B, C, D = (digit * 40 for digit in "abcd")
MAIN, NEXT = "refs/heads/main", "refs/heads/next"
NOON = "2026-05-04T12:00:00.000+00:00"


def index(branches: Mapping[str, str] | None = None, *pending: Pending,
          extra: tuple[str, ...] = (), empty: bool = False) -> Index:
    return Index(KEY, NOON, empty, branches or {}, extra, pending)


def step(old: str, new: str, ref: str = MAIN, *, rewrites: bool = False, at: str = NOON) -> Pending:
    return Pending(ref, old, new, rewrites, at)


def update(ref: str, old: str | None, new: str | None, op: Op = Op.UPDATE, *,
           guarded: bool = True) -> Update:
    return Update(ref, op, old, new, guarded=guarded)


def days_later(days: float) -> str:
    return (datetime.fromisoformat(NOON) + timedelta(days=days)).isoformat()


def test_a_tip_follows_a_chain_of_accepted_pushes():
    found, movements = settle(index({MAIN: A}, step(A, B), step(B, C)), {MAIN: C})
    assert (found.branches, movements) == ({MAIN: C}, ())


def test_an_accepted_push_that_took_no_effect_means_nothing():
    found, movements = settle(index({MAIN: A}, step(A, B)), {MAIN: A})
    assert (found.branches, found.extra, movements) == ({MAIN: A}, (), ())


def test_a_ref_that_moved_behind_the_hook_keeps_its_recorded_tip():
    found, movements = settle(index({MAIN: A}, step(A, B)), {MAIN: D})
    assert found.branches == {MAIN: A}
    assert movements == (Movement(MAIN, A, D),)


def test_a_chain_that_starts_elsewhere_explains_nothing():
    _, movements = settle(index({MAIN: A}, step(B, C)), {MAIN: C})
    assert movements == (Movement(MAIN, A, C),)


def test_a_step_of_another_branch_explains_nothing():
    _, movements = settle(index({MAIN: A, NEXT: A}, step(A, B, NEXT)), {MAIN: B, NEXT: A})
    assert movements == (Movement(MAIN, A, B),)


def test_a_branch_deleted_behind_the_hook_is_a_movement_to_nothing():
    found, movements = settle(index({MAIN: A}), {MAIN: None})
    assert (found.branches, movements) == ({MAIN: A}, (Movement(MAIN, A, None),))


def test_a_deletion_leaves_its_tip_accepted():
    found, movements = settle(index({MAIN: A, NEXT: B}, step(B, ZERO, NEXT)),
                              {MAIN: A, NEXT: None})
    assert (found.branches, found.extra, movements) == ({MAIN: A}, (B,), ())


def test_a_branch_deleted_and_created_again_is_one_chain():
    found, _ = settle(index({MAIN: A}, step(A, ZERO), step(ZERO, B)), {MAIN: B})
    assert (found.branches, found.extra) == ({MAIN: B}, (A,))


def test_a_rewrite_leaves_its_old_tip_accepted():
    pending = step(A, B), step(B, C, rewrites=True)
    found, _ = settle(index({MAIN: A}, *pending), {MAIN: C})
    assert (found.branches, found.extra) == ({MAIN: C}, (B,))


def test_a_created_branch_is_recorded_and_ends_the_empty_repository():
    found, movements = settle(index({}, step(ZERO, A), empty=True), {MAIN: A})
    assert (found.branches, found.empty, movements) == ({MAIN: A}, False, ())


def test_a_creation_that_took_no_effect_leaves_the_repository_empty():
    found, movements = settle(index({}, step(ZERO, A), empty=True), {MAIN: None})
    assert (found.branches, found.empty, movements) == ({}, True, ())


def test_only_guarded_branches_become_pending():
    updates = [update(MAIN, A, B), update("refs/tags/v1", None, A, Op.CREATE),
               update("refs/heads/topic", A, B, guarded=False),
               update(NEXT, A, None, Op.DELETE)]
    assert with_accepted(index({MAIN: A}), updates, NOON).pending == (
        step(A, B), step(A, ZERO, NEXT))


def test_accepted_history_is_what_the_policy_guards_today_and_extra():
    there = index({MAIN: C, NEXT: A, "refs/heads/old": B}, extra=(D, C))
    assert accepted(there, lambda ref: ref != "refs/heads/old") == (A, C, D)


def test_steps_older_than_a_day_are_dropped_once_they_explain_nothing_more():
    old, young = step(A, B, at=days_later(-3)), step(B, C, at=days_later(0))
    found, movements = settle(index({MAIN: A}, old, young), {MAIN: C})
    assert (found.branches, found.pending, movements) == ({MAIN: C}, (young,), ())


def test_a_long_silence_does_not_drop_the_step_that_explains():
    there = with_accepted(index({MAIN: A}, step(A, B)), [update(NEXT, None, A)], days_later(9))
    assert settle(there, {MAIN: B, NEXT: A})[0].branches == {MAIN: B, NEXT: A}


def test_of_many_steps_the_newest_thousand_stay_after_all_have_explained():
    names = [A, *(f"{n:040x}" for n in range(1, 3_001))]
    steps = [step(old, new) for old, new in pairwise(names)]
    found, movements = settle(index({MAIN: A}, *steps), {MAIN: names[-1]})
    assert (found.branches, movements) == ({MAIN: names[-1]}, ())
    assert found.pending == tuple(steps[-1_000:])


def test_a_replay_of_the_log_is_what_recording_did():
    updates = [update(MAIN, A, B, Op.REWRITE), update(NEXT, None, A, Op.CREATE)]
    entry = {"key": KEY, "verdict": "accepted", "updates": logged(updates), "time": NOON}
    here = Position(7, "f" * 64)
    expected = replace(with_accepted(index({MAIN: A}), updates, NOON), applied=here)
    assert replayed(index({MAIN: A}), entry, here) == expected


def test_a_replay_passes_over_refusals_and_other_repositories():
    entry = {"key": KEY, "verdict": "refused", "updates": logged([update(MAIN, A, B)]),
             "time": NOON}
    assert replayed(index(), entry, Position(7, "f" * 64)).pending == ()
    other = {**entry, "verdict": "accepted", "key": "f" * 32}
    assert replayed(index(), other, Position(7, "f" * 64)) == index()


def test_names_in_any_bytes_survive_the_file():
    ref = b"refs/heads/caf\xe9\xff/\xf0\x9f\x98\x80".decode("utf-8", "surrogateescape")
    there = replace(index({ref: A}, step(A, B, ref, rewrites=True), extra=(C,)),
                    applied=Position(3, "e" * 64))
    data = to_json(there)
    assert data.isascii()
    assert rb"\udce9\udcff" in data
    assert from_json(data, source="x") == there


@pytest.mark.parametrize("damage", [
    b"", b"{", b"[]", b"null", b"{}", b"\xff", b"[" * 100_000, b'{"format":4}',
], ids=lambda data: repr(data[:12]))
def test_a_damaged_file_is_named_with_what_to_do(damage: bytes):
    with pytest.raises(CannotJudge, match=r"index /s/k\.json is damaged .*policyd enroll REPO"):
        from_json(damage, source="index /s/k.json")


@pytest.mark.parametrize(("found", "put"), [
    (f'"{A}"', '"HEAD"'), ("refs/heads/main", "main"), (f'"key":"{KEY}"', '"key":"../x"'),
    ('"empty":false', '"empty":0'), ('"enrolled":"2026', '"enrolled":"x2026'),
    ('"applied":[0', '"applied":[-1'), ("+00:00", ""), ('"pending":[[', '"pending":[["",'),
])
def test_no_field_takes_what_does_not_belong_there(found: str, put: str):
    text = to_json(index({MAIN: A}, step(A, B))).decode()
    assert found in text
    with pytest.raises(CannotJudge, match="is damaged"):
        from_json(text.replace(found, put).encode(), source="x")


def test_the_first_move_of_a_branch_and_day_is_kept_for_a_year():
    def moved(there: Index, old: str, new: str, at: str) -> Index:
        pending = replace(there, pending=(*there.pending, step(old, new, at=at)))
        return settle(pending, {MAIN: new})[0]

    there = moved(index({MAIN: A}), A, B, "2026-03-01T09:00:00+00:00")
    there = moved(there, B, C, "2026-03-01T17:00:00+00:00")
    there = moved(there, C, D, "2026-03-02T09:00:00+00:00")
    assert [(m.old, m.at[:13]) for m in there.moves] == [
        (A, "2026-03-01T09"), (C, "2026-03-02T09")]
    assert from_json(to_json(there), source="x") == there
    there = moved(there, D, A, "2027-03-02T17:00:00+00:00")
    assert [m.old for m in there.moves] == [C, D]


def test_a_step_that_git_did_not_take_is_no_move():
    there, _ = settle(index({MAIN: A}, step(A, B)), {MAIN: A})
    assert there.moves == ()


def test_another_format_is_told_from_damage():
    data = to_json(index()).replace(b'"format":4', b'"format":5')
    with pytest.raises(CannotJudge, match=r"written by another version of policyd \(format 5"):
        from_json(data, source="x")


# A server as simple as it can be: pushes are accepted on the value that their process saw, take
# effect at any later moment where the ref still has that value, or never. Behind the hook refs
# take any value.

REFS = (MAIN, NEXT)
VALUES = (ZERO, A, B, C, D)


def rewrites(old: str, new: str) -> bool:
    return ZERO not in (old, new) and new < old


@dataclass
class Server:
    live: dict[str, str] = field(default_factory=lambda: dict.fromkeys(REFS, ZERO))
    seen: list[tuple[str, str]] = field(default_factory=list)
    waiting: list[tuple[str, str, str]] = field(default_factory=list)
    left: set[str] = field(default_factory=set)

    def look(self, ref: str) -> None:
        self.seen.append((ref, self.live[ref]))

    def finish(self, which: int) -> None:
        ref, old, new = self.waiting.pop(which)
        if self.live[ref] == old:
            self.live[ref] = new
            if old != ZERO and (new == ZERO or rewrites(old, new)):
                self.left.add(old)

    def refs(self) -> dict[str, str | None]:
        return {ref: None if oid == ZERO else oid for ref, oid in self.live.items()}


def reachable(steps: set[tuple[str, str]], start: str) -> set[str]:
    """By exhaustion, unlike the search under test."""
    found = {start}
    while more := {new for old, new in steps if old in found} - found:
        found |= more
    return found


ACTIONS = st.one_of(
    st.tuples(st.just("look"), st.sampled_from(REFS)),
    st.tuples(st.just("accept"), st.integers(0, 9), st.sampled_from(VALUES)),
    st.tuples(st.just("finish"), st.integers(0, 9)),
    st.tuples(st.just("settle")),
)
BEHIND = st.tuples(st.just("behind"), st.sampled_from(REFS), st.sampled_from(VALUES))


def act(server: Server, there: Index, action: tuple) -> Index:
    match action:
        case "look", ref:
            server.look(ref)
        case "accept", which, new if server.seen:
            ref, old = server.seen[which % len(server.seen)]
            if old != new:
                server.waiting.append((ref, old, new))
                op = Op.REWRITE if rewrites(old, new) else Op.UPDATE
                there = with_accepted(there, [update(ref, old, new, op)], NOON)
        case "finish", which if server.waiting:
            server.finish(which % len(server.waiting))
        case "behind", ref, new:
            server.live[ref] = new
    return there


@settings(max_examples=250, deadline=None)
@given(st.lists(ACTIONS, max_size=40))
def test_honest_pushes_in_any_order_are_never_movements(actions: list[tuple]):
    server, there = Server(), index()
    for action in [*actions, ("settle",)]:
        there = act(server, there, action)
        if action[0] == "settle":
            there, movements = settle(there, server.refs())
            assert movements == ()
            assert there.branches == {r: v for r, v in server.refs().items() if v}


@settings(max_examples=250, deadline=None)
@given(st.lists(st.one_of(ACTIONS, BEHIND), max_size=40))
def test_settling_is_reachability_over_accepted_steps(actions: list[tuple]):
    server, there = Server(), index()
    tips, steps = dict.fromkeys(REFS, ZERO), {ref: set() for ref in REFS}
    for action in [*actions, ("settle",)]:
        there = act(server, there, action)
        for pending in there.pending:
            steps[pending.ref].add((pending.old, pending.new))
        if action[0] != "settle":
            continue
        there, movements = settle(there, server.refs())
        explained = {ref for ref in REFS
                     if server.live[ref] in reachable(steps[ref], tips[ref])}
        tips |= {ref: server.live[ref] for ref in explained}
        assert there.branches == {ref: tip for ref, tip in tips.items() if tip != ZERO}
        assert {m.ref for m in movements} == set(watched(there)) - explained
        assert settle(there, server.refs()) == (there, movements)


@settings(max_examples=250, deadline=None)
@given(st.lists(ACTIONS, max_size=40))
def test_settled_after_each_step_exactly_the_tips_left_behind_are_extra(actions: list[tuple]):
    server, there = Server(), index()
    for action in actions:
        there = act(server, there, action)
        there, _ = settle(there, server.refs())
        assert set(there.extra) == server.left


def test_the_clock_of_the_log_may_use_any_zone():
    late = datetime.fromisoformat(NOON).astimezone(UTC).isoformat().replace("+00:00", "Z")
    found, _ = settle(index({MAIN: A}, step(A, B, at=late), step(B, C)), {MAIN: C})
    assert len(found.pending) == 2


def test_who_brought_a_proposal_first_is_remembered():
    first = {"key": KEY, "verdict": "accepted", "time": NOON, "updates": [],
             "proposed": [["proposals/a.yaml", A, ["mei"]], ["proposals/b.yaml", B, []]]}
    again = {**first, "proposed": [["proposals/c.yaml", A, ["joe"]]]}
    known = replayed(replayed(index(), first, Position(1, "h")), again, Position(2, "h"))
    assert [(one.path, one.by) for one in known.proposed] == [
        ("proposals/a.yaml", ("mei",)), ("proposals/b.yaml", ())]
    assert from_json(to_json(known), source="x") == known
    refused = {**first, "verdict": "refused"}
    assert replayed(index(), refused, Position(1, "h")).proposed == ()


def test_an_index_without_proposals_is_read():
    assert b"proposed" not in to_json(index())
