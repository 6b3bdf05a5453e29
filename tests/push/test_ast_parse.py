"""A source that cannot be read is named and refused; reading it hurts nobody.

Families of public reports: a byte order mark hides a file (AI-Context-Linker#3, truecell#63), a
parse error counts as no finding (bandit#240, CoursIA#13326), newer syntax than the hook's
interpreter, sources that kill the parser (astroid#2643, mypy#17706, cpython#95185), content that
is no Python at all (git-hooks#19, critic#125).
"""

from __future__ import annotations

import sys
import time

import pytest
from pushing import Entry, accepted, made, refused
from sites import MAIN, Site

OVERLAP = {"literal-overlap"}
UNREAD = OVERLAP | {"no-answer-key"}
"""Source that cannot be read is cleared by neither."""
TEST = b"assert f() == 'secret-token'\n"
PLAIN: dict[str | bytes, Entry] = {"src/plain.py": b"x = 1\n", "tests/test_plain.py": b"pass\n"}


def tip_of(site: Site, source: bytes, test: bytes = TEST) -> str:
    return made(site, {"src/read.py": source, "tests/test_read.py": test}, on=site.base_tip)


ENCODED = [
    ("a byte order mark", b"\xef\xbb\xbfX = 'secret-token'\n"),
    ("another encoding", b"# coding: latin-1\nY = '\xe9'\nX = 'secret-token'\n"),
    ("a form feed", b"\x0cX = 'secret-token'\n"),
    ("line ends of other systems", b"Y = 1\r\nX = 'secret-token'\r\n"),
    ("carriage returns alone", b"Y = 1\rX = 'secret-token'\r"),
    ("an encoding that hides a line", b"# coding: utf-7\n#+AAo-X = 'secret-token'\n"),
]


@pytest.mark.parametrize("source", [row[1] for row in ENCODED], ids=[row[0] for row in ENCODED])
def test_a_literal_is_found_whatever_the_file_is_encoded_in(site, source):
    """C087"""
    refused(site, f"{tip_of(site, source)}:{MAIN}", by=OVERLAP, as_="agent-7")
    assert " pastes src/read.py:" in site.told[0]


def test_a_byte_order_mark_in_the_test_hides_nothing(site):
    """C087"""
    tip = tip_of(site, b"X = 'secret-token'\n", b"\xef\xbb\xbf" + TEST)
    refused(site, f"{tip}:{MAIN}", by=OVERLAP, as_="agent-7")


BROKEN = [
    ("a stray bracket", b"X = (1\n", "invalid syntax"),
    ("Python 2", b"print 'secret-token'\n", "Python 2?"),
    ("a NUL", b"X = 1\0\n", "holds a NUL byte"),
    ("no such encoding", b"# coding: no-such\nX = 1\n", "not in the encoding that it declares"),
    ("bytes that are no UTF-8", b"X = '\xff'\n", "not in the encoding that it declares"),
    ("no Python at all", b"MZ\x90\x00\x03" * 9, ""),
    ("a merge left open", b"<<<<<<< HEAD\nX = 1\n=======\n", "invalid syntax"),
]


@pytest.mark.parametrize(("source", "why"), [row[1:] for row in BROKEN],
                         ids=[row[0] for row in BROKEN])
def test_a_file_that_does_not_parse_is_named(site, source, why):
    """C088"""
    refused(site, f"{tip_of(site, source)}:{MAIN}", by=UNREAD, as_="agent-7")
    assert site.told[0].startswith("policyd: literal-overlap: src/read.py:")
    assert site.told[0].endswith(" cannot be read")
    assert why in "\n".join(site.told)


def test_a_test_that_does_not_parse_is_named(site):
    """C088"""
    refused(site, f"{tip_of(site, b'X = 1', BROKEN[0][1])}:{MAIN}",
            by=OVERLAP | {"unmarked-tests"}, as_="agent-7")
    assert site.told[0].startswith("policyd: literal-overlap: tests/test_read.py:")


