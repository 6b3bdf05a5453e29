"""Globs: zones as gitignore reads them, on folded names; and the smaller dialect of names."""

from __future__ import annotations

import unicodedata

import pathspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from policyd.core.globs import (
    branch_pattern,
    namespace_pattern,
    repository_pattern,
    zone_pattern,
)
from policyd.core.policy import Zone, last_match
from policyd.core.zones import ZoneMap, fold


def lies_in(path: str, *globs: str) -> bool:
    return ZoneMap((Zone("z", tuple(map(zone_pattern, globs))),)).inside(path) == ("z",)


@pytest.mark.parametrize(("glob", "inside", "outside"), [
    ("src/**", ["src/a", "src/a/b"], ["src", "a/src/b", "srcs/a"]),
    ("src", ["src", "src/a"], ["a/src"]),
    ("src/", ["src/a"], ["src", "a/src/a"]),
    ("/src", ["src"], ["a/src"]),
    ("**", ["a", "a/b"], []),
    ("**/", ["a/b"], ["a"]),
    ("*/", ["a/b", "a/b/c"], ["a"]),
    ("*", ["a", "a/b"], []),
    ("*.py", ["a.py", "a.py/x"], ["a/b.py"]),
    ("**/conftest.py", ["conftest.py", "a/b/conftest.py"], ["aconftest.py"]),
    ("a/**/b", ["a/b", "a/x/y/b", "a/b/c"], ["a/xb"]),
    ("a?c", ["abc"], ["a/c", "ac"]),
    ("[a-c]x", ["ax", "cx"], ["dx", "/x"]),
    ("[!a-c]x", ["dx"], ["ax"]),
    ("a[!b]c", ["axc"], ["abc", "a/c"]),
    ("a[+-9]c", ["a.c", "a5c"], ["a/c"]),
    ("[]]x", ["]x"], ["ax"]),
    ("\\!x", ["!x"], ["x"]),
    ("\\#x", ["#x"], ["x"]),
    ("a\\*b", ["a*b"], ["axb"]),
    ("a$", ["a$"], ["a"]),
    ("a\\[b", ["a[b"], ["ab"]),
    ("x", ["x"], ["x\n", "x\ny"]),
])
def test_a_zone_holds_what_gitignore_would(glob, inside, outside):
    assert [p for p in inside if not lies_in(p, glob)] == []
    assert [p for p in outside if lies_in(p, glob)] == []


@pytest.mark.parametrize("path", [
    "Oracle/Receipts.JSON", "oracle./receipts.json", "oracle /receipts.json. .",
    "ora\u200bcle/receipts.json", "oracle/re\ufeffceipts.json", "\uff4fracle/x".replace(
        "\uff4f", "o"), "ORACLE\u00ad/x",
])
def test_no_variant_of_a_protected_name_leaves_its_zone(path):
    assert lies_in(path, "oracle/**")


@pytest.mark.parametrize("glob", ["Café/**", unicodedata.normalize("NFD", "Café/**"),
                                  "CAFÉ./**", "ca\u200bfé/**", "caf\\é/**"])
@pytest.mark.parametrize("path", ["café/x", unicodedata.normalize("NFD", "CAFÉ/x"), "Café. /x"])
def test_globs_are_folded_as_paths_are(glob, path):
    assert lies_in(path, glob)


def test_sharp_s_folds_in_globs_too():
    assert lies_in("STRASSE/x", "straße/**")


@pytest.mark.parametrize(("glob", "path"), [
    ("foo.", "foo"), ("foo\\.", "foo"), ("foo\\ ", "foo"), ("[A-C].x", "b.x"),
    ("x[.]", "x.y"[:1] + "."), ("a[. ]b", "a.b"), ("X[AB]", "xa"),
])
def test_dots_and_spaces_end_a_name_only_outside_a_class(glob, path):
    assert lies_in(path, glob) is not (glob == "x[.]")


def test_the_last_pattern_that_matches_decides_below_an_excluded_folder_too():
    globs = ("tests/**", "!tests/ledger/**", "tests/ledger/x.json")
    assert lies_in("tests/a", *globs)
    assert not lies_in("tests/ledger/y.json", *globs)
    assert lies_in("tests/ledger/x.json", *globs)


@pytest.mark.parametrize(("glob", "literal"), [
    ("src/**", ("src",)), ("tests/ledger/x.json", ("tests", "ledger", "x.json")),
    ("**/conftest.py", ()), ("a/b*/c", ("a",)), ("A\\*b/[x]/y", ("a*b",)), ("src/", ("src",)),
    ("!src/x", ("src", "x")),
])
def test_the_literal_prefix_is_the_names_before_the_first_wildcard(glob, literal):
    assert zone_pattern(glob).literal == literal


