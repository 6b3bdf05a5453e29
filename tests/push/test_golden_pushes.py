"""No recording comes with the code that it records, whatever is done to it, unless it stays.

Families of public reports: snapshots taken anew in bulk (rocm-libraries#10972, #8676), new ones
(jest#3456), shrunk or removed ones (trusty-tools#4268, atago#549), one edited by hand
(metricflow#2117), recordings in a submodule (FluidFramework#6984).

What is printed to mend such a push is run, and its push is accepted.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from mending import Row, mended
from pushes import CODE, ORACLE, commits, script
from pushing import Entry, Gitlink, Link, accepted, made, refused, rules
from sites import MAIN, Site

GOLDEN = {"no-golden-output"}
SOURCE: dict[str | bytes, Entry] = {"src/app.py": CODE.encode()}
SNAPS = tuple(f"tests/__snapshots__/test_{n}.ambr" for n in range(12))


@pytest.fixture(scope="module")
def unmoved(_based: Site, tmp_path_factory: pytest.TempPathFactory) -> Site:
    """Main holds recordings, pushed by alice without source. For pushes that move nothing."""
    site = _based.copied(tmp_path_factory.mktemp("recorded"))
    files: dict[str | bytes, Entry] = {path: b"one\ntwo\nthree\nfour\n" for path in SNAPS}
    files["tests/golden/bill.txt"] = b"bill\n"
    files["tests/data/bill.json"] = b'{"lines": [1, 2], "expected": 3}\n'
    files["tests/__snapshots__/report.txt"] = b"one\n"
    for each in ({"src/report.py": b"x = 1\n"}, files):
        site.base_tip = made(site, each, on=site.base_tip)
        accepted(site, f"{site.base_tip}:{MAIN}")
    site.git("switch", "-q", "--detach", site.base_tip)
    return site


@pytest.fixture
def recorded(unmoved: Site, tmp_path: Path) -> Site:
    return unmoved.copied(tmp_path)


@pytest.mark.parametrize("change", [
    pytest.param({"tests/__snapshots__/test_new.ambr": b"new\n"}, id="a new one"),
    pytest.param({SNAPS[0]: b"one\nfour\n"}, id="half of one"),
    pytest.param({SNAPS[0]: None}, id="one removed"),
    pytest.param({SNAPS[3]: b"one\ntwo\n3\nfour\n"}, id="one line of one"),
    pytest.param({SNAPS[0]: None, "tests/test_0.ambr": b"one\ntwo\nthree\nfour\n"},
                 id="one moved"),
    pytest.param({SNAPS[0]: Link(b"../../src/app.py")}, id="a link"),
    pytest.param({"tests/snapshots": Gitlink("1" * 40)}, id="a submodule"),
    pytest.param({"tests/data/bill.json": b'{"lines": [1, 2], "expected": 2}\n'}, id="a result"),
    pytest.param({"tests/data/bill.json": Link(b"../../src/bill.json")}, id="a result by a link"),
    pytest.param({"tests/data/new.json": b'[{"input": 1, "output": 2}]\n'}, id="a new case"),
])
def test_a_recording_that_changes_with_the_code_is_refused(unmoved, change):
    """C114, C115, C118, C120"""
    tip = made(unmoved, {**SOURCE, **change}, on=unmoved.base_tip)
    refused(unmoved, f"{tip}:{MAIN}", by=GOLDEN, as_="agent-7")


def test_all_recordings_are_told(unmoved):
    """C113"""
    tip = made(unmoved, {**SOURCE, **dict.fromkeys(SNAPS, b"anew\n")}, on=unmoved.base_tip)
    refused(unmoved, "-o", "policyd.json", f"{tip}:{MAIN}", by=GOLDEN, as_="agent-7")
    assert all(path in unmoved.told[-1] for path in SNAPS)
    assert unmoved.told[1].endswith(", 12 recordings")
    assert "  and 10 more" in unmoved.told


def test_two_commits_are_one_push(recorded):
    """C113"""
    first = made(recorded, SOURCE, on=recorded.base_tip)
    tip = made(recorded, {SNAPS[0]: b"anew\n"}, on=first)
    refused(recorded, f"{tip}:{MAIN}", by=GOLDEN, as_="agent-7")
    assert recorded.push(f"{tip}:refs/heads/feat", as_="agent-7") == 0
    assert recorded.told[0].startswith("policyd: warning: no-golden-output: ")


def test_a_maintainer_is_warned(recorded):
    """C120: what a maintainer records is welcome; a pair of eyes is reminded."""
    tip = made(recorded, {**SOURCE, SNAPS[0]: b"anew\n"}, on=recorded.base_tip)
    assert recorded.push(f"{tip}:{MAIN}", as_="alice") == 0
    assert recorded.told[0].startswith("policyd: warning: no-golden-output: ")


def test_a_maintainers_return_to_what_was_accepted_is_silent(recorded):
    """C120"""
    tip = made(recorded, {**SOURCE, SNAPS[0]: b"anew\n"}, on=recorded.base_tip)
    assert recorded.push(f"{tip}:{MAIN}", as_="alice") == 0
    recorded.git("switch", "-q", "--detach", tip)
    recorded.git("revert", "--no-edit", "HEAD")
    accepted(recorded, f"HEAD:{MAIN}")


@pytest.mark.parametrize("files", [
    pytest.param({SNAPS[0]: b"anew\n"}, id="recordings alone"),
    pytest.param({"src/golden/a.py": b"a = 1\n", "src/b.py": b"b = 1\n"}, id="a module golden"),
    pytest.param({**SOURCE, "tests/golden/test_a.py": b""}, id="a test in such a folder"),
    pytest.param({**SOURCE, "tests/data/order.json": b'{"id": 7}\n'}, id="an input"),
    pytest.param({"src/report.py": None, "tests/__snapshots__/report.txt": None},
                 id="what goes with its module"),
    pytest.param({**SOURCE, "docs/golden-rule.md": b"1\n", "docs/expected/a.md": b"1\n"},
                 id="names that only resemble"),
])
def test_what_records_nothing_of_the_code_passes(recorded, files):
    """C114"""
    accepted(recorded, f"{made(recorded, files, on=recorded.base_tip)}:{MAIN}", as_="agent-7")


def test_what_main_gained_meanwhile_is_not_the_branchs(recorded):
    """C113: a recording that comes by merging main was recorded elsewhere."""
    ahead = made(recorded, {SNAPS[0]: b"anew\n"}, on=recorded.base_tip)
    accepted(recorded, f"{ahead}:{MAIN}")
    branch = made(recorded, SOURCE, on=recorded.base_tip)
    tip = made(recorded, {SNAPS[0]: b"anew\n"}, on=branch, merging=(ahead,))
    accepted(recorded, f"{tip}:{MAIN}", as_="agent-7")


@pytest.mark.parametrize("row", [
    pytest.param(Row(commits({"src/app.py": CODE, "tests/golden/bill.txt": "2\n"}),
                     back=("tests/golden/bill.txt",), next="edit"), id="changed"),
    pytest.param(Row(commits({"src/app.py": CODE, "tests/golden/bill.txt": None},
                             {"tests/golden/new.txt": "2\n"}),
                     back=("tests/golden/bill.txt", "tests/golden/new.txt"), next="edit"),
                 id="removed and added"),
    pytest.param(Row(commits({"src/app.py": CODE, **dict.fromkeys(SNAPS, "2\n")}), back=SNAPS,
                     next="edit"), id="many"),
    pytest.param(Row(commits({"src/app.py": CODE, "tests/golden/bill.txt": Path("../app")}),
                     back=("tests/golden/bill.txt",), next="edit"), id="linked"),
    pytest.param(Row(commits({"src/app.py": CODE, ORACLE: "{}\n", "tests/golden/bill.txt": "2\n"}),
                     back=("tests/golden/bill.txt", ORACLE)), id="with an oracle"),
])
def test_the_block_gives_the_recordings_back(recorded, row):
    """C113, C115"""
    mended(recorded, row)


def test_a_submodule_is_given_back(recorded):
    """C118"""
    recorded.commit({"src/app.py": CODE})
    recorded.git("update-index", "--add", "--cacheinfo",
                 f"160000,{recorded.base_tip},tests/snapshots")
    recorded.git("commit", "-qm", "Add recordings")
    mended(recorded, Row(lambda _: (f"HEAD:{MAIN}",), back=("tests/snapshots",), next="edit"))


def test_names_that_cannot_be_typed_get_words(unmoved):
    """C114"""
    tip = made(unmoved, {**SOURCE, "tests/golden/caf\u00e9.txt": b"1\n"}, on=unmoved.base_tip)
    assert unmoved.push(f"{tip}:{MAIN}", as_="agent-7") == 1
    assert rules(unmoved.told) == GOLDEN
    assert script(unmoved.told) == []
    assert "do:  put the recordings back as they were, in a commit on top;" in unmoved.told
