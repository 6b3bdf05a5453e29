"""The C parts of pygit2 do without its package, and with it where they must."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

READ = """
import sys
from policyd.adapters.gitrepo import PushedRepo
repo = PushedRepo(sys.argv[1])
(name, oid), = repo.refs().items()
header = repo.header(bytes.fromhex(oid))
assert repo.read(header[0])[0] == "tree" and dict(repo.walk([bytes.fromhex(oid)], []))
"""
BEFORE = {
    "alone": "import policyd.adapters.libgit2",
    "all of pygit2 is there already": "import os; os.environ['SSL_CERT_DIR'] = '/'; import pygit2",
    "another layout": """
from policyd.adapters import libgit2
def _alone(): raise AttributeError("_cache_enums")
libgit2._alone = _alone
""",
}
AFTER = """
whole = "pygit2.repository" in sys.modules
import pygit2
from policyd.adapters import gitrepo
assert pygit2.Oid is gitrepo.Oid and pygit2.GitError is gitrepo.GitError
print(whole, pygit2.Repository(sys.argv[1]).head.target == pygit2.Oid(hex=oid))
"""


@pytest.mark.parametrize(("before", "whole"), [*zip(BEFORE, (False, True, True), strict=True)])
def test_a_repository_is_read_and_pygit2_still_imports(tmp_path, before, whole):
    subprocess.run(["git", "init", "-q", "-b", "main", tmp_path], check=True)
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@example", "commit", "-q",
                    "--allow-empty", "-m", "a"], cwd=tmp_path, check=True)
    done = subprocess.run([sys.executable, "-I", "-c", BEFORE[before] + READ + AFTER,
                           str(tmp_path / ".git")], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == (f"{whole} True\n", "")


def test_nothing_is_read_from_the_home_of_who_runs_it(open_folder, open_python):
    """Root that became another user still has root's HOME, which that user cannot enter."""
    made, home = open_folder / "read.git", open_folder / "closed-home"
    subprocess.run(["git", "init", "-q", "--bare", str(made)], check=True)
    home.mkdir(mode=0o700)
    done = subprocess.run(
        [open_python, "-I", "-c", "import sys; from policyd.adapters.gitrepo import PushedRepo; "
         "print(PushedRepo(sys.argv[1]).refs())", str(made)], user=65534, group=65534,
        env={"PATH": os.environ["PATH"], "HOME": str(home)},
        capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "{}\n"), done.stderr
