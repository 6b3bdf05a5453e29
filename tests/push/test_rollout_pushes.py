"""A roll-out as its operator and its pushers live it: the same push, day after day."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

from sites import MAIN, Site

MIXED = {"src/app.py": "x = 9\n", "oracle/rates.json": "{}\n"}


def today(days: int = 0) -> str:
    return (datetime.now(UTC).date() + timedelta(days)).isoformat()


def push_mixed(site: Site, branch: str) -> int:
    """The push that the rule is about, to a branch of its own so that each can be taken."""
    site.git("checkout", "-q", "--detach", site.base_tip)
    site.commit(MIXED)
    return site.push(f"HEAD:refs/heads/{branch}", as_="agent-7")


def reported(site: Site, rule: str) -> list[dict[str, object]]:
    assert site.policyd("log", "report", "--format", "json") == 0
    return [row for row in json.loads(site.out)["rows"] if row["rule"] == rule]


def test_observe_report_warn_enforce_from_a_day_and_back(site):
    site.edit_policy("mode: enforce\n\n# Branches", "mode: observe\n\n# Branches")
    assert push_mixed(site, "observed") == 0
    assert site.told == []
    row, = reported(site, "separate-authorship")
    assert (row["mode"], row["pushes"]) == ("observe", 1)

    site.edit_policy("mode: observe\n\n# Branches", "mode: warn\n\n# Branches")
    assert push_mixed(site, "warned") == 0
    assert site.told[0].startswith("policyd: warning: ")
    assert {row["mode"] for row in reported(site, "separate-authorship")} == {"observe", "warn"}

    site.edit_policy("mode: warn\n\n# Branches", "mode: enforce\n\n# Branches")
    site.edit_policy("  separate-authorship:\n    mode: enforce\n",
                     f"  separate-authorship:\n    mode: warn\n    enforce_from: {today(2)}\n")
    site.edit_policy("  protected-writers:\n    mode: enforce\n",
                     "  protected-writers:\n    mode: warn\n")
    assert push_mixed(site, "announced") == 0
    assert any("separate-authorship" in line for line in site.told)

    site.edit_policy(f"enforce_from: {today(2)}", f"enforce_from: {today()}")
    assert push_mixed(site, "enforced") == 1
    assert site.told[0].startswith("policyd: separate-authorship: ")
    assert "refs/heads/enforced" not in site.refs()

    assert site.policyd("policy", "apply", "--rollback") == 0
    assert push_mixed(site, "after") == 0
    assert site.policyd("log", "verify") == 0
    assert site.push(f"{site.base_tip}:{MAIN}") == 0
