"""Documents laid on one another: what stays, what is replaced, and where each part stands."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from policyd.core import nodes
from policyd.core.documents import parse
from policyd.core.nodes import Node

PLAIN = st.recursive(st.integers() | st.text("ab", max_size=2), lambda inner: (
    st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=3)))
MAPPINGS = st.dictionaries(st.sampled_from("abcd"), PLAIN, max_size=4)


def node(value: Any, source: str) -> Node:
    if isinstance(value, dict):
        return nodes.Mapping(source, 1, 1, tuple(
            (nodes.Scalar(source, 1, 1, key, key), node(each, source))
            for key, each in value.items()))
    if isinstance(value, list):
        return nodes.Sequence(source, 1, 1, tuple(node(each, source) for each in value))
    return nodes.Scalar(source, 1, 1, str(value), value)


def plain(one: Node) -> Any:
    if isinstance(one, nodes.Mapping):
        return {key.text: plain(value) for key, value in one.entries}
    return [plain(item) for item in one.items] if isinstance(one, nodes.Sequence) else one.value


def merged(base: Any, over: Any) -> Any:
    if isinstance(base, dict) and isinstance(over, dict):
        return base | {key: merged(base[key], value) if key in base else value
                       for key, value in over.items()}
    return over


@given(MAPPINGS, MAPPINGS)
def test_mappings_merge_by_key_and_everything_else_is_replaced(base, over):
    assert plain(nodes.laid_on(node(base, "base"), node(over, "over"))) == merged(base, over)


@given(MAPPINGS)
def test_a_document_on_itself_or_on_nothing_says_the_same(one):
    there = node(one, "x")
    assert nodes.laid_on(there, there) == there
    assert plain(nodes.laid_on(node({}, "y"), there)) == plain(nodes.laid_on(there, node({}, "y")))


def test_every_part_keeps_its_place_and_what_only_the_upper_file_has_stands_first():
    base = parse(b"a: 1\nb: {x: 1, y: 2}\n", "base")
    over = parse(b"c: 3\nb:\n  y: 4\n", "over")
    both = nodes.laid_on(base, over)
    assert isinstance(both, nodes.Mapping)
    assert [(k.text, k.source, k.line) for k, _ in both.entries] == [
        ("c", "over", 1), ("a", "base", 1), ("b", "over", 2)]
    assert [(nodes.find(both, ("b", key)).source, nodes.find(both, ("b", key)).line)
            for key in "xy"] == [("base", 2), ("over", 3)]


def test_what_is_no_mapping_has_no_keys():
    one = parse(b"[a]", "x")
    assert nodes.get(one, "a") is None
    assert nodes.keys(one, "a") == frozenset()
    assert nodes.without(one, "a") is one
