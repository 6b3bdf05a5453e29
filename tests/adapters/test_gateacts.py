"""What lets a push through is used up under the lock, with the push's own entry, or not at all."""

from __future__ import annotations

import pytest
from sites import MAIN

from policyd.adapters import gateacts, gatefiles, repoindex
from policyd.core.breakglass import Permit, Use
from policyd.core.errors import CannotJudge
from policyd.core.gates import Acts

PERMIT = Permit(MAIN, "a" * 40, "carol", "2999-01-01T00:00:00+00:00", "hotfix", "root", "")
USE = Use("permit", MAIN, "carol", "hotfix", ("gate-open",), "2026-09-01T12:00:00+00:00", "root")
ENTRY = {"verdict": "accepted", "repository": "r", "updates": []}


def test_of_two_pushes_that_found_one_permit_one_has_it(site):
    state, key = str(site.state), repoindex.key_of(str(site.server))
    gatefiles.store_acts(state, key, Acts(permits=(PERMIT,)))
    gateacts.let_through(state, key, ENTRY, USE, PERMIT)
    assert gatefiles.acts(state, key) == Acts(uses=(USE,))
    entries = len(site.log())
    with pytest.raises(CannotJudge, match="used or revoked meanwhile"):
        gateacts.let_through(state, key, ENTRY, USE, PERMIT)
    assert len(site.log()) == entries
    assert gatefiles.acts(state, key) == Acts(uses=(USE,))


def test_an_override_uses_no_permit_up(site):
    state, key = str(site.state), repoindex.key_of(str(site.server))
    gatefiles.store_acts(state, key, Acts(permits=(PERMIT,)))
    gateacts.let_through(state, key, ENTRY, USE, None)
    assert gatefiles.acts(state, key) == Acts(permits=(PERMIT,), uses=(USE,))
