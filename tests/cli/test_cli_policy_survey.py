"""`policyd policy survey` on a folder of small repositories."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pastrepos import Past, git
from policyhome import PolicyHome
from sites import listing

REPOSITORIES = ("flat.git", "mirror.git", "odd.git", "team/shop.git", "work")


def made(root: Path) -> None:
    """A layout with src/, one without, one with recordings and odd entries, a mirror, a clone."""
    past = Past()
    past.commit({"src/app.py": "x = 1\n", "tests/test_app.py": "def test_x():\n    pass\n",
                 "oracle/r.json": "{}\n", ".github/workflows/ci.yml": "on: push\n",
                 "pyproject.toml": "[tool.pytest.ini_options]\n"}, day="2026-01-05")
    past.commit({"src/app.py": "x = 2\n", "oracle/r.json": "{ }\n"}, day="2026-01-06")
    past.commit({"src/app.py": "x = 3\n"}, day="2026-01-07")
    past.commit({"README.md": "1\n"}, day="2026-01-08", ref="release/1")
    past.write(root / "team/shop.git")
    flat = Past()
    flat.commit({"shop/app.py": "x = 1\n", "shop/tests/test_app.py": "", "test_more.py": "",
                 "README.md": "\n", "azure-pipelines.yml": "a: 1\n"}, day="2026-01-05",
                ref="trunk")
    flat.write(root / "flat.git")
    git("symbolic-ref", "HEAD", "refs/heads/trunk", cwd=root / "flat.git")
    odd = Past()
    odd.commit({"src/app.py": "", "tests/__snapshots__/a.snap": "12345",
                "tests/cassettes/a.yaml": "1234", "tests/golden/x.json": "123",
                "oracle": ("120000", "elsewhere"), "sub": ("160000", "1" * 40),
                ".gitattributes": "*.bin filter=lfs\n"}, day="2026-01-05")
    odd.write(root / "odd.git")
    past.write(root / "mirror.git")
    git("config", "remote.origin.mirror", "true", cwd=root / "mirror.git")
    git("clone", "--quiet", str(root / "flat.git"), str(root / "work"))


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("srv")
    made(folder)
    return folder


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> PolicyHome:
    return PolicyHome.made(tmp_path_factory.mktemp("home") / "home")


@pytest.fixture(scope="module")
def told(home: PolicyHome, root: Path) -> dict[str, object]:
    assert home.run("policy", "survey", str(root), "--format", "json", "--jobs", "1") == 0, home.err
    found = home.json()
    found["by_name"] = {one["repository"]: one for one in found["repositories"]}
    return found


def test_all_repositories_below_the_root_are_met_once(told):
    assert list(told["by_name"]) == ["flat", "mirror", "odd", "team/shop", "work"]
    assert told["unread"] == []
    bare = {name: one["bare"] for name, one in told["by_name"].items()}
    assert bare == {"flat": True, "mirror": True, "odd": True, "team/shop": True, "work": False}


def test_kinds_are_told_by_names_and_sizes(told):
    kinds = told["by_name"]["odd"]["kinds"]
    assert {name: (group["files"], group["bytes"]) for name, group in kinds.items()
            if group["bytes"] is not None} == {
        "snapshots": (1, 5), "cassettes": (1, 4), "golden files": (1, 3)}
    shop = told["by_name"]["team/shop"]["kinds"]
    assert shop["CI definitions"]["where"] == {".github/workflows/": 1}
    assert shop["pytest settings"]["where"] == {"pyproject.toml": 1}
    assert shop["tests"]["files"] == shop["sources"]["files"] == 1


def test_layouts_without_src_get_all_but_what_is_something_else(told):
    assert told["by_name"]["team/shop"]["layout"]["source"] == ["src/**"]
    flat = told["by_name"]["flat"]
    assert flat["layout"]["source"][:4] == ["**", "!tests/**", "!**/test_*.py", "!**/tests/**"]
    assert flat["layout"]["wiring"] == ["azure-pipelines.yml"]
    assert flat["shipped_zones"]["source"] == 0
    assert (flat["zones"]["source"], flat["zones"]["tests"]) == (2, 2)


def test_branches_that_are_there_are_guarded(told):
    assert told["by_name"]["team/shop"]["guarded"] == ["main", "release/*"]
    assert told["by_name"]["flat"]["guarded"] == ["trunk"]


def test_what_is_unusual_is_told(told):
    odd = told["by_name"]["odd"]
    assert odd["signs"] == ["1 submodule", "Git LFS"]
    assert [entry["path"] for entry in odd["odd_entries"]] == ["oracle"]
    assert told["by_name"]["mirror"]["signs"] == ["a remote with mirror = true"]
    assert told["by_name"]["team/shop"]["lately"] == {
        "commits": 3, "addresses": 1, "programs": 0}


def test_the_draft_is_tried_on_the_latest_steps(told):
    shop = told["by_name"]["team/shop"]["past"]
    assert (shop["judged"], shop["would_refuse"]) == (2, 1)
    assert shop["rules"]["separate-authorship"] == 1
    assert told["rules"]["separate-authorship"]["would_refuse"] == 2  # the mirror is the same


def test_each_draft_passes_lint_and_observes(home, root, tmp_path):
    draft = tmp_path / "draft.yaml"
    assert home.run("policy", "survey", str(root), "--steps", "0", "--draft", str(draft)) == 0
    assert [path.name for path in sorted(tmp_path.glob("*.yaml"))] == ["draft-2.yaml",
                                                                      "draft.yaml"]
    other = PolicyHome.made(tmp_path / "home")
    for name in ("draft.yaml", "draft-2.yaml"):
        other.write(f"policies/{name}", (tmp_path / name).read_text())
    assert other.run("policy", "lint") == 0, other.out
    assert other.run("policy", "apply") == 0
    assert other.run("policy", "explain", "--format", "json") == 0
    modes = {one["policy"]: one["mode"] for one in other.json()["policies"]}
    assert (modes["draft"], modes["draft-2"]) == ("observe", "observe")
    text = (tmp_path / "draft.yaml").read_text()
    assert 'repositories: ["odd", "team/shop"]' in text
    assert "# mirror looks like a mirror" in text
    assert home.run("policy", "survey", str(root), "--steps", "0", "--draft", str(draft)) == 2
    assert "is there already" in home.err


def test_tables_have_it_for_people(home, root):
    assert home.run("policy", "survey", str(root), "--jobs", "1") == 0
    lines = home.out.splitlines()
    assert lines[0] == f"5 repositories below {root}, 0 could not be read"
    row = next(line.split() for line in lines if line.split()[:1] == ["team/shop"])
    assert row[1:5] == ["main", "src/", "5", "1"]
    assert "odd: 1 submodule; Git LFS" in lines
    assert "odd: ordinary-tree would refuse oracle, which is a symbolic link where the folder of " \
        "a zone belongs" in lines
    assert any("no identity, and not who pushed" in line for line in lines)


def test_what_cannot_be_read_is_listed_and_left_out(home, tmp_path):
    past = Past()
    past.commit({"src/app.py": ""}, day="2026-01-05")
    past.write(tmp_path / "whole.git")
    ids = past.write(tmp_path / "broken.git")
    tree = git("rev-parse", f"{ids[0]}^{{tree}}", cwd=tmp_path / "broken.git")
    (tmp_path / "broken.git/objects" / tree[:2] / tree[2:]).unlink()
    git("init", "--quiet", "--bare", "--object-format=sha256", str(tmp_path / "new.git"))
    git("init", "--quiet", "--bare", str(tmp_path / "empty.git"))
    assert home.run("policy", "survey", str(tmp_path), "--format", "json") == 0
    found = json.loads(home.out)
    assert [one["repository"] for one in found["repositories"]] == ["empty", "whole"]
    why = {one["repository"]: one["why"] for one in found["unread"]}
    assert "is missing; see `git fsck`" in why["broken"]
    assert "uses SHA-256 object ids" in why["new"]
    assert found["repositories"][0]["past"] is None


def test_a_root_without_repositories_is_refused(home, tmp_path):
    assert home.run("policy", "survey", str(tmp_path)) == 2
    assert "there is no repository below" in home.err


def test_nothing_is_written_into_the_repositories(home, root):
    before = {name: listing(root / name) for name in REPOSITORIES}
    assert home.run("policy", "survey", str(root), "--steps", "5") == 0
    assert {name: listing(root / name) for name in REPOSITORIES} == before
