"""The words that the projects' pushes are written in, and what a push leaves in the tree.

    gamed("test-deleted", "rounding", "Tidy up", {
        "src/split.py": sub("old", "new"),        # each old stands there exactly once
        "tests/test_split.py": add("..."),        # at the end
        "docs/old_test.py": moved("tests/a.py"),  # what stood there before the change
        "tests/a.py": None,                       # goes
        "src/link": Link("../oracle")})

An honest push is the twin of the gamed ones of its family and project: what somebody with the
same wish and nothing to hide pushes. Nothing in here opens a file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

AGENT, HUMAN, MAINTAINER = "agent-7", "carol", "alice"
MAIN = "refs/heads/main"


@dataclass(frozen=True, slots=True)
class Link:
    """A symbolic link."""

    target: str


@dataclass(frozen=True, slots=True)
class Gitlink:
    """A submodule's commit."""

    oid: str = "1f" * 20


@dataclass(frozen=True, slots=True)
class Sub:
    """Texts that take the place of others."""

    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Add:
    """A text behind what is there."""

    text: str


@dataclass(frozen=True, slots=True)
class Moved:
    """What stood at another path before this change."""

    path: str
    sub: Sub = field(default_factory=lambda: Sub(()))


Entry = str | Link | Gitlink
Change = Entry | Sub | Add | Moved | None
Files = dict[str, Entry]
Changes = Mapping[str, Change]


def sub(*texts: str) -> Sub:
    """Old, new, old, new."""
    return Sub(tuple(zip(texts[::2], texts[1::2], strict=True)))


def add(text: str) -> Add:
    return Add(text)


def moved(path: str, *texts: str) -> Moved:
    return Moved(path, sub(*texts))


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit on what is checked out."""

    message: str
    changes: Changes


@dataclass(frozen=True, slots=True)
class Switch:
    """Check a branch out; a new one starts at the base."""

    branch: str


@dataclass(frozen=True, slots=True)
class Merge:
    """Merge a branch into what is checked out, and change more before it is committed."""

    branch: str
    message: str
    changes: Changes


@dataclass(frozen=True, slots=True)
class Push:
    """Push what is checked out."""

    ref: str = MAIN
    by: str | None = AGENT


Act = Commit | Switch | Merge | Push


@dataclass(frozen=True, slots=True)
class Case:
    """One push, or as many as it takes. Its id is `project/family/name`, or has `honest:`."""

    family: str
    name: str
    acts: tuple[Act, ...]
    honest: bool
    visible: bool
    """Whether the change alone tells; else it takes somebody who runs the code."""
    red: str
    """Why the project's own tests do not pass with it, where they do not."""


@dataclass(frozen=True, slots=True)
class Project:
    """What main holds, and what is pushed to it. `records` come in a commit of their own."""

    name: str
    sources: Mapping[str, str]
    records: Mapping[str, str]
    cases: tuple[Case, ...]

    def id_of(self, case: Case) -> str:
        return f"{self.name}/{'honest:' if case.honest else ''}{case.family}/{case.name}"


def gamed(family: str, name: str, message: str, changes: Changes, *, by: str | None = AGENT,
          visible: bool = True, red: str = "") -> Case:
    return Case(family, name, (Commit(message, changes), Push(by=by)), False, visible, red)


def schemed(family: str, name: str, *acts: Act, visible: bool = True, red: str = "") -> Case:
    """A gamed case of several steps."""
    return Case(family, name, acts, False, visible, red)


def honest(family: str, name: str, message: str, changes: Changes, *,
           by: str | None = AGENT, red: str = "") -> Case:
    return Case(family, name, (Commit(message, changes), Push(by=by)), True, True, red)


def honestly(family: str, name: str, *acts: Act) -> Case:
    """An honest case of several steps."""
    return Case(family, name, acts, True, True, "")


def changed(files: Files, changes: Changes) -> Files:
    """The tree after a change. Raises ValueError where a change does not fit."""
    after = dict(files)
    for path, change in changes.items():
        if change is None:
            if after.pop(path, None) is None:
                raise ValueError(f"{path}: is not there")
            continue
        after[path] = _entry(files, path, change)
    return after


def _entry(files: Files, path: str, change: Change) -> Entry:
    if isinstance(change, Sub):
        return _substituted(files, path, change)
    if isinstance(change, Add):
        return _text(files, path) + change.text
    if isinstance(change, Moved):
        return _substituted(files, change.path, change.sub)
    assert change is not None
    return change


def _substituted(files: Files, path: str, change: Sub) -> str:
    text = _text(files, path)
    for old, new in change.pairs:
        if text.count(old) != 1:
            raise ValueError(f"{path}: {text.count(old)} times {old!r}")
        text = text.replace(old, new)
    return text


def _text(files: Files, path: str) -> str:
    text = files.get(path)
    if not isinstance(text, str):
        raise ValueError(f"{path}: no text to change")
    return text


def final_tree(base: Files, case: Case) -> Files:
    """What the last push of a case leaves, by the acts alone."""
    branches, here = {"main": dict(base)}, "main"
    for act in case.acts:
        if isinstance(act, Switch):
            here = act.branch
            branches.setdefault(here, dict(base))
        elif isinstance(act, Commit):
            branches[here] = changed(branches[here], act.changes)
        elif isinstance(act, Merge):
            theirs = {path: entry for path, entry in branches[act.branch].items()
                      if base.get(path) != entry}
            branches[here] = changed(branches[here] | theirs, act.changes)
    return branches[here]
