"""Every commit of a push is judged, and of a merge what it decides itself.

Families of public reports: only the tip is looked at (mercury-invoicing-mcp#125, gmail-mcp#131),
evil and octopus merges (taOS#2967 and #2491), two pushes at once (gitoxide#2600, re-frame2#9526).
What merges touch is held to git's own merges in tests/look; here are the pushes.

Not covered yet: a test that a merge drops (C065) waits for kept-tests; its variant with a
receipt is here. A row and a skip pushed at the same time (C071) wait for the rules on records;
that two pushes at once cannot pass each other by is here.
"""

from __future__ import annotations

import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest
from pushing import Entry, accepted, made, refused
from sites import MAIN, Site

from policyd.adapters.nexthook import CHAINED

APART, WRITERS = "separate-authorship", "protected-writers"
ORACLE = "oracle/rates.json"
Files = dict[str | bytes, Entry]
SOURCE: Files = {"src/app.py": b"x = 1\n"}
ANSWER: Files = {ORACLE: b"{}\n"}
DOCS: Files = {"docs/notes.md": b"words\n"}


def line_of(site: Site, *commits: Files, on: str | None = None) -> list[str]:
    """Commits one on top of the other."""
    tips = [on or site.base_tip]
    for files in commits:
        tips.append(made(site, files, on=tips[-1]))
    return tips[1:]


# --- Several commits --------------------------------------------------------------------------

@pytest.mark.parametrize("place", range(3))
def test_a_mixed_commit_anywhere_in_a_push_is_named(site, place):
    """C067"""
    files = [DOCS, {"src/other.py": b"y = 1\n"}, {"src/last.py": b"z = 1\n"}]
    files[place] = files[place] | SOURCE | ANSWER
    tips = line_of(site, *files)
    refused(site, f"{tips[-1]}:{MAIN}", by={APART})
    assert tips[place][:7] in "\n".join(site.told)


UNMADE = [
    # commits of one push that leave one side, or nothing at all
    [SOURCE | ANSWER, {ORACLE: b"[]\n"}, DOCS],
    [ANSWER, SOURCE],
    [SOURCE, ANSWER],
    [SOURCE, DOCS, ANSWER],
    [{"src/new.py": b"", "oracle/new": b""}, {"src/new.py": None, "oracle/new": None}],
    [{"oracle/new": b""}, {"oracle/new": None}, {"src/new.py": b""}],
]


@pytest.mark.parametrize("commits", UNMADE)
def test_a_change_split_over_the_commits_of_one_push_is_one_change(site, commits):
    """C068"""
    refused(site, f"{line_of(site, *commits)[-1]}:{MAIN}", by={APART})


def test_a_change_split_over_two_refs_of_one_push_is_one_change(site):
    """C068"""
    source, answer = line_of(site, SOURCE)[0], line_of(site, ANSWER)[0]
    refused(site, f"{source}:refs/heads/a", f"{answer}:refs/heads/b", by={APART})
    accepted(site, f"{source}:refs/heads/a")
    accepted(site, f"{answer}:refs/heads/b")


def test_what_was_judged_apart_is_judged_together_where_it_arrives_together(site):
    """C070: an unguarded branch is no record of acceptance. The documented answer: push apart."""
    answer, source = line_of(site, ANSWER, SOURCE)
    accepted(site, f"{answer}:refs/heads/feat")
    refused(site, f"{source}:refs/heads/feat", by={APART})
    refused(site, f"{source}:{MAIN}", by={APART})
    accepted(site, f"{answer}:{MAIN}")
    accepted(site, f"{source}:refs/heads/feat")
    accepted(site, f"{source}:{MAIN}", as_="agent-7")


# --- Merges --------------------------------------------------------------------------------------

@pytest.fixture
def grown(site: Site) -> Site:
    """A site whose main has a newer receipt than the branches of agents; `base_tip` is theirs."""
    tip = made(site, {ORACLE: b'{"rate": 2}\n'}, on=site.base_tip)
    accepted(site, f"{tip}:{MAIN}")
    return site


def main(site: Site) -> str:
    return site.refs()[MAIN]


