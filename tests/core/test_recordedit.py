"""One row is edited, and every other byte of the file stays."""

from __future__ import annotations

import json
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policyd import records
from policyd.core.errors import FileInvalid
from policyd.core.recordedit import (
    EMPTY,
    CannotEdit,
    added,
    changed,
    position,
    removed,
    replaced,
    rows,
)
from policyd.core.rows import Record
from policyd.core.rowtext import as_yaml, plain

DAY = date(2027, 1, 31)


def rule(name: str, reason: str = "upstream answers 429", owner: str = "mei") -> dict[str, object]:
    return {"nodeid": f"tests/test_{name}.py::test_it", "status": "frozen", "reason": reason,
            "owner": owner, "expires_on": DAY}


def entry(name: str, reason: str = "slow", owner: str = "mei") -> dict[str, object]:
    return {"id": name, "nodeid": f"tests/test_{name}.py::test_it", "reason": reason,
            "first_seen": date(2027, 1, 1), "expires_on": DAY, "owner": owner, "max_runs": 3}


RULES = """\
# What is skipped, and until when.
version: 1
defaults: &mine {owner: mei}   # a shorthand

rules:
  # The rate server.
  - nodeid: tests/test_a.py::test_it
    status: open  # watched
    reason: "waits for: an answer"
    <<: *mine

  # Folded.
  - nodeid: 'tests/test_b.py::test_it'
    status: frozen
    reason: >
      a text of several lines
      # that is no comment

      and goes on
    owner: kim
    expires_on: 2027-01-10
    # inside of the row
# the end
"""


def test_a_row_is_added_after_the_last_like_its_neighbours():
    text = added(RULES.encode(), Record.QUARANTINE, rule("c"), above=("Since the move.",)).decode()
    assert text == RULES.replace("# the end\n", """\

  # Since the move.
  - nodeid: tests/test_c.py::test_it
    status: frozen
    reason: upstream answers 429
    owner: mei
    expires_on: 2027-01-31
# the end
""")


def test_a_row_is_removed_and_comments_around_it_stay():
    data = RULES.encode()
    at = position(data, Record.QUARANTINE, "nodeid", "tests/test_b.py::test_it")
    assert removed(data, Record.QUARANTINE, at).decode() == RULES[:RULES.index("  - nodeid: '")] \
        + "# the end\n"
    first = RULES.index("  - nodeid")
    assert removed(data, Record.QUARANTINE, 0).decode() == \
        RULES[:first] + RULES[RULES.index("\n  # Folded"):]


def test_a_value_is_changed_where_it_stands_as_it_was_quoted():
    data = changed(RULES.encode(), Record.QUARANTINE, 1, {"expires_on": DAY, "owner": "joe"})
    assert data.decode() == RULES.replace("2027-01-10", "2027-01-31").replace("kim", "joe")
    quoted = changed(RULES.encode(), Record.QUARANTINE, 0, {"reason": 'another: "one" ☂'})
    assert quoted.decode() == RULES.replace('"waits for: an answer"',
                                            r'"another: \"one\" ☂"')


def test_a_key_that_a_row_has_not_is_put_last_in_it():
    data = changed(RULES.encode(), Record.QUARANTINE, 1, {"since": date(2026, 12, 1)})
    assert data.decode() == RULES.replace("# the end", "    since: 2026-12-01\n# the end")


def test_a_row_is_replaced():
    data = replaced(RULES.encode(), Record.QUARANTINE, 0, rule("z"))
    assert data.decode() == (RULES[:RULES.index("  - nodeid")] + """\
  - nodeid: tests/test_z.py::test_it
    status: frozen
    reason: upstream answers 429
    owner: mei
    expires_on: 2027-01-31
""" + RULES[RULES.index("\n  # Folded"):])


@pytest.mark.parametrize(("at", "values"), [
    (0, {"owner": "kim"}),  # comes by a merge key from the defaults, which others may use
    (1, {"reason": "one line"}),  # folded
])
def test_what_cannot_be_told_apart_is_edited_by_hand(at, values):
    with pytest.raises(CannotEdit, match="by hand"):
        changed(RULES.encode(), Record.QUARANTINE, at, values)


