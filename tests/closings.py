"""States of main that rules on gates and records are about, made of a site that holds BASE.

The clone is on main afterwards.

    due(site)                   # a ledger row ended yesterday
    site.commit({"src/app.py": CODE})
    refused(site, f"HEAD:{MAIN}", by={"gate-open"}, as_="carol")
"""

from __future__ import annotations

from collections.abc import Mapping

from records_made import (
    CORPUS,
    DAY,
    FREEZES,
    LEDGER,
    QUARANTINE,
    SEED,
    flake,
    freezes,
    ledger,
    nothing_due,
    quarantine,
    relation,
    table,
    today,
)
from sites import MAIN, Site

from policyd.adapters import gatefiles, repoindex
from policyd.core.gates import Acts, Hold

SETTLED = {LEDGER: ledger(), QUARANTINE: quarantine()}
"""What opens main again where rows are over."""


def keep(site: Site, files: Mapping[str, str | None], who: str = "alice") -> str:
    """A maintainer's push of records alone; the commit that it leaves."""
    tip = site.commit(files, "Keep the records")
    assert site.push(f"HEAD:{MAIN}", as_=who) == 0, site.err
    return tip


def due(site: Site) -> None:
    """A row of the ledger ended yesterday."""
    keep(site, {**nothing_due(), LEDGER: ledger(flake("due", ends=today() + DAY))})
    site.pretend(2 * DAY)


def all_due(site: Site) -> None:
    """Rows of BASE's ledger and of its quarantine ended yesterday."""
    site.pretend(8 * DAY)


def held(site: Site) -> None:
    """An operator named ops holds it."""
    gatefiles.store_acts(str(site.state), repoindex.key_of(str(site.server)), Acts(
        holds=(Hold(MAIN, "fire drill", "ops", "2026-09-01T12:00:00+00:00"),)))


def moved(site: Site) -> None:
    """Somebody with a shell on the server moved it."""
    site.commit({"docs/a.md": "nobody judged this\n"})
    site.git("fetch", "-q", str(site.work), "HEAD:refs/heads/main", cwd=site.server)


def drifted(site: Site) -> None:
    """The leased corpus is another one since a time when the rule only warned."""
    _while_faults_pass(site, {CORPUS: "price\n9\n"})


def unreadable(site: Site) -> None:
    """The quarantine's rows are no list."""
    _while_faults_pass(site, {QUARANTINE: "version: 1\nrules: none\n"})


def seeded(site: Site) -> None:
    """It is open; there is a relation, and one seed for it."""
    keep(site, {FREEZES: freezes(), **table(relation("R1_order")), SEED: "1\n"})


def _while_faults_pass(site: Site, files: Mapping[str, str]) -> None:
    keep(site, {LEDGER: ledger(), QUARANTINE: quarantine(), FREEZES: freezes()})
    names = ("valid-records: {mode: enforce}", "valid-records: {mode: observe}")
    site.edit_policy(*names)
    keep(site, files)
    site.edit_policy(*reversed(names))
