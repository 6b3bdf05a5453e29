"""Hooks that break while the daemon lives: told once, named in the status, told when well."""

from __future__ import annotations

import json
import shutil
import urllib.request

import pytest
from daemons import Daemon, Serving
from sites import Site
from test_serve import free_port, settings

from policyd.adapters import hooknotes, repoconfig
from policyd.core import hookstate, notices
from policyd.core.gates import Event, Telling
from policyd.core.hookstate import Broken, Turn
from policyd.daemon import hooks

HOOK = "hooks/pre-receive"
FOREIGN = "#!/bin/sh\ncat >/dev/null\n"


def elsewhere(site: Site) -> None:
    (site.folder / "elsewhere").mkdir(exist_ok=True)
    site.git("config", "core.hooksPath", str(site.folder / "elsewhere"), cwd=site.server)


def edited(site: Site) -> None:
    hook = site.server / HOOK
    hook.write_text(hook.read_text().replace("[ -x ", "exit 0\n[ -x ", 1))


def linked(site: Site) -> None:
    (site.server / "hooks").rename(site.server / "hooks-were-here")
    (site.folder / "others").mkdir()
    (site.server / "hooks").symlink_to(site.folder / "others")


def without_a_program(site: Site) -> None:
    hook = site.server / HOOK
    hook.write_text(hook.read_text().replace(hooks.sys.executable, "/nowhere/python"))


BREAKS = [
    (lambda site: (site.server / HOOK).write_text(FOREIGN), "is not policyd's", "--fix"),
    (lambda site: (site.server / HOOK).chmod(0o644), "is not executable", "--fix"),
    (lambda site: (site.server / HOOK).chmod(0o777), "others than its owner", "--fix"),
    (lambda site: (site.server / HOOK).unlink(), "is absent", "--fix"),
    (edited, "was edited", "--fix"),
    (linked, "is absent", "--fix"),
    (elsewhere, "core.hooksPath says so", "enroll"),
    (without_a_program, "is not there: pushes are refused", "enroll"),
]


@pytest.mark.parametrize(("damage", "word", "remedy"), BREAKS)
def test_a_broken_hook_is_told_once_and_once_when_it_is_well(site, damage, word, remedy):
    daemon = Daemon(site)
    daemon.look()
    daemon.look()
    assert daemon.heard.hooks == []
    damage(site)
    daemon.look()
    daemon.look()
    turned, = daemon.heard.hooks
    assert turned.turn is Turn.BROKEN
    assert word in turned.hook.says
    again = Daemon(site)
    again.look()
    assert again.heard.hooks == [], "what is noted is not told again"
    if remedy == "--fix":
        site.policyd("doctor", "--fix", "--no-canary", str(site.server))
    else:
        assert site.policyd("enroll", str(site.server)) == 0, site.out
    daemon.look()
    assert [one.turn for one in daemon.heard.hooks] == [Turn.BROKEN, Turn.MENDED]
    assert hooknotes.all_of(site.state) == {}


def test_a_hook_is_read_again_only_where_stat_shows_a_change(site, monkeypatch):
    daemon = Daemon(site)
    daemon.look()
    monkeypatch.setattr(hooks.hook, "look", lambda *_: pytest.fail("it was read"))
    site.commit({"docs/a.md": "1\n"})
    assert site.push("HEAD:refs/heads/main") == 0
    daemon.look()
    assert daemon.heard.hooks == []


def test_a_repository_that_went_away_has_no_broken_hook(site):
    daemon = Daemon(site)
    (site.server / HOOK).chmod(0o644)
    daemon.look()
    site.server.rename(site.server.with_name("gone.git"))
    daemon.look()
    assert len(daemon.heard.hooks) == 1
    (site.state / f"repos/{daemon.key}.json").unlink()
    daemon.look()
    assert hooknotes.all_of(site.state) == {}


def test_a_plain_configuration_is_read_as_git_reads_it(site):
    elsewhere_too = str(site.folder / "x y")
    for lines in ((), ("policyd.hook gitlab part a b/policyd",),
                  (f"core.hooksPath {elsewhere_too}",), ("other.hook plain own x",),
                  ("policyd.hook gitea part hooks/pre-receive.d/policyd",
                   "policyd.hook plain own hooks/pre-receive"),
                  ('policyd.hook plain own a"b\\c #d',)):
        shutil.copy(site.server / "config", site.folder / "config")
        for line in lines:
            site.git("config", "--add", *line.split(" ", 1), cwd=site.server)
        found = repoconfig.hooks(site.server, None)
        assert found.folder == repoconfig.hooks_folder(site.server)
        assert found.remembered == repoconfig.remembered(site.server)
        shutil.copy(site.folder / "config", site.server / "config")


def test_the_daemon_tells_log_metrics_health_and_status(site):
    port = free_port()
    settings(site, f"service: {{rescan_seconds: 1, listen: '127.0.0.1:{port}'}}\n")

    def page(path: str) -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
            return answer.read().decode()

    with Serving(site) as serve:
        serve.until(lambda: serve.is_open() is True)
        (site.server / HOOK).write_text(FOREIGN)
        serve.until(lambda: 'policyd_hook_broken{repository="r"} 1.0' in page("/metrics"))
        assert json.loads(page("/healthz"))["hooks_broken"] == 1
        assert site.policyd("status") == 0
        assert (f"HOOK of r: {site.server}/{HOOK}: it is not policyd's: pushes are not judged: "
                f"`policyd doctor --fix {site.server}`") in site.out
        assert site.policyd("doctor", "--fix", "--no-canary", str(site.server)) in (0, 1)
        serve.until(lambda: "policyd_hooks_broken 0.0" in page("/metrics"))
        assert site.policyd("status", "--format", "json") == 0
        assert json.loads(site.out)["hooks"] == []
    assert [event for event in serve.events() if "hook" in event] == ["hook.broken", "hook.mended"]


def test_without_a_daemon_the_status_looks_by_itself(site):
    elsewhere(site)
    assert site.policyd("status", "--format", "json") == 0
    told, = json.loads(site.out)["hooks"]
    assert (told["repository"], told["remedy"]) == ("r", f"policyd doctor --fix {site.server}")


def test_a_home_that_others_may_write_is_said_while_it_is_so(site):
    daemon = Daemon(site)
    daemon.look()
    for mode in (0o775, 0o755):
        site.home.chmod(mode)
        daemon.loop._next_tick = 0.0
        daemon.look()
    told = [(what, str(fields)) for what, fields in daemon.heard.said if "as it must be" in what]
    assert [what for what, _ in told] == ["not all is as it must be", "all is as it must be again"]
    assert f"chmod go-w {site.home}" in told[0][1]


def test_a_notice_has_the_keys_of_every_notice():
    hook = Broken("acme/\udcff", "/srv/a.git", "it is \x1b absent", "2026-05-02T00:00:00+00:00")
    told = hookstate.notice(Turn.BROKEN, hook, at="now", policy_digest="d")
    gate = notices.notice(Telling(Event.OPENED, "refs/heads/main"), repository="x", at="now",
                          policy_digest="d")
    assert told.keys() == gate.keys()
    assert told["event"] == "hook.broken"
    assert "\x1b" not in str(told["text"])
    assert "policyd doctor --fix /srv/a.git" in str(told["text"])
    json.dumps(told).encode("ascii")
