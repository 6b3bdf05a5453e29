"""Rejections mended by what they print: the block is run by `sh`, and its push is accepted.

    mended(site, Row(commits(MIXED)))    # refused; run as printed; main has the code alone
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pushes import ORACLE, Build, push_id, run, script
from sites import Site


@dataclass(frozen=True)
class Row:
    """`kept`: paths as they were pushed; `back`: as BASE (or main) has them; on `branch`."""

    build: Build
    who: str | None = "agent-7"
    branch: str = "main"
    kept: tuple[str, ...] = ("src/app.py",)
    back: tuple[str, ...] = (ORACLE,)
    next: str = "split"
    runs_as: str | None = None
    """Who runs the block, where it is somebody else's to run."""


def mended(site: Site, row: Row) -> None:
    pushed = row.build(site)
    before, tip = site.refs(), site.tip()
    assert site.push(*pushed, as_=row.who) == 1, site.err
    text = "\n".join(site.told)
    assert f'"next":"{row.next}"' in site.told[-1], text
    assert site.refs() == before
    (site.work / "notes.txt").write_text("dirty, and none of it\n")
    run(site, script(site.told), row.runs_as or row.who)
    branch = row.branch.replace("ID", push_id(site))
    now = site.refs()
    assert f"refs/heads/{branch}" in now, text
    reached = now[f"refs/heads/{branch}"]
    assert reached != before.get(f"refs/heads/{branch}"), text
    origin = before.get("refs/heads/main")
    assert content(site, reached, row.kept) == content(site, tip, row.kept), text
    assert content(site, reached, row.back) == content(site, origin, row.back), text
    assert nothing_was_forced(site, before, now)
    assert site.policyd("log", "verify") == 0, site.out


def content(site: Site, commit: str | None, paths: Iterable[str]) -> dict[str, str]:
    """Mode and blob of each path; a path that is not there is left out."""
    if commit is None:
        return {}
    listed = site.git("--literal-pathspecs", "ls-tree", "-rz", commit, cwd=site.server) \
        if commit in site.refs().values() else site.git("ls-tree", "-rz", commit)
    held = dict(line.split("\t", 1)[::-1] for line in listed.split("\0") if line)
    return {path: held[path] for path in paths if path in held}


def nothing_was_forced(site: Site, before: dict[str, str], now: dict[str, str]) -> bool:
    return all(site.git("merge-base", old, now[ref], cwd=site.server) == site.tip(f"{old}^{{}}")
               for ref, old in before.items())
