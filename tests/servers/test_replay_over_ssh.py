"""A push over ssh that waits for its replay: who waits is told every two seconds, as it goes."""

from __future__ import annotations

import os
import subprocess
import time
from itertools import pairwise
from pathlib import Path

import pytest
import sshd
from sites import MAIN, Site
from splitters import changed, doubling, replays, twice
from ways import Way, chosen

pytestmark = pytest.mark.servers
SLOWLY = "    import time\n    time.sleep(0.15)\n"


@pytest.fixture
def replayed(served: Path) -> Site:
    return doubling(served / "replayed")


def test_a_push_over_ssh_is_told_how_far_its_replay_is(replayed: Site, ssh: sshd.Sshd) -> None:
    site = replayed
    way = Way("{from: ssh}", lambda site, _: ssh.url(site.server), ssh.environment)
    chosen(site, way)
    changed(site, twice(inside=SLOWLY))
    site.git("remote", "set-url", "origin", way.url(site, "agent-7"))
    lines: list[tuple[float, str]] = []
    with subprocess.Popen(
            ["git", "push", "origin", f"HEAD:{MAIN}"], cwd=site.work, stderr=subprocess.PIPE,
            env=site.environment(**way.env("agent-7"))) as client:
        assert client.stderr is not None
        for line in client.stderr:
            lines.append((time.monotonic(), os.fsdecode(line).strip()))
    assert client.returncode == 0, lines
    told = [(at, line) for at, line in lines if line.startswith("remote: policyd: replay: ")]
    *going, (end, summary) = told
    assert "1 relation" in summary
    assert len(going) >= 2, lines
    assert all("D1: " in line or "all in one process" in line for _, line in going)
    assert end - going[0][0] > 1.5, "they come while it goes on, not at its end"
    assert all(later - at > 1.0 for (at, _), (later, _) in pairwise(going))
    assert replays(site)["rows"] == {"D1": "holds"}
    assert site.log()[-1]["pusher"] == "agent-7"
