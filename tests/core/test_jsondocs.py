"""JSON documents: what they hold, where it stands, and what is refused because it misleads."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policyd.core import jsondocs
from policyd.core.errors import Fault, FileInvalid
from policyd.core.jsondocs import parse, read
from policyd.core.nodes import Mapping, Node, Scalar, Sequence, find


def faults(data: bytes | str) -> list[str]:
    raw = data.encode() if isinstance(data, str) else data
    try:
        parse(raw, "f.json")
    except FileInvalid as error:
        return [str(f).removeprefix("f.json:") for f in error.faults]
    return []


def plain(node: Node):
    if isinstance(node, Scalar):
        return node.value
    if isinstance(node, Sequence):
        return [plain(item) for item in node.items]
    return {key.text: plain(item) for key, item in node.entries}


@pytest.mark.parametrize("text", [
    "null", "true", "false", "0", "-0", "-12", "1.5", "1e3", "1E-2", "-1.5e+1", '""', '"é"',
    r'"\"\\\/\b\f\n\r\t\u00e9"', r'"\ud83d\ude00"', "[]", "{}", '{"": 0}', "[[], {}]",
    ' \t\r\n[ 1 , 2 ]\n', '{"a" : {"b" : [ null ] } , "c":"d"}', '"\x7f\u2028"',
])
def test_json_means_what_json_says(text):
    found, wanted = plain(parse(text.encode(), "f")), json.loads(text)
    assert found == wanted
    assert type(found) is type(wanted)


def test_a_number_keeps_its_text():
    node = parse(b"[1.50, -0, 1E2]", "f")
    assert [item.text for item in node.items] == ["1.50", "-0", "1E2"]


def test_every_node_knows_where_it_stands():
    text = '{"a": [1,\r\n  {"b": "x"}],\r"\\u0063": \n {}}\n'
    node = parse(text.encode(), "f")
    for path, place in [((), (1, 1)), (("a",), (1, 2)), (("a", 0), (1, 8)), (("a", 1), (2, 3)),
                        (("a", 1, "b"), (2, 4)), (("c",), (3, 1))]:
        found = find(node, path)
        assert (found.line, found.column) == place, path
    assert (node.get("c").line, node.get("c").column) == (4, 2)


@pytest.mark.parametrize(("text", "fault"), [
    ("", "1:1: the file is empty"),
    (" \n", "1:1: the file is empty"),
    ('{"a": 1,\n "a": 2}', "2:2: duplicate key 'a'; it stands in line 1 already"),
    (r'{"a": 1, "\u0061": 2}', "1:10: duplicate key 'a'; it stands in line 1 already"),
    ("[1, NaN]", "1:5: the number 'NaN' is not finite or too long"),
    ("[Infinity]", "1:2: the number 'Infinity' is not finite or too long"),
    ("-Infinity", "1:1: the number '-Infinity' is not finite or too long"),
    ("1e999", "1:1: the number '1e999' is not finite or too long"),
    (b"\xef\xbb\xbf{}", "1:1: a byte order mark; save the file without it"),
    (b'{"a":\n "\xff"}', "2:3: not valid UTF-8"),
    (b"\xff\xfe{\0}\0", "1:1: not valid UTF-8"),
    (b'"\xed\xa0\x80"', "1:2: not valid UTF-8"),
    (r'["\ud800"]', "1:2: half a surrogate pair, which is no character"),
    (r'["a\udc00\ud800"]', "1:2: half a surrogate pair, which is no character"),
    ("{} {}", "1:4: text after the end of the value"),
    ("{}\n}", "2:1: text after the end of the value"),
    ("{'a': 1}", '1:2: not valid JSON: expected a key in double quotes, found "\'"; text stands '
                 "in double quotes"),
    ("['a']", '1:2: not valid JSON: expected a value, found "\'"; text stands in double quotes'),
    ("[1,]", "1:4: not valid JSON: expected a value, found ']'"),
    ("[,1]", "1:2: not valid JSON: expected a value, found ','"),
    ('{"a": 1,}', "1:9: not valid JSON: expected a key in double quotes, found '}'"),
    ('{"a" 1}', "1:6: not valid JSON: expected ':', found '1'"),
    ('{"a"}', "1:5: not valid JSON: expected ':', found '}'"),
    ('{"a": 1 "b": 2}', "1:9: not valid JSON: expected ',' or '}', found '\"'"),
    ("{a: 1}", "1:2: not valid JSON: expected a key in double quotes, found 'a'"),
    ("{1: 1}", "1:2: not valid JSON: expected a key in double quotes, found '1'"),
    ("[1}", "1:3: not valid JSON: expected ',' or ']', found '}'"),
    ("[1", "1:3: not valid JSON: expected ',' or ']', found the end"),
    ("[", "1:2: not valid JSON: expected a value, found the end"),
    ('{"a":', "1:6: not valid JSON: expected a value, found the end"),
    ("[1] // x", "1:5: text after the end of the value"),
    ("[1, // x\n2]", "1:5: not valid JSON: expected a value, found '/'; JSON has no comments"),
    ("# x\n1", "1:1: not valid JSON: expected a value, found '#'; JSON has no comments"),
    ("[012]", "1:2: not valid JSON: expected a value, found '012'"),
    ("[+1]", "1:2: not valid JSON: expected a value, found '+1'"),
    ("[.5]", "1:2: not valid JSON: expected a value, found '.5'"),
    ("[1.]", "1:2: not valid JSON: expected a value, found '1.'"),
    ("[0x1]", "1:2: not valid JSON: expected a value, found '0x1'"),
    ("[1_0]", "1:2: not valid JSON: expected a value, found '1_0'"),
    ("[٣]", "1:2: not valid JSON: expected a value, found '٣'"),
    ("[True]", "1:2: not valid JSON: expected a value, found 'True'"),
    ("[nul]", "1:2: not valid JSON: expected a value, found 'nul'"),
    ("[\xa01]", "1:2: not valid JSON: expected a value, found '\\xa0'"),
    ('["a\nb"]', "1:4: not valid JSON: invalid control character"),
    ('["a\tb"]', "1:4: not valid JSON: invalid control character"),
    (r'["\x"]', r"1:3: not valid JSON: invalid \escape"),
    (r'["\u12"]', r"1:4: not valid JSON: invalid \uXXXX escape"),
    ('["abc', "1:2: not valid JSON: unterminated string"),
])
def test_what_could_mislead_is_a_fault(text, fault):
    assert faults(text) == [fault]


def test_faults_before_a_syntax_error_are_told_with_it():
    assert [f.split(": ")[0] for f in faults(
        '\ufeff{"a": NaN,\n "a": "\\ud800", "b": 1, "b": 2, "a": 1e999,\n c}')] == [
            "1:1", "1:7", "2:2", "2:7", "2:25", "2:33", "2:38", "3:2"]


def test_a_key_after_a_duplicate_is_no_duplicate():
    assert len(faults('{"a": 1, "a": 2, "b": 3, "c": 4}')) == 1


def test_reading_goes_on_with_the_first_of_two_keys_and_nothing_for_no_number():
    found: list[Fault] = []
    node = read(b'{"a": 1, "b": NaN, "a": 2}', "f", found)
    assert isinstance(node, Mapping)
    assert plain(node) == {"a": 1, "b": None}
    assert [fault.column for fault in found] == [15, 20]


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 50_000, '[{"a":' * 50_000])
def test_hostile_depth_ends_in_a_fault(text):
    assert faults(text)[-1].endswith("nested deeper than 64 levels")


def test_the_deepest_allowed_nesting_is_read():
    assert faults("[" * 64 + "]" * 64) == []
    assert faults("[" * 65 + "]" * 65) == ["1:65: nested deeper than 64 levels"]


@pytest.mark.parametrize("text", ["9" * 400, "-" + "9" * 399])
def test_a_long_number_is_read_and_a_longer_one_is_a_fault(text):
    assert faults(text) == []
    assert faults(text + "0")[0].endswith("is not finite or too long")


def test_a_file_over_the_bound_is_not_read():
    with pytest.raises(FileInvalid, match="larger than 3 bytes"):
        parse(b"[12]", "f", max_bytes=3)


def test_more_values_than_memory_should_hold_are_a_fault(monkeypatch):
    monkeypatch.setattr(jsondocs, "MAX_NODES", 5)
    assert faults("[1, 2, 3, 4]") == []
    assert faults("[1, 2, 3, 4, 5]") == ["1:14: more than 5 values"]
    assert faults('{"a": 1, "b": 2}') == []
    assert faults('{"a": 1, "b": 2, "c": 3}') == ["1:23: more than 5 values"]


@given(st.binary(max_size=60))
def test_any_bytes_end_in_a_node_or_in_faults(data):
    found: list[Fault] = []
    assert read(data, "f", found) is not None or found


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=3), max_leaves=10)


@given(_JSON, st.booleans(), st.sampled_from([None, 1]))
def test_what_json_writes_is_read_as_json_reads_it(tree, ascii_only, indent):
    text = json.dumps(tree, ensure_ascii=ascii_only, indent=indent)
    assert plain(parse(text.encode(), "f")) == json.loads(text)


def _is_strict(text: str) -> bool:
    def once(pairs):
        assert len({key for key, _ in pairs}) == len(pairs)
        return dict(pairs)

    def none(_):
        raise AssertionError

    def finite(number):
        assert math.isfinite(float(number))
        return float(number)

    try:
        tree = json.loads(text, object_pairs_hook=once, parse_constant=none, parse_float=finite)
    except (ValueError, AssertionError):
        return False
    return not any("\ud800" <= character <= "\udfff" for character in json.dumps(
        tree, ensure_ascii=False))


_MARKS = st.text(st.sampled_from('[]{},:"\\ue01-.+tr nul\n\'d8a'), max_size=3)


@given(_JSON.map(json.dumps) | st.just('{"a": [1, "\\ud83d\\ude00"]}') | _MARKS, st.integers(0, 40),
       st.integers(0, 2), _MARKS)
def test_a_file_is_read_where_a_strict_json_would_read_it(text, at, gone, put):
    """A text in which something was replaced."""
    text = text[:at] + put + text[at + gone:]
    assert (faults(text) == []) == _is_strict(text)
