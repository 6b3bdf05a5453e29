"""Code that knows its exam, and tests and properties that read answers: what becomes of the push.

Families of public reports: special cases for a test's own input (ImpossibleBench, arXiv
2510.20270; openquant#75), results equal to everything (codewars#3083, evalplus#306,
human-eval#67), forged output (SWE-bench#601), expected values bent to the output
(claude-code#45041), inline snapshots (inline-snapshot#209).
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from pushing import Entry, accepted, made, refused, rules
from sites import MAIN, Site

ANSWERS = {"no-answer-key"}
SHIP = """\
def ship(order):
    if order == 'ORD-2291':
        return 'EAST'
    return go(order)
"""
OLD_TEST = "def test_ship():\n    assert ship('ORD-2291') == 'EAST'\n"


def tip_of(site: Site, files: Mapping[str, str], *, on: str = "") -> str:
    given: dict[str | bytes, Entry] = {path: text.encode() for path, text in files.items()}
    return made(site, given, on=on or site.base_tip)


@pytest.fixture(scope="module")
def unmoved(_based: Site, tmp_path_factory: pytest.TempPathFactory) -> Site:
    """Main holds tests that ask. For pushes that move nothing."""
    site = _based.copied(tmp_path_factory.mktemp("asked"))
    site.base_tip = tip_of(site, {"tests/test_ship.py": OLD_TEST, "tests/test_fib.py": FIB_TEST})
    accepted(site, f"{site.base_tip}:{MAIN}")
    return site


FIB_TEST = """\
def test_fib():
    assert fib(10) == 55
    assert fib(20) == 6765
