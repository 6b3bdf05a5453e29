"""`policyd serve` as operators run it: a real process, a real watcher, real signals."""

from __future__ import annotations

import http.server
import json
import os
import shutil
import signal
import socket
import threading
import time
import urllib.error
import urllib.request
from datetime import UTC, datetime, timedelta

import pytest
from daemons import Serving, key
from sites import MAIN, Site

from policyd.adapters import gatefiles

DAY = timedelta(days=1)


def settings(site: Site, text: str) -> None:
    file = site.home / "policyd.yaml"
    file.write_text(file.read_text().replace(
        "service:\n  rescan_seconds: 60\n", "") + text)
    assert site.policyd("policy", "apply") == 0, site.out


def nearly_midnight(seconds: float, days: int = 8) -> str:
    """A moment so many seconds before the day on which BASE's rows are over."""
    day = (datetime.now(UTC) + days * DAY).replace(hour=0, minute=0, second=0, microsecond=0)
    return (day - timedelta(seconds=seconds)).isoformat()


def test_a_gate_closes_at_midnight_while_nobody_does_anything(site):
    with Serving(site, "--clock", nearly_midnight(4)) as serve:
        serve.until(lambda: serve.is_open() is True)
        ahead = float((site.state / "pretended-clock").read_text())
        serve.until(lambda: serve.is_open() is False)
        note = site.state / "gates" / f"{key(site)}.json"
        late = note.stat().st_ctime + ahead - datetime.fromisoformat(
            nearly_midnight(0)).timestamp()
        assert -0.01 < late < 5  # written ahead, and put in place then; by a clock that ticks
        site.commit({"src/app.py": "x = 1\n"})
        assert site.push(f"HEAD:{MAIN}", as_="carol") == 1
        assert serve.ended(signal.SIGTERM) == 0
    assert "gate.closed" in serve.events()
    assert serve.events()[-1] == "policyd serve ends"


def test_pushes_are_noted_by_hints_long_before_a_rescan(site):
    settings(site, "service: {rescan_seconds: 3600}\n")
    with Serving(site) as serve:
        serve.until(lambda: serve.is_open() is True)
        for text in ("1\n", "2\n"):
            site.commit({"docs/a.md": text})
            assert site.push(f"HEAD:{MAIN}") == 0
            tip = site.tip()
            serve.until(lambda tip=tip: noted(site).tips[MAIN] == tip)
        assert site.policyd("gate", "hold", str(site.server), "main", "--reason", "x") == 0
        serve.until(lambda: serve.is_open() is False)


def noted(site: Site) -> gatefiles.Noted:
    found = gatefiles.noted(site.state, key(site))
    assert found is not None
    return found


def test_what_moves_past_the_hook_is_found_by_the_rescan(site):
    """C036, C161: no event tells of it."""
    settings(site, "service: {rescan_seconds: 1}\n")
    with Serving(site) as serve:
        serve.until(lambda: serve.is_open() is True)
        site.commit({"docs/a.md": "1\n"})
        site.git("push", "-q", "origin", "HEAD:refs/heads/topic")
        site.git("update-ref", MAIN, site.tip(), cwd=site.server)
        serve.until(lambda: serve.is_open() is False)


def test_a_watched_folder_that_is_replaced_is_watched_again(site):
    """C160: the folder is deleted and made again while the daemon runs."""
    settings(site, "service: {rescan_seconds: 2}\n")
    with Serving(site) as serve:
        serve.until(lambda: serve.is_open() is True)
        shutil.rmtree(site.state / "hints")
        assert site.policyd("gate", "hold", str(site.server), "main", "--reason", "x") == 0
        serve.until(lambda: serve.is_open() is False)


def test_a_suspended_daemon_closes_when_it_goes_on(site):
    """C154"""
    with Serving(site, "--clock", nearly_midnight(3)) as serve:
        serve.until(lambda: serve.is_open() is True)
        serve.process.send_signal(signal.SIGSTOP)
        site.pretend(9 * DAY, jumped=True)
        site.commit({"src/app.py": "x = 1\n"})
        assert site.push(f"HEAD:{MAIN}", as_="carol") == 1
        serve.process.send_signal(signal.SIGCONT)
        serve.until(lambda: serve.is_open() is False)


def test_a_hangup_has_it_look_at_everything(site):
    settings(site, "service: {rescan_seconds: 3600}\n")
    with Serving(site) as serve:
        serve.until(lambda: serve.is_open() is True)
        site.git("update-ref", "refs/heads/release/1", site.base_tip, cwd=site.server)
        serve.process.send_signal(signal.SIGHUP)
        serve.until(lambda: serve.is_open("release/1") is False)


def test_killed_at_any_moment_it_goes_on_where_it_was(site):
    for wait in (0.0, 0.3, 0.6):
        with Serving(site) as serve:
            time.sleep(wait)
            assert serve.ended(signal.SIGKILL) == -signal.SIGKILL
    with Serving(site) as serve:
        serve.until(lambda: serve.is_open() is True)


