"""Documents: what yaml may mean here, and what is refused because it could mislead."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policyd.core import documents
from policyd.core.documents import parse
from policyd.core.errors import FileInvalid
from policyd.core.nodes import Mapping, Node, Scalar, Sequence, find


def faults(data: bytes | str) -> list[str]:
    raw = data.encode() if isinstance(data, str) else data
    try:
        parse(raw, "f.yaml")
    except FileInvalid as error:
        return [str(f) for f in error.faults]
    return []


def value(text: str):
    node = parse(f"- {text}\n".encode(), "f.yaml")
    assert isinstance(node, Sequence)
    assert isinstance(node.items[0], Scalar)
    return node.items[0].value


@pytest.mark.parametrize(("text", "expected"), [
    ("", None), ("~", None), ("null", None), ("NULL", None), ("nUll", "nUll"),
    ("true", True), ("True", True), ("TRUE", True), ("tRUE", "tRUE"), ("false", False),
    ("on", "on"), ("off", "off"), ("yes", "yes"), ("No", "No"), ("y", "y"),
    ("10", 10), ("-10", -10), ("+1", 1), ("010", 10), ("0o17", 15), ("0x1F", 31),
    ("1_0", "1_0"), ("0b1", "0b1"), ("1:30", "1:30"),
    ("1.5", 1.5), (".5", 0.5), ("1.", 1.0), ("1e3", 1000.0), ("-1.5E-1", -0.15),
    ("2026-01-15", "2026-01-15"), ("2026-13-45", "2026-13-45"), ("=", "="), ("<<", "<<"),
    ("'10'", "10"), ('"true"', "true"), ("''", ""), ("|\n  10", "10\n"),
    ("٣", "٣"),
])
def test_plain_scalars_follow_the_core_schema(text, expected):
    found = value(text)
    assert found == expected
    assert type(found) is type(expected)


def test_keys_are_text_whatever_they_look_like():
    node = parse(b"{1: a, true: b, null: c, 2026-01-01: d, .inf: e}", "f.yaml")
    assert isinstance(node, Mapping)
    assert [key.value for key, _ in node.entries] == ["1", "true", "null", "2026-01-01", ".inf"]


@pytest.mark.parametrize(("text", "fault"), [
    ("", "1:1: the file is empty"),
    ("# nothing\n", "1:1: the file is empty"),
    ("---\n", "1:1: the file is empty"),
    ("a: 1\na: 2\n", "2:1: duplicate key 'a'; it stands in line 1 already"),
    ("a: &x 1\n", "1:4: anchor '&x'; write it out where it is used"),
    ("a: !!str 1\n", "1:4: tag 'tag:yaml.org,2002:str'; tags are not used here"),
    ("a: ! x\n", "1:4: tag '!'; tags are not used here"),
    ("<<: {a: 1}\n", "1:1: merge key '<<'; write the keys out"),
    ("a: 1\n---\nb: 2\n", "2:1: a second document; one file holds one document"),
    ("a: .inf\n", "1:4: the number '.inf' is not finite or too long"),
    ("a: .NaN\n", "1:4: the number '.NaN' is not finite or too long"),
    ("a: 1e999\n", "1:4: the number '1e999' is not finite or too long"),
    ("? [a]\n: 1\n", "1:3: a key is a single text"),
    ("a: \x07\n", "1:4: the character U+0007 is not allowed"),
])
def test_what_could_mislead_is_a_fault(text, fault):
    assert faults(text) == [f"f.yaml:{fault}"]


def test_an_alias_is_a_fault_and_expands_nothing():
    assert faults("a: &x [1]\nb: *x\n") == [
        "f.yaml:1:4: anchor '&x'; write it out where it is used",
        "f.yaml:2:4: alias '*x'; write it out"]


def test_a_quoted_merge_key_is_a_key():
    assert faults("'<<': 1\n") == []


def test_invalid_utf8_is_named_with_its_place():
    assert faults(b"a: 1\nbc: \xff\n") == ["f.yaml:2:5: not valid UTF-8"]


def test_a_byte_order_mark_is_no_part_of_the_text():
    assert isinstance(parse(b"\xef\xbb\xbfa: 1\n", "f"), Mapping)


def test_a_syntax_error_has_its_place_and_keeps_the_faults_before_it():
    first, second = faults("- {a: 1, a: 2}\n- [1\n")
    assert first == "f.yaml:1:10: duplicate key 'a'; it stands in line 1 already"
    assert second.startswith("f.yaml:3:1: not valid YAML: while parsing a flow sequence")


def test_faults_are_all_told_in_order():
    assert [f.split(": ")[0] for f in faults("a: &x 1\nb: !t 2\nb: .inf\n")] == [
        "f.yaml:1:4", "f.yaml:2:4", "f.yaml:3:1", "f.yaml:3:4"]


@pytest.mark.parametrize("text", ["[" * 100_000, "{a: " * 50_000, "- " * 50_000, "? " * 50_000])
def test_hostile_depth_ends_in_a_fault(text):
    assert "nest" in faults(text)[-1]


def test_the_deepest_allowed_nesting_is_read():
    assert faults("[" * 64 + "]" * 64) == []


def test_a_file_over_the_bound_is_not_read():
    with pytest.raises(FileInvalid, match="larger than 3 bytes"):
        parse(b"a: 1", "f", max_bytes=3)


def test_the_pure_loader_reads_the_same(monkeypatch):
    text = b"a: [1, 'x', {b: on}]\nc: |\n  text\n"
    compiled = parse(text, "f")
    monkeypatch.setattr(documents, "_Loader", documents.yaml.SafeLoader)
    assert parse(text, "f") == compiled
    assert "nested deeper" in faults("[" * 5_000)[-1]


@given(st.binary(max_size=200))
def test_any_bytes_end_in_a_node_or_in_faults(data):
    for found in faults(data):
        assert found.startswith("f.yaml:")


_TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cn"],
                              exclude_characters="\ufeff\u2028\u2029"), max_size=8)


@given(st.lists(st.recursive(
    st.none() | st.booleans() | st.integers(-10**18, 10**18) | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=12)))
def test_json_means_in_yaml_what_it_means_in_json(tree):
    def plain(node: Node):
        if isinstance(node, Scalar):
            return node.value
        if isinstance(node, Sequence):
            return [plain(item) for item in node.items]
        return {key.text: plain(item) for key, item in node.entries}
    assert plain(parse(json.dumps(tree, ensure_ascii=False).encode(), "f")) == tree


def test_a_path_leads_to_the_key_or_item_or_as_near_as_it_can():
    node = parse(b"a:\n  b: [x, {c: 1}]\n", "f")
    for path, place in [(("a", "b"), (2, 3)), (("a", "b", "x"), (2, 7)), (("a", "b", 1), (2, 10)),
                        (("a", "b", 1, "c"), (2, 11)), (("a", "zz", "y"), (2, 3)),
                        (("zz",), (1, 1)), ((), (1, 1))]:
        found = find(node, path)
        assert (found.line, found.column) == place, path
