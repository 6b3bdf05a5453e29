"""Tree entries that undermine a zone or that no work tree holds; old ones are left alone."""

from __future__ import annotations

import unicodedata

import pytest
from treestore import EXECUTABLE, FILE, GITLINK, LINK, TreeStore, blob

from policyd.core.globs import zone_pattern
from policyd.core.oddtrees import OddTrees
from policyd.core.policy import Zone
from policyd.core.trees import TREE, Trees
from policyd.core.zones import ZoneMap

ZONES = {
    "source": ["src/**"],
    "oracle": ["oracle/**"],
    "ledger": ["tests/ledger/flake_ledger.json", "oracle/quarantine.yaml"],
    "manifest": ["fixtures/leases/**", "fixtures/data/**"],
    "wiring": ["**/conftest.py", ".ci/**", "pytest.ini"],
    "answers": ["packages/*/answers/**"],
    "tables": ["tables/*.csv"],
}
HONEST = {"src/app.py": "1", "oracle/r.json": "1", "oracle/sub/s.json": "1",
          "tests/ledger/flake_ledger.json": "{}", "fixtures/data/d.csv": "1", "README": "1",
          "run": (EXECUTABLE, blob("run")), "vendor/lib": (GITLINK, blob("c")),
          "latest": (LINK, blob("README"))}
NOWHERE = "has a name that no work tree can hold"
TWICE = "stands twice in its folder"
UNSORTED = "is a folder whose entries are out of order"


class Looker:
    """Odd entries of trees in memory, told as (path, what, zones)."""

    def __init__(self, zones=ZONES):
        self.store = TreeStore()
        self.targets = {blob("README"): "README"}
        self.zones = tuple(Zone(name, tuple(map(zone_pattern, globs)))
                           for name, globs in zones.items())

    def link(self, target):
        self.targets[blob(target)] = target
        return LINK, blob(target)

    def told(self, new, *before):
        """The oddities of a tree; flat trees or ids."""
        new, *before = (t if isinstance(t, bytes) else self.store.flat(t) for t in (new, *before))
        odd = OddTrees(Trees(self.store.read), self.store.read, self._target, self._kind,
                       self.zones, ZoneMap(self.zones))
        return {(o.path, o.what, o.zones) for o in odd.odd(new, before)}

    def with_root(self, *entries):
        """An honest tree with more entries in its root, put behind the others in git's order."""
        tree = {path: entry for path, entry in HONEST.items() if "/" not in path}
        folders = {path.split("/")[0] for path in HONEST if "/" in path}
        listed = [(mode, name.encode(), oid) for name, (mode, oid) in (
            (n, e if isinstance(e, tuple) else (FILE, blob(e))) for n, e in tree.items())]
        listed += [(TREE, folder.encode(), self.store.flat(
            {p.removeprefix(f"{folder}/"): e for p, e in HONEST.items()
             if p.startswith(f"{folder}/")})) for folder in folders]
        ordered = sorted([*listed, *entries], key=lambda e: e[1] + b"/" * (e[0] == TREE))
        return self.store.tree(ordered)

    def _kind(self, oid):
        try:
            self.store.read(oid)
        except KeyError:
            return "blob"
        return "tree"

    def _target(self, oid):
        return self.targets[oid].encode("utf-8", "surrogateescape")


@pytest.fixture
def looker():
    return Looker()


def what(told):
    return {(path, text) for path, text, _ in told}


def test_an_ordinary_tree_has_nothing_odd(looker):
    assert looker.told(HONEST) == set()
    assert looker.told(HONEST, {}) == set()
    assert looker.told({}, HONEST) == set()


# Modes.


@pytest.mark.parametrize("mode", ["120777", "1", "20000", "60000", "170000", "100666", "100600",
                                  "140000", "40755", "100664", "160755"])
@pytest.mark.parametrize("path", ["odd", "oracle/odd", "src/a/odd"])
def test_a_mode_that_git_never_writes(looker, mode, path):
    oid = looker.store.flat({"x": "1"}) if mode == "40755" else blob("1")
    looker.targets[oid] = "x"
    told = looker.told(HONEST | {path: (mode.encode(), oid)}, HONEST)
    assert (path, f"has mode {mode}", ()) in told


@pytest.mark.parametrize("mode", ["120777", "1", "20000", "60000", "170000", "100666"])
def test_an_odd_mode_in_place_of_the_oracle(looker, mode):
    bare = {path: entry for path, entry in HONEST.items() if not path.startswith("oracle/")}
    told = looker.told(bare | {"oracle": (mode.encode(), blob("1"))}, HONEST)
    assert ("oracle", f"has mode {mode}", ()) in told
    assert ("oracle", "is a file where the folder of a zone belongs", ("ledger", "oracle")) in told


