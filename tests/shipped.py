"""The shipped policy, compiled: what the tests of decision tables run against."""

from __future__ import annotations

from pathlib import Path

from policyd.core import documents
from policyd.core.authored import compile_policy
from policyd.core.frozen import put_together
from policyd.core.policy import Active, Settings
from policyd.rules import BY_ID

POLICIES = Path(__file__).parent.parent / "policies"


def active() -> Active:
    """As if it alone were in force."""
    node = documents.parse((POLICIES / "default.yaml").read_bytes(), "default.yaml")
    return put_together(Settings("/state"), (compile_policy(node, "default", BY_ID),))
