from __future__ import annotations

import math
import os
import threading
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from policyd.adapters import decisionlog
from policyd.adapters.endpoint import Endpoint
from policyd.adapters.gatefiles import Heartbeat
from policyd.adapters.outbox import Outbox
from policyd.adapters.webhook import Webhook
from policyd.daemon.fleet import Entry
from policyd.daemon.metrics import Metrics

BEAT = Heartbeat(1, "2026-05-02T00:00:00+00:00", "2026-05-02T00:00:05+00:00", "1.0", "ab", 2, 60.0)
PAY = Entry("acme/pay", branches=("refs/heads/main", "refs/heads/release/1"), closed=("main",),
            moved=1, due={14: 2, 3: 1})
WEB = Entry("acme/web", branches=("refs/heads/main",), due={14: 1, 1: 1}, problem="no")


@pytest.fixture
def state(tmp_path: Path) -> Path:
    folder = tmp_path / "state"
    folder.mkdir(mode=0o700)
    return folder


def figures(metrics: Metrics) -> dict[str, float]:
    """The page as Prometheus reads it: `name{label=value,...}` to the value."""
    found = {}
    for family in text_string_to_metric_families(metrics.page().decode("utf-8")):
        for one in family.samples:
            about = ",".join(f"{name}={value}" for name, value in sorted(one.labels.items()))
            found[f"{one.name}{{{about}}}" if about else one.name] = one.value
    return found


def test_only_closed_gates_are_told_by_name():
    metrics = Metrics("1.0")
    metrics.beats(BEAT, [PAY, WEB], None)
    found = figures(metrics)
    assert {name: value for name, value in found.items() if "gate" in name or "repos" in name} == {
        "policyd_gates_open": 2, "policyd_gates_closed": 1, "policyd_repositories": 2,
        "policyd_repositories_unreadable": 1,
        "policyd_gate_closed{branch=main,repository=acme/pay}": 1}
    assert found["policyd_movements"] == 1
    assert found["policyd_build_info{version=1.0}"] == 1
    metrics.beats(BEAT, [WEB], None)
    assert "policyd_gate_closed{branch=main,repository=acme/pay}" not in figures(metrics)


def test_rows_are_told_by_step_and_a_step_without_rows_is_none():
    metrics = Metrics("1.0")
    metrics.beats(BEAT, [PAY, WEB], None)
    assert {name: value for name, value in figures(metrics).items() if "due" in name} == {
        "policyd_rows_due{days=30}": 0, "policyd_rows_due{days=14}": 3,
        "policyd_rows_due{days=7}": 0, "policyd_rows_due{days=1}": 1, "policyd_rows_due{days=3}": 1}
    metrics.beats(BEAT, [WEB], None)
    assert "policyd_rows_due{days=3}" not in figures(metrics)


def test_what_happens_is_counted():
    metrics = Metrics("1.0")
    metrics.hinted()
    metrics.hinted()
    metrics.lost()
    metrics.looked(0.5)
    found = figures(metrics)
    assert (found["policyd_hints_total"], found["policyd_events_lost_total"]) == (2, 1)
    assert (found["policyd_look_seconds_count"], found["policyd_look_seconds_sum"]) == (1, 0.5)


def test_notices_are_counted_once(state: Path):
    webhook = Webhook(Outbox(state, most=1), Endpoint.of("http://127.0.0.1:1/", None),
                      lambda *_: None)
    webhook.put("gate.closed", {})
    webhook.put("gate.closed", {})
    webhook.delivered = 5
    metrics = Metrics("1.0")
    for _ in range(2):
        metrics.beats(BEAT, [], webhook)
    found = figures(metrics)
    assert [found[f"policyd_webhook_{name}"] for name in (
        "queue", "delivered_total", "dropped_total")] == [1, 5, 1]


def test_the_head_of_the_decision_log_is_told(state: Path):
    assert "policyd_decision_log_entries" not in figures(Metrics("1.0"))
    metrics = Metrics("1.0", state=str(state))
    assert figures(metrics)["policyd_decision_log_entries"] == 0
    for _ in range(3):
        decisionlog.append(state, {"event": "test"})
    before = len(os.listdir("/proc/self/fd"))
    assert figures(metrics)["policyd_decision_log_entries"] == 3
    assert len(os.listdir("/proc/self/fd")) == before
    (state / "decisions.jsonl").rename(state / "elsewhere")
    (state / "decisions.jsonl").symlink_to("elsewhere")
    assert math.isnan(figures(metrics)["policyd_decision_log_entries"])
    (state / "decisions.jsonl").unlink()
    (state / "decisions.jsonl").mkdir()
    assert math.isnan(figures(metrics)["policyd_decision_log_entries"])


def test_a_name_that_is_no_text_does_not_spoil_the_page():
    metrics = Metrics("1.0")
    metrics.beats(BEAT, [Entry('a"\n\\b', branches=("x",), closed=("m\udcff\u00e9",))], None)
    assert 'policyd_gate_closed{branch=m\\udcff\u00e9,repository=a"\n\\b}' in figures(metrics)


def test_a_page_is_always_that_of_one_moment():
    """A scrape between clearing and filling would show that no gate is closed."""
    metrics = Metrics("1.0")
    many = [Entry(f"r{n}", branches=("refs/heads/main",), closed=("main",)) for n in range(300)]
    metrics.beats(BEAT, many, None)
    ended = threading.Event()

    def beat() -> None:
        while not ended.is_set():
            metrics.beats(BEAT, many, None)

    thread = threading.Thread(target=beat)
    thread.start()
    try:
        pages = [metrics.page().count(b"policyd_gate_closed{") for _ in range(30)]
    finally:
        ended.set()
        thread.join()
    assert pages == [300] * 30
