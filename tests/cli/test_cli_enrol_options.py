"""What enrolment can take over unjudged, and branches that come into the record or leave it."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from sites import MAIN, Site

from policyd.adapters import repoindex
from policyd.core.index import Index

MIXED = {"src/app.py": "x = 1\n", "oracle/rates.json": "{}\n"}


def index(site: Site) -> Index:
    return repoindex.load(site.state, repoindex.key_of(site.server))


def day(days: int) -> str:
    return (date.today() + timedelta(days)).isoformat()


def bootstrap(site: Site, until: str, group: str = "maintainers") -> int:
    assert site.policyd("unenroll", str(site.server)) == 0
    return site.policyd("enroll", "--bootstrap", until, "--by", group, str(site.server))


def test_work_in_flight_is_taken_over_and_what_comes_after_is_judged(site):
    assert site.policyd("unenroll", str(site.server)) == 0
    site.git("checkout", "-q", "-b", "old")
    mixed = site.commit(MIXED)
    site.git("push", "-q", "origin", "HEAD:refs/heads/old")
    assert site.policyd("enroll", "--accept-existing", str(site.server)) == 0
    assert "commits of all refs" in site.out
    assert mixed in index(site).extra
    site.commit({"src/more.py": "y = 2\n"})
    assert site.push("HEAD:refs/heads/old", as_="agent-7") == 0
    site.commit({"oracle/rates.json": '{"a": 1}\n'})
    assert site.push("HEAD:refs/heads/old", as_="agent-7") == 1


def test_without_the_option_work_in_flight_is_judged_whole(site):
    assert site.policyd("unenroll", str(site.server)) == 0
    site.git("checkout", "-q", "-b", "old")
    site.commit(MIXED)
    site.git("push", "-q", "origin", "HEAD:refs/heads/old")
    assert site.policyd("enroll", str(site.server)) == 0
    site.commit({"src/more.py": "y = 2\n"})
    assert site.push("HEAD:refs/heads/old", as_="agent-7") == 1


def test_one_push_into_an_empty_repository_is_taken_unjudged_and_said_in_the_log(empty_site):
    site = empty_site
    assert bootstrap(site, day(1)) == 0
    site.commit(MIXED)
    assert site.push(f"HEAD:{MAIN}", as_="alice") == 0
    assert any("taken unjudged" in line for line in site.told)
    assert site.log()[-1]["bootstrap"] is True
    site.commit({"src/app.py": "x = 2\n", "oracle/rates.json": '{"a": 1}\n'})
    assert site.push(f"HEAD:{MAIN}", as_="alice") == 1
    assert index(site).bootstrap is None


@pytest.mark.parametrize(("days", "who"), [(1, "agent-7"), (1, None), (-2, "alice")])
def test_nobody_else_and_no_later_push_is_taken_unjudged(empty_site, days, who):
    assert bootstrap(empty_site, day(days)) == 0
    empty_site.commit(MIXED)
    assert empty_site.push(f"HEAD:{MAIN}", as_=who) == 1


def test_the_last_day_of_a_bootstrap_counts(empty_site):
    assert bootstrap(empty_site, day(0)) == 0
    empty_site.commit(MIXED)
    assert empty_site.push(f"HEAD:{MAIN}", as_="alice") == 0


def test_a_bootstrap_of_a_repository_with_refs_is_refused(site):
    server = str(site.server)
    assert site.policyd("enroll", "--bootstrap", day(1), "--by", "maintainers", server) == 1
    assert "this one has refs" in site.out
    assert site.policyd("enroll", "--bootstrap", day(1), server) == 2


def test_a_bootstrap_by_a_group_that_nobody_defines_is_refused(empty_site):
    assert bootstrap(empty_site, day(1), "ghosts") == 1
    assert "no policy of it has a group ghosts" in empty_site.out


def test_a_branch_that_is_guarded_since_comes_into_the_record(site):
    tip = site.base_tip
    site.git("push", "-q", "origin", f"{tip}:refs/heads/develop")
    site.edit_policy('guarded: [main, ', 'guarded: [main, develop, ')
    assert site.policyd("enroll", str(site.server)) == 0
    assert f"recorded refs/heads/develop at {tip[:12]}" in site.out
    assert index(site).branches["refs/heads/develop"] == tip
    assert site.policyd("enroll", str(site.server)) == 0
    assert "recorded" not in site.out.replace("its record goes on", "")


def test_a_branch_is_retired_and_what_it_held_stays_accepted(site):
    site.git("checkout", "-q", "-b", "r")
    assert site.push(f"{site.base_tip}:refs/heads/release/1") == 0
    tip = site.commit({"src/app.py": "x = 3\n"})
    assert site.push("HEAD:refs/heads/release/1") == 0
    assert site.push("HEAD:refs/heads/elsewhere") == 0
    assert site.policyd("retire", str(site.server), "release/1") == 2
    assert "a creator deletes it with git push" in site.out
    site.git("update-ref", "-d", "refs/heads/release/1", cwd=site.server)
    assert site.policyd("retire", str(site.server), "release/1") == 0
    assert tip[:12] in site.out
    assert tip in index(site).extra
    assert "refs/heads/release/1" not in index(site).branches
    assert site.log()[-1]["verdict"] == "retired"
    assert site.policyd("retire", str(site.server), "release/1") == 2
    assert "recorded are refs/heads/main" in site.out
    assert site.policyd("log", "verify") == 0
