"""Records as short as they get and without a fault, for tests that push some.

    site.commit({LEDGER: ledger(flake("rates", ends=TODAY + 7 * DAY)), RECEIPT: receipt(BASE)})

`PATHS` are where the shipped policy looks for them. Every row is alice's unless it says otherwise.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from hashlib import sha256

LEDGER, QUARANTINE = "tests/ledger/flake_ledger.json", "oracle/quarantine.yaml"
FREEZES, RECEIPT = "fixtures/freezes.json", "oracle/receipts/expected.json"
LEASE, CORPUS = "fixtures/leases/data.yaml", "fixtures/data/prices.csv"
TABLE, FUNCTIONS = "oracle/relations/order.yaml", "oracle/relations/order.py"
SEED = "oracle/seeds/prices.csv"

DAY = timedelta(days=1)
LONG_AGO = date(2026, 1, 1)
NOBODY = "1" * 40
"""A baseline for receipts that main holds already: only those that change are looked at."""

Row = Mapping[str, object]


def today() -> date:
    """The day that the server takes for today."""
    return datetime.now(UTC).date()


def flake(name: str, *, ends: date, first: date = LONG_AGO,
          reason: str = "the rate server is slow", owner: str = "alice") -> Row:
    """A row of the flake ledger, about a test of its own."""
    return {"id": name, "nodeid": f"tests/test_{name}.py::test_it", "reason": reason,
            "first_seen": str(first), "expires_on": str(ends), "owner": owner,
            "max_runs": 3}


def ledger(*rows: Row) -> str:
    return _json({"schema": "flake_ledger.v1", "entries": rows})


def frozen(name: str, *, ends: date | None, reason: str = "upstream answers 429 at night",
           owner: str = "alice") -> Row:
    """A row of the quarantine; one that does not end is open."""
    return {"nodeid": f"tests/test_{name}.py::test_it", "reason": reason, "owner": owner,
            **({"status": "open"} if ends is None else
               {"status": "frozen", "expires_on": str(ends)})}


def quarantine(*rows: Row) -> str:
    """YAML, by its subset that is JSON."""
    return _json({"version": 1, "rules": rows})


def freeze(relation: str, *, ends: date, reason: str = "the sum runs in parallel",
           owner: str = "alice") -> Row:
    return {"relation_id": relation, "expires": str(ends), "reruns": 5, "pass_needed": 5,
            "reason": reason, "owner": owner}


def freezes(*rows: Row) -> str:
    return _json(rows)


def lease(data: str, *, ends: date, name: str = "prices", path: str = CORPUS,
          owner: str = "alice") -> str:
    """A file of leases with one that pins `data` at `path`."""
    return _json({"id": name, "path": path, "sha256": sha256(data.encode()).hexdigest(),
                  "expires": str(ends), "owner": owner, "allowed_relations": ["R1"]})


def receipt(baseline: str, *, value: object = 3, owner: str | None = None) -> str:
    """An input with a constraint on what it gives, recorded from a commit."""
    return _json({"baseline": baseline, "entry_point": "app:total", "input": value,
                  "constraints": {"currency": "EUR"}, **({"owner": owner} if owner else {})})


def relation(name: str = "R1", **more: object) -> Row:
    """A row of a relation table; it blocks unless `more` says otherwise."""
    return {"id": name, "relation": "the order of the prices changes nothing",
            "entry": "app:total", "generator": "prices", "transform": "shuffled",
            "compare": "exact", "status": "blocking", **more}


def table(*rows: Row) -> dict[str, str]:
    """A relation table and the functions that its rows name."""
    return {TABLE: _json({"version": 1, "relations": rows}),
            FUNCTIONS: "def prices(rng): return [rng.random()]\n\n\n"
                       "def shuffled(prices): return prices[::-1]\n"}


def nothing_due() -> dict[str, str]:
    """Records in which nothing can be over."""
    return {LEDGER: ledger(), QUARANTINE: quarantine(), FREEZES: freezes()}


def _json(value: Row | Iterable[Row]) -> str:
    return json.dumps(value, indent=2) + "\n"
