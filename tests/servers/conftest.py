"""Real servers for tests: each is brought up by the first test of a run that needs it.

Whoever runs the tests runs the servers too. With several workers each has its own. A server that
cannot run here skips its tests, and the end of the run says which did not run, and why.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import gitdaemon
import gitolite
import nginx
import pytest
import sshd
from sites import Site
from ways import USERS, up

PASSWORDS = {"alice": "s3cret-of-alice", "agent-7": "s3cret-of-an-agent"}


@pytest.fixture(scope="session")
def served() -> Iterator[Path]:
    """What servers serve. Its name always has the same length: messages break their lines by it."""
    folder = Path(tempfile.mkdtemp(prefix="policyd-served-", dir="/tmp"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def _names() -> Iterator[str]:
    return (f"site-{number:03}" for number in count())


@pytest.fixture
def shop(_based: Site, served: Path, _names: Iterator[str]) -> Site:
    """A site with BASE on main, enrolled, where servers find it."""
    return _based.copied(served / next(_names))


@pytest.fixture
def accept(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are written anew."""
    return bool(request.config.option.accept)


@pytest.fixture(scope="session")
def ssh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sshd.Sshd]:
    """Keys of alice and agent-7 have their names as REMOTE_USER; `key` and `other` have none."""
    folder = tmp_path_factory.mktemp("sshd")
    with up("ssh", sshd.serving(folder, USERS, unnamed=["key", "other"])) as server:
        yield server


@pytest.fixture(scope="session")
def http(tmp_path_factory: pytest.TempPathFactory, served: Path) -> Iterator[nginx.Nginx]:
    folder = tmp_path_factory.mktemp("nginx")
    with up("http", nginx.serving(folder, PASSWORDS, root=served)) as server:
        yield server


@pytest.fixture(scope="session")
def daemon(tmp_path_factory: pytest.TempPathFactory, served: Path) -> Iterator[int]:
    folder = tmp_path_factory.mktemp("git-daemon")
    with up("git daemon", gitdaemon.serving(folder, root=served)) as port:
        yield port


@pytest.fixture(scope="session")
def lite(served: Path) -> Iterator[gitolite.Gitolite]:
    folder = served / "gitolite"
    folder.mkdir()
    with up("gitolite", gitolite.serving(folder, USERS)) as server:
        yield server
