"""What goes from the source with its tests."""

from __future__ import annotations

import pytest

from policyd.core.content import Changed
from policyd.core.departures import departures
from policyd.core.kin import Placed
from policyd.core.sheet import Assertion, Kind, Literal, Sheet, Test


def source(path: str, after: str | None, before: str | None) -> Changed:
    sides = () if before is None else (Sheet(defines=tuple(before.split())),)
    return Changed(path, ("source",), None if after is None else Sheet(
        defines=tuple(after.split())), sides, is_new=before is None)


def one(*uses: str, claims: str = "") -> Placed:
    found = tuple(Assertion(3, Kind.EQUAL, f"{claim} == 1", claim) for claim in claims.split())
    return Placed("tests/test_a.py", Test("test_a", 1, "a", found, uses))


BOTH = source("src/split.py", "allocate", "allocate allocate_money")
GONE = source("src/money.py", None, "Money")

ROWS = [
    # title, source, test, whether it goes
    ("its module", [GONE], one("money"), True),
    ("its name", [BOTH], one("split.allocate_money", "pytest"), True),
    ("its name and its module", [BOTH, GONE], one("split.allocate_money", "money.Money"), True),
    ("another name of the module", [BOTH], one("split.allocate"), False),
    ("one of two names", [BOTH], one("split.allocate_money", "split.allocate"), False),
    ("the one of two that it is about", [BOTH], one(
        "split.allocate_money", "split.allocate", claims="allocate_money(1)"), True),
    ("the one that it is not about", [BOTH], one(
        "split.allocate_money", "split.allocate", claims="allocate(1)"), False),
    ("its name, and another one comes", [source("src/split.py", "share", "allocate")],
     one("split.allocate"), False),
    ("its name, and one comes elsewhere", [BOTH, source("src/cash.py", "pay", None)],
     one("split.allocate_money"), False),
    ("a library's", [BOTH], one("pytest"), False),
]


@pytest.mark.parametrize(("files", "test", "goes"), [row[1:] for row in ROWS],
                         ids=[row[0] for row in ROWS])
def test_what_takes_a_test_with_it(files, test, goes):
    assert departures(files).takes(test) is goes


def test_a_module_that_moves_stays():
    held = Sheet(literals=(Literal('"abcdef"', 1, "used"),))
    files = [Changed("src/tax.py", ("source",), None, (held,)),
             Changed("src/toll.py", ("source",), held, is_new=True)]
    assert not departures(files).takes(one("tax"))