def test_an_honest_file_that_gets_an_odd_mode(looker):
    told = looker.told(HONEST | {"README": (b"100666", blob("1"))}, HONEST)
    assert what(told) == {("README", "has mode 100666")}


def test_zeros_before_a_mode_are_not_odd(looker):
    """git fsck only warns of them, and every reader drops them."""
    plain = looker.store.tree([(FILE, b"a", blob("1"))])
    padded = looker.store.tree([(b"0100644", b"a", blob("1"))])
    assert looker.told(padded, plain) == set()


# Names.


@pytest.mark.parametrize("name", [
    "oracle/t", "a/b", "/", "/a", "a/", ".", "..", ".git", ".GIT", ".Git", ".git.", ".git ",
    ".git. .", "git~1", "GIT~1", ".g\u200cit", ".git\u200d", "\ufeff.git", " ", "...", "\u200b"])
def test_a_name_that_no_work_tree_can_hold(looker, name):
    for mode, oid in ((FILE, blob("1")), (TREE, looker.store.flat({"x": "1"}))):
        tree = looker.with_root((mode, name.encode(), oid))
        assert (name, NOWHERE) in what(looker.told(tree, HONEST))
        inside = looker.store.tree([(mode, name.encode(), oid)])
        deep = looker.with_root((TREE, b"src2", inside))
        assert (f"src2/{name}", NOWHERE) in what(looker.told(deep, HONEST))


@pytest.mark.parametrize("name", [".gitignore", ".github", "git", "...a", ".gi", "git~2", "a b",
                                  "\u00e9", "e\u0301", "caf\u00e9.", "-", "a\nb", "\udcff"])
def test_an_unusual_name_that_a_work_tree_can_hold(looker, name):
    raw = name.encode("utf-8", "surrogateescape")
    assert looker.told(looker.with_root((FILE, raw, blob("1"))), HONEST) == set()


def test_a_name_with_a_slash_does_not_hide_from_the_zone(looker):
    """It is no entry of the folder oracle, but checks out into it."""
    tree = looker.with_root((FILE, b"oracle/t", blob("1")))
    assert what(looker.told(tree, HONEST)) == {("oracle/t", NOWHERE)}
    diff = Trees(looker.store.read).diff((TREE, looker.store.flat(HONEST)), (TREE, tree),
                                         lambda _: True)
    assert list(diff) == [b"oracle/t"]
    assert ZoneMap(looker.zones).of("oracle/t") == ("oracle",)


# Order, and names that stand twice.


@pytest.mark.parametrize("second", ["same", "other", "link", "folder"])
def test_a_name_that_stands_twice(looker, second):
    entry = {"same": (FILE, blob("1")), "other": (FILE, blob("2")), "link": looker.link("x"),
             "folder": (TREE, looker.store.flat({"x": "1"}))}[second]
    tree = looker.with_root((FILE, b"a", blob("1")), (entry[0], b"a", entry[1]))
    assert what(looker.told(tree, HONEST)) == {("a", TWICE)}


@pytest.mark.parametrize("second", [{"r.json": "1"}, {"r.json": "evil"}, {}])
def test_a_zone_whose_folder_stands_twice(looker, second):
    tree = looker.with_root((TREE, b"oracle", looker.store.flat(second)))
    assert ("oracle", TWICE) in what(looker.told(tree, HONEST))
    assert ("oracle", TWICE) in what(looker.told(tree))


def test_a_file_that_stands_twice_deep_below(looker):
    twice = looker.store.tree([(FILE, b"r.json", blob("1")), (FILE, b"r.json", blob("2"))])
    tree = looker.with_root((TREE, b"z", looker.store.tree([(TREE, b"y", twice)])))
    assert what(looker.told(tree, HONEST)) == {("z/y/r.json", TWICE)}


def test_entries_out_of_order(looker):
    listed = [(FILE, b"b", blob("1")), (FILE, b"a", blob("1"))]
    tree = looker.with_root((TREE, b"z", looker.store.tree(listed)))
    assert what(looker.told(tree, HONEST)) == {("z", UNSORTED)}
    assert what(looker.told(looker.store.tree(listed))) == {(".", UNSORTED)}


def test_git_sorts_a_folder_as_if_its_name_ended_in_a_slash(looker):
    inside = looker.store.flat({"x": "1"})
    right = [(FILE, b"a-b", blob("1")), (FILE, b"a.b", blob("1")), (TREE, b"a", inside),
             (FILE, b"a0", blob("1"))]
    assert looker.told(looker.store.tree(right)) == set()
    wrong = [right[2], right[0], right[1], right[3]]
    assert what(looker.told(looker.store.tree(wrong))) == {(".", UNSORTED)}


# Something else where a zone's folder belongs.


