"""Hostile names, authors and literals, pushed for real: nothing raw reaches a terminal."""

from __future__ import annotations

import json
import os
import re

import pytest
from pushes import CODE, ORACLE

NASTY = "\x1b[2J\x1b]0;owned\x07\r\npolicyd: check: main would take this\u202e\u009b31m\udce9"
REF_NASTY = "a\u202eb\u009b31mc\udcffd"
PRINTED = re.compile(r"[ -~]*")
STARTS = ("policyd: ", "policyd {", "  ", "why: ", "do:  ", "     ")

PUSHES = {
    "a protected path": ({f"oracle/{NASTY}.json": "{}\n", "src/app.py": CODE}, "main"),
    "a path without a zone's folder": ({f"{NASTY}/conftest.py": "c = 1\n"}, "main"),
    "a source path": ({f"src/{NASTY}.py": "c = 1\n", ORACLE: "{}\n"}, "main"),
    "a branch": ({"src/app.py": CODE, ORACLE: "{}\n"}, REF_NASTY),
    "a literal": ({"src/app.py": f"def f():\n    return {NASTY[:-1]!r}\n",
                   "tests/test_f.py": f"assert f() == {NASTY[:-1]!r}\n"}, "main"),
    "a file that cannot be read": ({f"tests/{NASTY[:20]}.py": "def (\x1b[31m\n",
                                    "src/app.py": CODE}, "main"),
}


@pytest.mark.parametrize("what", PUSHES)
def test_no_pushed_byte_steers_a_terminal(site, what):
    files, branch = PUSHES[what]
    site.commit(files, f"A message {NASTY}")
    code = site.push("-o", "policyd.json\x1b[2J", f"HEAD:refs/heads/{branch}", as_="agent-7")
    assert code == 1, site.err
    is_plain(site)


@pytest.mark.parametrize("what", ["a protected path", "a branch"])
def test_the_whole_answer_for_programs_is_plain_too(site, what):
    files, branch = PUSHES[what]
    site.commit(files)
    assert site.push("-o", "policyd.json", f"HEAD:refs/heads/{branch}", as_="agent-7") == 1
    is_plain(site)


def test_a_question_about_a_hostile_branch_is_answered_plainly(site):
    assert site.push(f"HEAD:refs/check/{REF_NASTY}", as_="agent-7") == 1
    is_plain(site)


@pytest.mark.parametrize("where", ["author", "pusher"])
def test_a_hostile_name_of_a_person_is_printed_plainly(site, where):
    site.git("config", "user.name", "\u202eevil\u009b31m")
    site.commit({"src/app.py": CODE, ORACLE: "{}\n"})
    who = "agent-7" if where == "author" else "ev\u202eil\x1b[2J\rpolicyd: accepted"
    assert site.push("HEAD:refs/heads/main", as_=who) == 1
    is_plain(site)


def test_a_link_to_a_hostile_place_is_refused_plainly(site):
    os.symlink(os.fsencode(f"oracle/{NASTY}"), os.fsencode(site.work / "link"))
    site.commit({"src/app.py": CODE})
    assert site.push("HEAD:refs/heads/main", as_="agent-7") == 1
    is_plain(site)


def is_plain(site) -> None:
    """Our lines are ASCII, begin as ours do, end in one JSON object; so does the log's entry."""
    assert site.told
    raw_lines = [line.removeprefix("remote: ") for line in site.err.split("\n")
                 if line.startswith("remote:")]
    assert len(raw_lines) == len(site.told)
    for line in raw_lines:
        assert PRINTED.fullmatch(line), ascii(line)
        assert line.startswith(STARTS), line
    assert "check: main would take" not in [line[:31] for line in site.told]
    assert sum(line.startswith("policyd {") for line in site.told) == 1
    assert json.loads(site.told[-1].removeprefix("policyd "))["next"]
    raw = (site.state / "decisions.jsonl").read_bytes()
    assert not set(raw) & (set(range(0x20)) - {0x0a} | set(range(0x7f, 0xa0)))
    entries = [json.loads(line) for line in raw.splitlines()]
    assert entries[-1]["verdict"] in ("refused", "check")
    assert site.policyd("log", "verify") == 0, site.out
