"""Record files found in real trees: what stands at their places, whatever it is."""

from __future__ import annotations

import math
import time
from collections import Counter
from hashlib import sha256
from pathlib import Path

import pytest
from history import ENVIRONMENT, History, Odd

from policyd import records
from policyd.adapters.corpora import Corpora
from policyd.adapters.gitchild import GitChild
from policyd.adapters.gitrepo import Missing, PushedRepo
from policyd.adapters.parsedcache import ParsedCache
from policyd.adapters.recordfiles import MOST_FILES, RecordFiles
from policyd.core.errors import CannotJudge
from policyd.core.policy import Places
from policyd.core.rows import MAX_RECORD_BYTES, Kind, Record, Records
from policyd.core.trees import Trees
from policyd.gatehouse import Standing, outside_of_pushes

LEDGER, QUARANTINE, FREEZES = ("tests/ledger/flake_ledger.json", "oracle/quarantine.yaml",
                               "fixtures/freezes.json")
EMPTY = "version: 1\nrules: []\n"
PLACES = Places()


@pytest.fixture
def repo(tmp_path: Path) -> History:
    return History(tmp_path / "r.git")


class Reading:
    """Record files over a repository, with what was parsed by path."""

    def __init__(self, repo: History, *, state: Path | None = None, budget: int = 1 << 20) -> None:
        self.parsed: Counter[str] = Counter()
        self.costs = 0.0
        """Of the time that there is, for a file; infinite: the first one takes it all."""
        pushed = PushedRepo(repo.folder)
        child = GitChild(repo.folder, ENVIRONMENT, time.monotonic() + 60)
        self.files = RecordFiles(pushed, Trees(pushed.tree), self._parse,
                                 ParsedCache(state, "ab" * 16),
                                 Corpora(None, pushed, child, budget))

    def _parse(self, record, path, data):
        self.parsed[path] += 1
        if self.costs:
            self.files.until(time.monotonic() - self.costs)
        return records.load(record, path, data)


def tree(repo: History, files) -> bytes:
    return bytes.fromhex(repo.tree_of(repo.commit(files)))


def dated(repo: History, files, **more) -> Records:
    return Reading(repo, **more).files.dated(tree(repo, files), PLACES)


def faults(found: Records) -> list[tuple[str, str]]:
    return [(fault.source, fault.message) for fault in found.faults]


def names(repo: History, files, *kinds: Record) -> set[str]:
    return set(Reading(repo).files.files(tree(repo, files), PLACES, kinds or tuple(Record)))


def lease(name: str = "rates", corpus: str = "fixtures/data/r.csv", text: str = "1\n") -> str:
    return (f"id: {name}\npath: {corpus}\nsha256: {sha256(text.encode()).hexdigest()}\n"
            "expires: 2026-09-22\nowner: mei\nallowed_relations: [R1]\n")


def test_a_tree_without_records_says_nothing(repo):
    assert dated(repo, {"src/a.py": "x = 1\n"}) == Records()


def test_files_are_found_at_their_places_and_below_their_folders(repo):
    wanted = {LEDGER, QUARANTINE, FREEZES, "fixtures/leases/a.yaml", "fixtures/leases/b/C.YML",
              "oracle/receipts/r.json", "oracle/seeds/any", "oracle/relations/t.yaml",
              "oracle/relations/f.py"}
    others = {"fixtures/leases/a.txt", "oracle/receipts/r.yaml", "oracle/relations/t.json",
              "Oracle/quarantine.yaml", "oracle/quarantine.yml", "fixtures/leases.yaml",
              "x/oracle/quarantine.yaml", "oracle/receipts.json"}
    assert names(repo, dict.fromkeys(wanted | others, "x")) == wanted
    assert names(repo, dict.fromkeys(wanted, "x"), Record.SEEDS) == {"oracle/seeds/any"}


def test_names_of_any_bytes_are_found(repo):
    path = "fixtures/leases/caf\udce9 \n.yaml"
    found = dated(repo, {path: lease(), "fixtures/data/r.csv": "1\n"})
    assert [row.path for row in found.rows] == [path]
    assert found.faults == ()


