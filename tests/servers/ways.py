"""How pushes get to a site's repository, and what their pushers read, for every server alike.

    way = Way("{from: ssh}", url=..., env=...)
    chosen(site, way)                                  # policyd.yaml says who names the pusher
    assert push(site, way, "alice", f"HEAD:{MAIN}") == 0
    compare("ssh", views(site, way), accept=False)     # golden/ssh.txt
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pytest
from running import Absent
from sites import MAIN, Site

GOLDEN = Path(__file__).parent / "golden"
SOURCE = {"src/app.py": "def total(prices):\n    return sum(sorted(prices))\n"}
MIXED = {"src/app.py": "x = 1\n", "oracle/rates.json": "{}\n"}
USERS = ["alice", "agent-7"]
FOLDER = "/srv/site"
"""What stands for the site's folder in a golden file."""


Server = TypeVar("Server")


@dataclass(frozen=True, slots=True)
class Way:
    """One server's: who names the pusher there, where git pushes to, and how it comes as whom."""

    identity: str
    url: Callable[[Site, str], str]
    env: Callable[[str], Mapping[str, str]]
    arguments: tuple[str, ...] = ()
    ref: str = MAIN


@contextmanager
def up(name: str, server: AbstractContextManager[Server]) -> Iterator[Server]:
    """The server while the block runs. Skips where it cannot run."""
    try:
        found = server.__enter__()
    except Absent as error:
        why = os.environ.get("POLICYD_NOT_INSTALLED")
        pytest.skip(f"{name}: {error}{f' ({why})' if why else ''}")
    try:
        yield found
    finally:
        server.__exit__(None, None, None)


def chosen(site: Site, way: Way) -> None:
    """Put the way's `identity:` in force."""
    settings = site.home / "policyd.yaml"
    line = "identity: {from: env, name: REMOTE_USER}"
    assert line in settings.read_text()
    settings.write_text(settings.read_text().replace(line, f"identity: {way.identity}"))
    assert site.policyd("policy", "apply") == 0, site.out


def push(site: Site, way: Way, who: str, *arguments: str) -> int:
    """git's exit code; see the site for the rest."""
    site.git("remote", "set-url", "origin", way.url(site, who))
    return site.push(*way.arguments, *arguments, as_=None, env=way.env(who))


def views(site: Site, way: Way) -> str:
    """What pushers read of a push that is accepted, one that is refused, one that is not judged.

    Each of them is also held to what it must do to the ref.
    """
    told = []
    tip = site.commit(SOURCE)
    assert push(site, way, "alice", f"HEAD:{way.ref}") == 0, site.err
    assert site.refs()[way.ref] == tip
    assert site.log()[-1]["verdict"] == "accepted"
    told.append(_view("accepted, alice brings code", site))
    site.commit(MIXED)
    assert push(site, way, "agent-7", f"HEAD:{way.ref}") == 1, site.err
    assert site.refs()[way.ref] == tip
    assert site.log()[-1]["verdict"] == "refused"
    told.append(_view("refused, agent-7 brings code and oracle", site))
    (site.home / "active/current").write_text("{}")
    site.git("reset", "-q", "--hard", tip)
    site.commit({"docs/a.md": "a\n"})
    assert push(site, way, "alice", f"HEAD:{way.ref}") == 1, site.err
    assert site.refs()[way.ref] == tip
    told.append(_view("not judged, for what is in force is damaged", site))
    return "\n".join(told)


def compare(name: str, seen: str, *, accept: bool) -> None:
    """Hold what was read to the golden file of that name; `accept`: take it for what it must be."""
    file = GOLDEN / f"{name}.txt"
    if accept:
        GOLDEN.mkdir(exist_ok=True)
        file.write_text(seen)
    assert seen == file.read_text()


def _view(title: str, site: Site) -> str:
    told = "\n".join(line.rstrip() for line in site.told) or "(nothing)"
    return f"== {title}\n{_settled(told, site)}\n"


def _settled(told: str, site: Site) -> str:
    """The text with ids and folders that are the same in every run."""
    known = site.git("log", "--all", "--reflog", "--reverse", "--topo-order", "--format=%H")
    for number, oid in enumerate(dict.fromkeys(known.split()), 0xa1):
        for length in (40, 12, 7):
            told = re.sub(rf"\b{oid[:length]}\b", f"{number:02x}".ljust(length, "0"), told)
    entry = re.search(r'"id":"([0-9a-f]+)"', told)
    if entry is not None:
        told = re.sub(rf"\b{entry[1]}\b", "4e1c07", told)
    return told.replace(str(site.folder), FOLDER)
