"""A bare repository that grows commit by commit, without a working copy, and is judged.

    history = History(tmp_path / "r.git")
    base = history.start({"src/app.py": "1", "oracle/r.json": "1"})     # main, accepted
    work = history.commit({"src/app.py": "2"}, base)
    assert history.refused({"feature": work}, "agent-7") == set()

A commit is given by what it changes: path to text, to None (goes), or to `Odd(mode, text)`. With
several parents the changes come on top of their path-level merge (`flatmerge`), so a merge
without changes is an honest one. Objects are written raw, so anything that git can store can be
made: parents that stand twice, clocks that run backwards, damaged trees (`tree`, `commit_tree`).

Branches are named short (`main`), other refs `tags/x` or in full. `refused` and `judge` only
ask; `push` also moves the refs and the recorded tips as the hook and git would; `put` moves a
ref behind the hook's back; `accept` moves it and has it recorded.

The policy is the shipped one (policies/default.yaml: alice and bob are maintainers, agent-7 is
an agent) with time to spare, so that a busy machine fails no test.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from flatmerge import Family, Files, clashes

from policyd.adapters.gitrepo import PushedRepo
from policyd.adapters.keptsheets import KeptSheets
from policyd.core import documents
from policyd.core.authored import compile_policy
from policyd.core.facts import ZERO
from policyd.core.globs import branch_pattern
from policyd.core.index import Index
from policyd.core.policy import Active, Mode, Policy, Settings
from policyd.gatehouse import Standing
from policyd.judge import Judgement, Line, Request, judge, resolve
from policyd.rules import BY_ID

import pygit2  # isort: skip - policyd.adapters.gitrepo makes its import safe
from pygit2.enums import ObjectType  # isort: skip

AGENT, MAINTAINER = "agent-7", "alice"
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | {
    "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example", "GIT_AUTHOR_DATE": "1700000000 +0000",
    "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example",
    "GIT_COMMITTER_DATE": "1700000000 +0000", "GIT_MERGE_AUTOEDIT": "no"}
"""For git children of tests: nothing of the user's, everything fixed."""

MOMENT = datetime(2026, 1, 15, 12, tzinfo=UTC)
STANDING = Standing(sheets=KeptSheets())
"""What was read is kept: the same few files are pushed in thousands of histories."""
SHIPPED = Path(__file__).parent.parent / "policies/default.yaml"


@dataclass(frozen=True)
class Odd:
    """Content with a mode other than 100644; for 160000 `text` is a hex commit id."""

    mode: str
    text: str


@cache
def shipped_policy(*guarded: str) -> Policy:
    """policies/default.yaml compiled, with patient bounds and perhaps other guarded refs."""
    policy = compile_policy(documents.parse(SHIPPED.read_bytes(), SHIPPED.name), "default", BY_ID)
    policy = replace(policy, bounds=replace(policy.bounds, seconds=60.0))
    return replace(policy, guarded=tuple(map(branch_pattern, guarded))) if guarded else policy


def full(ref: str) -> str:
    if ref.startswith("refs/"):
        return ref
    return f"refs/{ref}" if ref.startswith("tags/") else f"refs/heads/{ref}"


class PathsClash(Exception):
    """The parents changed these paths differently and the commit does not settle them."""