def test_a_row_whose_anchor_others_use_is_not_removed():
    text = ("version: 1\nrules:\n- &a\n  nodeid: tests/a.py::b\n  status: open\n"
            "  reason: waits for upstream\n  owner: &me mei\n"
            "- nodeid: tests/c.py::d\n  status: open\n  reason: waits for upstream\n"
            "  owner: *me\n")
    with pytest.raises(CannotEdit, match="by hand"):
        removed(text.encode(), Record.QUARANTINE, 0)
    with pytest.raises(CannotEdit, match="by hand"):
        changed(text.encode(), Record.QUARANTINE, 1, {"owner": "kim"})
    assert removed(text.encode(), Record.QUARANTINE, 1).decode() == text[:text.index("- nodeid")]


@pytest.mark.parametrize(("before", "after"), [
    ("version: 1\nrules: []\n", "version: 1\nrules:\n{row}\n"),
    ("version: 1\nrules: []  # none\n# later\n",
     "version: 1\nrules:  # none\n{row}\n# later\n"),
    ("rules: []\r\nversion: 1", "rules:\r\n{row}\r\nversion: 1"),
    ("version: 1\nrules: []", "version: 1\nrules:\n{row}"),
    ("\ufeffversion: 1\nrules: [ ]\n", "\ufeffversion: 1\nrules:\n{row}\n"),
])
def test_the_first_row_takes_the_place_of_an_empty_list_and_gives_it_back(before, after):
    row = ["  - nodeid: tests/test_c.py::test_it", "    status: frozen",
           "    reason: upstream answers 429", "    owner: mei", "    expires_on: 2027-01-31"]
    shown = after.format(row=("\r\n" if "\r" in before else "\n").join(row))
    made = added(before.encode(), Record.QUARANTINE, rule("c"))
    assert made.decode() == shown
    again = before.replace("[ ]", "[]").replace("[]  # none", "[]  # none")
    assert removed(made, Record.QUARANTINE, 0).decode() == again


ONE, TWO = entry("one"), entry("two")


def _ledger(*entries: dict[str, object], indent: int | str | None = 2,
            separators: tuple[str, str] | None = None) -> str:
    return json.dumps({"schema": "flake_ledger.v1", "entries": [plain(one) for one in entries]},
                      indent=indent, separators=separators)


@pytest.mark.parametrize("style", [
    {"indent": 2}, {"indent": 4}, {"indent": "\t"}, {"indent": None},
    {"indent": None, "separators": (",", ":")}])
@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_a_ledger_is_edited_in_its_own_style(style, end):
    def made(*entries: dict[str, object]) -> bytes:
        text = _ledger(*entries, **style) + end
        return text.replace("\n", "\r\n").replace("\r\r", "\r").encode() if end == "\r\n" \
            else text.encode()

    both, three = made(ONE, TWO), entry("three")
    assert added(both, Record.FLAKES, three) == made(ONE, TWO, three)
    assert added(made(ONE), Record.FLAKES, three) == made(ONE, three)
    assert added(made(), Record.FLAKES, three) == made(three)
    assert [removed(both, Record.FLAKES, at) for at in (0, 1)] == [made(TWO), made(ONE)]
    assert removed(made(ONE), Record.FLAKES, 0) == made()
    assert replaced(both, Record.FLAKES, 0, three) == made(three, TWO)
    later = {"expires_on": date(2027, 2, 28), "max_runs": 5}
    assert changed(both, Record.FLAKES, 1, later) == made(ONE, {**TWO, **later})


