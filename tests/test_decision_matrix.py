"""The decision tables of the articles on contracts, invariant replay and relation replay, row by
row, as far as they concern pushes.

Every row is a push on TODAY. Not covered yet, because what decides them comes later:

- an output that the patch records about itself (`assert result == fixture.json`): golden outputs;
- relations that fail, no test collected: the replay.

Tests pushed after the code whose literals they paste are in push/test_literal_overlap_pushes.py:
they need a main with a past, which a case does not have.
"""

from __future__ import annotations

from datetime import date

import pytest
import shipped
from records_made import (
    DAY,
    FREEZES,
    LEDGER,
    NOBODY,
    QUARANTINE,
    RECEIPT,
    flake,
    freeze,
    freezes,
    frozen,
    lease,
    ledger,
    quarantine,
    receipt,
    relation,
    table,
)

from policyd import caserun
from policyd.core.cases import MAIN, Case

APART, WRITERS = "separate-authorship", "protected-writers"
RECEIPTS, VALID = "recorded-receipts", "valid-records"

TODAY = date(2026, 9, 7)
ORDERS = "sku,qty\na,1\n"
CORPUS_AT, LEASE_AT = "fixtures/data/orders.csv", "fixtures/leases/orders.yaml"
OVER = flake("slow", ends=TODAY - DAY)

BEFORE = {
    "src/tax.py": "def total(x): return x\n",
    RECEIPT: receipt(NOBODY),
    LEDGER: ledger(flake("login", ends=TODAY)),
    CORPUS_AT: ORDERS,
    LEASE_AT: lease(ORDERS, ends=TODAY + 90 * DAY, path=CORPUS_AT),
    FREEZES: freezes(),
    QUARANTINE: quarantine(),
    **table(relation()),
}
DUE = BEFORE | {LEDGER: ledger(OVER)}
CODE = {"src/tax.py": "def total(x): return x + len('EUR 19.25')\n"}
PROPERTY = {"tests/properties/test_tax.py":
            "def test_total(receipt): assert total(receipt['input']) >= receipt['input']\n"}
PASTE = {"tests/test_tax.py": "def test_total(): assert total('EUR 19.25') == 'EUR 19.25'\n"}
EDITED = {RECEIPT: receipt("${BEFORE}", value=4)}
NO_OWNER = {LEDGER: ledger({**flake("login", ends=TODAY), "owner": ""})}
NO_END = {LEDGER: ledger({**flake("login", ends=TODAY), "expires_on": None})}
ROW_GONE = {LEDGER: ledger()}
RENEWED = {LEDGER: ledger(flake("slow", ends=TODAY + 7 * DAY, reason="a fix is under review"))}

MATRIX = [
    # patch shape, who pushes what, allowed unless a rule is named
    ("src/ only, properties still pass on existing receipts",
     "agent-7", [CODE], ()),
    ("src/ plus a new property file that only reads oracle/",
     "agent-7", [CODE | PROPERTY], ()),
    ("src/ plus an edited oracle/ receipt",
     "agent-7", [CODE | EDITED], (WRITERS, RECEIPTS, APART)),
    ("src/ plus an edited oracle/ receipt, by a human",
     "alice", [CODE | EDITED], (RECEIPTS, APART)),
    ("a human-recorded receipt in a follow-up",
     "alice", [EDITED], ()),
    ("test-only diff that adds literals from the production hunk",
     "agent-7", [CODE, PASTE], ("literal-overlap",)),
    ("the same rewritten as a property on a receipt",
     "agent-7", [CODE, PROPERTY], ()),
    ("ledger row with no owner, by the generator",
     "agent-7", [NO_OWNER], ("kept-rows", WRITERS, VALID)),
    ("ledger row with no owner, by a human", "alice", [NO_OWNER], (VALID,)),
    ("ledger row with no expires_on, by a human", "alice", [NO_END], (VALID,)),
]

ON_A_CLOSED_GATE = [
    ("expired ledger row, src/ only", "agent-7", [CODE], ("gate-open",)),
    ("expired ledger row, src/ only, by a human", "alice", [CODE], ("gate-open",)),
    ("expired ledger row, no src/", "agent-7", [PROPERTY], ()),
    ("expired ledger row, deleted by the patch that it stops",
     "agent-7", [CODE | ROW_GONE], ("kept-rows", WRITERS, APART)),
    ("expired ledger row, deleted by the human whose patch it stops",
     "alice", [CODE | ROW_GONE], (APART,)),
    ("human push that deletes the expired row", "alice", [ROW_GONE], ()),
    ("human push that renews the expired row for another reason", "alice", [RENEWED], ()),
]