@pytest.mark.parametrize(("path", "zones"), [
    ("oracle", ("ledger", "oracle")), ("src", ("source",)), ("fixtures", ("manifest",)),
    ("fixtures/data", ("manifest",)), ("tests", ("ledger",)), ("tests/ledger", ("ledger",)),
    (".ci", ("wiring",))])
@pytest.mark.parametrize(("kind", "words"), [
    ("file", "is a file"), ("link", "is a symbolic link"), ("submodule", "is a submodule")])
def test_no_folder_where_the_folder_of_a_zone_belongs(looker, path, zones, kind, words):
    entry = {"file": "1", "link": looker.link("elsewhere"), "submodule": (GITLINK, blob("1"))}[kind]
    bare = {p: e for p, e in HONEST.items() if not p.startswith(f"{path}/")}
    told = looker.told(bare | {path: entry}, HONEST)
    assert (path, f"{words} where the folder of a zone belongs", zones) in told


@pytest.mark.parametrize("name", ["Oracle", "ORACLE", "oracle.", "oracle ", "ora\u200bcle",
                                  "oracle\ufeff", "o\u00adracle", "oracle. . "])
def test_a_variant_of_a_zone_name_is_the_zone(looker, name):
    """Some file system would open it as the zone's folder."""
    mode, oid = looker.link("src")
    told = looker.told(looker.with_root((mode, name.encode(), oid)), HONEST)
    assert (name, "is a symbolic link where the folder of a zone belongs",
            ("ledger", "oracle")) in told


def test_composed_and_decomposed_names_are_one():
    looker = Looker({"oracle": ["\u00e9preuve/**"]})
    for form in ("NFC", "NFD"):
        name = unicodedata.normalize(form, "\u00c9preuve")
        told = looker.told({name: looker.link("x"), "docs/x": looker.link(f"../{name}/r")})
        assert (name, "is a symbolic link where the folder of a zone belongs", ("oracle",)) in told
        assert ("docs/x", f"is a symbolic link into {name}/r", ("oracle",)) in told


@pytest.mark.parametrize("glob", ["tests/ledger.json", "/tests/ledger.json", "ledger\\[1].json",
                                  "\\!ledger.json", "/pytest.ini"])
def test_a_zone_of_one_file_may_be_a_file(glob):
    """However it is written, its last name is no folder."""
    path = glob.removeprefix("/").replace("\\", "")
    looker = Looker({"ledger": [glob]})
    assert looker.told({path: "1"}) == set()
    assert {zones for _, _, zones in looker.told({path: (GITLINK, blob("1"))})} == {("ledger",)}


@pytest.mark.parametrize("glob", ["data/**", "/data/**", "data/", "data/*.csv", "data/x.csv",
                                  "da\\ta/**"])
def test_a_zone_below_a_folder_needs_the_folder(glob):
    told = Looker({"manifest": [glob]}).told({"data": "1"})
    assert told == {("data", "is a file where the folder of a zone belongs", ("manifest",))}


def test_a_zone_at_any_depth_has_no_folder_of_its_own():
    looker = Looker({"wiring": ["**/conftest.py"], "rest": ["**", "!oracle/**"]})
    assert looker.told({"a": "1", "conftest.py": "1", "oracle": "1"}) == set()


# Submodules and links.


@pytest.mark.parametrize(("path", "zones"), [
    ("oracle/lib", ("oracle",)), ("Oracle/lib", ("oracle",)), ("src/a/lib", ("source",)),
    ("fixtures/data/lib", ("manifest",)), ("x/conftest.py", ("wiring",))])
def test_a_submodule_in_a_zone(looker, path, zones):
    told = looker.told(HONEST | {path: (GITLINK, blob("1"))}, HONEST)
    assert told == {(path, "is a submodule inside a zone", zones)}


