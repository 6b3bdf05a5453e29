"""Merge bases on graphs in memory, against sets of ancestors; clocks may run backwards."""

from __future__ import annotations

import pytest
from flatmerge import Family
from hypothesis import given
from hypothesis import strategies as st

from policyd.core.graph import Graph

TREE = b"\0" * 20


def far(one, others):
    pytest.fail(f"git was asked for {one!r} and {others!r}")


class Drawn:
    """A graph given as text: `name: parents`, a line each, parents first."""

    def __init__(self, text, times=()):
        self.family, self.headers, self.reads = Family(), {}, []
        for count, line in enumerate(text.split("\n")):
            name, _, parents = line.strip().partition(":")
            self.add(name, parents.split(), dict(times).get(name, count * 10))

    def add(self, name, parents, time):
        self.family.add(name, parents, {})
        self.headers[raw(name)] = TREE, tuple(map(raw, parents)), time

    def graph(self, distant=far, **more):
        return Graph(self._read, distant, **more)

    def _read(self, oid):
        self.reads.append(oid)
        return self.headers[oid]


def raw(name):
    return name.encode().ljust(20, b".")


def names(oids):
    return {oid.rstrip(b".").decode() for oid in oids}


def bases(drawn, one, *others):
    return names(drawn.graph().bases(raw(one), [raw(o) for o in others]))


FORK = """a:
          b: a
          c: b
          d: b"""

CRISS_CROSS = """a:
                 b: a
                 c: a
                 d: b c
                 e: c b"""


def test_a_fork_has_one_base():
    assert bases(Drawn(FORK), "c", "d") == {"b"}


def test_an_ancestor_is_the_base_itself():
    drawn = Drawn(FORK)
    assert bases(drawn, "a", "d") == bases(drawn, "d", "a") == {"a"}
    assert bases(drawn, "c", "c") == {"c"}


def test_unrelated_histories_have_no_base():
    assert bases(Drawn("a:\nb:\nc: a\nd: b"), "c", "d") == set()


def test_branches_that_merged_each_other_have_two():
    assert bases(Drawn(CRISS_CROSS), "d", "e") == {"b", "c"}


def test_a_base_with_a_merge_of_several():
    drawn = Drawn("a:\nb: a\nc: a\nd: b\ne: c\nf: a")
    assert bases(drawn, "d", "e", "f") == {"a"}
    drawn.add("g", ["b", "c"], 99)
    assert bases(drawn, "g", "d", "e") == {"b", "c"}


def test_a_parent_that_stands_twice():
    assert bases(Drawn("a:\nb: a a\nc: a"), "b", "c") == {"a"}


def test_which_commits_stand_alone():
    graph = Drawn(FORK).graph()
    for given_, alone in (("abcd", "cd"), ("ab", "b"), ("cd", "cd"), ("ccd", "cd"), ("a", "a"),
                          ("", "")):
        assert names(graph.independent(map(raw, given_))) == set(alone)


def test_each_commit_is_read_once():
    drawn = Drawn(CRISS_CROSS)
    graph = drawn.graph()
    graph.know({raw("a"): drawn.headers[raw("a")]})
    for _ in range(2):
        graph.bases(raw("d"), [raw("e")])
        graph.independent([raw("d"), raw("e"), raw("b")])
    assert sorted(drawn.reads) == sorted(map(raw, "bcde"))


def test_a_long_way_is_left_to_git():
    drawn = Drawn("0:")
    for n in range(1, 60):
        drawn.add(str(n), [str(n - 1)], n)
    drawn.add("side", ["0"], 100)
    asked = []

    def distant(one, others):
        asked.append((one, others))
        return [raw("0")]

    graph = drawn.graph(distant, near=20)
    for _ in range(2):
        assert names(graph.bases(raw("59"), [raw("side")])) == {"0"}
    assert asked == [(raw("59"), [raw("side")])], "the answer is kept"
    assert names(graph.bases(raw("59"), [raw("50")])) == {"50"}
    assert len(asked) == 1
    assert names(drawn.graph(near=100).bases(raw("59"), [raw("side")])) == {"0"}


def test_a_commit_that_cannot_be_read_is_no_missing_base():
    drawn = Drawn(FORK)
    del drawn.headers[raw("b")]
    with pytest.raises(KeyError):
        bases(drawn, "c", "d")


@pytest.mark.parametrize("late", ["a", "b", "c"])
def test_a_clock_that_ran_ahead_or_behind_hides_no_base(late):
    for time in (-1000, 1000):
        drawn = Drawn(CRISS_CROSS, [(late, time)])
        graph = drawn.graph()
        found = graph.bases(raw("d"), [raw("e")])
        assert names(graph.independent(found)) == {"b", "c"}


@st.composite
def drawings(draw):
    """Random graphs; every commit's clock may show anything, or all of them run right."""
    size = draw(st.integers(2, 14))
    wrong = draw(st.booleans())
    drawn = Drawn("0:")
    for n in range(1, size):
        parents = draw(st.lists(st.integers(max(0, n - 5), n - 1), max_size=3))
        time = draw(st.integers(-5, 5)) if wrong else n
        drawn.add(str(n), list(map(str, parents)), time)
    chosen = st.integers(0, size - 1).map(str)
    return drawn, draw(chosen), draw(st.lists(chosen, min_size=1, max_size=4)), wrong


@given(drawings())
def test_bases_are_those_of_the_ancestor_sets(case):
    """A wrong clock may leave a redundant base; reduced, the answer is exact."""
    drawn, one, others, wrong = case
    graph, want = drawn.graph(), set(drawn.family.bases(one, others))
    found = graph.bases(raw(one), list(map(raw, others)))
    assert names(found) >= want
    assert names(graph.independent(found)) == want
    if not wrong:
        assert names(found) == want


@given(drawings())
def test_independent_commits_are_those_of_the_ancestor_sets(case):
    drawn, one, others, _ = case
    found = drawn.graph().independent(map(raw, [one, *others]))
    assert names(found) == set(drawn.family.independent([one, *others]))
    assert list(found) == sorted(set(found)), "in an order that no push decides"


@given(drawings())
def test_what_a_walk_by_time_overlooked_is_found(case):
    """Of all that one side reaches, what the others reach too, whatever the clocks say."""
    drawn, one, others, _ = case
    behind = drawn.family.behind([one])
    found = {raw(c): drawn.headers[raw(c)] for c in behind}
    held = drawn.graph().reached(found, list(map(raw, others)))
    assert names(held) == behind & drawn.family.behind(others)


def test_many_ends_are_not_asked_about():
    drawn = Drawn("\n".join(f"{n}:" for n in range(20)))
    found = {raw(str(n)): drawn.headers[raw(str(n))] for n in range(20)}
    assert drawn.graph().reached(found, [raw("3")]) == []
    few = dict(list(found.items())[:10])
    assert drawn.graph().reached(few, [raw("3"), raw("12")]) == [raw("3")]
    assert drawn.graph().reached({}, [raw("3")]) == []