@pytest.mark.parametrize("path", [LEDGER, QUARANTINE, FREEZES, "fixtures/leases/a.yaml",
                                  "oracle/relations/t.yaml", "oracle/relations/f.py"])
@pytest.mark.parametrize(("odd", "says"), [
    (Odd("120000", EMPTY), "it is a symbolic link; a record is a plain file"),
    (Odd("160000", "1" * 40), "it is a submodule; a record is a plain file"),
    (Odd("120777", EMPTY), "it stands there twice, or with a mode that is none"),
    (Odd("60000", EMPTY), "it stands there twice, or with a mode that is none"),
    (Odd("1", EMPTY), "it stands there twice, or with a mode that is none"),
])
def test_what_is_no_plain_file_is_a_fault_whatever_it_holds(repo, path, odd, says):
    found = dated(repo, {path: odd})
    assert (path, says) in faults(found)
    assert found.rows == ()


@pytest.mark.parametrize("mode", ["100644", "100755", "100664"])
def test_a_plain_file_is_one_in_every_mode(repo, mode):
    assert dated(repo, {QUARANTINE: Odd(mode, EMPTY)}).faults == ()


@pytest.mark.parametrize("path", [LEDGER, QUARANTINE, FREEZES])
def test_a_folder_where_a_file_belongs_is_a_fault(repo, path):
    assert faults(dated(repo, {f"{path}/x": EMPTY})) == [
        (path, "a folder stands where the record belongs")]


@pytest.mark.parametrize("place", ["fixtures/leases", "oracle/relations", "oracle/receipts"])
def test_a_link_where_a_folder_belongs_is_a_fault(repo, place):
    found = Reading(repo).files
    at = tree(repo, {place: Odd("120000", "elsewhere")})
    there = found.files(at, PLACES, tuple(Record))
    assert faults(found.records(at, PLACES, there)) == [
        (place, "it is a symbolic link; a record is a plain file")]


def test_an_entry_that_stands_twice_is_a_fault(repo):
    one, other = repo.blob(EMPTY), repo.blob("version: 1\nrules: [7]\n")
    for first, second in ((one, other), (one, one)):
        oracle = repo.tree(("100644", "quarantine.yaml", first),
                           ("100644", "quarantine.yaml", second))
        root = bytes.fromhex(repo.tree(("40000", "oracle", oracle)))
        assert faults(Reading(repo).files.dated(root, PLACES)) == [
            (QUARANTINE, "it stands there twice, or with a mode that is none")]


def test_a_record_is_read_up_to_its_size(repo):
    fits = EMPTY + "#" * (MAX_RECORD_BYTES - len(EMPTY))
    assert dated(repo, {QUARANTINE: fits}).faults == ()
    assert faults(dated(repo, {QUARANTINE: fits + "#"})) == [
        (QUARANTINE, "larger than 8,388,608 bytes")]


def test_so_many_files_are_read_and_no_more(repo):
    blob = repo.blob("")

    def folder(count: int) -> str:
        return repo.tree(*(("100644", f"{n:05}", blob) for n in range(count)))

    def seeds(*parts: tuple[str, str, str]) -> bytes:
        return bytes.fromhex(repo.tree(("40000", "oracle", repo.tree(
            ("40000", "seeds", repo.tree(*parts))))))

    files = Reading(repo).files
    many = seeds(("40000", "a", folder(MOST_FILES - 1)))
    assert len(files.files(many, PLACES, [Record.SEEDS])) == MOST_FILES - 1
    for too_many in (seeds(("40000", "a", folder(MOST_FILES))),
                     seeds(("40000", "a", folder(9_999)), ("40000", "b", folder(10_000)))):
        with pytest.raises(CannotJudge, match="more than 20,000 files below oracle/seeds"):
            files.files(too_many, PLACES, [Record.SEEDS])


def test_folders_in_folders_without_end_are_given_up(repo):
    """A small tree that unfolds into ten to the twelfth files."""
    tip = repo.tree(("100644", "x", repo.blob("")))
    for _ in range(12):
        tip = repo.tree(*(("40000", f"{n}", tip) for n in range(10)))
    root = bytes.fromhex(repo.tree(("40000", "oracle", repo.tree(("40000", "seeds", tip)))))
    with pytest.raises(CannotJudge, match="more than 20,000 files"):
        Reading(repo).files.files(root, PLACES, [Record.SEEDS])


