"""Documents of records: aliases and merge keys, within bounds, and hashes without quotes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policyd.core import documents
from policyd.core.documents import parse, read
from policyd.core.errors import Fault, FileInvalid
from policyd.core.nodes import Node, Scalar, Sequence


def faults(data: bytes | str) -> list[str]:
    raw = data.encode() if isinstance(data, str) else data
    try:
        parse(raw, "f.yaml", aliases=True)
    except FileInvalid as error:
        return [str(f).removeprefix("f.yaml:") for f in error.faults]
    return []


def plain(node: Node):
    if isinstance(node, Scalar):
        return node.value
    if isinstance(node, Sequence):
        return [plain(item) for item in node.items]
    return {key.text: plain(item) for key, item in node.entries}


def value(text: str):
    return plain(parse(text.encode(), "f", aliases=True))


@pytest.mark.parametrize(("text", "meant"), [
    ("a: &x 1\nb: *x\n", {"a": 1, "b": 1}),
    ("- &x [1, {a: 2}]\n- *x\n- [*x]\n", [[1, {"a": 2}], [1, {"a": 2}], [[1, {"a": 2}]]]),
    ("- &x\n- *x\n", [None, None]),
    ("- &x 'a'\n- *x\n", ["a", "a"]),
    ("- &a [&b 1, *b]\n- *a\n", [[1, 1], [1, 1]]),
    ("- &x {a: 1, b: 2}\n- {<<: *x, b: 3, c: 4}\n",
     [{"a": 1, "b": 2}, {"b": 3, "c": 4, "a": 1}]),
    ("- &x {a: 1}\n- {b: 3, <<: *x}\n", [{"a": 1}, {"b": 3, "a": 1}]),
    ("- &x {a: 1}\n- &y {a: 2, b: 3}\n- {<<: [*x, *y]}\n",
     [{"a": 1}, {"a": 2, "b": 3}, {"a": 1, "b": 3}]),
    ("- &x {a: 1}\n- &y {<<: *x, b: 2}\n- {<<: *y, b: 3}\n",
     [{"a": 1}, {"b": 2, "a": 1}, {"b": 3, "a": 1}]),
    ("<<: {a: 1}\nb: 2\n", {"b": 2, "a": 1}),
    ("<<: []\nb: 2\n", {"b": 2}),
    ("'<<': 1\n", {"<<": 1}),
    ("- <<\n", ["<<"]),
])
def test_an_alias_is_what_its_anchor_marks_and_own_keys_go_before_merged_ones(text, meant):
    assert value(text) == meant


def test_what_an_alias_stands_for_stands_where_the_alias_does():
    node = parse(b"- &x {a: 1}\n- *x\n", "f", aliases=True)
    assert [(item.line, item.column) for item in node.items] == [(1, 3), (2, 3)]
    assert node.items[1].key("a").line == 1


@pytest.mark.parametrize(("text", "found"), [
    ("- *x\n", ["1:3: alias '*x' before any such anchor"]),
    ("- *x\n- &x 1\n", ["1:3: alias '*x' before any such anchor"]),
    ("- &x [*x]\n", ["1:7: alias '*x' stands inside of what it means"]),
    ("&x {a: {b: *x}}\n", ["1:12: alias '*x' stands inside of what it means"]),
    ("- &x {<<: *x}\n", ["1:11: alias '*x' stands inside of what it means"]),
    ("- &x 1\n- &x 2\n", ["2:3: anchor '&x' again; an alias could mean either"]),
    ("- &x a\n- {*x : 1}\n", ["2:4: alias '*x' as a key; write it out"]),
    ("- {<<: 1}\n", ["1:8: '<<' takes in mappings, nothing else"]),
    ("- &x [1]\n- {<<: *x}\n", ["1:7: '<<' takes in mappings, nothing else"]),
    ("- {<<: ~}\n", ["1:8: '<<' takes in mappings, nothing else"]),
    ("- {<<: {a: 1}, <<: {b: 1}}\n", ["1:16: duplicate key '<<'; it stands in line 1 already"]),
    ("- {<<: {a: 1, a: 2}}\n", ["1:15: duplicate key 'a'; it stands in line 1 already"]),
    ("- &x !t 1\n", ["1:3: tag '!t'; tags are not used here"]),
    ("%YAML 1.2\n---\na: 1\n",
     ["1:1: a line with % at its start; directives are not used here"]),
    ("a: 1\n...\n%TAG ! x\n---\n",
     ["3:1: a line with % at its start; directives are not used here"]),
    ("- &x 1\n---\n- *x\n", ["2:1: a second document; one file holds one document"]),
    ("a: .inf\n", ["1:4: the number '.inf' is not finite or too long"]),
])
def test_what_could_mislead_is_a_fault(text, found):
    assert faults(text) == found


def test_a_fault_at_the_end_of_a_last_line_without_end_stands_in_it():
    assert [fault.split(": ")[0] for fault in faults("a: [")] == ["1:5"]
    assert [fault.split(": ")[0] for fault in faults("a: [\n")] == ["2:1"]


def test_a_percent_sign_elsewhere_begins_no_directive():
    assert value("a: 5%\nb: '%x'\nc: |\n  %y\n") == {"a": "5%", "b": "%x", "c": "%y\n"}


@pytest.mark.parametrize("text", [
    "1" * 40, "1" * 64, "0" * 64, "1" * 10 + "e" + "9" * 53, "a" * 40])
def test_a_hash_is_text_without_quotes(text):
    assert value(f"- {text}\n") == [text]


@pytest.mark.parametrize("text", ["1" * 39, "1" * 41, "1" * 63, "1" * 65])
def test_a_number_of_another_length_is_a_number(text):
    assert value(f"- {text}\n") == [int(text)]


def test_policies_have_no_aliases():
    with pytest.raises(FileInvalid) as caught:
        parse(b"- &x 1\n- *x\n- {<<: {}}\n", "f")
    assert [fault.line for fault in caught.value.faults] == [1, 2, 3]


BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 10))
MERGES = ("- &m {" + ", ".join(f"k{n}: 1" for n in range(5_000)) + "}\n"
          + "- {<<: *m}\n" * 1_000)


@pytest.mark.parametrize("text", [BOMB, MERGES, MERGES.replace("<<: *m", "<<: [*m, *m]")])
def test_aliases_that_explode_are_refused_before_they_do(text):
    """C139."""
    fault, = faults(text)
    assert fault.endswith("more than 1000000 values, aliases written out")


def test_aliases_do_not_nest_deeper_than_what_is_written_out():
    chain = "- &a0 [x]\n" + "".join(f"- &a{n} [*a{n - 1}]\n" for n in range(1, 100))
    fault, = faults(chain)
    assert fault == "64:9: nested deeper than 64 levels"
    assert faults("".join(chain.splitlines(keepends=True)[:63])) == []
    assert faults("- &a " + "[" * 40 + "]" * 40 + "\n- " + "[" * 23 + "*a" + "]" * 23) == []
    assert faults("- &a " + "[" * 40 + "]" * 40 + "\n- " + "[" * 24 + "*a" + "]" * 24) == [
        "2:27: nested deeper than 64 levels"]


def test_every_value_counts_whoever_brings_it_in(monkeypatch):
    monkeypatch.setattr(documents, "MAX_NODES", 6)
    assert faults("- &x [1, 2]\n- *x\n") == ["2:3: more than 6 values, aliases written out"]
    assert faults("- &x [1]\n- *x\n") == []


def test_reading_goes_on_after_a_fault():
    found: list[Fault] = []
    node = read(b"- {a: 1, a: 2}\n- *x\n- .inf\n", "f", found, aliases=True)
    assert [fault.line for fault in found] == [1, 2, 3]
    assert node is not None
    assert plain(node) == [{"a": 1}, {}, None]


def test_the_pure_loader_reads_the_same(monkeypatch):
    text = b"- &x {a: 1, b: [c]}\n- {<<: *x, b: 3}\n- *x\n"
    compiled = parse(text, "f", aliases=True)
    monkeypatch.setattr(documents, "_Loader", documents.yaml.SafeLoader)
    assert parse(text, "f", aliases=True) == compiled


@given(st.lists(st.sampled_from(
    ["&a ", "*a", "<<: ", "[", "]", "{", "}", ", ", "x", "- ", "\n", ": ", "&b ", "*b", "'", " ",
     "%", "!t "]), max_size=14).map("".join) | st.binary(max_size=60))
def test_anything_ends_in_a_node_or_in_faults(data):
    found: list[Fault] = []
    raw = data.encode() if isinstance(data, str) else data
    assert read(raw, "f", found, aliases=True) is not None or found
