"""What tests push, as functions of a site, and the running of what a rejection prints."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path

from records_made import DAY, LEASE, lease, today
from sites import Site

ORACLE = "oracle/rates.json"
"""An oracle that is no record: what is in it is beside the point."""
PRICES = "price\n1\n2\n"
"""What BASE's lease pins."""
CODE = "def total(prices):\n    return sum(sorted(prices))\n"
MIXED = {"src/app.py": CODE, ORACLE: "{}\n"}
COMMANDS = ("git ", "cd ", "# ")
ODD = ("it's", "a b", "st*r", "$HOME", "-dash", "_x")


Pushed = tuple[str, ...]
Build = Callable[[Site], Pushed]
"""Makes commits and gives the arguments of the push."""


def leased(name: str) -> str:
    """BASE's corpus under a lease of another name, for a few days less."""
    return lease(PRICES, ends=today() + 90 * DAY, name=name)


def commits(*steps: dict[str, object], to: str = "main", force: bool = False) -> Build:
    """Commits on what is checked out, pushed to a branch, or to a full ref name."""
    def build(site: Site) -> Pushed:
        for step in steps:
            site.commit(step)
        ref = to if to.startswith("refs/") else f"refs/heads/{to}"
        return (*(("--force",) if force else ()), f"HEAD:{ref}")
    return build


def on_feature(*earlier: dict[str, object], then: Build) -> Build:
    """A feature branch that the server already holds, and what comes on top of it."""
    def build(site: Site) -> Pushed:
        for step in earlier:
            site.commit(step)
        stored(site, "refs/heads/feature")
        return then(site)
    return build


def after_main_gained(then: Build) -> Build:
    """Main gains oracle and manifest by alice and code by others; the clone is on the old tip."""
    def build(site: Site) -> Pushed:
        site.commit({ORACLE: '{"new": 1}\n', LEASE: leased("other")}, "Record")
        assert site.push("HEAD:refs/heads/main") == 0, site.err
        site.commit({"src/other.py": "y = 2\n"}, "Other code")
        assert site.push("HEAD:refs/heads/main") == 0, site.err
        site.git("branch", "upstream")
        site.git("switch", "-q", "--detach", site.base_tip)
        return then(site)
    return build


def merging_upstream(then: Build) -> Build:
    def build(site: Site) -> Pushed:
        site.git("merge", "-q", "--no-ff", "upstream")
        return then(site)
    return build


def on_release(then: Build) -> Build:
    """A release branch beside main, made by alice."""
    def build(site: Site) -> Pushed:
        assert site.push("HEAD:refs/heads/release/1") == 0, site.err
        return then(site)
    return build


def stored(site: Site, ref: str) -> None:
    """Put what is checked out on the server as if it had been accepted earlier."""
    site.git("fetch", "-q", str(site.work), f"HEAD:{ref}", cwd=site.server)


def linked(site: Site) -> Pushed:
    site.git("rm", "-rq", "oracle")
    site.commit({"oracle": Path("/tmp"), "src/app.py": CODE})
    return ("HEAD:refs/heads/main",)


def linked_alone(site: Site) -> Pushed:
    """Only a link where the oracle was: its files lie elsewhere now."""
    site.git("mv", "oracle", "docs")
    site.commit({"oracle": Path("docs")})
    return ("HEAD:refs/heads/main",)


def submodule(site: Site) -> Pushed:
    site.commit({"src/app.py": CODE})
    site.git("update-index", "--add", "--cacheinfo", f"160000,{site.base_tip},oracle/sub")
    site.git("commit", "-qm", "Add a submodule")
    return ("HEAD:refs/heads/main",)


def renamed(site: Site) -> Pushed:
    site.git("mv", "src/app.py", "oracle/app.py")
    site.git("mv", ORACLE, "src/expected.json")
    return commits({"src/new.py": "z = 3\n"})(site)


def file_for_folder(site: Site) -> Pushed:
    site.git("rm", "-rq", "tests/ledger")
    return commits({"tests/ledger": "flat\n", "src/app.py": CODE})(site)


def folder_for_file(site: Site) -> Pushed:
    site.git("rm", "-q", "src/app.py")
    return commits({"src/app.py/inner.py": CODE, ORACLE: "{}\n"})(site)


def both_refs_mixed(site: Site) -> Pushed:
    site.commit(MIXED)
    return ("HEAD:refs/heads/one", "HEAD:refs/heads/two")


def apart_on_two_refs(site: Site) -> Pushed:
    site.commit({ORACLE: "{}\n"})
    site.git("branch", "judges")
    site.git("switch", "-q", "--detach", site.base_tip)
    site.commit({"src/app.py": CODE})
    return ("judges:refs/heads/judges", "HEAD:refs/heads/code")


def tagged(site: Site) -> Pushed:
    site.commit({"src/app.py": CODE})
    site.git("tag", "-am", "One", "v1.0")
    return ("--follow-tags", "HEAD:refs/heads/main")