def test_there_is_one_for_a_state_folder(site):
    with Serving(site) as first:
        first.until(lambda: first.is_open() is True)
        with Serving(site) as second:
            assert second.process.wait(timeout=15) == 2
            assert f"runs already for {site.state}, as process {first.process.pid}" in second.log()
            assert "Traceback" not in second.log()


def test_of_two_that_a_removed_lock_let_start_one_stays(site):
    settings(site, "service: {rescan_seconds: 1}\n")
    with Serving(site) as first:
        first.until(lambda: first.is_open() is True)
        first.process.send_signal(signal.SIGSTOP)  # else it may find out before there are two
        (site.state / "serve.lock").unlink()
        with Serving(site, log="second.log") as second:
            second.until(lambda: second.events() != [])
            first.process.send_signal(signal.SIGCONT)
            assert first.process.wait(timeout=15) == 2
            assert f"as process {second.process.pid}; one is enough" in first.log()
            assert second.process.poll() is None


@pytest.mark.parametrize(("words", "damage", "sentence"), [
    ((), "active/current", "policyd policy apply"),
    (("--clock", "soon"), None, "'soon' is no moment"),
    ((), "state", "cannot be looked at"),
])
def test_it_says_in_one_sentence_why_it_cannot_start(site, words, damage, sentence):
    if damage is not None:
        there = site.home / damage
        there.rename(there.with_name("away"))
    with Serving(site, *words) as serve:
        assert serve.process.wait(timeout=15) == 2
    assert sentence in serve.log()
    assert len(serve.log().splitlines()) == 1
    assert "Traceback" not in serve.log()


def test_a_port_that_is_taken_is_said(site):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        settings(site, f"service: {{listen: '127.0.0.1:{taken.getsockname()[1]}'}}\n")
        with Serving(site) as serve:
            assert serve.process.wait(timeout=15) == 2
    assert "cannot be listened on" in serve.log()


def test_it_tells_systemd(site):
    place = site.folder / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as supervisor:
        supervisor.bind(str(place))
        supervisor.settimeout(15)
        with Serving(site, env={"NOTIFY_SOCKET": str(place), "WATCHDOG_USEC": "20000000"}) as one:
            told = supervisor.recv(1000)
            while b"WATCHDOG=1" not in told:
                told += supervisor.recv(1000)
            one.ended(signal.SIGTERM)
            told += supervisor.recv(1000)
    assert b"READY=1" in told
    assert told.endswith(b"STOPPING=1")


def test_once_looks_and_ends(site):
    with Serving(site, "--once") as serve:
        assert serve.process.wait(timeout=15) == 0
    assert serve.is_open() is True
    assert site.policyd("status") == 0
    assert "the daemon does not run" in site.out


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


def fetched(port: int, path: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_metrics_health_and_a_webhook_tell_of_a_closing(site):
    heard: list[tuple[str, bytes]] = []

    class Ear(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            heard.append((self.headers["X-Policyd-Signature"], body))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    ear = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Ear)
    threading.Thread(target=ear.serve_forever, daemon=True).start()
    secret, port = site.folder / "secret", free_port()
    secret.write_text("pepper\n")
    secret.chmod(0o600)
    settings(site, f"service: {{rescan_seconds: 1, listen: '127.0.0.1:{port}'}}\n"
                   f"webhook: {{url: 'http://127.0.0.1:{ear.server_address[1]}/x', "
                   f"secret_file: {secret}}}\n")
    with Serving(site) as serve:
        serve.until(lambda: serve.is_open() is True)
        assert site.policyd("gate", "hold", str(site.server), "main", "--reason", "drill") == 0
        serve.until(lambda: bool(heard))
        serve.until(lambda: 'policyd_gate_closed{branch="main",repository="r"} 1.0'
                    in fetched(port, "/metrics")[1])
        code, text = fetched(port, "/healthz")
        assert (code, json.loads(text)["repositories"]) == (200, 1)
        assert fetched(port, "/etc")[0] == 404
    ear.shutdown()
    signature, body = heard[0]
    told = json.loads(body)
    assert (told["event"], told["branch"]) == ("gate.closed", "main")
    assert told["reasons"][0]["says"].endswith("drill")
    assert signature.startswith("sha256=")
    assert "pepper" not in serve.log() + str(os.listdir(site.state))


def test_a_folder_that_cannot_be_watched_is_said_while_it_lasts(site):
    settings(site, "service: {rescan_seconds: 1}\n")
    with Serving(site) as serve:
        serve.until(lambda: serve.is_open() is True)
        beat = gatefiles.heartbeat(site.state)
        assert beat is not None
        assert beat.lost == ""
        shutil.rmtree(site.state / "hints")
        serve.until(lambda: "not watched" in lost(site))
        (site.state / "hints").mkdir()
        serve.until(lambda: lost(site) == "")


def lost(site: Site) -> str:
    beat = gatefiles.heartbeat(site.state)
    return beat.lost if beat else ""