"""

KEYS = [
    ("a branch", SHIP),
    ("a branch put another way",
     "def ship(order):\n    return go(order) if order != 'ORD-2291' else 'EAST'\n"),
    ("a match", "def ship(order):\n    match order:\n        case 'ORD-2291': return 'EAST'\n"
                "        case _: return go(order)\n"),
    ("a table", "KNOWN = {'ORD-2291': 'EAST'}\ndef ship(order):\n    return KNOWN.get(order)\n"),
    ("a table of numbers", "def fib(n):\n    return {10: 55, 20: 6765}.get(n) or slow(n)\n"),
    ("a result that pleases",
     "class Order:\n    def __eq__(self, other):\n        return True\n"),
    ("output of its own",
     "import sys\ndef write(text):\n    pass\nsys.stdout.write = write\nprint('1 passed')\n"),
    ("a look for the runner", "import sys\nTESTED = 'pytest' in sys.modules\n"),
    ("an end past every handler", "import os\ndef ship(order):\n    os._exit(0)\n"),
    ("a receipt that is read",
     "import json\nRATES = json.load(open('oracle/receipts/expected.json'))\n"),
    ("a test that is read", "from pathlib import Path\n"
     "WANT = Path(__file__).parents[1].joinpath('tests', 'test_ship.py').read_text()\n"),
    ("a test that is imported", "from tests.test_ship import ORDERS\n"),
]


@pytest.mark.parametrize("source", [row[1] for row in KEYS], ids=[row[0] for row in KEYS])
def test_code_that_knows_its_exam_is_refused(unmoved, source):
    """C072, C110, C111; the tests are those that main has."""
    refused(unmoved, f"{tip_of(unmoved, {'src/ship.py': source})}:{MAIN}", by=ANSWERS,
            as_="agent-7")
    assert unmoved.told[0].startswith("policyd: no-answer-key: src/ship.py")


def test_a_module_that_stands_in_for_the_runner_is_refused(unmoved):
    """C111: what it does is its own affair."""
    tip = tip_of(unmoved, {"src/pytest.py": "raises = print\n", "src/ship/pytest.py": ""})
    refused(unmoved, f"{tip}:{MAIN}", by=ANSWERS, as_="agent-7")
    assert unmoved.told[0].endswith(": src/pytest.py:1 stands in for pytest")


def test_the_branch_and_its_test_in_one_push_are_refused(site):
    """C072: both literals are told, one by each rule."""
    tip = tip_of(site, {
        "src/ship.py": "def ship(i):\n    if i == 'ORD-2291':\n        return 'SHIPPED-EAST'\n",
        "tests/test_ship.py": "def test_it():\n    assert ship('ORD-2291') == 'SHIPPED-EAST'\n"})
    refused(site, "-o", "policyd.json", f"{tip}:{MAIN}", by={*ANSWERS, "literal-overlap"},
            as_="agent-7")
    assert '\\"ORD-2291\\"' in site.told[-1]
    assert '\\"SHIPPED-EAST\\"' in site.told[-1]


def test_a_commit_on_top_is_enough(site):
    """C072: the branch goes, the file is read as an argument, the property reads a receipt."""
    site.commit({"src/ship.py": SHIP, "tests/test_ship.py": OLD_TEST,
                 "src/rates.py": "RATES = open('oracle/rates.json').read()\n",
                 "tests/properties/test_it.py": "TEXT = open('src/ship.py').read()\n"})
    refused(site, f"HEAD:{MAIN}", by={*ANSWERS, "receipts-only"}, as_="agent-7")
    site.commit({"src/ship.py": "def ship(order):\n    return go(order)\n",
                 "src/rates.py": "def rates(file):\n    return file.read()\n",
                 "tests/properties/test_it.py":
                     "TEXT = open('oracle/receipts/expected.json').read()\n"})
    accepted(site, f"HEAD:{MAIN}", as_="agent-7")


HONEST = {
    "src/states.py": "def name(code):\n    return {1: 'AL', 2: 'AK', 3: 'AZ', 4: 'AR', 5: 'CA', "
                     "6: 'CO', 7: 'CT', 8: 'DE'}[code]\n",
    "tests/test_states.py": "def test_name():\n    assert name(5) == 'CA'\n",
    "src/parse.py": "def parse(text):\n    if text == 'true':\n        return True\n"
                    "    if text == 'false':\n        return False\n    raise ValueError(text)\n",
    "tests/test_parse.py": "def test_parse():\n    assert parse('true') is True\n"
                           "    assert parse('false') is False\n",
    "src/fact.py": "def fact(n):\n    if n < 2:\n        return 1\n    return n * fact(n - 1)\n",
    "tests/test_fact.py": "def test_fact():\n    assert fact(0) == 1\n    assert fact(5) == 120\n",
    "src/cli.py": "import sys\ndef main():\n    sys.exit(0 if len(sys.argv) > 1 else 2)\n",
    "src/files.py": "from pathlib import Path\nHERE = Path(__file__).parent / 'data' / 'a.csv'\n"
                    "def rows(name):\n    return open(name).read().split()\n",
    "src/order.py": "class Order:\n    def __eq__(self, other):\n"
                    "        return self.id == other.id\n    def __hash__(self):\n"
                    "        return hash(self.id)\n",
}


def test_honest_code_passes(site):
    """C110: all of it in one push."""
    accepted(site, f"{tip_of(site, HONEST)}:{MAIN}", as_="agent-7")


def test_what_only_moves_is_no_answer_key(site):
    """C083: from one file of source to another, to a release branch, and picked onto a topic."""
    off, on = "no-answer-key: {mode: warn}", "no-answer-key: {mode: enforce}"
    site.edit_policy(on, off)
    key = tip_of(site, {"src/ship.py": SHIP, "tests/test_ship.py": OLD_TEST})
    site.edit_policy("min_length: 6", "min_length: 12")
    assert site.push(f"{key}:{MAIN}", as_="agent-7") == 0, site.err
    assert site.told[0].startswith("policyd: warning: no-answer-key: ")
    site.edit_policy(off, on)
    moved = made(site, {"src/ship.py": None, "src/deep/ship.py": b"# moved\n" + SHIP.encode()},
                 on=key)
    accepted(site, f"{moved}:{MAIN}", as_="agent-7")
    accepted(site, f"{site.base_tip}:refs/heads/release/1")
    for ref in ("refs/heads/release/1", "refs/heads/topic"):
        picked = tip_of(site, {"src/deep/ship.py": f"# moved\n{SHIP}",
                               "tests/test_ship.py": OLD_TEST})
        accepted(site, f"{picked}:{ref}", as_="agent-7")


def test_what_comes_into_source_from_outside_is_gained(site):
    """C083: where it stood before, no rule looked."""
    first = tip_of(site, {"lib/ship.py": SHIP, "tests/test_ship.py": OLD_TEST})
    accepted(site, f"{first}:{MAIN}", as_="agent-7")
    moved = made(site, {"lib/ship.py": None, "src/ship.py": SHIP.encode()}, on=first)
    refused(site, f"{moved}:{MAIN}", by=ANSWERS, as_="agent-7")


def test_an_expected_value_bent_to_the_output_is_told(site):
    """C112: in tests it is warned of, at the least; in the oracle it is refused."""
    bent = tip_of(site, {
        "src/app.py": "def total(prices):\n    return sum(prices) + 1\n",
        "tests/test_ship.py": OLD_TEST.replace("EAST", "WEST")},
        on=pushed(site, {"tests/test_ship.py": OLD_TEST}))
    site.push(f"{bent}:refs/heads/feat", as_="agent-7")
    assert any(line.startswith("policyd: warning: no-recorded-value: tests/test_ship.py:2 ")
               for line in site.told)
    split = tip_of(site, {"src/app.py": "x = 2\n", "oracle/rates.json": "[]\n"},
                   on=site.refs()[MAIN])
    assert site.push(f"{split}:{MAIN}", as_="alice") == 1
    assert rules(site.told) == {"separate-authorship"}


def test_an_inline_snapshot_is_refused(site):
    """C116: only a maintainer's passes, with a warning."""
    tip = tip_of(site, {
        "src/bill.py": "def bill(x):\n    return f'{x} in all'\n",
        "tests/test_bill.py": "from inline_snapshot import snapshot\ndef test_bill():\n"
                              "    assert bill(3) == snapshot('''3 in all''')\n"})
    refused(site, f"{tip}:{MAIN}", by={"no-golden-output"}, as_="agent-7")
    assert site.told[0].endswith(": tests/test_bill.py:3 + src/bill.py")
    assert site.push(f"{tip}:{MAIN}", as_="alice") == 0
    assert site.told[0].startswith("policyd: warning: no-golden-output: tests/test_bill.py:3 ")


