"""Decision tables as written: what a row means, and all that can be wrong in one."""

from __future__ import annotations

from datetime import date

import pytest

from policyd.core.cases import Case, parse
from policyd.core.errors import FileInvalid

KNOWN = ("one-rule", "other-rule")

REFS = [
    # written, meant
    ("main", "refs/heads/main"),
    ("agent/x", "refs/heads/agent/x"),
    ("tags/v1", "refs/tags/v1"),
    ("refs/pull/7/head", "refs/pull/7/head"),
]

STEPS = [
    # held, changed by one commit, held after
    ("{a: x}", "{}", {"a": "x"}),
    ("{a: x}", "{a: y}", {"a": "y"}),
    ("{a: x}", "{b: y}", {"a": "x", "b": "y"}),
    ("{a: x}", "{a: null}", {}),
    ("{a: x}", "{b: x, a: null}", {"b": "x"}),
    ("{a/b: x, a/c: x, ab: x}", "{a: y}", {"a": "y", "ab": "x"}),
    ("{a: x}", "{a/b/c: y}", {"a/b/c": "y"}),
    ("{a: x}", "{a: '', b: ''}", {"a": "", "b": ""}),
]

FAULTS = [
    # rows, faults as LINE:COLUMN: beginning
    ("{a: 1}", ["1:1: cases are a list"]),
    ("- 7", ["1:3: expected a mapping"]),
    ("- {who: a, expect: accept, before: {}}", ["1:3: missing key 'title'"]),
    ("- {title: t, expect: accept, before: {}}", ["1:3: missing key 'who'"]),
    ("- {title: t, who: a, before: {}}", ["1:3: missing key 'expect'"]),
    ("- {title: t, who: a, expect: allow, before: {}}", ["1:30: expected one of accept, refuse"]),
    ("- {title: t, who: a, expect: accept, befor: {}}",
     ["1:38: unknown key 'befor'; did you mean 'before'?"]),
    ("- {title: '', who: a, expect: accept, before: {}}", ["1:11: a title is one line"]),
    ('- {title: "a\\nb", who: a, expect: accept, before: {}}', ["1:11: a title is one line"]),
    ("- {title: t, who: 'mei#', expect: accept, before: {}}", ["1:19: 'mei#' is no pusher"]),
    ("- {title: t, who: 'mei#key-*', expect: accept, before: {}}", ["1:19: 'mei#key-*' is no"]),
    ("- {title: t, who: null, expect: accept, before: {}, signed: true}",
     ["1:53: who signs a push?"]),
    ("- {title: t, who: 7, expect: accept, before: {}}", ["1:19: expected text"]),
    ("- {title: t, who: a, expect: accept, before: {a: 1}}", ["1:50: expected text"]),
    ("- {title: t, who: a, expect: accept, before: {a: null}}", ["1:50: expected text"]),
    ("- {title: t, who: a, expect: accept, before: {/a: ''}}", ["1:47: '/a' is no path"]),
    ("- {title: t, who: a, expect: accept, before: {a//b: ''}}", ["1:47: 'a//b' is no path"]),
    ("- {title: t, who: a, expect: accept, before: {a: '', a/b: ''}}",
     ["1:54: 'a' cannot be a file and hold 'a/b'"]),
    ("- {title: t, who: a, expect: accept, before: {}, ref: ''}", ["1:55: a ref is a name"]),
    ("- {title: t, who: a, expect: accept, before: {}, today: 2026-02-30}",
     ["1:57: expected a date written YYYY-MM-DD"]),
    ("- {title: t, who: a, expect: accept, before: {}, today: 2026-2-3}",
     ["1:57: expected a date written YYYY-MM-DD"]),
    ("- {title: t, who: a, expect: accept, before: {}, today: 2026-02-03T12:00:00Z}",
     ["1:57: expected a date written YYYY-MM-DD"]),
    ("- {title: t, who: a, expect: accept, before: {a: 'x${BEFORE}'}}",
     ["1:47: no commit holds its own id; ${BEFORE} stands in commits"]),
    ("- {title: t, who: a, expect: accept, commits: [{}, {a: '${BEFORE}', b: x}]}",
     ["1:53: the repository is empty: ${BEFORE} needs `before`"]),
    ("- {title: t, who: a, expect: accept}", ["1:3: nothing is pushed"]),
    ("- {title: t, who: a, expect: refuse, before: {}}", ["1:22: refused by which `rules`?"]),
    ("- {title: t, who: a, expect: accept, before: {}, rules: [one-rule]}",
     ["1:50: what is accepted is refused by no rules"]),
    ("- {title: t, who: a, expect: refuse, before: {}, rules: [one-rule, one-rule]}",
     ["1:50: a rule is named twice"]),
    ("- {title: t, who: a, expect: refuse, before: {}, rules: [one-rul]}",
     ["1:58: unknown rule 'one-rul'; did you mean 'one-rule'?"]),
    ("- {title: t, who: a, expect: accept, before: {a: ''}, commits: [{}, {b: null}]}",
     ["1:70: 'b' is deleted and was not there"]),
    ("- {title: t, who: a, expect: accept, before: {}}\n"
     "- {title: t, who: a, expect: accept, before: {}}",
     ["2:4: the title 't' stands in line 1 already"]),
    ("- {title: t, who: a, expect: refuse, before: {}}\n"
     "- {title: u, who: 7, expect: no}\n"
     "- {title: v, who: a, expect: refuse, before: {}, rules: [gone]}",
     ["1:22: refused by which", "2:19: expected text", "2:30: expected one of",
      "3:58: unknown rule 'gone'; known: one-rule, other-rule"]),
]


