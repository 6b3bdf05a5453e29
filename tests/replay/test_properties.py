"""The property job: the base's own tests beside the candidate, in a sandbox, on base receipts."""

from __future__ import annotations

import importlib.util
import json
import shutil
from pathlib import Path

import pytest
from history import History

from policyd.adapters.gitrepo import PushedRepo
from policyd.core.errors import CannotJudge
from policyd.core.policy import Places
from policyd.core.witness import Job
from policyd.replay import properties

PACKAGES = ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments", "py",
            "msgspec", "yaml", "policyd")
TOTAL = "def total(prices):\n    return sum(prices)\n"
TEST = '''\
import json
from pathlib import Path

import pytest
from shop import total

RECEIPTS = sorted(Path(__file__).parents[2].glob("oracle/receipts/*.json"))


@pytest.mark.parametrize("receipt", RECEIPTS, ids=lambda path: path.stem)
def test_the_order_does_not_matter(receipt):
    prices = json.loads(receipt.read_text())["input"]["prices"]
    assert total(prices) == total(prices[::-1])
'''
RECEIPT = json.dumps({"baseline": "a" * 40, "entry_point": "shop:total",
                      "input": {"prices": [1, 2]}, "constraints": {"order": "none"}})
BASE = {"src/shop.py": TOTAL, "tests/properties/test_total.py": TEST,
        "oracle/receipts/one.json": RECEIPT, "oracle/receipts/two.json": RECEIPT}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """What an operator installs for it, taken from the environment that runs the tests."""
    folder = tmp_path_factory.mktemp("site")
    for name in PACKAGES:
        found = importlib.util.find_spec(name)
        assert found is not None
        origin = Path(str(found.origin))
        if origin.name == "__init__.py":
            shutil.copytree(origin.parent, folder / name,
                            ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(origin, folder)
    for path in (folder, *folder.parents[:2]):
        path.chmod(0o755)
    return folder


@pytest.fixture
def proven(tmp_path, site):
    """The job of a base and of what a candidate changes in it."""
    tmp_path.chmod(0o755)

    def proven(base, candidate=()) -> Job | None:
        repo, trees = commits(tmp_path / "r", base, {**base, **dict(candidate)})
        source = tmp_path / "candidate"
        assert properties.tree.candidate(repo, trees[1], ["src"], source) == ()
        proof = properties.laid(repo, trees[0], source, ["src"], Places(), site, "2026-11-30",
                                tmp_path / "properties")
        return None if proof is None else properties.run(proof)

    return proven


def commits(folder: Path, *files):
    """A repository with one commit for each set of files; the raw ids of their trees."""
    history = History(folder)
    repo = PushedRepo(history.folder)
    return repo, [repo.header(bytes.fromhex(history.commit(one)))[0] for one in files]


def test_properties_that_hold_are_counted(proven):
    assert proven(BASE) == Job(passed=2)


def test_a_property_that_fails_is_named(proven):
    job = proven(BASE, {"src/shop.py": "def total(prices):\n    return prices[0]\n"})
    assert job.refuses
    assert [one.split("]: ")[0] for one in job.failed] == [
        "tests/properties/test_total.py::test_the_order_does_not_matter[one",
        "tests/properties/test_total.py::test_the_order_does_not_matter[two"]


def test_the_properties_are_those_of_the_base(proven):
    assert proven(BASE, {"src/shop.py": "def total(prices):\n    return prices[0]\n",
                         "tests/properties/test_total.py": "def test_nothing():\n    pass\n",
                         "tests/properties/conftest.py": "collect_ignore_glob = ['*']\n"}).failed


def test_a_conftest_of_the_candidate_is_not_there(proven):
    job = proven(BASE, {"src/conftest.py": "collect_ignore_glob = ['*']\n",
                        "conftest.py": "collect_ignore_glob = ['*']\n"})
    assert job == Job(passed=2)


def test_nothing_collected_is_no_pass_where_there_are_receipts(proven):
    base = {name: text for name, text in BASE.items() if "properties" not in name}
    job = proven(base)
    assert job == Job(wrong="no property was run, and there are 2 receipts")
    assert job.refuses


def test_properties_that_are_only_skipped_are_no_pass(proven):
    skipped = TEST.replace("@pytest.mark.param", "@pytest.mark.skip\n@pytest.mark.param")
    job = proven({**BASE, "tests/properties/test_total.py": skipped})
    assert job == Job(wrong="no property was run, and there are 2 receipts")


def test_neither_property_nor_receipt_is_no_job(proven):
    assert proven({"src/shop.py": TOTAL}) is None


@pytest.mark.parametrize("ending", [
    "import os; os._exit(0)", "raise SystemExit(0)", "import pytest; pytest.exit('x', 0)"])
def test_a_candidate_that_ends_the_process_has_not_passed(proven, ending):
    job = proven(BASE, {"src/shop.py": f"{ending}\n{TOTAL}"})
    assert job.refuses


def test_what_cannot_be_imported_fails(proven):
    job = proven(BASE, {"src/shop.py": "import nothing_of_the_kind\n"})
    assert job.failed
    assert "nothing_of_the_kind" in job.failed[0]


def test_a_site_without_pytest_is_named_with_its_remedy(tmp_path):
    repo, trees = commits(tmp_path / "r", BASE)
    source, bare = tmp_path / "candidate", tmp_path / "site"
    bare.mkdir()
    properties.tree.candidate(repo, trees[0], ["src"], source)
    with pytest.raises(CannotJudge, match=r"holds no pytest.*pip install --target"):
        properties.laid(repo, trees[0], source, ["src"], Places(), bare, "2026-11-30",
                        tmp_path / "properties")