def test_a_merge_of_main_into_a_branch_touches_nothing(grown):
    """C065"""
    mine = line_of(grown, SOURCE)[0]
    tip = made(grown, {ORACLE: b'{"rate": 2}\n'}, on=mine, merging=(main(grown),))
    accepted(grown, f"{tip}:{MAIN}", as_="agent-7")


EVIL: list[tuple[Files, str]] = [
    ({}, "it keeps the branch's own receipt and drops main's"),
    ({ORACLE: None}, "it deletes the receipt"),
    ({ORACLE: b"{}\n"}, "it writes a third one"),
    ({ORACLE: b'{"rate": 2}\n', "oracle/new": b""}, "it adds another"),
]


@pytest.mark.parametrize("files", [row[0] for row in EVIL], ids=[row[1] for row in EVIL])
def test_a_merge_that_decides_about_the_oracle_is_seen(grown, files):
    """C065: taking one side wholesale is a decision."""
    mine = line_of(grown, SOURCE)[0]
    tip = made(grown, files, on=mine, merging=(main(grown),))
    ref = MAIN if files else "refs/heads/feat"
    refused(grown, f"{tip}:{ref}", by={APART, WRITERS}, as_="agent-7")


def test_the_same_evil_merge_with_its_parents_turned_round_is_seen(grown):
    """C065"""
    mine = line_of(grown, SOURCE)[0]
    old = grown.git("rev-parse", f"{grown.base_tip}:{ORACLE}")
    content = grown.git("cat-file", "-p", old).encode() + b"\n"
    tip = made(grown, SOURCE | {ORACLE: content}, on=main(grown), merging=(mine,))
    refused(grown, f"{tip}:{MAIN}", by={APART, WRITERS}, as_="agent-7")


@pytest.mark.parametrize("evil", [{}, {"oracle/new": b"{}\n"}, {ORACLE: None}],
                         ids=["clean", "adds", "deletes"])
def test_an_octopus_is_judged_like_any_merge(site, evil):
    """C066"""
    arms = [made(site, {f"src/arm{n}.py": b"x = 1\n"}, on=site.base_tip) for n in range(3)]
    whole: Files = {f"src/arm{n}.py": b"x = 1\n" for n in range(3)}
    tip = made(site, whole | evil, on=arms[0], merging=tuple(arms[1:]))
    if evil:
        refused(site, f"{tip}:{MAIN}", by={APART})
    else:
        accepted(site, f"{tip}:{MAIN}", as_="agent-7")


# --- Two pushes at once ---------------------------------------------------------------------------

def at_once(site: Site, *specs: str) -> list[int]:
    """Push all of them at the same time as alice; git's exit codes, in order."""
    environment = site.environment(REMOTE_USER="alice")

    def push(spec: str) -> int:
        return subprocess.run(["git", "push", "--quiet", "origin", spec], cwd=site.work,
                              env=environment, capture_output=True, check=False).returncode

    with ThreadPoolExecutor(len(specs)) as pool:
        return list(pool.map(push, specs))


def test_of_two_pushes_to_one_branch_at_once_one_arrives(site):
    """C071: both are judged against the same tip; the ref moves once, and the loser comes again."""
    slow = site.server / "hooks" / CHAINED
    slow.write_text("#!/bin/sh\nsleep 1\n")
    slow.chmod(0o755)
    answer, source = line_of(site, ANSWER)[0], line_of(site, SOURCE)[0]
    codes = at_once(site, f"{answer}:{MAIN}", f"{source}:{MAIN}")
    assert sorted(codes) == [0, 1]
    slow.unlink()
    assert main(site) == (answer, source)[codes.index(0)]
    files = (SOURCE, ANSWER)[codes.index(0)]
    accepted(site, f"{made(site, files, on=main(site))}:{MAIN}")
    assert site.policyd("log", "verify") == 0, site.out


def test_many_pushes_at_once_leave_one_chain_of_decisions(site):
    """C071"""
    specs = [f"{made(site, {f'src/m{n}.py': b''}, on=site.base_tip)}:refs/heads/b{n}"
             for n in range(5)]
    mixed = line_of(site, SOURCE | ANSWER)[0]
    assert at_once(site, *specs, f"{mixed}:refs/heads/bad") == [0] * 5 + [1]
    assert site.policyd("log", "verify") == 0, site.out
    assert "refs/heads/bad" not in site.refs()
