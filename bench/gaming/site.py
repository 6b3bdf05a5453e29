"""A real server repository for each project, and each case pushed to a fresh copy of it."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

from gaming.case import (
    Case,
    Commit,
    Entry,
    Files,
    Gitlink,
    Link,
    Merge,
    Project,
    Push,
    Switch,
    changed,
)

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from sites import Site

_DAY = re.compile(r"@DAY([+-]\d+)@")
_SHA = re.compile(r"@SHA256:([^@]+)@")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a case: the rules that refused it, those that only said something, and all
    that the pusher was told."""

    id: str
    refused: bool
    rules: tuple[str, ...]
    warned: tuple[str, ...]
    told: str


class Server:
    """A project's site, put back to its base before each case."""

    def __init__(self, project: Project, folder: Path) -> None:
        self._project = project
        self._pristine, self._folder = folder / "pristine", folder / "site"
        site = Site.made(self._folder)
        self._first = site.commit(_filled(project.sources, ""), "Add the project")
        self._base = _filled({**project.sources, **project.records}, self._first)
        site.commit({path: self._base[path] for path in project.records}, "Add the records")
        site.git("push", "--quiet", "origin", "HEAD:refs/heads/main")
        site.git("branch", "base")
        site.enroll()
        shutil.copytree(self._folder, self._pristine, symlinks=True)

    def tried(self, case: Case) -> tuple[Outcome, str]:
        """What becomes of a case, and its patch."""
        shutil.rmtree(self._folder)
        shutil.copytree(self._pristine, self._folder, symlinks=True)
        site = Site(self._folder)
        told: list[str] = []
        refused: list[str] = []
        warned: list[str] = []
        branches: dict[str, Files] = {"main": dict(self._base)}
        here, failed = "main", False
        for act in case.acts:
            if isinstance(act, Switch):
                new = act.branch not in branches
                branches.setdefault(act.branch, dict(self._base))
                site.git("switch", "-q", *(["-c", act.branch, "base"] if new else [act.branch]))
                here = act.branch
            elif isinstance(act, Commit):
                branches[here] = self._commit(site, branches[here], act)
            elif isinstance(act, Merge):
                site.git("merge", "-q", "--no-ff", "--no-commit", act.branch)
                theirs = {path: entry for path, entry in branches[act.branch].items()
                          if self._base.get(path) != entry}
                branches[here] = self._commit(site, branches[here] | theirs, act)
            else:
                failed |= _pushed(site, act, told, refused, warned)
        patch = site.git("log", "-m", "--patch", "--format=%n# %s", "--reverse", "base..HEAD")
        outcome = Outcome(self._project.id_of(case), failed, tuple(dict.fromkeys(refused)),
                          tuple(dict.fromkeys(warned)), "\n".join(told))
        return outcome, patch

    def _commit(self, site: Site, before: Files, act: Commit | Merge) -> Files:
        after = changed(before, act.changes)
        after |= _filled({path: entry for path, entry in after.items()
                          if before.get(path) != entry}, self._first)
        for path in sorted(act.changes, key=lambda path: path in after):  # first what goes
            _put(site, path, after.get(path))
        site.git("add", "--all", "--force")
        for path, entry in after.items():
            if isinstance(entry, Gitlink):
                site.git("update-index", "--add", "--cacheinfo", f"160000,{entry.oid},{path}")
        site.git("commit", "--quiet", "--allow-empty", "--message", act.message)
        return after


def _put(site: Site, path: str, entry: Entry | None) -> None:
    """Put an entry into the work tree; an emptied folder gives way."""
    place = site.work / path
    if isinstance(entry, Gitlink):
        place.mkdir(parents=True)
        return
    if place.is_dir() and not place.is_symlink():
        place.rmdir()
    place.unlink(missing_ok=True)
    if entry is None:
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(entry, Link):
        place.symlink_to(entry.target)
    else:
        place.write_text(entry)


def _pushed(site: Site, act: Push, told: list[str], refused: list[str],
            warned: list[str]) -> bool:
    before = len(site.log())
    failed = site.push(f"HEAD:{act.ref}", as_=act.by) != 0
    told += [f"$ git push origin HEAD:{act.ref}", *site.told]
    found = [finding for entry in site.log()[before:] for finding in entry.get("findings", ())]
    for finding in found:
        (refused if finding["mode"] == "enforce" else warned).append(finding["rule"])
    if failed and not found:
        refused.append("unjudged" if "could not be judged" in site.err else "git itself")
        told.append(site.err)
    return failed


def _filled(files: Mapping[str, Entry], first: str) -> Files:
    """With dates, the first commit's id and checksums where files ask for them."""
    today = datetime.now(UTC).date()

    def filled(text: str) -> str:
        text = text.replace("@BASE@", first)
        text = _DAY.sub(lambda found: str(today + timedelta(days=int(found[1]))), text)
        return _SHA.sub(lambda found: sha256(str(files[found[1]]).encode()).hexdigest(), text)

    return {path: filled(entry) if isinstance(entry, str) else entry
            for path, entry in files.items()}


def outcomes(project: Project, cases: list[Case], folder: Path,
             keep: Path | None) -> Iterator[Outcome]:
    """Push the cases one after the other; what they say and do is kept where that is asked."""
    os.environ["HOME"] = str(folder)
    server = Server(project, folder)
    for case in cases:
        outcome, patch = server.tried(case)
        if keep:
            file = keep / f"{outcome.id.replace(':', '-')}.txt"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"{json.dumps(outcome.rules)}\n{outcome.told}\n\n{patch}\n",
                            errors="surrogateescape")
        yield outcome