def test_json_inside_of_yaml_stays_json():
    text = json.dumps({"version": 1, "rules": [plain(rule("a"))]}, indent=2)
    made = added(text.encode(), Record.QUARANTINE, rule("b"))
    assert json.loads(made) == {"version": 1, "rules": [plain(rule("a")), plain(rule("b"))]}
    assert removed(made, Record.QUARANTINE, 1) == text.encode()
    later = changed(made, Record.QUARANTINE, 1, {"since": date(2026, 12, 1)})
    assert json.loads(later)["rules"][1]["since"] == "2026-12-01"
    with pytest.raises(CannotEdit, match="take no comments"):
        added(text.encode(), Record.QUARANTINE, rule("b"), above=("no",))


def test_a_flow_list_that_is_no_json_is_edited_by_hand():
    text = "version: 1\nrules: [{nodeid: a.py::b, status: open, reason: a long reason, owner: m}]\n"
    with pytest.raises(CannotEdit, match="line 2 stands in brackets"):
        added(text.encode(), Record.QUARANTINE, rule("b"))


def test_a_lease_that_is_a_file_is_changed_and_not_added_to():
    text = "# prices\nid: prices\npath: data/p.csv\nexpires: 2026-12-01 # soon\nowner: mei\n"
    lease = text.encode()
    assert changed(lease, Record.LEASES, 0, {"expires": DAY, "notes": "of May"}).decode() == \
        text.replace("2026-12-01", "2027-01-31") + "notes: of May\n"
    for act in (lambda: added(lease, Record.LEASES, {"id": "x"}),
                lambda: removed(lease, Record.LEASES, 0)):
        with pytest.raises(CannotEdit, match="this file is one row"):
            act()


def test_a_file_with_a_fault_is_not_edited():
    with pytest.raises(FileInvalid):
        added(b"version: 1\nversion: 2\nrules: []\n", Record.QUARANTINE, rule("a"))
    with pytest.raises(FileInvalid, match="no list of rows"):
        added(b"version: 1\nrules:\n", Record.QUARANTINE, rule("a"))
    with pytest.raises(FileInvalid):
        added(b'\xef\xbb\xbf{"schema": "flake_ledger.v1", "entries": []}', Record.FLAKES, ONE)


def test_files_without_a_row_take_one():
    assert not records.load(Record.FLAKES, "f.json",
                            added(EMPTY[Record.FLAKES], Record.FLAKES, ONE)).faults
    assert not records.load(Record.QUARANTINE, "q.yaml", added(
        EMPTY[Record.QUARANTINE], Record.QUARANTINE, rule("a"))).faults


TEXTS = st.text(max_size=40) | st.sampled_from([
    "yes", "NULL", "12", "0x1f", "1e3", "a: b", "a #b", "- a", "a:", "[a]", "{a}", "*a", "&a", "<<",
    "'", '"', "a\nb", " a", "2027-01-31", "tests/a.py::t[1-a, b]", "%a", "\u2028", "\x85"])


@given(st.recursive(TEXTS | st.integers(-9, 9**9) | st.booleans(),
                    lambda inner: st.lists(inner, max_size=3)
                    | st.dictionaries(TEXTS, inner, max_size=3), max_leaves=6))
def test_every_value_that_is_written_reads_the_same(value):
    """Or is refused: characters that no file may hold, and << as a key."""
    row = {"id": "x", "value": value, "last": "z"}
    for record in (Record.QUARANTINE, Record.FLAKES):
        try:
            data = added(EMPTY[record], record, row)
        except CannotEdit:
            continue
        assert len(rows(data, record)) == 1
    assert as_yaml(DAY) == "2027-01-31"


