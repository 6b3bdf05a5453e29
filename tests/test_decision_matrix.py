"""The decision matrix of the contract article, row by row.

Not covered yet, because what decides them comes later:

- a ledger row with no owner or no expires_on, written by a maintainer: the ledger's schema;
- an expired ledger row while code is pushed: the gate;
- a test-only diff that adds literals of a production hunk that an earlier push brought: a main
  with a past, which a case does not have (the lookback itself is tested with the judgement).
"""

from __future__ import annotations

import pytest
import shipped

from policyd import caserun
from policyd.core.cases import MAIN, Case

BEFORE = {
    "src/tax.py": "def total(x): return x\n",
    "oracle/receipts/tax.json": '{"input": 3}\n',
    "tests/ledger/flake_ledger.json": '{"entries": ["expired"]}\n',
}
CODE = {"src/tax.py": "def total(x): return x + len('EUR 19.25')\n"}
PROPERTY = {"tests/properties/test_tax.py":
            "def test_total(receipt): assert total(receipt['input']) >= receipt['input']\n"}
PASTE = {"tests/test_tax.py": "def test_total(): assert total('EUR 19.25') == 'EUR 19.25'\n"}
RECEIPT = {"oracle/receipts/tax.json": '{"input": 4}\n'}
NO_OWNER = {"tests/ledger/flake_ledger.json": '{"entries": [{"id": "x"}]}\n'}
ROW_GONE = {"tests/ledger/flake_ledger.json": '{"entries": []}\n'}

MATRIX = [
    # patch shape, who pushes what, allowed unless a rule is named
    ("src/ only, properties still pass on existing receipts",
     "agent-7", [CODE], ()),
    ("src/ plus a new property file that only reads oracle/",
     "agent-7", [CODE | PROPERTY], ()),
    ("src/ plus an edited oracle/ receipt",
     "agent-7", [CODE | RECEIPT], ("protected-writers", "separate-authorship")),
    ("src/ plus an edited oracle/ receipt, by a human",
     "alice", [CODE | RECEIPT], ("separate-authorship",)),
    ("a human-recorded receipt in a follow-up",
     "alice", [RECEIPT], ()),
    ("test-only diff that adds literals from the production hunk",
     "agent-7", [CODE, PASTE], ("literal-overlap",)),
    ("the same rewritten as a property on a receipt",
     "agent-7", [CODE, PROPERTY], ()),
    ("ledger row with no owner or no expires_on, by the generator",
     "agent-7", [NO_OWNER], ("protected-writers",)),
    ("expired ledger row, deleted by the patch that it stops",
     "agent-7", [CODE | ROW_GONE], ("protected-writers", "separate-authorship")),
    ("human push that deletes the expired row",
     "alice", [ROW_GONE], ()),
]


@pytest.mark.parametrize(("shape", "who", "pushed", "refused_by"), MATRIX,
                         ids=[row[0] for row in MATRIX])
def test_the_matrix_holds(shape, who, pushed, refused_by):
    states, held = [], BEFORE
    for changes in pushed:
        held = held | changes
        states.append(held)
    case = Case(shape, who, BEFORE, tuple(states), MAIN, refused_by)
    result, = caserun.run([case], shipped.active())
    assert result.unjudged is None
    assert result.refused_by == refused_by, result.says