CORPUS = {CORPUS_AT: "sku,qty\na,2\n"}
HASH = {LEASE_AT: lease(CORPUS[CORPUS_AT], ends=TODAY + 90 * DAY, path=CORPUS_AT)}
RELATIONS = {LEASE_AT: BEFORE[LEASE_AT].replace('"R1"', '"R1",\n"R4"')}
FREEZE = {FREEZES: freezes(freeze("R2", ends=TODAY + 7 * DAY))}
FREEZABLE = table(relation(), relation("R2", status="freezable", reducer="sum"))

REPLAY_PLAN = [
    ("the agent edits the corpus with the code that reads it",
     "agent-7", [CODE | CORPUS], ("gate-open", WRITERS, APART, VALID)),
    ("the agent edits the corpus and its hash with the code that reads it",
     "agent-7", [CODE | CORPUS | HASH], (WRITERS, APART)),
    ("the corpus is edited and its lease is not, by its operator", "alice", [CORPUS], (VALID,)),
    ("the agent edits the corpus hash",
     "agent-7", [CODE | HASH], ("gate-open", WRITERS, APART, VALID)),
    ("the agent expands the allowed relations of a lease, alone",
     "agent-7", [RELATIONS], (WRITERS, VALID)),
    ("a freeze committed in the same patch, also by its operator",
     "alice", [CODE | FREEZE], (APART,)),
    ("a freeze row, split from the patch over two commits of one push",
     "alice", [CODE, FREEZE], (APART,)),
    ("a freeze row by the operator, alone", "alice", [FREEZE], ()),
    ("a renewed lease with its corpus, by the operator, alone", "alice", [CORPUS | HASH], ()),
]

TABLE_AT = next(path for path in FREEZABLE if path.endswith(".yaml"))
LOOSER = {TABLE_AT: table(relation(status="freezable", reducer="sum"))[TABLE_AT]}
FROZEN = {QUARANTINE: quarantine(frozen("http", ends=TODAY + 7 * DAY))}
ON_A_RELATION = {QUARANTINE: quarantine(
    {**frozen("x", ends=TODAY), "nodeid": "oracle/relations/order.py::R1"})}
SEED = {"oracle/seeds/small.csv": "sku,qty\n"}
ANSWER = {"oracle/seeds/small.expected.csv": "3\n"}
COLLECT = {"oracle/conftest.py": "collect_ignore = ['relations']\n"}

RED_JOB = [
    ("oracle/ appears in the agent's diff",
     "agent-7", [CODE | LOOSER], ("kept-rows", WRITERS, APART)),
    ("the agent edits the relation alone", "agent-7", [LOOSER], ("kept-rows", WRITERS)),
    ("the agent switches the collection of relations off",
     "agent-7", [COLLECT], (WRITERS, "unmarked-tests")),
    ("the agent quarantines a test beside its patch",
     "agent-7", [CODE | FROZEN], (WRITERS, APART)),
    ("an HTTP test frozen by its owner, alone", "alice", [FROZEN], ()),
    ("a relation in the quarantine, by its owner", "alice", [ON_A_RELATION], (VALID,)),
    ("a new seed by the oracle's owner, alone", "alice", [SEED], ()),
    ("a new seed and what it gives, by the oracle's owner", "alice", [SEED | ANSWER],
     ("bare-seeds",)),
    ("a changed relation together with the code that it judges, by its owner",
     "alice", [CODE | LOOSER], (APART,)),
]

WITH_R2 = BEFORE | FREEZABLE
ROWS = [*((BEFORE, *row) for row in MATRIX), *((DUE, *row) for row in ON_A_CLOSED_GATE),
        *((WITH_R2, *row) for row in REPLAY_PLAN), *((BEFORE, *row) for row in RED_JOB)]


@pytest.mark.parametrize(("before", "shape", "who", "pushed", "refused_by"), ROWS,
                         ids=[row[1] for row in ROWS])
def test_the_tables_hold(before, shape, who, pushed, refused_by):
    states, held = [], before
    for changes in pushed:
        held = held | changes
        states.append(held)
    case = Case(shape, who, before, tuple(states), MAIN, refused_by, today=TODAY)
    result, = caserun.run([case], shipped.active())
    assert result.unjudged is None
    assert result.refused_by == refused_by, result.says