NEWER = [b'd = {}\nX = f"{d["secret-token"]}"\n', b"type X = 'secret-token'\n",
         b"def f[T](x: T) -> T: return 'secret-token'\n", b"X = t'secret-token{1}'\n"]


@pytest.mark.parametrize("source", NEWER)
def test_newer_syntax_than_the_hook_knows_is_refused_with_a_hint(site, source):
    """C089: never accepted; where the hook's Python knows it, for what it pastes if anything."""
    tip = tip_of(site, source)
    if sys.version_info >= (3, 14):
        site.push(f"{tip}:{MAIN}")
        return
    code = site.push(f"{tip}:{MAIN}", as_="agent-7")
    said = "\n".join(site.told)
    if code and "cannot be read" in said:
        version = f"Python {sys.version_info.major}.{sys.version_info.minor}"
        assert f"not {version} (newer" in said
    else:
        assert sys.version_info >= (3, 12)


DEEP = {
    "5,000 terms": b"X = " + b" + ".join([b"1"] * 5_000) + b"\n",
    "300 parentheses": b"X = " + b"(" * 300 + b")" * 300 + b"\n",
    "5,000 minus signs": b"X = " + b"-" * 5_000 + b"1\n",
    "100,000 brackets": b"[" * 100_000,
    "2,000 blocks": b"".join(b" " * n + b"if 1:\n" for n in range(2_000)),
    "5,000 attributes": b"X = a" + b".b" * 5_000 + b"\n",
    "a product of text": b"X = 'a' * 999999999 * 999999999\n",
    "a power": b"X = 9 ** 9 ** 9\n",
    "a huge number": b"X = " + b"9" * 500_000 + b"\n",
    "a format": b"X = '%999999999d' % 1\n",
    "nested formats": b"X = " + b"f'{" * 60 + b"1" + b"}'" * 60 + b"\n",
}


SURVIVED = {"a product of text", "a power", "a format"}
"""What is read all the same."""


@pytest.mark.parametrize("what", DEEP)
def test_a_hostile_source_is_over_soon_and_the_next_push_passes(site, what):
    """C091: what the parser survives may pass; what it does not is refused, never skipped."""
    start = time.monotonic()
    tip = tip_of(site, DEEP[what] + b"Y = 'secret-token'\n")
    refused(site, f"{tip}:{MAIN}", by=OVERLAP if what in SURVIVED else UNREAD, as_="agent-7")
    assert time.monotonic() - start < 60
    if what.startswith("5,000"):
        accepted(site, f"{made(site, PLAIN, on=site.base_tip)}:{MAIN}", as_="agent-7")


OTHERS: dict[str | bytes, Entry] = {
    "po/de.po": "msgid \"größe\"\n".encode("latin-1"), "src/logo.png": bytes(range(256)) * 40,
    "src/data.bin": b"\0" * 4096, "tests/data/\u65e5.csv": b"\xff\xfe,\n",
    "tests/broken.txt": b"def (\n", "src/Makefile": b"\t(\n", "tests/x.py.orig": b"X = (\n"}


def test_content_that_is_no_python_is_not_read(site):
    """C093"""
    accepted(site, f"{made(site, PLAIN | OTHERS, on=site.base_tip)}:{MAIN}", as_="agent-7")


@pytest.mark.parametrize("source", [b"print 'x'\n", b"type X = (\n", b"X = 1\0\n"])
def test_source_that_cannot_be_read_is_not_cleared_without_tests_either(site, source):
    """What the server's Python does not know may run elsewhere, and may know the tests' inputs."""
    tip = made(site, {"src/ship.py": source}, on=site.base_tip)
    refused(site, f"{tip}:{MAIN}", by={"no-answer-key"}, as_="agent-7")
    assert site.told[0] == "policyd: no-answer-key: src/ship.py:1 cannot be read"
