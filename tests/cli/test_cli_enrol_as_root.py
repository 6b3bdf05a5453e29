"""Root enrols repositories of another user, by server."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from emulators import hooks_servers as servers
from sites import Site, listing
from test_cli_enroll import Theirs

NOBODY = 65534


@pytest.fixture
def theirs(open_folder: Path, open_python: Path, tmp_path: Path) -> Theirs:
    folder = open_folder / tmp_path.name
    folder.mkdir()
    return Theirs(Site.made(folder), open_python)


def test_root_puts_the_file_beside_gitea_s_in_as_the_owner(theirs):
    site = theirs.site
    servers.gitea(site)
    for path in (site.server / "hooks", *(site.server / "hooks").rglob("*")):
        os.lchown(path, NOBODY, NOBODY)
    before = listing(site.server)
    code, told = theirs.policyd("enroll", "--server", "gitea", str(site.server))
    assert code == 0, told
    ours = site.server / "hooks/pre-receive.d/policyd"
    assert ours.stat().st_uid == NOBODY
    theirs.commit({"src/app.py": "x = 1\n", "oracle/rates.json": "{}\n"})
    code, told = theirs.push()
    assert (code, "policyd: separate-authorship: " in told) == (1, True)
    assert theirs.policyd("unenroll", str(site.server))[0] == 0
    assert listing(site.server) == before


def test_one_hook_of_root_s_serves_repositories_of_another_user(theirs):
    site, folder = theirs.site, theirs.site.folder / "all"
    folder.mkdir()
    config = site.server / "config"
    config.write_text(config.read_text() + f"[core]\n\thooksPath = {folder}\n")
    before = listing(site.server)
    words = ["enroll", "--hooks-path", str(folder), str(site.server)]
    code, told = theirs.policyd(*words, as_root=False)
    assert code == 1
    code, told = theirs.policyd(*words)
    assert code == 0, told
    assert (folder / "pre-receive").stat().st_uid == 0
    code, told = theirs.policyd("enroll", str(site.server), as_root=False)
    assert (code, "is in place" in told) == (0, True), told
    theirs.commit({"src/app.py": "x = 1\n", "oracle/rates.json": "{}\n"})
    code, told = theirs.push()
    assert (code, "policyd: separate-authorship: " in told) == (1, True), told
    line = f"sudo -u root policyd --home {site.home} unenroll --hooks-path {folder}"
    code, told = theirs.policyd("unenroll", str(site.server), as_root=False)
    assert code == 0, told
    code, told = theirs.policyd("unenroll", "--hooks-path", str(folder), as_root=False)
    assert (code, line in told) == (1, True), told
    assert theirs.policyd("unenroll", "--hooks-path", str(folder))[0] == 0
    assert listing(site.server) == before
    assert list(folder.iterdir()) == []
