"""`policyd log rejudge`: pushes that were judged, judged again, as plain values and as lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from policyd.adapters import activepolicy, repoindex
from policyd.cli import operating
from policyd.core.render import printable
from policyd.rejudge import Again, Bounds, Report, rejudge
from policyd.rules import OPTIONS


def report(home: Path, repository: Path | None, bounds: Mapping[str, Any]) -> Any:
    """What JSON says; made as the owner of the state folder."""
    words = ["log", "rejudge", *([str(repository)] if repository else []),
             *(f"{name}={value}" for name, value in bounds.items())]
    return operating.as_keeper(home, words, lambda: _plain(_made(home, repository, bounds)))


def lines(told: Mapping[str, Any]) -> Iterator[str]:
    """What differs, a line a push; then what was looked at, and what was not."""
    differing = [one for one in told["pushes"] if one["differs"]]
    yield from map(line, differing)
    yield (f"{len(told['pushes'])} pushes judged again, {len(differing)} otherwise than they "
           "were")
    yield from (f"not judged again, {count}: {why}" for why, count in told["left"].items())


def line(one: Mapping[str, Any]) -> str:
    """One push that would be judged otherwise."""
    why = f" ({', '.join(one['why'])})" if one["why"] else ""
    then = "" if one["same_policy"] else "; by another policy then"
    return printable(f"{one['time'][:16]} {one['id']} {one['repository']} "
                     f"{', '.join(one['refs'])} by {one['pusher'] or 'nobody known'}: "
                     f"{one['logged']} -> {one['now']}{why}{then}")


def _made(home: Path, repository: Path | None, bounds: Mapping[str, Any]) -> Report:
    active = activepolicy.load(home, OPTIONS)
    keys = (operating.opened(home, repository).key,) if repository else \
        repoindex.keys(active.settings.state)
    return rejudge(active, keys, Bounds(bounds["--last"], bounds["--most"], bounds["--seconds"]))


def _plain(found: Report) -> dict[str, object]:
    return {"pushes": [_push(one) for one in found.pushes], "left": dict(found.left)}


def _push(one: Again) -> dict[str, object]:
    return {"id": one.id, "time": one.time, "repository": one.repository, "pusher": one.pusher,
            "refs": list(one.refs), "logged": one.logged, "now": one.now, "why": list(one.why),
            "same_policy": one.same_policy, "differs": one.differs}
