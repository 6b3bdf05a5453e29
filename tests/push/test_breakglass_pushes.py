"""Pushes that are let through by a permit or an override, and those that try it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from closings import held
from pushes import CODE, MIXED
from sites import MAIN, Site

GATE = "rules: [gate-open, literal-overlap]"
REASON = "policyd.override=the rate server is down, ticket 77"


def allow(site: Site, rules: str = GATE, groups: str = "[maintainers]") -> None:
    site.edit_policy("rules:\n", f"override: {{groups: {groups}, {rules}}}\nrules:\n")


def told(site: Site) -> str:
    return " ".join(map(str.strip, site.told))


def source(site: Site, *options: str, as_: str = "alice", to: str = MAIN) -> int:
    site.commit({"src/app.py": f"{CODE}\n# {site.tip()}\n"})
    return site.push(*(word for option in options for word in ("-o", option)), f"HEAD:{to}",
                     as_=as_)


def permit(site: Site, new: str, *words: str, who: str = "carol", ref: str = "main",
           hours: float = 1, code: int = 0) -> str:
    until = (datetime.now(UTC) + timedelta(hours=hours)).isoformat(timespec="seconds")
    assert site.policyd("permit", str(site.server), ref, new, "--pusher", who,
                        *(words or ("--until", until)), "--reason", "hotfix 12") == code, site.out
    assert "Traceback" not in site.out
    return site.out


def verdicts(site: Site) -> Iterator[tuple[str, str | None]]:
    for entry in site.log():
        yield entry["verdict"], (entry.get("excused") or {}).get("by")


def test_an_override_passes_a_closed_gate_and_all_of_it_is_told(site):
    allow(site)
    held(site)
    assert source(site) == 1
    assert "override" not in told(site)
    assert site.push("-o", REASON, f"HEAD:{MAIN}") == 0, site.err
    assert ("policyd: override: gate-open would refuse this; let through and logged: the rate "
            "server is down, ticket 77") in told(site)
    entry = site.log()[-1]
    assert entry["verdict"] == "accepted"
    assert entry["excused"] == {"by": "override", "operator": None,
                                "reason": "the rate server is down, ticket 77"}
    assert [(f["rule"], f["mode"]) for f in entry["findings"]] == [("gate-open", "enforce")]
    assert site.policyd("status") == 0
    assert "let through" in site.out
    assert "by alice, override (gate-open): the rate server is down, ticket 77" in site.out
    assert site.policyd("log", "report") == 0
    assert "1 of the accepted passed by a permit or an override" in site.out
    assert source(site) == 1, "the next push is judged as ever"


def test_an_override_is_off_by_default_and_never_for_others(site):
    held(site)
    assert source(site, REASON) == 1
    assert "policyd: override: no effect: it is not for alice" in told(site)
    allow(site)
    assert source(site, REASON, as_="agent-7") == 1
    assert "no effect: it is not for agent-7" in told(site)
    assert site.log()[-1]["no_override"] == "it is not for agent-7"
    assert site.push("-o", REASON, f"HEAD:{MAIN}", as_=None) == 1
    assert "no effect: it is not for who has no name" in told(site)


def test_an_override_reaches_all_that_refuses_or_nothing(site):
    allow(site)
    held(site)
    site.commit(MIXED)
    assert site.push("-o", REASON, f"HEAD:{MAIN}") == 1
    assert "no effect: it does not reach separate-authorship" in told(site)
    assert site.refs()[MAIN] == site.base_tip
    assert all(by is None for _, by in verdicts(site))


@pytest.mark.parametrize(("option", "why"), [
    ("policyd.override", "it says no reason"), ("policyd.override= ", "it says no reason")])
def test_an_override_says_why(site, option, why):
    allow(site)
    held(site)
    assert source(site, option) == 1
    assert f"override: no effect: {why}" in told(site)


def test_words_in_a_commit_message_override_nothing(site):
    allow(site)
    held(site)
    site.commit({"src/app.py": CODE}, "Fix\n\npolicyd.override=please\nPolicyd-Override: please")
    assert site.push(f"HEAD:{MAIN}") == 1
    assert "override" not in told(site)


def test_an_override_of_what_is_accepted_is_no_use_of_it(site):
    allow(site)
    assert source(site, REASON) == 0
    assert site.told == []
    assert "excused" not in site.log()[-1]


def test_an_override_does_not_reach_what_could_not_be_judged(site):
    allow(site)
    site.edit_policy("max_commits: 50000", "max_commits: 1")
    site.commit({"docs/a.md": "a\n"})
    site.commit({"docs/a.md": "b\n"})
    assert site.push("-o", REASON, f"HEAD:{MAIN}") == 1
    assert "could not be judged" in told(site)


def test_a_question_says_what_an_override_would_do(site):
    allow(site)
    held(site)
    assert source(site, REASON, to="refs/check/main") == 1
    assert "policyd: override: gate-open would refuse this; would be let through" in told(site)
    assert "check: main would take this" in told(site)
    assert site.log()[-1]["verdict"] == "check"
    assert site.policyd("status", "--format", "json") == 0
    assert json.loads(site.out)["repositories"][0]["uses"] == []


def test_two_policies_must_both_let_it_be_overridden(site):
    allow(site)
    second = (site.home / "policies/default.yaml").read_text().replace(
        "override: {groups: [maintainers]", "override: {groups: []")
    (site.home / "policies/second.yaml").write_text(second)
    assert site.policyd("policy", "apply") == 0, site.out
    held(site)
    assert source(site, REASON) == 1
    assert "no effect" in told(site)


def test_a_permit_lets_one_push_of_one_commit_by_one_pusher_through(site):
    held(site)
    assert source(site, as_="carol") == 1
    wanted = site.tip()
    out = permit(site, wanted)
    assert f"carol may bring refs/heads/main to {wanted[:12]} once, until" in out
    assert site.policyd("status") == 0
    assert "PERMITTED once" in site.out
    assert source(site, as_="carol") == 1, "another commit"
    assert site.push(f"{wanted}:{MAIN}", as_="dave") == 1, "another pusher"
    assert site.push(f"{wanted}:{MAIN}", f"{wanted}:refs/heads/release/2", as_="carol") == 1
    assert site.push(f"{wanted}:refs/check/main", as_="carol") == 1
    assert "main would take this" in told(site)
    assert site.push(f"{wanted}:{MAIN}", as_="carol") == 0, site.err
    assert "let through and logged: hotfix 12" in told(site)
    assert site.log()[-1]["excused"]["by"] == "permit"
    site.git("update-ref", MAIN, site.base_tip, cwd=site.server)
    assert site.push(f"{wanted}:{MAIN}", as_="carol") == 1, "the permit is used up"
    assert site.policyd("log", "verify") == 0, site.out


def test_a_permit_passes_what_nobody_overrides(site):
    site.commit(MIXED)
    assert site.push(f"HEAD:{MAIN}", as_="agent-7") == 1
    permit(site, site.tip(), who="agent-7")
    assert site.push(f"HEAD:{MAIN}", as_="agent-7") == 0, site.err
    assert "separate-authorship, protected-writers would refuse this" in told(site)


def test_a_permit_for_a_deletion(site):
    assert site.push("HEAD:refs/heads/release/1") == 0
    assert site.push(":refs/heads/release/1", as_="carol") == 1
    permit(site, "delete", ref="release/1")
    assert site.push(":refs/heads/release/1", as_="carol") == 0, site.err


def test_a_permit_ends_and_is_revoked(site):
    held(site)
    assert source(site, as_="carol") == 1
    permit(site, site.tip())
    site.pretend(timedelta(hours=2))
    assert site.push(f"HEAD:{MAIN}", as_="carol") == 1
    permit(site, site.tip(), hours=3)
    assert "may no longer bring refs/heads/main" in permit(site, site.tip(), "--revoke")
    assert site.push(f"HEAD:{MAIN}", as_="carol") == 1
    assert "no such permit" in permit(site, site.tip(), "--revoke", code=2)


@pytest.mark.parametrize(("new", "ref", "says"), [
    ("abc123", "main", "is no whole object id of 40 digits"),
    ("a" * 40, "a..b", "is no name of a ref"), ("A" * 40, "main", "is no whole object id")])
def test_a_permit_names_a_ref_and_a_whole_id(site, new, ref, says):
    assert says in " ".join(permit(site, new, ref=ref, code=2).split())


@pytest.mark.parametrize(("until", "says"), [
    ("tomorrow", "is no time such as"), ("2026-12-24", "is no time such as"),
    ("2020-01-01T00:00", "is over"), ("2999-01-01T00:00+00:00", "3 days at most")])
def test_a_permit_has_an_end_that_is_near(site, until, says):
    assert says in permit(site, "a" * 40, "--until", until, code=2)
    assert not any(entry["verdict"] == "push-permitted" for entry in site.log())


@pytest.mark.parametrize("rule", ["separate-authorship", "protected-writers", "ordinary-refs",
                                  "ordinary-tree"])
def test_what_keeps_the_exam_apart_is_not_in_reach(site, rule):
    policy = site.home / "policies/default.yaml"
    policy.write_text(policy.read_text().replace(
        "\nrules:", f"\noverride: {{groups: [maintainers], rules: [{rule}]}}\nrules:"))
    assert site.policyd("policy", "apply") == 1
    assert f"nobody overrides {rule}; an operator lets one push through with" in site.out
