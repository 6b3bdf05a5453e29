"""`policyd log rejudge`: past pushes judged again, as of then and by what is in force now."""

from __future__ import annotations

import json
from typing import Any

from sites import MAIN, Site, listing

from policyd.adapters import logfiles, repoindex
from policyd.core.rewinding import Step, before, steps

SOURCE, ORACLE = {"src/app.py": "def total(p):\n    return 1\n"}, {"oracle/rates.json": "{}\n"}


def pushed(site: Site, files: dict[str, str], *words: str, as_: str = "alice") -> int:
    site.commit(files)
    return site.push(*words, f"HEAD:{MAIN}", as_=as_)


def history(site: Site) -> None:
    """One that only a maintainer may make, two that anybody may, one that was refused."""
    assert pushed(site, ORACLE) == 0, site.err
    assert pushed(site, SOURCE, as_="carol") == 0, site.err
    assert site.push("HEAD~1:refs/heads/release/1") == 0, site.err
    assert pushed(site, {"docs/a.md": "1\n"}, as_="agent-7") == 0, site.err
    assert pushed(site, {"oracle/rates.json": "[]\n"}, as_="carol") == 1


def told(site: Site, *words: str) -> Any:
    site.policyd("log", "rejudge", "--format", "json", *words)
    return json.loads(site.out)


def test_the_same_policy_and_program_judge_as_they_did_and_write_nothing(site):
    history(site)
    there = listing(site.folder)
    assert site.policyd("log", "rejudge") == 0, site.out
    assert site.out.splitlines() == [
        "4 pushes judged again, 0 otherwise than they were",
        "not judged again, 1: its objects are gone"]
    assert listing(site.folder) == there


def test_a_verdict_that_another_policy_changes_is_listed(site):
    history(site)
    site.edit_policy("maintainers: [alice, bob]", "maintainers: [bob]")
    assert site.policyd("log", "rejudge", str(site.server)) == 1
    first, second, counted, _ = site.out.splitlines()
    assert "r refs/heads/release/1 by alice: accepted -> refused (ordinary-refs)" in first
    assert f"r {MAIN} by alice: accepted -> refused (protected-writers)" in second
    assert second.endswith("; by another policy then")
    assert counted == "4 pushes judged again, 2 otherwise than they were"


def test_bounds_hold_and_what_is_beyond_them_is_said(site):
    history(site)
    assert len(told(site, "--last", "2")["pushes"]) == 2
    assert len(told(site, "--most", "1")["pushes"]) == 1
    assert told(site, "--seconds", "0") == {
        "pushes": [], "left": {"all before 0 seconds were over": 1}}


def test_what_was_let_through_or_not_judged_is_no_difference(site):
    site.edit_policy("\nrules:", "\noverride: {groups: [maintainers], rules: [literal-overlap]}"
                                 "\nrules:")
    pasted = {"src/a.py": "A = 'EUR 19.26'\n", "tests/test_a.py": "assert A == 'EUR 19.26'\n"}
    assert pushed(site, pasted, "-o", "policyd.override=ticket 77") == 0, site.err
    assert site.policyd("pause", "--minutes", "5", "--reason", "drill") == 0
    assert pushed(site, {"src/b.py": "", "oracle/b": ""}) == 0, site.err
    found = told(site)
    assert [(one["logged"], one["now"]) for one in found["pushes"]] == [("refused", "refused")]
    assert found["left"] == {"made while policyd was paused": 1}


def test_a_log_of_several_files_is_read_from_its_end(site):
    history(site)
    assert site.policyd("log", "rotate") == 0
    site.git("reset", "-q", "--hard", "origin/main")
    assert pushed(site, {"docs/b.md": "x" * 40_000}) == 0, site.err
    log = logfiles.reading(site.state)
    lines = [line.rstrip(b"\n") for part in (*map(log.of, log.rotated), log.of_present())
             for line in part]
    assert list(log.backwards()) == lines[::-1]
    log.close()
    assert len(told(site)["pushes"]) == 5


def test_a_rewrite_gives_back_what_was_accepted_before_it(site):
    index = repoindex.load(site.state, repoindex.key_of(site.server))
    one, two = "1" * 40, "2" * 40
    index = type(index)(index.key, index.enrolled, False, {MAIN: two}, extra=(one,))
    entry = {"verdict": "accepted", "time": index.enrolled, "updates": [
        {"ref": MAIN, "old": one, "new": two, "rewrites": True, "guarded": True}]}
    assert steps(entry) == (Step(MAIN, one, two, rewrites=True, guarded=True),)
    assert before(index, entry).branches == {MAIN: one}
    assert before(index, entry).extra == ()
    entry["updates"][0].update(old="0" * 40, rewrites=False)
    assert before(index, entry).branches == {}
