"""Servers that call the hook before the pushed objects are there, as dulwich does.

No quarantine is named, the hook runs elsewhere, GIT_DIR is absolute, the last line has no end.
Nobody can judge what is not there yet; what is there is judged as ever.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from sites import MAIN, Site

TOO_EARLY = "this server calls the hook before the pushed objects are there; "
ZERO = "0" * 40
DULWICH = Path(sys.prefix) / "servers"


def early(site: Site, *lines: str) -> tuple[int, str]:
    """Run the hook as such a server does; its exit code and its sentences."""
    done = subprocess.run(
        [site.server / "hooks/pre-receive"], cwd="/", input="\n".join(lines), text=True,
        env={"PATH": "/usr/bin:/bin", "GIT_DIR": str(site.server)}, check=False,
        capture_output=True)
    return done.returncode, " ".join(map(str.strip, done.stderr.splitlines()))


@pytest.mark.parametrize(("old", "ref"), [
    ("base", MAIN), (ZERO, "refs/heads/new"), (ZERO, "refs/tags/v1"), (ZERO, "refs/check/main")])
def test_what_is_not_there_yet_is_refused_and_the_server_is_named(
        site: Site, old: str, ref: str) -> None:
    tip = site.commit({"src/app.py": "x = 1\n"})
    code, told = early(site, f"{old.replace('base', site.base_tip)} {tip} {ref}")
    assert (code, told.count(TOO_EARLY)) == (2, 1), told
    assert told.startswith(f"policyd: could not be judged: {TOO_EARLY}")
    assert TOO_EARLY in site.incidents()[-1]["error"]


def test_one_absent_object_among_others_is_enough(site: Site) -> None:
    tip = site.commit({"src/app.py": "x = 1\n"})
    code, told = early(site, f"{ZERO} {site.base_tip} refs/heads/old", f"{ZERO} {tip} refs/heads/x")
    assert (code, TOO_EARLY in told) == (2, True), told


def test_a_rule_that_is_off_does_not_hide_the_server(site: Site) -> None:
    site.edit_policy("  ordinary-refs:", "  ordinary-refs: {mode: off}\n  #")
    tip = site.commit({"src/app.py": "x = 1\n"})
    code, told = early(site, f"{ZERO} {tip} refs/heads/x")
    assert (code, TOO_EARLY in told) == (2, True), told


def test_what_is_there_already_is_judged(site: Site) -> None:
    assert early(site, f"{ZERO} {site.base_tip} refs/heads/old") == (0, "")
    code, told = early(site, f"{site.base_tip} {ZERO} {MAIN}")
    assert (code, "ordinary-refs" in told) == (1, True), told


@pytest.mark.servers
def test_dulwich_itself_stores_nothing(site: Site) -> None:
    if not (DULWICH / "whole").exists():
        pytest.skip("dulwich: dulwich is not installed")
    site.commit({"src/app.py": "x = 1\n"})
    serve = f"env PYTHONPATH={DULWICH} {sys.executable} {DULWICH}/bin/dul-receive-pack"
    for ref in (MAIN, "refs/heads/new"):
        assert site.push(f"--receive-pack={serve}", f"HEAD:{ref}") != 0
        assert TOO_EARLY in " ".join(site.err.split()), site.err
        assert site.refs() == {MAIN: site.base_tip}
