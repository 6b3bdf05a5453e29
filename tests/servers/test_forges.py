"""Pushes through what forges do around a hook, each as its own enrolment puts it there.

tests/emulators/ holds what they do; the variables were compared with real ones.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest
from emulators import hooks_servers as servers
from sites import MAIN, Site
from ways import SOURCE, Way, chosen, compare, push, views

EMULATORS = Path(servers.__file__).parent
CHECKOUT = EMULATORS.parents[1]
BOTH = ("alice", "agent-7")


def enrolled(site: Site, way: Way, *server: str) -> None:
    """As the operator does it once the server is as it is."""
    chosen(site, way)
    assert site.policyd("enroll", *server, str(site.server)) == 0, site.out


@pytest.fixture
def plain(shop: Site) -> Site:
    """The site with nothing enrolled."""
    assert shop.policyd("unenroll", str(shop.server)) == 0, shop.out
    return shop


def pushers(site: Site, since: int) -> set[tuple[object, ...]]:
    """Whom the log names since that entry, with what, where to."""
    return {(entry["pusher"], entry["credential"], entry["repository"])
            for entry in site.log()[since:] if entry.get("pusher")}


@pytest.mark.parametrize(("way", "credential", "ref"), [
    ("ssh", "key-7", MAIN), ("http", "http", MAIN), ("web", "web", MAIN), ("merge", "web", MAIN),
    ("pull", "internal", "refs/pull/7/head")])
def test_gitea_on_each_way(plain: Site, accept: bool, way: str, credential: str,
                           ref: str) -> None:
    """The forge's own hook runs first, and ours whatever it says."""
    servers.gitea(plain)
    gitea = Way("{from: gitea}", lambda site, _: str(site.server), lambda who: {"PUSHER": who},
                (f"--receive-pack={EMULATORS / 'gitea'} {way}",), ref)
    before = len(plain.log())
    enrolled(plain, gitea, "--server", "gitea")
    compare("gitea-pull" if way == "pull" else "gitea", views(plain, gitea), accept=accept)
    assert pushers(plain, before) == {(who, credential, "org/demo") for who in BOTH}


@pytest.mark.parametrize("way", ["ssh", "web"])
def test_gitlab_on_each_way(plain: Site, accept: bool, way: str) -> None:
    """On its pages each line for people has the word without which they show none."""
    gitlab = Way("{from: gitlab}", lambda site, _: str(site.server), lambda who: {
        "GL_ID": "user-3", "GL_USERNAME": who, "GL_PROJECT_PATH": "group/demo",
        "GL_REPOSITORY": "project-351", "GL_PROTOCOL": way}, tuple(servers.gitaly(plain)))
    before = len(plain.log())
    enrolled(plain, gitlab, "--server", "gitlab")
    compare("gitlab-web" if way == "web" else "gitlab", views(plain, gitlab), accept=accept)
    assert pushers(plain, before) == {(who, way, "group/demo") for who in BOTH}


# --- GitHub Enterprise Server ----------------------------------------------------------------

def github(site: Site, **more: str) -> Way:
    """The hook runs below a root of its own, as `tests/emulators/ghes-chroot` says."""
    if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "true"], check=False,
                                           capture_output=True).returncode:
        pytest.skip("GitHub Enterprise Server: no mount namespace may be made here")
    trees = [tree for tree in dict.fromkeys(["/usr", sys.prefix, sys.base_prefix, str(CHECKOUT)])
             if not any(Path(tree).is_relative_to(other) for other in ("/usr", str(CHECKOUT))
                        if other != tree)]
    hooks = site.server / "hooks"
    (hooks / "pre-receive").rename(hooks / "judge")
    (hooks / "pre-receive").symlink_to(EMULATORS / "ghes-chroot")
    return Way("{from: ghes}", lambda site, _: str(site.server), lambda who: {
        "WHO": who, "TREES": " ".join(trees), "WRITTEN": str(site.home), **more})


@pytest.mark.servers
def test_github_below_its_own_root(shop: Site, accept: bool) -> None:
    """No certificates, no /proc, a read-only repository."""
    way = github(shop, VIA="pull request merge button")
    chosen(shop, way)
    compare("ghes", views(shop, way), accept=accept)
    assert shop.log()[-1]["repository"] == "octo-org/demo"
    assert (shop.log()[-1]["pusher"], shop.log()[-1]["credential"]) == ("agent-7", "web")


@pytest.mark.servers
def test_github_cuts_a_hook_that_waits_and_takes_nothing(shop: Site) -> None:
    way = github(shop, LIMIT="1")
    chosen(shop, way)
    shop.commit(SOURCE)
    with (shop.state / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert push(shop, way, "alice", f"HEAD:{MAIN}") == 1
    assert shop.told == ["the hook took longer than 1 seconds"]
    assert shop.refs()[MAIN] == shop.base_tip
    assert shop.policyd("log", "verify") == 0, shop.out
    assert push(shop, Way(way.identity, way.url, lambda who: {**way.env(who), "LIMIT": "5"}),
                "alice", f"HEAD:{MAIN}") == 0, shop.err