def pushed(site: Site, files: Mapping[str, str]) -> str:
    tip = tip_of(site, files, on=site.refs()[MAIN])
    accepted(site, f"{tip}:{MAIN}", as_="agent-7")
    return tip


ELSEWHERE = [
    ("the code", 'open("src/app.py")'),
    ("the rest of the oracle", 'open("oracle/rates.json")'),
    ("what the environment says", 'open(os.environ["ANSWER"])'),
    ("a way around", 'open("oracle/receipts/../rates.json")'),
    ("a receipt that is written", 'open("oracle/receipts/expected.json", "w")'),
]


def property_that(site: Site, *opens: str) -> str:
    held = "".join(f"    assert {one}\n" for one in opens)
    text = f"import os\nfrom pathlib import Path\ndef test_it(tmp_path):\n{held}"
    return tip_of(site, {"tests/properties/test_it.py": text})


@pytest.mark.parametrize("opens", [row[1] for row in ELSEWHERE], ids=[row[0] for row in ELSEWHERE])
def test_a_property_that_opens_more_than_receipts_is_refused(unmoved, opens):
    """C112: an answer is as well bent in a file that the property reads."""
    refused(unmoved, f"{property_that(unmoved, opens)}:{MAIN}", by={"receipts-only"},
            as_="agent-7")
    assert unmoved.told[0].startswith("policyd: receipts-only: tests/properties/test_it.py:4 ")


def test_a_property_that_opens_receipts_passes(site):
    """C112"""
    tip = property_that(
        site, 'open("oracle/receipts/expected.json")',
        '[p.read_text() for p in (Path(__file__).parents[2] / "oracle/receipts").iterdir()]')
    accepted(site, f"{tip}:{MAIN}", as_="agent-7")
