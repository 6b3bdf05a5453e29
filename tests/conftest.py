"""Fixtures for all tests; what they give is described in `sites`."""

from __future__ import annotations

import os
import shutil
import site as python_site
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from sampling import thin_out
from sites import Site

NOBODY = 65534


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--accept", action="store_true",
                     help="take what pushers read now for what tests/golden/ holds")


def pytest_configure() -> None:
    """Nothing of git's in the caller's environment may lead a test elsewhere."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        del os.environ[name]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest comes first: workers that are done take over from what is left."""
    top = Path(__file__).parent
    items.sort(key=lambda item: item.path.parent != top)
    thin_out(items)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which servers no push was tried on, and why."""
    skipped = Counter(
        report.longrepr[2].removeprefix("Skipped: ")
        for report in terminalreporter.stats.get("skipped", ()) if "servers" in report.keywords)
    if skipped:
        terminalreporter.section("servers")
    for why, tests in sorted(skipped.items()):
        terminalreporter.write_line(f"did not run: {why}; tests left out: {tests}")


@pytest.fixture(scope="session")
def _empty(tmp_path_factory: pytest.TempPathFactory) -> Site:
    site = Site.made(tmp_path_factory.mktemp("empty-site"))
    site.enroll()
    return site


@pytest.fixture(scope="session")
def _based(tmp_path_factory: pytest.TempPathFactory) -> Site:
    site = Site.made(tmp_path_factory.mktemp("base-site"))
    site.base()
    site.enroll()
    return site


@pytest.fixture
def site(_based: Site, tmp_path: Path) -> Site:
    """A site with BASE on main, enrolled."""
    return _based.copied(tmp_path / "site")


@pytest.fixture
def empty_site(_empty: Site, tmp_path: Path) -> Site:
    """A site whose repository was enrolled without any ref."""
    return _empty.copied(tmp_path / "site")


@pytest.fixture(scope="session")
def open_folder() -> Iterator[Path]:
    """A folder that every user may enter; pytest's own are for one."""
    folder = Path(tempfile.mkdtemp(prefix="policyd-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def open_python(open_folder: Path) -> Path:
    """A Python with this policyd that another user can run. Only root has use for it."""
    if os.geteuid() != 0:
        pytest.skip("only root can act for another user")
    made = open_folder / "venv/bin/python"
    subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip", open_folder / "venv"],
                   check=False, capture_output=True)
    for folder in (open_folder / "venv").glob("lib/python*/site-packages"):
        paths = [str(Path(__file__).parent.parent), *python_site.getsitepackages()]
        (folder / "policyd.pth").write_text("\n".join(paths) + "\n")
    for python in (Path(sys.executable), made):
        if _runs(python):
            return python
    pytest.skip("no Python here runs this checkout as another user")


def _runs(python: Path) -> bool:
    with suppress(OSError):
        return subprocess.run(
            [python, "-I", "-c", "import policyd.hook"], cwd="/", check=False, capture_output=True,
            user=NOBODY, group=NOBODY, extra_groups=[]).returncode == 0
    return False
