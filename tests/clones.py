"""A working clone in which a maintainer keeps records, and what the commands print there.

    clone.record("flake", "add", NODE, "--days", "3", ...)    # the exit code; then clone.out
    clone.commits()                                           # runs the commands that were printed
"""

from __future__ import annotations

import subprocess
from datetime import date
from pathlib import Path

from records_made import relation, table, today
from sites import MAIN, Site, listing

FREEZABLE = relation("R2", status="freezable", reducer="a sum of floats")
TABLES = table(relation("R1_order"), FREEZABLE)
OTHER_CORPUS = "fixtures/data/rates.csv"


class Kept:
    """The clone of a site, as alice works in it."""

    def __init__(self, site: Site) -> None:
        self.site, self.work = site, site.work
        site.git("config", "policyd.owner", "alice")
        site.commit({**TABLES, OTHER_CORPUS: "rate\n1\n",
                     "fixtures/freezes.json": "[]\n"}, "Add relations")
        assert site.push(f"HEAD:{MAIN}", as_="alice") == 0, site.err
        site.git("fetch", "--quiet", "origin")

    @property
    def out(self) -> str:
        return self.site.out

    def record(self, *arguments: str) -> int:
        return self.site.policyd("record", *arguments)

    def refused(self, *arguments: str) -> str:
        """The one sentence of a command that wrote nothing."""
        before = self.files()
        assert self.record(*arguments) == 2, self.out
        assert self.files() == before
        assert self.out.count("\n") == 1, self.out
        return self.out.removeprefix("policyd: ").rstrip("\n")

    def files(self) -> dict[str, tuple[str, int, int, bytes]]:
        return {name: found for name, found in listing(self.work).items()
                if not name.startswith(".git")}

    def text(self, path: str) -> str:
        return (self.work / path).read_bytes().decode()

    def write(self, path: str, text: str) -> None:
        (self.work / path).parent.mkdir(parents=True, exist_ok=True)
        (self.work / path).write_bytes(text.encode())

    def commits(self, folder: Path | None = None) -> str:
        """Run the commit that was printed; its message."""
        [line] = [line for line in self.out.splitlines() if line.startswith("  git add ")]
        done = subprocess.run(["sh", "-ec", line], cwd=folder or self.work, capture_output=True,
                              env=self.site.environment(), text=True, check=False)
        assert done.returncode == 0, done.stderr
        return self.site.git("log", "-1", "--format=%B").strip()

    def pushes(self) -> None:
        """What was committed is taken by the server."""
        assert self.site.push(f"HEAD:{MAIN}", as_="alice") == 0, self.site.err


def day(ahead: int) -> date:
    return date.fromordinal(today().toordinal() + ahead)
