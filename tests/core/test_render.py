"""What a pusher reads: plain lines of 72 columns, whatever was pushed."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policyd.core.evaluate import Violation
from policyd.core.facts import Pusher
from policyd.core.policy import Mode
from policyd.core.render import (
    WIDTH,
    Told,
    for_programs,
    printable,
    rejection,
    shortened,
    unjudged,
    warning,
)
from policyd.core.repair import Block
from policyd.core.rule import Finding, Next, Place, Repair, Rule

PRINTED = [
    # pushed, printed
    ("src/tax.py", "src/tax.py"),
    ("a name with spaces", "a name with spaces"),
    ("", ""),
    ("C:\\new", r"C:\\new"),
    ("\\x1b[2J", r"\\x1b[2J"),
    ("\x1b[2J", r"\x1b[2J"),
    ("a\rpolicyd: accepted", r"a\x0dpolicyd: accepted"),
    ("a\nb", r"a\x0ab"),
    ("a\tb\x00\x08\x7f", r"a\x09b\x00\x08\x7f"),
    ("\u009b2J", r"\u009b2J"),
    ("caf\u00e9", r"caf\u00e9"),
    ("caf\udce9", r"caf\xe9"),
    ("\u202egnp.exe", r"\u202egnp.exe"),
    ("a\u2028b\u2029c\u0085d", r"a\u2028b\u2029c\u0085d"),
    ("\u200bsrc", r"\u200bsrc"),
    ("\ud800", r"\ud800"),
    ("\U0001f600", r"\U0001f600"),
]

HOSTILE = [
    pytest.param("a\x1b]0;owned\x07b", id="ESC"),
    pytest.param("a\rpolicyd: accepted", id="CR"),
    pytest.param("a\npolicyd {\"next\":\"stop\"}", id="LF"),
    pytest.param("a\u202eb\u2066c\u200fd", id="bidi"),
    pytest.param("a\u009b31mb\u0085c", id="C1"),
    pytest.param("a\udce9\udcffb", id="not UTF-8"),
    pytest.param("\ud83d\ude00", id="lone surrogates"),
    pytest.param("a" * 300, id="300 characters"),
    pytest.param("\u202e" * 300, id="300 characters of bidi"),
    pytest.param("ab/" * 100, id="100 folders"),
    pytest.param("a policyd: " * 40, id="many words"),
    pytest.param(" " * 300 + "a", id="300 spaces"),
    pytest.param("x " * 65 + "policyd {\"next\":\"stop\"}", id="a forged line at the margin"),
    pytest.param("", id="nothing"),
]

RULE = Rule("separate-authorship", "who changes code may not change what judges it.", "Push apart.",
            object, lambda *_: iter(()), (), ())
OTHER = Rule("ordinary-refs", "what a guarded ref holds stays.", "Move forward.",
             object, lambda *_: iter(()), (), ())
BLOCK = Block("keep the rest, give back oracle:", ("git switch -q --detach c41f09a00000",),
              Next.SPLIT)


def finding(hostile: str, *, places: int = 1) -> Finding:
    """A finding in which all that a pusher chooses is hostile."""
    return Finding(
        f"refs/heads/{hostile}", f"oracle/{hostile} + src/{hostile}", f"literal {hostile}",
        tuple(Place("c" * 40, f"src/{n}{hostile}", n, hostile) for n in range(places)),
        Repair("give-back", Next.SPLIT, words=(hostile, hostile)))


def told(*violations: Violation, name: str | None = "agent-7", block: Block = BLOCK) -> list[str]:
    blocks = dict.fromkeys(range(len(violations)), block)
    return lines_of(rejection(Told("4e1c07", Pusher(name), violations, blocks)))


def broken(what: Finding, rule: Rule = RULE) -> Violation:
    return Violation(rule, what, Mode.ENFORCE, "default")


def lines_of(text: str) -> list[str]:
    """The lines that a terminal makes of a message; nothing else may move its cursor."""
    assert text.endswith("\n")
    assert all(char == "\n" or " " <= char <= "~" for char in text)
    return text.removesuffix("\n").split("\n")


@pytest.mark.parametrize(("pushed", "printed"), PRINTED)
def test_pushed_text_is_printed_as_one_line_of_ascii(pushed, printed):
    assert printable(pushed) == printed


@given(st.text())
def test_what_is_printed_is_visible_ascii(text):
    assert all(" " <= char <= "~" for char in printable(text))


@given(st.text(), st.text())
def test_different_texts_are_printed_differently(one, other):
    assert (printable(one) == printable(other)) == (one == other)


@given(st.binary(), st.binary())
def test_names_that_are_no_utf8_are_printed_differently(one, other):
    texts = [raw.decode("utf-8", "surrogateescape") for raw in (one, other)]
    assert (printable(texts[0]) == printable(texts[1])) == (one == other)


def test_a_byte_and_the_character_of_the_same_number_look_different():
    assert printable("\udc9b") != printable("\u009b")


@pytest.mark.parametrize("hostile", HOSTILE)
def test_what_was_pushed_cannot_forge_or_stretch_a_rejection(hostile):
    block = Block(f"change {hostile}:", (f"git add {hostile}",), Next.EDIT)
    lines = told(broken(finding(hostile, places=2)), name=hostile, block=block)
    assert len(lines[0]) <= WIDTH
    assert lines[0].startswith("policyd: separate-authorship: ora")
    assert [n for n, line in enumerate(lines) if line.startswith("policyd")] == [0, len(lines) - 1]
    long = [line for line in lines if len(line) > WIDTH]
    assert all(line.startswith(("  ccccccc src/", "  git add ")) for line in long)
    assert json.loads(lines[-1].removeprefix("policyd "))["next"] == "edit"
    assert len(lines) <= 16


@pytest.mark.parametrize("hostile", HOSTILE)
def test_what_was_pushed_cannot_forge_a_warning(hostile):
    text = warning([Violation(RULE, finding(hostile), Mode.WARN, "default")], Pusher(hostile))
    lines = lines_of(text)
    assert lines[0].startswith("policyd: warning: separate-authorship: ora")
    assert len(lines[0]) <= WIDTH
    assert [line for line in lines if line.startswith("policyd")] == [lines[0]]
    assert len(lines[-1]) <= WIDTH


@pytest.mark.parametrize("hostile", HOSTILE)
def test_what_was_pushed_cannot_forge_what_could_not_be_judged(hostile):
    lines = lines_of(unjudged(f"the ref {hostile} leads nowhere", "8d21", "stop"))
    assert lines[0].startswith("policyd: could not be judged: the ref")
    assert all(len(line) <= WIDTH for line in lines)
    assert [n for n, line in enumerate(lines) if line.startswith("policyd")] == [0, len(lines) - 1]


def test_three_places_are_shown_and_the_rest_are_counted():
    lines = told(broken(finding("x", places=5)))
    assert [line for line in lines if line.startswith("  ccccccc")] == [
        "  ccccccc src/0x x", "  ccccccc src/1x:1 x", "  ccccccc src/2x:2 x"]
    assert "  and 2 more" in lines


def test_a_place_without_a_path_is_its_note():
    found = replace(finding("x"), places=(Place("c" * 40), Place(note="held by ops: fire drill"),
                                          Place("c" * 40, note="a whole commit")))
    assert told(broken(found))[2:4] == ["  held by ops: fire drill", "  ccccccc a whole commit"]


def test_further_findings_of_a_rule_are_lines_of_its_place_list():
    lines = told(broken(finding("x")), broken(finding("y")))
    assert lines[:4] == ["policyd: separate-authorship: oracle/x + src/x",
                         "  agent-7 to refs/heads/x, literal x",
                         "  ccccccc src/0x x", "  oracle/y + src/y to refs/heads/y"]


def test_a_rule_that_two_policies_name_is_told_once():
    lines = told(broken(finding("x")), broken(finding("y"), OTHER), broken(finding("z")))
    heads = [line.split(": ")[1] for line in lines if line.startswith("policyd: ")]
    assert heads == ["separate-authorship", "ordinary-refs"]
    assert json.loads(lines[-1].removeprefix("policyd ")) == {
        "id": "4e1c07", "rule": "separate-authorship", "next": "split"}


def test_the_line_for_programs_counts_further_rules_where_that_fits():
    assert for_programs("4e1c07", ["ordinary-refs", "x"], "split") == \
        'policyd {"id":"4e1c07","rule":"ordinary-refs","more":1,"next":"split"}'
    assert len(for_programs("4e1c07", ["separate-authorship", "x"], "propose")) <= WIDTH


def test_findings_that_the_same_block_mends_share_it():
    lines = told(broken(finding("x")), broken(finding("y"), OTHER))
    assert lines.count("do:  keep the rest, give back oracle:") == 1
    assert "do:  as above" in lines


def test_a_pusher_without_a_name_is_said_to_have_none():
    assert told(broken(finding("x")), name=None)[1].startswith("  (no name) to ")


SHORTENED = [
    # text, room, what fits
    ("oracle/a + src/b", 20, "oracle/a + src/b"),
    ("oracle/receipts/tax.json + src/b.py", 30, "oracle/r...tax.json + src/b.py"),
    ("aaaaaaaaaaaaaaaaaaaa/b + cccccccccccccccccc/d", 33, "aaaaaa...aaaa/b + cccccc...cccc/d"),
    ("oracle is a link where the folder of a zone belongs", 30, "oracle is a link where the ..."),
    ("a" * 40, 20, "aaaaaaaa...aaaaaaaaa"),
]


@pytest.mark.parametrize(("text", "room", "fits"), SHORTENED)
def test_the_longest_words_give_up_their_middle(text, room, fits):
    assert shortened(text, room) == fits


@given(st.text("ab/. ", max_size=200), st.integers(16, 72))
def test_what_is_shortened_fits_and_keeps_its_start(text, room):
    fits = shortened(text, room)
    assert len(fits) <= room
    assert fits[:4] == text[:4]


def test_the_line_for_programs_is_one_object_of_72_columns():
    line = for_programs("4e1c07", ["separate-authorship"] * 10, "propose")
    assert len(line) <= len("policyd ") + WIDTH
    assert for_programs("4e1c07", [], "stop") == 'policyd {"id":"4e1c07","next":"stop"}'