class History:
    """See the module's docstring. `family` knows every commit made by `commit`."""

    def __init__(self, folder: Path, *, guarded: Sequence[str] = (),
                 policy: Policy | None = None) -> None:
        self.folder = str(folder)
        self.repo = pygit2.init_repository(self.folder, bare=True, initial_head="main")
        self.policy = policy or shipped_policy(*guarded)
        self.family = Family()
        self.refs: dict[str, str] = {}
        self.branches: dict[str, str] = {}
        """The recorded tips, as the index holds them."""
        self.extra: set[str] = set()
        self.now = 1_700_000_000
        self._stored: dict[bytes, str] = {}
        self._made = 0

    # Objects.

    def start(self, files: Files, ref: str = "main") -> str:
        """A root commit, accepted as the tip of a branch."""
        commit = self.commit(files)
        self.accept(ref, commit)
        return commit

    def commit(self, changes: Files, *parents: str, at: int | None = None) -> str:
        """A commit of the changes on top of the parents' merge. Raises PathsClash."""
        files = self.family.merged(parents) | {path: self._entry(e) for path, e in changes.items()}
        files = {path: entry for path, entry in files.items() if entry is not None}
        if clashes(files):
            raise PathsClash(sorted(clashes(files)))
        return self.commit_whole(files, *parents, at=at)

    def commit_whole(self, files: Files, *parents: str, at: int | None = None) -> str:
        """A commit of exactly these files, whatever the parents hold."""
        entries = {path: self._entry(entry) for path, entry in files.items()}
        oid = self.commit_tree(self._folder(entries), *parents, at=at)
        self.family.add(oid, parents, entries)
        return oid

    def commit_tree(self, tree: str, *parents: str, at: int | None = None) -> str:
        """A commit of any tree object; only git and the judge know what is in it."""
        self.now += 100
        self._made += 1
        who = f"a <a@example> {self.now if at is None else at} +0000"
        lines = [f"tree {tree}", *(f"parent {p}" for p in parents),
                 f"author {who}", f"committer {who}", "", f"commit {self._made}", ""]
        return self.store(ObjectType.COMMIT, "\n".join(lines).encode())

    def tree(self, *entries: tuple[str, bytes | str, str]) -> str:
        """A tree object of (mode, name, id) exactly as given, however wrong."""
        return self.store(ObjectType.TREE, b"".join(
            mode.encode() + b" " + (name.encode() if isinstance(name, str) else name) + b"\0"
            + bytes.fromhex(oid) for mode, name, oid in entries))

    def tree_of(self, commit: str, folder: str = "") -> str:
        """The tree of a commit, or of a folder in it."""
        tree = self.repo[commit].tree
        return str(tree[folder].id if folder else tree.id)

    def blob(self, text: str | bytes) -> str:
        return self.store(ObjectType.BLOB, text.encode() if isinstance(text, str) else text)

    def tag(self, target: str, kind: str = "commit", name: str = "x") -> str:
        """An annotated tag object; its ref is given in a push."""
        return self.store(ObjectType.TAG, f"object {target}\ntype {kind}\ntag {name}\n"
                          "tagger a <a@example> 1700000000 +0000\n\ntag\n".encode())

    def store(self, kind: ObjectType, data: bytes) -> str:
        key = bytes([kind]) + data
        if key not in self._stored:
            self._stored[key] = str(self.repo.write(kind, data))
        return self._stored[key]

    def files(self, commit: str) -> dict[str, Any]:
        return dict(self.family[commit].files)

    def _entry(self, content: Any) -> Any:
        """Mode and id of content; an entry of another commit is one already."""
        if content is None or isinstance(content, tuple):
            return content
        mode, text = (content.mode, content.text) if isinstance(content, Odd) \
            else ("100644", content)
        return mode, text if mode == "160000" else self.blob(text)

    def _folder(self, files: Mapping[str, tuple[str, str]]) -> str:
        here: dict[str, tuple[str, str]] = {}
        below: dict[str, dict[str, tuple[str, str]]] = {}
        for path, entry in files.items():
            name, _, rest = path.partition("/")
            if rest:
                below.setdefault(name, {})[rest] = entry
            else:
                here[name] = entry
        here |= {name: ("40000", self._folder(inside)) for name, inside in below.items()}
        ordered = sorted(here.items(), key=lambda item: (
            item[0].encode("utf-8", "surrogateescape") + b"/" * (item[1][0] == "40000")))
        return self.tree(*((mode, name.encode("utf-8", "surrogateescape"), oid)
                           for name, (mode, oid) in ordered))

    # Refs.

    def put(self, ref: str, oid: str | None) -> None:
        """Move a ref on the server without anybody being asked."""
        ref = full(ref)
        place = Path(self.folder, ref)
        if oid is None:
            del self.refs[ref]
            place.unlink()
        else:
            self.refs[ref] = oid
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(f"{oid}\n")  # as git does; libgit2 takes ten times as long

    def accept(self, ref: str, oid: str) -> None:
        """A ref as enrolment finds and records it."""
        self.put(ref, oid)
        if self.policy.guards(full(ref)) and full(ref).startswith("refs/heads/"):
            self.branches[full(ref)] = oid

    def tip(self, ref: str) -> str:
        return self.refs[full(ref)]

    # Pushes.

    def judge(self, updates: Mapping[str, str | None], who: str | None) -> Judgement:
        """The real judgement of a push of refs to ids (None deletes); nothing moves."""
        repo = PushedRepo(self.folder)
        lines = tuple(Line(self.refs.get(full(ref), ZERO), oid or ZERO, full(ref))
                      for ref, oid in updates.items())
        request = Request(git_dir=self.folder, repository="site/r", environment=ENVIRONMENT,
                          pusher=who, at=MOMENT, standing=STANDING)
        active = Active("0" * 64, Settings("/nowhere"), (self.policy,))
        return judge(request, active, repo, resolve(repo, lines), self.index())

    def refused(self, updates: Mapping[str, str | None], who: str | None) -> set[str]:
        """The rules that refuse a push; none: it is accepted."""
        verdict = self.judge(updates, who).verdict
        return {violation.rule.id for violation in verdict.of(Mode.ENFORCE)}

    def push(self, updates: Mapping[str, str | None], who: str | None) -> set[str]:
        """As `refused`; what is accepted moves the refs and the recorded tips."""
        refused = self.refused(updates, who)
        for ref, oid in {} if refused else updates.items():
            before = self.refs.get(full(ref))
            self.put(ref, oid)
            if self.policy.guards(full(ref)) and full(ref).startswith("refs/heads/"):
                self._record(full(ref), before, oid)
        return refused

    def index(self) -> Index:
        """The accepted history by hand, as the state folder would hold it."""
        return Index("0" * 32, "2026-01-01T00:00:00+00:00", not self.branches,
                     dict(self.branches), tuple(sorted(self.extra)))

    def _record(self, ref: str, before: str | None, oid: str | None) -> None:
        if before and (oid is None or not self.family.reaches(oid, before)):
            self.extra.add(before)
        if oid is None:
            self.branches.pop(ref, None)
        else:
            self.branches[ref] = oid
