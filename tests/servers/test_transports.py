"""Pushes to real servers: what comes of them, what pushers read, and who the log says it was."""

from __future__ import annotations

import shutil
from pathlib import Path

import gitolite
import nginx
import pytest
import sshd
from running import HOST
from sites import MAIN, Site
from ways import MIXED, SOURCE, Way, chosen, compare, push, views

pytestmark = pytest.mark.servers
BY_VARIABLE = "{from: env, name: REMOTE_USER}"


def pusher(site: Site) -> tuple[object, ...]:
    entry = site.log()[-1]
    return entry["pusher"], entry.get("credential"), entry["repository"]


def over_ssh(ssh: sshd.Sshd, identity: str) -> Way:
    return Way(identity, lambda site, _: ssh.url(site.server), ssh.environment)


def over_http(http: nginx.Nginx, served: Path) -> Way:
    return Way("{from: http}", lambda site, who: http.url(
        str(site.server.relative_to(served)), who), lambda _: {})


def test_by_the_path_of_a_file(shop: Site, accept: bool) -> None:
    way = Way(BY_VARIABLE, lambda site, _: str(site.server), lambda who: {"REMOTE_USER": who})
    compare("file", views(shop, way), accept=accept)


def test_by_ssh_with_a_name_for_each_key(shop: Site, ssh: sshd.Sshd, accept: bool) -> None:
    way = over_ssh(ssh, "{from: ssh}")
    chosen(shop, way)
    compare("ssh", views(shop, way), accept=accept)
    assert pusher(shop) == ("agent-7", ssh.fingerprint("agent-7"), shop.log()[-1]["repository"])


def test_by_ssh_where_the_key_is_the_name(shop: Site, ssh: sshd.Sshd) -> None:
    listed = f'{{"{ssh.fingerprint("key")}": alice}}'
    way = over_ssh(ssh, f"{{from: ssh, keys: {listed}}}")
    chosen(shop, way)
    shop.commit({"oracle/rates.json": "{}\n"})
    assert push(shop, way, "other", f"HEAD:{MAIN}") == 1, shop.err
    assert "protected-writers" in shop.told[0]
    assert pusher(shop)[:2] == (None, ssh.fingerprint("other"))
    assert push(shop, way, "key", f"HEAD:{MAIN}") == 0, shop.err
    assert pusher(shop)[:2] == ("alice", ssh.fingerprint("key"))


def test_by_http_with_a_password_that_stays_out_of_everything(
        shop: Site, http: nginx.Nginx, served: Path, accept: bool) -> None:
    """nginx hands the whole Authorization header to the hook."""
    way = over_http(http, served)
    chosen(shop, way)
    hook = shop.server / "hooks/pre-receive"
    hook.write_text(hook.read_text().replace(
        "#!/bin/sh\n", f'#!/bin/sh\necho "$HTTP_AUTHORIZATION" >{shop.folder}/header\n'))
    compare("http", views(shop, way), accept=accept)
    assert pusher(shop)[:2] == ("agent-7", "Basic")
    secret = (shop.folder / "header").read_text().strip().removeprefix("Basic ")
    assert len(secret) > 20
    assert kept(shop, secret, *http.passwords.values()) == []


def kept(site: Site, *secrets: str) -> list[Path]:
    """The files of home and state that hold a secret."""
    return [file for file in site.home.rglob("*") if file.is_file()
            and any(secret.encode() in file.read_bytes() for secret in secrets)]


def test_by_gits_daemon_everybody_is_nobody(shop: Site, daemon: int, served: Path,
                                            accept: bool) -> None:
    """Whatever a pusher sets at home."""
    way = Way(BY_VARIABLE, lambda site, _: (
        f"git://{HOST}:{daemon}/{site.server.relative_to(served)}"),
        lambda who: {"REMOTE_USER": who})
    shop.commit({"oracle/rates.json": "{}\n"})
    assert push(shop, way, "alice", f"HEAD:{MAIN}") == 1, shop.err
    assert "by nobody known" in shop.told[0]
    assert pusher(shop)[0] is None
    shop.git("reset", "-q", "--hard", shop.base_tip)
    compare("git-daemon", views(shop, way), accept=accept)


# --- gitolite --------------------------------------------------------------------------------

def hosted(site: Site, lite: gitolite.Gitolite, name: str) -> None:
    """Give the repository of a site to gitolite, under that name."""
    assert site.policyd("unenroll", str(site.server)) == 0, site.out
    place = lite.repositories / f"{name}.git"
    shutil.move(site.server, place)
    (place / "hooks").mkdir(exist_ok=True)
    settings = site.home / "policyd.yaml"
    settings.write_text(settings.read_text().replace(
        str(site.server.parent), str(lite.repositories)))
    site.server = place


def over_gitolite(lite: gitolite.Gitolite, name: str) -> Way:
    return Way("{from: gitolite}", lambda _, __: lite.ssh.url(name), lite.ssh.environment)


def test_by_gitolite_with_the_hook_of_all_repositories(shop: Site, lite: gitolite.Gitolite,
                                                       accept: bool) -> None:
    """What gitolite itself refuses was judged before, and taken for a push without effect."""
    hosted(shop, lite, "common")
    lite.configure("repo common\n    RW+ main = @all\n    - secret = @all\n    RW = @all\n")
    way = over_gitolite(lite, "common")
    chosen(shop, way)
    assert shop.policyd("enroll", "--server", "gitolite", "--hooks-path", str(lite.common),
                        str(shop.server)) == 0, shop.out
    lite.run("setup", "--hooks-only")
    tip = shop.commit(SOURCE)
    assert push(shop, way, "agent-7", "HEAD:refs/heads/secret") == 1
    assert "DENIED by" in shop.err
    assert (shop.log()[-1]["verdict"], pusher(shop)) == ("accepted", ("agent-7", None, "common"))
    assert tip not in shop.refs().values()
    shop.git("reset", "-q", "--hard", shop.base_tip)
    compare("gitolite", views(shop, way), accept=accept)
    (lite.common / "pre-receive").unlink()


def test_by_gitolite_with_a_hook_of_one_repository(shop: Site, lite: gitolite.Gitolite) -> None:
    hosted(shop, lite, "specific")
    way = over_gitolite(lite, "specific")
    chosen(shop, way)
    assert shop.policyd("enroll", "--server", "gitolite", "--hooks-path", str(lite.specific),
                        str(shop.server)) == 0, shop.out
    lite.configure("repo specific\n    RW+ = @all\n    option hook.pre-receive = policyd\n")
    shop.commit(MIXED)
    assert push(shop, way, "agent-7", f"HEAD:{MAIN}") == 1
    assert shop.told[0].startswith("policyd: separate-authorship: ")
    shop.git("reset", "-q", "--hard", shop.base_tip)
    tip = shop.commit(SOURCE)
    assert push(shop, way, "alice", f"HEAD:{MAIN}") == 0, shop.err
    assert (shop.told, shop.refs()[MAIN], pusher(shop)) == ([], tip, ("alice", None, "specific"))
