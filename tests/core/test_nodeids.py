"""Node ids: one test has one form, and what names no single test has none."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policyd.core.nodeids import is_below, normalised


@pytest.mark.parametrize(("text", "form"), [
    ("tests/test_a.py::test_b", "tests/test_a.py::test_b"),
    ("./tests//x/../test_a.py::test_b", "tests/test_a.py::test_b"),
    ("a/../b/./c.py::T::t", "b/c.py::T::t"),
    ("a.py::t[1-2]", "a.py::t[1-2]"),
    ("a.py::t[../x]", "a.py::t[../x]"),
    ("a.py::t[a//b::c*? []]", "a.py::t[a//b::c*? []]"),
    ("a.py::t[::1]", "a.py::t[::1]"),
    ("a.py::t[い]", "a.py::t[い]"),
    (r"a.py::t[\u3044]", "a.py::t[い]"),
    (r"a.py::t[\U00003044]", "a.py::t[い]"),
    (r"a.py::t[\xe9]", "a.py::t[é]"),
    ("a.py::t[e\u0301]", "a.py::t[é]"),
    (r"a.py::t[e\u0301]", "a.py::t[é]"),
    (r"tests/\u3044.py::t", "tests/い.py::t"),
    (r"a.py::t[\x61]", "a.py::t[a]"),
    ("a.py::t[\x1b\u200b\n]", r"a.py::t[\x1b\u200b\n]"),
    (r"a.py::t[\x1B\u200B\n]", r"a.py::t[\x1b\u200b\n]"),
    (r"a.py::t[\\u3044]", r"a.py::t[\\u3044]"),
    (r"a.py::t[\x5cu3044]", r"a.py::t[\\u3044]"),
    (r"a.py::t[\d+]", r"a.py::t[\\d+]"),
    (r"a.py::t[\u304\x34]", r"a.py::t[\\u3044]"),
    (r"a.py::t[\ud800]", r"a.py::t[\\ud800]"),
    (r"a.py::t[\Uffffffff]", r"a.py::t[\\Uffffffff]"),
])
def test_each_spelling_of_a_test_has_one_form(text, form):
    """C124: `い` and its escape are one test; what no eye can see is told as an escape."""
    assert normalised(text) == form


EXACT = "name one test, such as tests/test_a.py::test_b"
SEEN = "a path has / between its folders and no character that cannot be seen"


@pytest.mark.parametrize(("text", "why"), [
    ("", EXACT), ("tests", EXACT), ("tests/", EXACT), ("tests/test_a.py", EXACT),
    ("tests/test_a.py:test_b", EXACT), ("a.py::", EXACT), ("a.py::::t", EXACT),
    ("a.py::T::", EXACT), ("a.py:: ::t", EXACT), ("a.py::[x]", EXACT), ("tests/::t", EXACT),
    ("tests/.::t", EXACT), ("tests/..::t", "no file inside the repository"),
    ("tests/x/..::t", EXACT), ("tests/*.py::t", EXACT), ("tests/test_?.py::t", EXACT),
    ("a.py::test_*", EXACT), ("a.py::t?", EXACT), ("a.py::t[x", "no closing bracket"),
    ("a.py::t[x] ", "white space around"), (" a.py::t", "white space around"),
    ("a.py::t[x]\n", "white space around"), ("a.py::t[x]y", "no closing bracket"),
    ("/a.py::t", "outside the repository"), ("//a.py::t", "outside the repository"),
    ("C:/a.py::t", "outside the repository"), ("../a.py::t", "no file inside the repository"),
    ("a/../../b.py::t", "no file inside the repository"), ("::t", "no file inside"),
    (".::t", "no file inside"), ("./::t", "no file inside"), ("..::t", "no file inside"),
    (r"tests\test_a.py::t", SEEN), (r"tests\\a.py::t", SEEN), ("a\u200b.py::t", SEEN),
    (r"a\x5cb.py::t", SEEN), ("a\0.py::t", SEEN),
])
def test_what_names_no_single_test_is_refused(text, why):
    """C122."""
    with pytest.raises(ValueError, match=re.escape(why)) as caught:
        normalised(text)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(("nodeid", "folder", "below"), [
    ("oracle/relations/x.py::t", "oracle/relations", True),
    ("Oracle/RELATIONS/x.py::t", "oracle/relations", True),
    ("oracle/relations/x.py::t", "Oracle/Relations/", True),
    ("oracle/relations./x.py::t", "oracle/relations", True),
    ("oracle/relations::t", "oracle/relations", True),
    ("oracle/relationsx/x.py::t", "oracle/relations", False),
    ("x/oracle/relations/x.py::t", "oracle/relations", False),
    ("oracle/x.py::oracle/relations/t", "oracle/relations", False),
    ("ora/relatio\u0301ns/x.py::t", "ora/relatiónS", True),
])
def test_a_test_lies_below_a_folder_however_both_are_spelt(nodeid, folder, below):
    assert is_below(nodeid, folder) is below


_IDS = st.text(st.sampled_from(r"\xu3044e[]:/.1a" + "\u0301い\n\u200b "), max_size=24)


@given(st.text() | _IDS | _IDS.map(lambda text: f"a.py::t[{text}]"))
def test_a_form_is_its_own_form_and_can_be_seen(text):
    try:
        form = normalised(text)
    except ValueError:
        return
    assert normalised(form) == form
    assert form.isprintable()
    assert ".." not in form.partition("::")[0].split("/")
