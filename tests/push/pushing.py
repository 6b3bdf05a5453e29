"""Pushes as the tests here make them: said what becomes of them, with commits of any bytes.

    accepted(site, f"HEAD:{MAIN}", as_="agent-7")              # in silence, and main moved
    refused(site, "HEAD:refs/heads/x", by={"ordinary-tree"})   # by these rules; nothing moved
    unjudged(site, f"HEAD:{MAIN}", because="no space left")    # exit 2, one sentence, an incident

    tip = made(site, {b"oracle/caf\\xe9": b"{}\\n", "lib": Gitlink("1" * 40)}, on=site.base_tip)
    ran = by_hand(site, f"{ZERO} {tip} {MAIN}\\n".encode())     # the hook, with no git around it
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sites import Site

ZERO = "0" * 40


@dataclass(frozen=True, slots=True)
class Link:
    """A symbolic link."""

    target: bytes


@dataclass(frozen=True, slots=True)
class Gitlink:
    """A submodule's commit."""

    oid: str


Entry = bytes | Link | Gitlink | None
"""What stands at a path: a file's content, a link, a submodule; None: nothing any more."""


def accepted(site: Site, *arguments: str, as_: str | None = "alice", **more: Any) -> None:
    """Push; it is taken and nothing is said."""
    code = site.push(*arguments, as_=as_, **more)
    assert (code, site.told) == (0, []), site.err


def refused(site: Site, *arguments: str, by: set[str], as_: str | None = "alice",
            **more: Any) -> None:
    """Push; it is refused by exactly these rules, and no ref moves."""
    before, incidents = site.refs(), len(site.incidents())
    code = site.push(*arguments, as_=as_, **more)
    assert (code, rules(site.told)) == (1, by), site.err
    assert site.refs() == before
    assert "Traceback" not in site.err
    assert len(site.incidents()) == incidents, site.incidents()


def unjudged(site: Site, *arguments: str, because: str, as_: str | None = "alice",
             incident: bool = True, **more: Any) -> str:
    """Push; it cannot be judged, the pusher reads why in one sentence, and no ref moves.

    The sentence. `incident`: whether the state folder can take the operator's part.
    """
    before, incidents = site.refs(), len(site.incidents()) if incident else 0
    code = site.push(*arguments, as_=as_, **more)
    assert code == 1, site.err
    sentence = reason(site.told)
    assert because in sentence, site.err
    assert site.refs() == before
    if incident:
        assert len(site.incidents()) == incidents + 1
        assert site.incidents()[-1]["id"] == last(site.told)["id"]
    return sentence


def rules(told: list[str]) -> set[str]:
    """The rules that refuse, of what a push was told."""
    return {line.split(": ")[1] for line in told
            if line.startswith("policyd: ") and not line.startswith("policyd: warning: ")}


def reason(told: list[str]) -> str:
    """Why a push could not be judged; all that it is told is this, its form and its end."""
    text = "\n".join(told)
    assert text.startswith("policyd: could not be judged: "), text
    assert "Traceback" not in text
    assert all(len(line) <= 72 and line.isascii() for line in told), text
    start = next(n for n, line in enumerate(told) if line.startswith("nothing was stored"))
    assert last(told)["next"] == "stop"
    return " ".join(map(str.strip, told[:start])).removeprefix("policyd: could not be judged: ")


def last(told: list[str]) -> dict[str, Any]:
    """The line for programs."""
    found: dict[str, Any] = json.loads(told[-1].removeprefix("policyd "))
    return found


def made(site: Site, entries: Mapping[str | bytes, Entry], *, on: str | None = None,
         merging: tuple[str, ...] = (), message: bytes = b"Make it") -> str:
    """Commit on top of `on` (None: a root commit) without a work tree; the commit's id.

    The tree is that of `on` with the entries changed. `merging` are further parents.
    """
    ref = "refs/made/it"
    stream = [b"commit %s\n" % ref.encode(), b"committer Dev <dev@example.org> 1768500000 +0000\n",
              _data(message)]
    stream += [b"from %s\n" % on.encode()] if on else []
    stream += [b"merge %s\n" % parent.encode() for parent in merging]
    stream += [_changed(_quoted(path), entry) for path, entry in entries.items()]
    if subprocess.run(["git", "update-ref", "-d", ref], cwd=site.work, check=False,
                      env=site.environment(), capture_output=True).returncode:
        raise AssertionError("the ref of the commit before is in the way")
    done = subprocess.run(["git", "fast-import", "--quiet", "--force"], cwd=site.work, check=False,
                          input=b"".join(stream), env=site.environment(), capture_output=True)
    assert done.returncode == 0, os.fsdecode(done.stderr)
    return site.tip(ref)


def by_hand(site: Site, data: bytes, *, as_: str | None = "alice",
            env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[bytes]:
    """Run the installed hook as git would, with the clone's objects for a quarantine."""
    environment = site.environment(**{
        "GIT_DIR": ".", "GIT_OBJECT_DIRECTORY": str(site.work / ".git/objects"),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(site.server / "objects"), **(env or {})})
    if as_ is not None:
        environment["REMOTE_USER"] = as_
    return subprocess.run([str(site.server / "hooks/pre-receive")], cwd=site.server, input=data,
                          env=environment, capture_output=True, check=False)


def _changed(path: bytes, entry: Entry) -> bytes:
    match entry:
        case None:
            return b"D %s\n" % path
        case Link(target):
            return b"M 120000 inline %s\n" % path + _data(target)
        case Gitlink(oid):
            return b"M 160000 %s %s\n" % (oid.encode(), path)
        case _:
            return b"M 100644 inline %s\n" % path + _data(entry)


def _quoted(path: str | bytes) -> bytes:
    raw = path.encode() if isinstance(path, str) else path
    return b'"' + b"".join(b"\\%03o" % byte if byte < 0x20 or byte > 0x7E or byte in b'"\\'
                           else bytes([byte]) for byte in raw) + b'"'


def _data(content: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(content), content)