@st.composite
def files(draw):
    """A quarantine in block style as its head, its rows, what stands between, and its tail."""
    dash, gap = draw(st.integers(0, 4)), draw(st.integers(2, 4))
    comment = st.sampled_from(["", f"{' ' * dash}# on what follows\n", "\n", "# left\n\n", "  \n"])
    style = st.sampled_from(['reason: {0}\n', 'reason: "{0}"  # so\n', "reason: '{0}'\n",
                             "reason: >-\n{1}   {0}\n{1}   # more\n", 'reason: |\n{1}   {0}\n'])
    chunks = []
    for n in range(draw(st.integers(1, 5))):
        indent = " " * (dash + gap)
        reason = draw(style).format("upstream is slow", indent)
        chunks.append((draw(comment), f"{' ' * dash}-{' ' * (gap - 1)}status: open\n"
                       f"{indent}nodeid: tests/t{n}.py::t\n{indent}{reason}{indent}owner: mei\n"
                       + (f"{indent}# inside\n" if draw(st.booleans()) else "")))
    head = draw(st.sampled_from(["version: 1\n", "# head\n\nversion: 1\n"])) + "rules:\n"
    tail = draw(st.sampled_from(["", "# tail\n", "\ndefaults: {a: b}\n", "...\n"]))
    ends = draw(st.sampled_from(["\n", "\r\n"]))
    texts = [head, *(text for pair in chunks for text in pair), tail]
    if draw(st.booleans()):
        last = max(n for n, text in enumerate(texts) if text)
        texts[last] = texts[last][:-1]
    return [text.replace("\n", ends) for text in texts]


def _in_order(parts: list[str], whole: str) -> bool:
    at = 0
    for part in filter(None, parts):
        found = whole.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return True


@given(files(), st.data())
def test_untouched_rows_stay_to_the_byte(texts, data):
    before = "".join(texts).encode()
    assert records.load(Record.QUARANTINE, "q.yaml", before).faults == ()
    count = (len(texts) - 2) // 2
    at = data.draw(st.integers(0, count - 1))
    kept = [text.strip() for n, text in enumerate(texts) if n != 2 + 2 * at]
    kept[0] = kept[0].removesuffix("rules:").strip()
    edits = {
        "add": added(before, Record.QUARANTINE, rule("new")),
        "remove": removed(before, Record.QUARANTINE, at),
        "replace": replaced(before, Record.QUARANTINE, at, rule("new")),
        "owner": changed(before, Record.QUARANTINE, at, {"owner": "kim"}),
        "since": changed(before, Record.QUARANTINE, at, {"since": DAY})}
    for name, after in edits.items():
        text = after.decode()
        assert records.load(Record.QUARANTINE, "q.yaml", after).faults == (), name
        assert _in_order(kept, text), name
        assert ("\r\n" in text) == ("\r\n" in before.decode()), name
        assert text.count("\r\n") in (0, text.count("\n")), name
        assert text.endswith("\n") == before.decode().endswith("\n"), name
    assert edits["add"].decode().startswith(before.decode()[:len("".join(texts[:-1]).rstrip())])


@st.composite
def ledgers(draw):
    """A ledger as JSON in which any white space stands between any two tokens."""
    space = st.text(st.sampled_from(" \t\n"), max_size=3)
    texts = [json.dumps(plain(entry(name)), indent=draw(st.sampled_from([None, 1, 2])))
             for name in ("one", "two", "three")[:draw(st.integers(0, 3))]]
    listed = ",".join(f"{draw(space)}{text}{draw(space)}" for text in texts) or draw(space)
    return (f'{draw(space)}{{{draw(space)}"schema":"flake_ledger.v1",{draw(space)}"entries":'
            f"{draw(space)}[{listed}]{draw(space)}}}{draw(space)}"), texts


@given(ledgers(), st.data())
def test_untouched_rows_of_json_stay_to_the_byte(made, data):
    text, texts = made
    before = text.encode()
    after = added(before, Record.FLAKES, entry("new"))
    assert _in_order(texts, after.decode())
    assert records.load(Record.FLAKES, "f.json", after).faults == ()
    if texts:
        at = data.draw(st.integers(0, len(texts) - 1))
        kept = [one for n, one in enumerate(texts) if n != at]
        for edited in (removed(before, Record.FLAKES, at),
                       replaced(before, Record.FLAKES, at, entry("new")),
                       changed(before, Record.FLAKES, at, {"owner": "kim", "max_runs": 9})):
            assert _in_order(kept, edited.decode())
            assert records.load(Record.FLAKES, "f.json", edited).faults == ()
            assert edited.decode().rpartition("]")[2] == text.rpartition("]")[2]
