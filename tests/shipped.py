"""The shipped policy, compiled: what the tests of decision tables run against."""

from __future__ import annotations

from pathlib import Path

from policyd.core import documents
from policyd.core.authored import compile_policy
from policyd.core.frozen import put_together
from policyd.core.policy import Active, Settings
from policyd.rules import BY_ID

POLICIES = Path(__file__).parent.parent / "policies"


def active(old: str = "", new: str = "") -> Active:
    """As if it alone were in force; with a text in it replaced, which must be there."""
    text = (POLICIES / "default.yaml").read_text()
    assert old in text
    node = documents.parse(text.replace(old, new).encode() if old else text.encode(),
                           "default.yaml")
    return put_together(Settings("/state"), (compile_policy(node, "default", BY_ID),))