def one(text: str) -> Case:
    case, = parse(text.encode(), "x.cases.yaml", known=KNOWN)
    return case


def test_a_row_is_read_whole():
    case = one("- {title: t, who: null, before: {a: x}, commits: [{b: y}, {a: null}], "
               "ref: agent/x, expect: refuse, rules: [other-rule, one-rule]}")
    assert case == Case("t", None, {"a": "x"}, ({"a": "x", "b": "y"}, {"b": "y"}),
                        "refs/heads/agent/x", ("one-rule", "other-rule"))


def test_a_row_without_before_is_a_push_into_an_empty_repository():
    case = one("- {title: t, who: a, commits: [{a: x}], expect: accept}")
    assert case == Case("t", "a", None, ({"a": "x"},), "refs/heads/main", ())


def test_a_row_may_name_its_day():
    assert one("- {title: t, who: a, before: {}, expect: accept, today: 2026-09-07}").today \
        == date(2026, 9, 7)
    assert one("- {title: t, who: a, before: {}, expect: accept}").today is None


def test_a_row_may_name_the_credential_and_be_signed():
    case = one("- {title: t, who: 'mei#SHA256:a#b', before: {}, signed: true, expect: accept}")
    assert (case.who, case.credential, case.signed) == ("mei", "SHA256:a#b", True)
    case = one("- {title: t, who: mei, before: {}, expect: accept}")
    assert (case.who, case.credential, case.signed) == ("mei", None, False)


@pytest.mark.parametrize(("written", "meant"), REFS)
def test_a_short_name_is_a_branch_or_a_tag(written, meant):
    row = f"- {{title: t, who: a, before: {{}}, ref: {written}, expect: accept}}"
    assert one(row).ref == meant


@pytest.mark.parametrize(("held", "changed", "after"), STEPS)
def test_a_commit_changes_what_it_names_and_keeps_the_rest(held, changed, after):
    row = f"- {{title: t, who: a, before: {held}, commits: [{changed}], expect: accept}}"
    assert one(row).commits == (after,)


@pytest.mark.parametrize(("rows", "faults"), FAULTS)
def test_every_fault_is_told_at_its_place(rows, faults):
    with pytest.raises(FileInvalid) as invalid:
        parse(rows.encode(), "x.cases.yaml", known=KNOWN)
    told = [str(fault).removeprefix("x.cases.yaml:") for fault in invalid.value.faults]
    assert len(told) == len(faults), told
    for line, start in zip(told, faults, strict=True):
        assert line.startswith(start)
