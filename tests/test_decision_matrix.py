"""The decision tables of the articles on contracts, invariant replay and relation replay, row by
row, as far as they concern pushes.

Not covered yet, because what decides them comes later:

- a ledger row with no owner or no expires_on, written by a maintainer; a quarantine row that
  lists a relation or whose day has passed: the schemas of the records;
- an expired row while code is pushed, a lease whose hash drifted: the gate;
- an output that the patch records about itself (`assert result == fixture.json`): golden outputs;
- relations that fail, no test collected: the replay.

Tests pushed after the code whose literals they paste are in push/test_literal_overlap_pushes.py:
they need a main with a past, which a case does not have.
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
    "fixtures/data/orders.csv": "sku,qty\na,1\n",
    "fixtures/leases/orders.yaml": "path: fixtures/data/orders.csv\nsha256: one\n",
    "fixtures/freezes.json": '{"freezes": []}\n',
    "oracle/relations/order.yaml": "- id: R1\n",
    "oracle/quarantine.yaml": "[]\n",
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


CORPUS = {"fixtures/data/orders.csv": "sku,qty\na,2\n"}
HASH = {"fixtures/leases/orders.yaml": "path: fixtures/data/orders.csv\nsha256: two\n"}
RELATIONS = {"fixtures/leases/orders.yaml": BEFORE["fixtures/leases/orders.yaml"] + "allowed: R4\n"}
FREEZE = {"fixtures/freezes.json": '{"freezes": [{"relation_id": "R1"}]}\n'}

REPLAY_PLAN = [
    ("the agent edits the corpus with the code that reads it",
     "agent-7", [CODE | CORPUS], ("protected-writers", "separate-authorship")),
    ("the agent edits the corpus hash",
     "agent-7", [CODE | HASH], ("protected-writers", "separate-authorship")),
    ("the agent expands the allowed relations of a lease, alone",
     "agent-7", [RELATIONS], ("protected-writers",)),
    ("a freeze committed in the same patch, also by its operator",
     "alice", [CODE | FREEZE], ("separate-authorship",)),
    ("a freeze row, split from the patch over two commits of one push",
     "alice", [CODE, FREEZE], ("separate-authorship",)),
    ("a freeze row by the operator, alone", "alice", [FREEZE], ()),
    ("a renewed lease with its corpus, by the operator, alone", "alice", [CORPUS | HASH], ()),
]

RELATION = {"oracle/relations/order.yaml": "- id: R1\n  compare: nothing\n"}
QUARANTINE = {"oracle/quarantine.yaml": "- nodeid: tests/test_http.py::test_get\n"}
SEED = {"oracle/seeds/small.csv": "sku,qty\n"}
COLLECT = {"oracle/conftest.py": "collect_ignore = ['relations']\n"}

RED_JOB = [
    ("oracle/ appears in the agent's diff",
     "agent-7", [CODE | RELATION], ("protected-writers", "separate-authorship")),
    ("the agent edits the relation alone", "agent-7", [RELATION], ("protected-writers",)),
    ("the agent switches the collection of relations off",
     "agent-7", [COLLECT], ("protected-writers",)),
    ("the agent quarantines a test beside its patch",
     "agent-7", [CODE | QUARANTINE], ("protected-writers", "separate-authorship")),
    ("an HTTP test frozen by its owner, alone", "alice", [QUARANTINE], ()),
    ("a new seed by the oracle's owner, alone", "alice", [SEED], ()),
    ("a changed relation together with the code that it judges, by its owner",
     "alice", [CODE | RELATION], ("separate-authorship",)),
]

ROWS = [*MATRIX, *REPLAY_PLAN, *RED_JOB]


@pytest.mark.parametrize(("shape", "who", "pushed", "refused_by"), ROWS,
                         ids=[row[0] for row in ROWS])
def test_the_tables_hold(shape, who, pushed, refused_by):
    states, held = [], BEFORE
    for changes in pushed:
        held = held | changes
        states.append(held)
    case = Case(shape, who, BEFORE, tuple(states), MAIN, refused_by)
    result, = caserun.run([case], shipped.active())
    assert result.unjudged is None
    assert result.refused_by == refused_by, result.says
