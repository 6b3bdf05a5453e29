"""Paths are bytes: no quoting, no locale and no broken UTF-8 changes what they are.

Families of public reports: quoted names that escape a prefix test (GitPython#1099,
orchestkit#4180), bytes that are no UTF-8 (GitPython#1081 and #467, codex-security#533), output
that depends on the locale (claude-supertool#308, ouroboros#602).
"""

from __future__ import annotations

import os
import re

import pytest
from pushing import accepted, by_hand, made, refused, rules
from sites import MAIN, Site

APART = "separate-authorship"

NAMES = [
    # name below oracle/, how it is told
    ("日本.json".encode(), r"\u65e5\u672c.json"),
    ("größe.json".encode(), r"gr\u00f6\u00dfe.json"),
    (b'quo"ted.json', 'quo"ted.json'),
    (b"back\\slash.json", r"back\\slash.json"),
    (b"\\346\\227\\245.json", r"\\346\\227\\245.json"),
    (b"line\nfeed", r"line\x0afeed"),
    (b"esc\x1b[2Jape", r"esc\x1b[2Jape"),
    (b"caf\xe9.json", r"caf\xe9.json"),
    (b"\xc3\x28.json", r"\xc3(.json"),
    (b"\xc0\xaf", r"\xc0\xaf"),
    (b"\xed\xa0\x80", r"\xed\xa0\x80"),
    ("\u202egnp.json".encode(), r"\u202egnp.json"),
]


@pytest.mark.parametrize(("name", "told"), NAMES, ids=[told for _, told in NAMES])
def test_any_bytes_below_a_protected_folder_are_protected(site, name, told):
    """C059, C060: told in ASCII, and the log of decisions stays readable line by line."""
    tip = made(site, {"src/app.py": b"x = 1\n", b"oracle/" + name: b"{}\n"}, on=site.base_tip)
    refused(site, f"{tip}:{MAIN}", by={APART})
    assert site.told[0] == f"policyd: {APART}: oracle/{told} + src/app.py"
    assert all(line.isascii() and line.isprintable() for line in site.told)
    entry = site.log()[-1]
    raw = os.fsencode(entry["findings"][0]["says"])
    assert raw == b"oracle/" + name + b" + src/app.py"


@pytest.mark.parametrize("name", [b"src/caf\xe9.py", "src/größe.py".encode(), b"src/a\nb.py"])
def test_any_bytes_in_other_names_are_no_trouble(site, name):
    """C059, C060"""
    tip = made(site, {name: b"x = 1\n", b"docs/\xff": b"x\n"}, on=site.base_tip)
    accepted(site, f"{tip}:{MAIN}", as_="agent-7")


def test_a_pasted_literal_is_found_under_names_of_any_bytes(site):
    """C060: the file is parsed, and told with its bytes escaped."""
    tip = made(site, {b"src/caf\xe9.py": b'def f(): return "EUR 17.25"\n',
                      b"tests/test_\xff.py": b'assert f() == "EUR 17.25"\n'}, on=site.base_tip)
    refused(site, f"{tip}:{MAIN}", by={"literal-overlap"}, as_="agent-7")
    assert site.told[0].endswith(r"tests/test_\xff.py:1 pastes src/caf\xe9.py:1")


@pytest.mark.parametrize("ref", [b"refs/heads/caf\xe9", "refs/heads/größe".encode(),
                                 b"refs/tags/\xff", b'refs/heads/quo"ted;ls', b"refs/heads/$(id)"])
def test_a_ref_may_have_any_bytes(site, ref):
    """C060: judged, kept in the log, escaped for the terminal and in no command to copy."""
    tip = made(site, {"src/app.py": b"x = 1\n", "oracle/x": b"{}\n"}, on=site.base_tip)
    refused(site, f"{tip}:{os.fsdecode(ref)}", by={APART})
    assert all(line.isascii() and line.isprintable() for line in site.told)
    assert os.fsencode(site.log()[-1]["findings"][0]["ref"]) == ref
    accepted(site, f"{site.base_tip}:{os.fsdecode(ref)}")


def test_a_name_of_a_pusher_may_have_any_bytes(site):
    """C060: it is the server's word, and told as any other."""
    tip = made(site, {"oracle/x": b"{}\n"}, on=site.base_tip)
    refused(site, f"{tip}:{MAIN}", by={"protected-writers"}, as_="mallory\x1b[2J\udcff\n")
    assert all(line.isascii() and line.isprintable() for line in site.told)


LOCALES: list[dict[str, str]] = [
    {"LC_ALL": "C", "PYTHONUTF8": "0"},
    {"LC_ALL": "", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {"LC_ALL": "POSIX", "PYTHONIOENCODING": "ascii:strict"},
    {"LC_ALL": "C.UTF-8", "PYTHONIOENCODING": "latin-1"},
    {"LC_ALL": "no_SUCH.locale", "LANGUAGE": "xx"},
    {"LC_ALL": "", "LANG": ""},
]


def test_no_locale_changes_the_verdict_or_its_words(site):
    """C028, C062"""
    tip = made(site, {"src/größe.py": b"x = 1\n", "oracle/größe-日本.json": b"{}\n",
                      b"oracle/caf\xe9": b"{}\n"}, on=site.base_tip)
    told = set()
    for locale in LOCALES:
        refused(site, f"{tip}:{MAIN}", by={APART}, env=locale)
        told.add(without_ids(site))
    assert len(told) == 1
    assert r"gr\u00f6\u00dfe-\u65e5\u672c.json" in told.pop()


def test_a_server_whose_file_names_are_in_another_encoding(site):
    """C062: the hook by hand, so that not even git has a say."""
    tip = made(site, {"src/app.py": b"", b"oracle/caf\xe9": b"{}\n"}, on=site.base_tip)
    line = f"{site.base_tip} {tip} {MAIN}\n".encode()
    for locale in LOCALES[:3]:
        ran = by_hand(site, line, env=locale)
        assert (ran.returncode, rules(ran.stderr.decode("ascii").splitlines())) == (1, {APART})


def without_ids(site: Site) -> str:
    said = "\n".join(site.told)
    for number in re.findall(r'"id":"([0-9a-f]+)"', said):
        said = said.replace(number, "ID")
    return said