def test_a_file_is_parsed_once_and_read_back(repo, tmp_path):
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    there = {QUARANTINE: EMPTY, FREEZES: "[]"}
    first = Reading(repo, state=state)
    for _ in range(2):
        first.files.dated(tree(repo, there), PLACES)
    assert first.parsed == {QUARANTINE: 1, FREEZES: 1}
    second = Reading(repo, state=state)
    second.files.dated(tree(repo, {**there, FREEZES: "[] "}), PLACES)
    assert second.parsed == {FREEZES: 1}


def test_without_time_nothing_is_read_and_what_was_read_is_kept(repo, tmp_path):
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    at = tree(repo, {QUARANTINE: EMPTY, FREEZES: "[]"})
    reading = Reading(repo, state=state)
    reading.costs = math.inf
    with pytest.raises(CannotJudge, match="within the policy's bound `seconds`"):
        reading.files.dated(at, PLACES)
    assert sum(reading.parsed.values()) == 1
    after = Reading(repo, state=state)
    after.files.dated(at, PLACES)
    assert sum(after.parsed.values()) == 1


def test_who_looks_outside_of_pushes_gives_up_in_time(repo):
    at = tree(repo, {QUARANTINE: EMPTY})

    def files(seconds: float) -> RecordFiles:
        return outside_of_pushes(repo.folder, PushedRepo(repo.folder), Standing(), budget=0,
                                 seconds=seconds)

    assert files(60.0).dated(at, PLACES).faults == ()
    with pytest.raises(CannotJudge, match="within the policy's bound"):
        files(-1.0).dated(at, PLACES)


def test_corpora_are_hashed_while_there_is_time(repo):
    at = tree(repo, {"fixtures/leases/a.yaml": lease(), "fixtures/data/r.csv": "1\n"})
    reading = Reading(repo)
    reading.files.dated(at, PLACES)
    with pytest.raises(CannotJudge, match="within the policy's bound `seconds`"):
        reading.files.until(0.0).dated(at, PLACES)


@pytest.mark.parametrize(("corpus", "found"), [
    ("1\n", "same"), ("2\n", "another"), (None, "gone"), (Odd("120000", "1\n"), "gone"),
    (Odd("160000", "1" * 40), "gone"), (Odd("120777", "1\n"), "gone")])
def test_a_corpus_is_what_its_lease_says_or_has_drifted(repo, corpus, found):
    files = {"fixtures/leases/a.yaml": lease()} | (
        {} if corpus is None else {"fixtures/data/r.csv": corpus})
    drifts = dated(repo, files).drifts
    assert [drift.found for drift in drifts] == {
        "same": [], "another": [sha256(b"2\n").hexdigest()], "gone": [None]}[found]


def test_a_corpus_beyond_the_budget_is_a_fault_and_no_drift(repo):
    there = {"fixtures/leases/a.yaml": lease(), "fixtures/data/r.csv": "1\n"}
    found = dated(repo, there, budget=1)
    assert found.drifts == ()
    assert "its hash is not known yet" in found.faults[0].message
    reading = Reading(repo)
    assert dict(reading.files.warmed(tree(repo, there), PLACES)) == {
        "fixtures/data/r.csv": sha256(b"1\n").hexdigest()}


def test_a_blob_that_is_missing_is_no_record(repo):
    oracle = repo.tree(("100644", "quarantine.yaml", "1" * 40))
    with pytest.raises(Missing):
        Reading(repo).files.dated(bytes.fromhex(repo.tree(("40000", "oracle", oracle))), PLACES)


def test_two_policies_with_other_places_read_other_records(repo):
    at = tree(repo, {QUARANTINE: EMPTY, "q.yaml": (
        'version: 1\nrules:\n  - nodeid: "tests/t.py::t"\n    status: open\n    owner: mei\n'
        "    reason: the rate server is slow\n")})
    files = Reading(repo).files
    assert files.dated(at, PLACES).rows == ()
    assert [row.kind for row in files.dated(at, Places(quarantine="q.yaml")).rows] == [
        Kind.QUARANTINE]