def main_and_release(site: Site) -> Pushed:
    site.commit({"src/app.py": CODE})
    return ("HEAD:refs/heads/main", "HEAD:refs/heads/release/1")


def tag_of_a_mix(site: Site) -> Pushed:
    site.commit(MIXED)
    site.git("tag", "-am", "Mixed", "mixed")
    return ("mixed",)


def rewind_with_a_mix(site: Site) -> Pushed:
    site.git("switch", "-q", "--detach", "HEAD^")
    return commits(MIXED, to="main", force=True)(site)


def rewind(site: Site) -> Pushed:
    site.git("switch", "-q", "--detach", "HEAD^")
    return commits({"src/app.py": CODE}, to="main", force=True)(site)


def brought_from_a_release(site: Site) -> Pushed:
    """An agent merges a maintainer's oracle from a release branch."""
    assert site.push("HEAD:refs/heads/release/1") == 0, site.err
    recorded = site.commit({ORACLE: '{"fixed": 1}\n'})
    assert site.push("HEAD:refs/heads/release/1") == 0, site.err
    site.git("switch", "-q", "--detach", site.base_tip)
    site.commit({"src/app.py": CODE})
    site.git("merge", "-q", "--no-ff", recorded)
    return ("HEAD:refs/heads/main",)


def conftests(*folders: str) -> dict[str, object]:
    return {f"{folder}/conftest.py": "c = 1\n" for folder in folders}


def overlap(site: Site) -> Pushed:
    site.commit({"src/app.py": 'def total(_):\n    return "EUR 77.25"\n', ORACLE: "{}\n",
                 "tests/test_new.py": "def test_it():\n    assert total(1) == 'EUR 77.25'\n"})
    return ("HEAD:refs/heads/main",)


def moved_meanwhile(site: Site) -> Pushed:
    """Somebody else's push of the commit below lands while this one is on its way."""
    site.commit({"src/one.py": "a = 1\n"})
    site.git("push", "-q", "origin", "HEAD:refs/heads/feature")
    between = site.commit({"src/two.py": "b = 2\n"})
    site.git("push", "-q", "origin", "HEAD:refs/heads/other")
    site.commit({"src/three.py": "c = 3\n"})
    once(site, f"git update-ref refs/heads/feature {between}")
    return ("HEAD:refs/heads/feature",)


def diverged_meanwhile(site: Site) -> Pushed:
    aside = site.commit({"src/two.py": "b = 2\n"})
    site.git("push", "-q", "origin", "HEAD:refs/heads/other")
    site.git("switch", "-q", "--detach", "HEAD^")
    site.git("push", "-q", "origin", "HEAD:refs/heads/feature")
    site.commit({"src/three.py": "c = 3\n"})
    once(site, f"git update-ref refs/heads/feature {aside}")
    return ("HEAD:refs/heads/feature",)


def once(site: Site, command: str) -> None:
    """Run a command on the server before the next push is judged."""
    hook = site.server / "hooks/pre-receive"
    real = hook.rename(hook.with_name("real"))
    hook.write_text(f"#!/bin/sh\nenv -u GIT_QUARANTINE_PATH {command}\nmv {real} {hook}\n"
                    f"exec {hook}\n")
    hook.chmod(0o755)


def shallow(site: Site) -> Pushed:
    """A shallow clone of a fork that pushes to the server: the history is nowhere here."""
    fork = site.folder / "fork"
    site.git("init", "-q", "-b", "main", "--template=", str(fork), cwd=site.folder)
    for count in range(3):
        site.git("commit", "-qm", f"Step {count}", "--allow-empty", cwd=fork)
    shutil.rmtree(site.work)
    site.git("clone", "-q", "--depth=1", f"file://{fork}", str(site.work), cwd=site.folder)
    site.git("remote", "set-url", "--push", "origin", str(site.server))
    site.git("config", "receive.shallowUpdate", "true", cwd=site.server)
    site.commit({"src/fork.py": "f = 1\n"})
    return ("HEAD:refs/heads/feature",)


# What a rejection prints.

def script(told: Iterable[str]) -> list[str]:
    """The commands of the first block: the indented lines below its `do:`."""
    found: list[str] = []
    inside = False
    for line in told:
        if line.startswith("do:"):
            inside = not found
        elif not line.startswith("  "):
            inside = False
        elif inside and line.strip().startswith(COMMANDS):
            found.append(line.strip())
    return found


def run(site: Site, commands: list[str], who: str | None) -> None:
    assert commands, site.told
    folder = site.work / "somewhere/below"
    folder.mkdir(parents=True, exist_ok=True)
    environment = site.environment(**({"REMOTE_USER": who} if who else {}))
    done = subprocess.run(["sh", "-e"], input=os.fsencode("\n".join(commands)), cwd=folder,
                          env=environment, capture_output=True, check=False)
    assert done.returncode == 0, "\n".join([*site.told, os.fsdecode(done.stderr)])
    assert b"cannot be judged" not in done.stderr


def push_id(site: Site) -> str:
    return site.told[-1].partition('"id":"')[2].partition('"')[0]
