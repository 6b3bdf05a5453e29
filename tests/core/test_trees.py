"""Path-level merges and comparisons of trees, against rows and against flat dictionaries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from flatmerge import Clash, clashes, differing, three_way
from hypothesis import given
from hypothesis import strategies as st
from treestore import EXECUTABLE, FILE, GITLINK, LINK, TreeStore, blob

from policyd.core.errors import CannotJudge
from policyd.core.trees import MAX_DEPTH, TREE, Conflict, Merged, Trees, is_tree, leaf, merge

CLASH = "clash"


def everywhere(_folder):
    return True


@pytest.fixture
def store():
    return TreeStore()


def touched(store, before, after, follow=everywhere, **more):
    """The paths that differ; `before` and `after` are nodes, or flat trees."""
    nodes = [(TREE, store.flat(n)) if isinstance(n, dict) else n for n in (before, after)]
    found = list(Trees(store.read).diff(*nodes, follow, **more))
    assert len(found) == len(set(found)), "a path is told twice"
    return {path.decode() for path in found}


def merged(store, ours, theirs, base):
    return merge(*((TREE, store.flat(side)) for side in (ours, theirs, base)))


# A row: what stood at the base, on both sides, and what the merge leaves. Every path of the
# merge's result that is otherwise is touched; a clash is touched whatever the result is.
ROWS = [
    ("nothing changed", {"a": "1"}, {"a": "1"}, {"a": "1"}, {"a": "1"}),
    ("ours changed", {"a": "1"}, {"a": "2"}, {"a": "1"}, {"a": "2"}),
    ("theirs changed", {"a": "1"}, {"a": "1"}, {"a": "2"}, {"a": "2"}),
    ("both changed alike", {"a": "1"}, {"a": "2"}, {"a": "2"}, {"a": "2"}),
    ("both changed differently", {"a": "1"}, {"a": "2"}, {"a": "3"}, {"a": CLASH}),
    ("ours added", {}, {"a": "1"}, {}, {"a": "1"}),
    ("theirs added", {}, {}, {"a": "1"}, {"a": "1"}),
    ("both added alike", {}, {"a": "1"}, {"a": "1"}, {"a": "1"}),
    ("both added differently", {}, {"a": "1"}, {"a": "2"}, {"a": CLASH}),
    ("ours deleted", {"a": "1"}, {}, {"a": "1"}, {}),
    ("theirs deleted", {"a": "1"}, {"a": "1"}, {}, {}),
    ("both deleted", {"a": "1"}, {}, {}, {}),
    ("ours deleted what theirs changed", {"a": "1"}, {}, {"a": "2"}, {"a": CLASH}),
    ("theirs deleted what ours changed", {"a": "1"}, {"a": "2"}, {}, {"a": CLASH}),
    ("two files, a side each", {"a": "1", "b": "1"}, {"a": "2", "b": "1"}, {"a": "1", "b": "2"},
     {"a": "2", "b": "2"}),
    ("two folders, a side each", {"a/x": "1", "b/x": "1"}, {"a/x": "2", "b/x": "1"},
     {"a/x": "1", "b/x": "2"}, {"a/x": "2", "b/x": "2"}),
    ("one folder, a file each", {"a/x": "1", "a/y": "1"}, {"a/x": "2", "a/y": "1"},
     {"a/x": "1", "a/y": "2"}, {"a/x": "2", "a/y": "2"}),
    ("a folder deleted beside a change in it", {"a/x": "1", "a/y": "1"}, {},
     {"a/x": "2", "a/y": "1"}, {"a/x": CLASH}),
    ("a new file in a folder that went", {"a/x": "1"}, {}, {"a/x": "1", "a/y": "1"}, {"a/y": "1"}),
    ("ours made a folder of a file", {"a": "1"}, {"a/x": "1"}, {"a": "1"}, {"a/x": "1"}),
    ("theirs made a file of a folder", {"a/x": "1"}, {"a/x": "1"}, {"a": "1"}, {"a": "1"}),
    ("a folder of a file that theirs changed", {"a": "1"}, {"a/x": "1"}, {"a": "2"},
     {"a": CLASH, "a/x": "1"}),
    ("a file of a folder that theirs changed", {"a/x": "1"}, {"a": "1"}, {"a/x": "2"},
     {"a": "1", "a/x": CLASH}),
    ("a file here, a folder there", {}, {"a": "1"}, {"a/x": "1"}, {"a": "1", "a/x": "1"}),
    ("ours made it executable", {"a": "1"}, {"a": (EXECUTABLE, blob("1"))}, {"a": "1"},
     {"a": (EXECUTABLE, blob("1"))}),
    ("a mode here, content there", {"a": "1"}, {"a": (EXECUTABLE, blob("1"))}, {"a": "2"},
     {"a": CLASH}),
    ("a link here, content there", {"a": "1"}, {"a": (LINK, blob("1"))}, {"a": "2"}, {"a": CLASH}),
    ("a submodule moved by both", {"a": (GITLINK, blob("1"))}, {"a": (GITLINK, blob("2"))},
     {"a": (GITLINK, blob("3"))}, {"a": CLASH}),
    ("a submodule of a folder", {"a/x": "1"}, {"a": (GITLINK, blob("1"))}, {"a/x": "1"},
     {"a": (GITLINK, blob("1"))}),
]


@pytest.mark.parametrize(("ours", "theirs", "base", "left"),
                         [pytest.param(o, t, b, left, id=title) for title, b, o, t, left in ROWS])
def test_a_merge_leaves_what_the_side_that_changed_has(store, ours, theirs, base, left):
    for one, other in ((ours, theirs), (theirs, ours)):
        node = merged(store, one, other, base)
        clash = {path for path, entry in left.items() if entry == CLASH}
        settled = {path: entry for path, entry in left.items() if path not in clash}
        for result in (ours, theirs, base, {}, {"a": "other"}, {"new": "1"}):
            want = clash | differing(settled, {p: e for p, e in result.items() if p not in clash})
            assert touched(store, node, result) == want
            assert touched(store, node, result, conflicts=False) == want - clash


def test_a_conflict_equals_nothing(store):
    node = merged(store, {"a": "1"}, {"a": "2"}, {})
    again = merge(node, (TREE, store.flat({"a": "1"})), None)
    for content in ("1", "2", "3"):
        assert touched(store, node, {"a": content}) == {"a"}
        assert touched(store, again, {"a": content}) == {"a"}
    assert touched(store, again, {}) == {"a"}


def test_a_conflict_in_the_base_is_settled_where_both_sides_agree(store):
    """Two criss-cross merges settled a conflict alike: nothing is left to decide."""
    base = merged(store, {"a": "1", "b": "1"}, {"a": "2", "b": "1"}, {})
    side = (TREE, store.flat({"a": "3", "b": "1"}))
    assert touched(store, merge(side, side, base), {"a": "3", "b": "1"}) == set()
    other = (TREE, store.flat({"a": "3", "b": "2"}))
    assert touched(store, merge(side, other, base), {"a": "3", "b": "2"}) == set()
    third = (TREE, store.flat({"a": "1", "b": "1"}))
    assert touched(store, merge(side, third, base), {"a": "3", "b": "1"}) == {"a"}


def test_equal_ids_end_the_walk(store):
    """Only what differs is read: a folder that all sides share is not."""
    trees = [{"same/deep/x": "same", "a/x": str(n)} for n in range(3)]
    node = merged(store, trees[0], trees[1], trees[2])
    assert touched(store, node, trees[0]) == {"a/x"}
    shared = {store.flat({"deep/x": "same"}), store.flat({"x": "same"})}
    assert not shared & set(store.reads)
    store.reads.clear()
    assert touched(store, trees[0], trees[0]) == set()
    assert set(store.reads) == {store.flat(trees[0])}


def test_only_folders_that_are_followed_are_read(store):
    before, after = {"a/x/f": "1", "b/x/f": "1"}, {"a/x/f": "2", "b/x/f": "2"}
    assert touched(store, before, after, lambda folder: not folder.startswith(b"a")) == {"b/x/f"}
    assert store.flat({"x/f": "1"}) in store.reads
    assert touched(store, before, after, lambda folder: folder == b"") == set()


def test_absent_trees_are_empty(store):
    assert touched(store, None, {"a/b": "1", "c": "1"}) == {"a/b", "c"}
    assert touched(store, {"a/b": "1"}, None) == {"a/b"}
    assert touched(store, None, {}) == set()
    assert merge(None, None, None) is None


def test_folders_in_folders_have_an_end(store):
    oid = store.flat({"f": "1"})
    for _ in range(MAX_DEPTH + 5):
        oid = store.tree([(TREE, b"d", oid)])
    with pytest.raises(CannotJudge, match="deeper"):
        list(Trees(store.read).diff(None, (TREE, oid), everywhere))


def test_an_entry_is_found_at_its_path(store):
    tree = store.flat({"a/b/c": "1", "a/d": (LINK, blob("2"))})
    trees = Trees(store.read)
    assert trees.at(tree, b"a/b/c") == (FILE, blob("1"))
    assert trees.at(tree, b"a/d") == (LINK, blob("2"))
    assert trees.at(tree, b"a/b") == (TREE, store.flat({"c": "1"}))
    assert [trees.at(tree, p) for p in (b"a/b/c/x", b"a/x", b"x/y", b"a/d/x")] == [None] * 4


def test_an_entry_of_an_odd_mode_is_found(store):
    tree = store.tree([(b"100666", b"a", blob("1"))])
    assert Trees(store.read).at(tree, b"a") == (b"100666", blob("1"))


# Tree objects that git would not write.


@pytest.mark.parametrize("mode", [b"40000", b"040000", b"40755", b"0040000", b"40666"])
def test_what_git_takes_for_a_folder_is_one(mode):
    assert is_tree(mode.lstrip(b"0"))


@pytest.mark.parametrize("mode", [b"100644", b"100755", b"120000", b"160000", b"120777", b"100666",
                                  b"1", b"20000", b"60000", b"170000", b"140000", b"", b"49999",
                                  b"40000+40000", b"40000+100644"])
def test_what_git_takes_for_no_folder_is_none(mode):
    assert not is_tree(mode)


def test_zeros_before_a_mode_make_no_difference(store):
    plain = store.tree([(FILE, b"a", blob("1")), (TREE, b"d", store.flat({"x": "1"}))])
    padded = store.tree([(b"0100644", b"a", blob("1")), (b"040000", b"d", store.flat({"x": "1"}))])
    other = store.tree([(FILE, b"a", blob("1")), (b"040000", b"d", store.flat({"x": "2"}))])
    assert touched(store, (TREE, plain), (TREE, padded)) == set()
    assert touched(store, (TREE, plain), (TREE, other)) == {"d/x"}


def test_order_makes_no_difference(store):
    files = [(FILE, b"a", blob("1")), (FILE, b"b", blob("1")), (FILE, b"c", blob("1"))]
    assert touched(store, (TREE, store.tree(files)), (TREE, store.tree(files[::-1]))) == set()


X, Y, Z = blob("x"), blob("y"), blob("z")


@pytest.mark.parametrize(("before", "after"), [
    ([(FILE, X)], [(FILE, X), (FILE, X)]),
    ([(FILE, X)], [(FILE, X), (FILE, Y)]),
    ([(FILE, X)], [(FILE, Y), (FILE, X)]),
    ([(FILE, X), (FILE, Y)], [(FILE, X)]),
    ([(FILE, X), (FILE, Y)], [(FILE, X), (FILE, Z)]),
    ([(FILE, X), (LINK, Y)], [(FILE, X), (LINK, Z)]),
    ([(FILE, X)], [(FILE, X), (LINK, Y)]),
    ([(FILE, X), (LINK, Y)], [(FILE, X)]),
])
def test_a_name_that_stands_twice_differs_as_a_whole(store, before, after):
    one, other = ((TREE, store.tree([(mode, b"a", oid) for mode, oid in side]))
                  for side in (before, after))
    assert touched(store, one, other) == {"a"}
    assert touched(store, one, one) == set()
    assert touched(store, Merged(one, other, None), other) == {"a"}


def test_a_folder_that_stands_twice_is_not_looked_into(store):
    inside, other = store.flat({"x": "1"}), store.flat({"x": "2"})
    once = (TREE, store.tree([(TREE, b"d", inside)]))
    for second in (inside, other):
        twice = (TREE, store.tree([(TREE, b"d", inside), (TREE, b"d", second)]))
        assert touched(store, once, twice) == {"d", "d/x"}
        assert touched(store, twice, once) == {"d", "d/x"}
        assert touched(store, twice, twice) == set()


def test_a_folder_beside_a_file_of_its_name(store):
    inside = store.flat({"x": "1"})
    once = (TREE, store.tree([(TREE, b"d", inside)]))
    both = (TREE, store.tree([(FILE, b"d", X), (TREE, b"d", store.flat({"x": "2"}))]))
    assert "d" in touched(store, once, both)


@pytest.mark.parametrize("raw", [
    b"100644 a\0short", b"100644 a", b"100644\0" + X, b"100644 \0" + X, b"a 100644\0" + X,
    b"1006a4 a\0" + X, b"100644 a\0" + X + b"rest", b" 100644 a\0" + X, b"\0" * 40])
def test_a_damaged_tree_is_no_tree(store, raw):
    good = (TREE, store.flat({"a": "1"}))
    with pytest.raises(CannotJudge, match="damaged"):
        touched(store, good, (TREE, store.raw(raw)))


def test_ids_may_hold_any_bytes(store):
    """An id with zeros, spaces or digits in it does not shift the next entry."""
    odd = [b"\0" * 20, b"100644 a\0" + b"\0" * 11, b"\n" * 20]
    entries = [(FILE, name, oid) for name, oid in zip((b"a", b"b\n", b"c d"), odd, strict=True)]
    assert touched(store, None, (TREE, store.tree(entries))) == {"a", "b\n", "c d"}


# Against flat dictionaries.


@dataclass(frozen=True)
class Fold:
    """A merge to be made: its sides and its base are flat trees or folds."""

    ours: Any
    theirs: Any
    base: Any


def consistent(files):
    """No file stands where a folder of another one is."""
    folders = {path[:cut] for path in files for cut, c in enumerate(path) if c == "/"}
    return {path: entry for path, entry in files.items() if path not in folders}


ENTRIES = st.sampled_from([(FILE, X), (FILE, Y), (FILE, Z), (EXECUTABLE, X), (LINK, X)])
PATHS = st.sampled_from(["a", "a/b", "a/b/c", "a/d", "b/c", "b/d", "c"])
FLAT = st.dictionaries(PATHS, ENTRIES, max_size=6).map(consistent)


@st.composite
def folds(draw):
    """A tree and an expression of merges over a few trees that are much alike."""
    pool = draw(st.lists(FLAT, min_size=1, max_size=4))
    for _ in range(2):
        path, entry = draw(PATHS), draw(ENTRIES)
        pool.append(consistent({**pool[0], path: entry}))
    side = st.one_of(st.sampled_from(pool), st.none())
    tree = st.recursive(side, lambda part: st.builds(Fold, part, part, part), max_leaves=8)
    return draw(st.builds(Fold, tree, tree, tree)), draw(st.sampled_from([*pool, {}]))


def plainly(fold):
    if isinstance(fold, Fold):
        return three_way(plainly(fold.ours), plainly(fold.theirs), plainly(fold.base))
    return fold or {}


def as_node(store, fold):
    if isinstance(fold, Fold):
        return merge(*(as_node(store, side) for side in (fold.ours, fold.theirs, fold.base)))
    return None if fold is None else (TREE, store.flat(fold))


@given(folds())
def test_trees_differ_where_flat_dictionaries_do(case):
    fold, result = case
    store, want = TreeStore(), plainly(fold)
    node = as_node(store, fold)
    assert touched(store, node, result) == differing(want, result)
    assert touched(store, node, result, conflicts=False) == \
        differing(want, result) - clashes(want)


@given(FLAT, FLAT)
def test_two_trees_differ_where_flat_dictionaries_do(before, after):
    store = TreeStore()
    assert touched(store, before, after) == differing(before, after)
    assert touched(store, after, before) == differing(before, after)


def test_the_flat_dictionaries_know_a_clash():
    """The reference itself: a clash equals nothing, not even itself."""
    clash = Clash()
    assert clash != clash
    assert clashes(three_way({"a": 1}, {"a": 2}, {"a": 3, "b": 1})) == {"a"}
    assert isinstance(leaf(Merged((FILE, X), (FILE, Y), None)), Conflict)