@pytest.mark.parametrize("glob", [
    "", "!", "/", "!/", "  ", "#x", "a//b", "a/./b", "../a", "a/ /b", "[a", "a[", "[]", "[z-a]",
    "[[:alpha:]]", "[a\\]]", "a\\", "[ß]", "[\u200b]", "[A-z]", "[0-Z]", "?\u0301", "[a--]",
])
def test_a_glob_that_cannot_mean_what_it_says_is_refused(glob):
    with pytest.raises(ValueError, match=r"."):
        zone_pattern(glob)


def _folder_may_hold(zones: ZoneMap, path: str) -> bool:
    parts = path.split("/")
    return all(zones.follow("/".join(parts[:n])) for n in range(len(parts)))


_NAME = st.text("abc", min_size=1, max_size=2)
_PATH = st.lists(_NAME, min_size=1, max_size=4).map("/".join)
_PIECE = st.one_of(_NAME, st.sampled_from(["*", "**", "?", "a*", "[ab]", "[!a]", "?b", "*c"]))
_GLOB = st.tuples(st.lists(_PIECE, min_size=1, max_size=4).map("/".join),
                  st.sampled_from(["", "/"])).map("".join)


@given(_GLOB, _PATH)
def test_one_pattern_agrees_with_gitignore(glob, path):
    assume("[!a]" not in glob or "/" not in path)  # pathspec lets a negated class match a slash
    spec = pathspec.GitIgnoreSpec.from_lines(["/" + glob])
    assert lies_in(path, glob) == spec.match_file(path)


@given(st.lists(st.tuples(st.booleans(), _GLOB), min_size=1, max_size=4), _PATH)
def test_several_patterns_are_the_last_match_of_single_ones(listed, path):
    globs = [("!" if negate else "") + glob for negate, glob in listed]
    expected = False
    for negate, glob in listed:
        if lies_in(path, glob):
            expected = not negate
    assert lies_in(path, *globs) == expected


@given(st.lists(_GLOB, min_size=1, max_size=3), _PATH)
def test_every_folder_above_a_match_is_followed(globs, path):
    zones = ZoneMap((Zone("z", tuple(map(zone_pattern, globs))),))
    if zones.inside(path):
        assert _folder_may_hold(zones, path)


@given(st.text(st.characters(exclude_characters="/*?[]\\!#", exclude_categories=["Cs"]),
               min_size=1, max_size=8))
def test_a_plain_name_matches_itself_and_its_folding(name):
    assume(fold(name))
    assume(name.strip())
    try:
        pattern = zone_pattern(name)
    except ValueError:
        return
    zones = ZoneMap((Zone("z", (pattern,)),))
    assert zones.inside(name) == ("z",)
    assert zones.inside(f"{fold(name)}/below") == ("z",)


@pytest.mark.parametrize(("glob", "inside", "outside"), [
    ("main", ["refs/heads/main"], ["refs/heads/mainx", "refs/tags/main", "refs/heads/a/main"]),
    ("release/*", ["refs/heads/release/1"], ["refs/heads/release/1/2", "refs/heads/release"]),
    ("tags/v*", ["refs/tags/v1"], ["refs/heads/tags/v1", "refs/tags/v1/x"]),
    ("refs/heads/x", ["refs/heads/x"], ["refs/heads/refs/heads/x"]),
    ("r/**", ["refs/heads/r/a/b"], ["refs/heads/r"]),
    ("v?.x", ["refs/heads/v1.x"], ["refs/heads/v/.x", "refs/heads/v1ax"]),
    ("a+b", ["refs/heads/a+b"], ["refs/heads/aab"]),
])
def test_a_guarded_name_is_a_branch_or_a_tag(glob, inside, outside):
    pattern = branch_pattern(glob)
    assert [r for r in inside if not pattern.matches(r)] == []
    assert [r for r in outside if pattern.matches(r)] == []


def test_a_leading_mark_takes_names_out_again():
    patterns = (branch_pattern("release/*"), branch_pattern("!release/old"))
    assert last_match(patterns, "refs/heads/release/1")
    assert not last_match(patterns, "refs/heads/release/old")


@pytest.mark.parametrize("glob", ["", "!", "a b", "a..b", "a[b]", "a/", "a//b", "x.lock", "a\\b"])
def test_a_glob_that_no_ref_can_match_is_refused(glob):
    with pytest.raises(ValueError, match="no ref"):
        branch_pattern(glob)


@pytest.mark.parametrize("glob", ["!refs/x", "heads/x", ""])
def test_namespaces_are_whole_ref_names(glob):
    with pytest.raises(ValueError, match=r"."):
        namespace_pattern(glob)


def test_repositories_are_named_below_the_roots_without_git():
    assert repository_pattern("**").matches("a/b")
    assert repository_pattern("**/x").matches("x")
    assert repository_pattern("**/x").matches("a/b/x")
    assert not repository_pattern("*").matches("a/b")
    assert repository_pattern("!sandbox/**").negate
    for glob in ("", "!", "/a", "a/", "a.git"):
        with pytest.raises(ValueError, match=r"."):
            repository_pattern(glob)