@pytest.mark.parametrize(("path", "target", "reached", "zones"), [
    ("x", "oracle/r.json", "oracle/r.json", {"oracle"}),
    ("x", "oracle", "oracle", {"oracle"}),
    ("x", "oracle/", "oracle", {"oracle"}),
    ("x", "./oracle//r.json", "oracle/r.json", {"oracle"}),
    ("x", "oracle/sub/../r.json", "oracle/r.json", {"oracle"}),
    ("x", "nowhere/../oracle/r.json", "oracle/r.json", {"oracle"}),
    ("x", "../oracle/../oracle/r.json", "../oracle/r.json", set()),
    ("docs/deep/x", "../../oracle/r.json", "oracle/r.json", {"oracle"}),
    ("docs/deep/x", "../oracle/r.json", "docs/oracle/r.json", set()),
    ("src/x", "../oracle/r.json", "oracle/r.json", {"oracle"}),
    ("x", "ORACLE/R.json", "ORACLE/R.json", {"oracle"}),
    ("x", "oracle./r.json", "oracle./r.json", {"oracle"}),
    ("x", "ora\u200bcle/r.json", "ora\u200bcle/r.json", {"oracle"}),
    ("x", "oracle/not/there/yet", "oracle/not/there/yet", {"oracle"}),
    ("x", "oracle/quarantine.yaml", "oracle/quarantine.yaml", {"oracle", "ledger"}),
    ("x", "tests/ledger/flake_ledger.json", "tests/ledger/flake_ledger.json", {"ledger"}),
    ("x", "fixtures/data", "fixtures/data", {"manifest"}),
    ("x", "a/conftest.py", "a/conftest.py", {"wiring"}),
    ("x", "packages/a/answers", "packages/a/answers", {"answers"}),
    ("x", "packages/a", "packages/a", set()),
    ("x", "tables", "tables", {"tables"}),
    ("x", "tables/notes", "tables/notes", set()),
    ("x", "src/app.py", "src/app.py", {"source"}),
    ("src/x", "app.py", "src/app.py", set()),
    ("x", "tests/test_a.py", "tests/test_a.py", set()),
    ("x", "README", "README", set()),
    ("x", "/oracle/r.json", "", set()),
    ("x", "", "", set()),
    ("x", "oracles/r.json", "", set()),
    ("x", "\udcff/oracle", "", set()),
])
def test_where_a_link_leads(looker, path, target, reached, zones):
    told = looker.told(HONEST | {path: looker.link(target)}, HONEST)
    assert told == ({(path, f"is a symbolic link into {reached}", tuple(sorted(zones)))}
                    if zones else set())


def test_a_link_inside_a_zone_may_stay_there(looker):
    assert looker.told(HONEST | {"oracle/x": looker.link("r.json")}, HONEST) == set()
    told = looker.told(HONEST | {"oracle/x": looker.link("../src/app.py")}, HONEST)
    assert told == {("oracle/x", "is a symbolic link into src/app.py", ("source",))}


# What was there before.


def odd_tree(looker):
    """One oddity of each kind."""
    twice = looker.store.tree([(FILE, b"t", blob("1")), (FILE, b"t", blob("2"))])
    return looker.with_root(
        (FILE, b"a/b", blob("1")), (b"100666", b"mode", blob("1")), (TREE, b"twice", twice),
        (LINK, b"link", looker.link("oracle/r.json")[1]),
        (FILE, b"fixtures.", blob("1")), (TREE, b"sub", looker.store.flat({".git": "1"})))


def test_oddities_of_the_first_push_are_told(looker):
    paths = {path for path, _ in what(looker.told(odd_tree(looker)))}
    assert paths == {"a/b", "mode", "twice/t", "link", "fixtures.", "sub/.git"}


def test_old_oddities_are_not_told_again(looker):
    old = odd_tree(looker)
    assert looker.told(old, old) == set()
    assert looker.told(old, HONEST, old) == set(), "one side before is enough"


def test_an_old_root_out_of_order_is_not_told_again(looker):
    """A commit of the same tree; once the root changes, git would have put it in order."""
    listed = [(FILE, b"b", blob("1")), (FILE, b"a", blob("1"))]
    old, new = looker.store.tree(listed), looker.store.tree([*listed, (FILE, b"c", blob("1"))])
    assert looker.told(old, old) == set()
    assert what(looker.told(new, old)) == {(".", UNSORTED)}


def test_an_old_oddity_in_a_changed_tree_is_not_told_again(looker):
    old = {"sub/.git": "1", "sub/a": "1", "mode": (b"100666", blob("1")), "link": looker.link(
        "oracle/r.json"), "x/deep/mode": (b"1", blob("1"))}
    new = old | {"sub/a": "2", "new": "1", "x/deep/file": "1"}
    assert looker.told(HONEST | new, HONEST | old) == set()
    assert looker.told(HONEST | new, HONEST, HONEST | old) == set()


def test_an_oddity_that_changes_or_moves_is_new(looker):
    old = HONEST | {"sub/mode": (b"100666", blob("1"))}
    changed = HONEST | {"sub/mode": (b"100666", blob("2"))}
    moved = HONEST | {"other/mode": (b"100666", blob("1"))}
    assert what(looker.told(changed, old)) == {("sub/mode", "has mode 100666")}
    assert what(looker.told(moved, old)) == {("other/mode", "has mode 100666")}


def test_an_oddity_beside_an_old_one_is_told_alone(looker):
    old = HONEST | {"sub/.git": "1"}
    told = looker.told(old | {"sub/mode": (b"1", blob("1"))}, old)
    assert what(told) == {("sub/mode", "has mode 1")}


@pytest.mark.parametrize("mode", [LINK, b"100644", b"100755"])
def test_a_file_whose_content_is_a_folder_is_odd(looker, mode):
    inner = looker.store.flat({"expected.json": "x"})
    told = looker.told(looker.with_root((mode, b"zz", inner)), looker.with_root())
    assert ("zz", "is a file whose content is a tree", ()) in told
