"""A bare repository and people who push to it, object by object, without `git push`.

    store = Store()
    tree = store.tree_with(store.empty, ("src", "app.py"), store.file("x = 1"))
    commit = store.commit(tree, base)
    server = Server(site, store)
    answer = server.push([Sent("refs/heads/main", commit)], "agent-7")      # the real hook
    assert (answer.code, answer.moved) == (1, {})

`Store` makes any object that git can carry, also those that git refuses to make. `Server.push`
does what git-receive-pack(1) does: it puts the objects that the repository lacks into a
quarantine, runs the hook, and after its 0 takes them over and moves each ref by itself, so that
one may stay behind. `RealServer` pushes with git; its old ids are always the true ones.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass, field
from hashlib import sha1
from pathlib import Path
from typing import Any

from flatmerge import Family
from sites import FRAME, Site

from policyd import hook

ZERO = "0" * 40
Entry = tuple[bytes, str]
"""Mode and hex id."""

FOLDER, FILE, PROGRAM, LINK, SUBMODULE = b"40000", b"100644", b"100755", b"120000", b"160000"


class Store:
    """Every object that anybody has, by id. `family` knows the commits and their flat trees."""

    def __init__(self) -> None:
        self.objects: dict[str, tuple[str, bytes]] = {}
        self.family = Family()
        self.commits: list[str] = []
        """In the order in which they were made."""
        self.empty = self.put("tree", b"")
        self._clock = 1_700_000_000

    # Making.

    def put(self, kind: str, data: bytes) -> str:
        oid = sha1(b"%s %d\0" % (kind.encode(), len(data)) + data).hexdigest()
        self.objects[oid] = (kind, data)
        return oid

    def file(self, text: str, mode: bytes = FILE) -> Entry:
        return mode, self.put("blob", text.encode())

    def commit(self, tree: str, *parents: str) -> str:
        self._clock += 100
        who = f"a <a@example.org> {self._clock} +0000"
        lines = [f"tree {tree}", *(f"parent {p}" for p in parents),
                 f"author {who}", f"committer {who}", "", "m", ""]
        return self._known(self.put("commit", "\n".join(lines).encode()))

    def tag(self, target: str) -> str:
        """An annotated tag of anything."""
        return self.put("tag", (f"object {target}\ntype {self.objects[target][0]}\ntag x\n"
                                "tagger a <a@example.org> 1700000000 +0000\n\nx\n").encode())

    def tree(self, entries: Sequence[tuple[bytes, bytes, str]]) -> str:
        """A tree of (mode, name, id) exactly as given."""
        return self.put("tree", b"".join(
            mode + b" " + name + b"\0" + bytes.fromhex(oid) for mode, name, oid in entries))

    def tree_with(self, tree: str, path: Sequence[str], entry: Entry | None, *,
                  beside: bool = False, first: bool = False, out_of_order: bool = False) -> str:
        """The tree with an entry at a path (None: without), folders made on the way.

        `beside` leaves what stands there already, so that the name stands twice, and `first`
        puts the new one before it. A name may hold a slash.
        """
        name = path[0].encode("utf-8", "surrogateescape")
        old = self.entries(tree)
        others = [e for e in old if e[1] != name]
        if len(path) > 1:
            below = next((oid for mode, n, oid in old if n == name and is_folder(mode)), self.empty)
            inner = self.tree_with(below, path[1:], entry, beside=beside, first=first,
                                   out_of_order=out_of_order)
            gone = entry is None and inner == self.empty
            return self.tree(others if gone else _ordered([*others, (FOLDER, name, inner)]))
        if entry is None:
            return self.tree(others)
        new, kept = (entry[0], name, entry[1]), old if beside else others
        if out_of_order:
            return self.tree([*kept, new])
        return self.tree(_ordered([new, *kept] if first else [*kept, new]))

    def tree_from(self, files: Mapping[str, Sequence[Entry]]) -> str:
        """A tree of flat files as `flat` gives them; of what stands twice the first."""
        tree = self.empty
        for path, entries in sorted(files.items()):
            tree = self.tree_with(tree, path.split("/"), entries[0])
        return tree

    # Reading.

    def entries(self, tree: str) -> list[tuple[bytes, bytes, str]]:
        data, found = self.objects[tree][1], []
        while data:
            label, _, rest = data.partition(b"\0")
            mode, _, name = label.partition(b" ")
            found.append((mode, name, rest[:20].hex()))
            data = rest[20:]
        return found

    def flat(self, tree: str, prefix: str = "") -> dict[str, tuple[Entry, ...]]:
        """Path to what a reader of the tree finds there; more than one where it stands twice."""
        found: dict[str, tuple[Entry, ...]] = {}
        for mode, raw, oid in self.entries(tree):
            path = prefix + raw.decode("utf-8", "surrogateescape")
            below = self.flat(oid, path + "/") if is_folder(mode) else {path: ((mode, oid),)}
            for name, entries in below.items():
                found[name] = (*found.get(name, ()), *entries)
        return found

    def at(self, tree: str, path: Sequence[str]) -> Entry | None:
        """What stands at a path; of what stands twice the first."""
        entry: Entry | None = (FOLDER, tree)
        for name in path:
            if entry is None or not is_folder(entry[0]):
                return None
            raw = name.encode("utf-8", "surrogateescape")
            entry = next(((m, o) for m, n, o in self.entries(entry[1]) if n == raw), None)
        return entry

    def tree_of(self, commit: str) -> str:
        return self.objects[commit][1][5:45].decode()

    def peeled(self, oid: str) -> str:
        while self.objects[oid][0] == "tag":
            oid = self.objects[oid][1][7:47].decode()
        return oid

    def behind(self, oid: str) -> Iterator[str]:
        """The object and all that it leads to, each once."""
        seen, stack = set(), [oid]
        while stack:
            oid = stack.pop()
            if oid not in seen:
                seen.add(oid)
                yield oid
                stack += self._links(oid)

    def load(self, git_dir: Path) -> None:
        """Take over all objects of a repository."""
        told = subprocess.run(
            ["git", "cat-file", "--batch-all-objects", "--unordered", "--batch"],
            cwd=git_dir, env={**FRAME, "PATH": os.environ["PATH"]}, capture_output=True,
            check=True).stdout
        commits = []
        while told:
            head, _, told = told.partition(b"\n")
            oid, kind, size = head.decode().split()
            assert self.put(kind, told[:int(size)]) == oid
            told = told[int(size) + 1:]
            commits += [oid] * (kind == "commit")
        for commit in sorted(commits, key=lambda c: len(list(self.behind(c)))):
            self._known(commit)

    def _known(self, commit: str) -> str:
        if commit not in self.family:
            self.family.add(commit, self._parents(commit), self.flat(self.tree_of(commit)))
            self.commits.append(commit)
        return commit

    def _parents(self, commit: str) -> list[str]:
        head = self.objects[commit][1].partition(b"\n\n")[0]
        return [line[7:].decode() for line in head.split(b"\n") if line.startswith(b"parent ")]

    def _links(self, oid: str) -> list[str]:
        kind, data = self.objects[oid]
        if kind == "commit":
            return [self.tree_of(oid), *self._parents(oid)]
        if kind == "tree":
            return [o for mode, _, o in self.entries(oid) if o in self.objects
                    and self.objects[o][0] != "commit"]
        return [data[7:47].decode()] if kind == "tag" else []


def is_folder(mode: bytes) -> bool:
    """As git sees it: by the type bits alone."""
    return int(mode, 8) & 0o170000 == 0o040000


def _ordered(entries: list[tuple[bytes, bytes, str]]) -> list[tuple[bytes, bytes, str]]:
    return sorted(entries, key=lambda e: e[1] + b"/" * is_folder(e[0]))


@dataclass(frozen=True)
class Sent:
    """One ref of a push; `new` None deletes. `claim` is the old id that the pusher believes in."""

    ref: str
    new: str | None
    claim: str | None = None


@dataclass(frozen=True)
class Answer:
    """What a push came to. `code` is the hook's; None: the hook never ran."""

    code: int | None
    told: str = ""
    entry: Mapping[str, Any] = field(default_factory=dict)
    """The last entry of the decision log."""
    moved: Mapping[str, tuple[str | None, str | None]] = field(default_factory=dict)
    """Each ref that is not what it was, with both values."""


class Server:
    """The server of a site. `reset` brings back what it was when this object was made.

    What people push lies in one folder beside the repository, which names it as an alternate,
    and is written once and never deleted, since that would cost most of the time. So no object
    may ever appear in the repository itself.
    """

    def __init__(self, site: Site, store: Store) -> None:
        self.site, self.store = site, store
        self._kept = site.folder / "kept"
        for name, folder in (("server", site.server), ("state", site.state)):
            shutil.copytree(folder, self._kept / name, symlinks=True)
        self._environment = {**FRAME, "PATH": os.environ["PATH"], "HOME": str(site.folder)}
        self._pushed_objects = site.folder / "pushed"
        self._pushed_objects.mkdir()
        self._written: set[str] = set()
        self._quarantine = site.server / "objects/incoming"
        self._quarantine.mkdir()
        (site.server / "objects/info/alternates").write_text(f"{self._pushed_objects}\n")
        self._objects = _names(site.server / "objects")

    def reset(self) -> None:
        for folder, kept in ((self.site.server / "refs", "server/refs"),
                             (self.site.state, "state")):
            shutil.rmtree(folder)
            shutil.copytree(self._kept / kept, folder, symlinks=True)
        (self.site.server / "packed-refs").unlink(missing_ok=True)
        assert not (self._kept / "server/packed-refs").exists()

    def refs(self) -> dict[str, str]:
        """All refs but symbolic ones, as they lie on the disk."""
        found, loose, packed = {}, self.site.server / "refs", self.site.server / "packed-refs"
        for line in packed.read_text().splitlines() if packed.exists() else ():
            if line[0] not in "#^":
                found[line[41:]] = line[:40]
        for folder, _, names in os.walk(loose):
            for name in names:
                ref = os.path.relpath(os.path.join(folder, name), self.site.server)
                found[ref] = (self.site.server / ref).read_text().strip()
        return {ref: held for ref, held in found.items() if not held.startswith("ref: ")}

    def leads_to(self, ref: str) -> str:
        """The ref behind a symbolic one."""
        while (file := self.site.server / ref).is_file() and (
                held := file.read_text()).startswith("ref: "):
            ref = held.split()[1]
        return ref

    def push(self, sent: Sequence[Sent], who: str | None, *, effect: bool = True,
             environment: Mapping[str, str] | None = None) -> Answer:
        """Push as git would; `effect=False`: a hook behind ours refuses in the end.

        `environment` comes on top of what git itself gives to the hook.
        """
        before = self.refs()
        lines = [(s.claim or before.get(self.leads_to(s.ref), ZERO), s.new or ZERO, s.ref)
                 for s in sent]
        for oid in filter(None, (s.new for s in sent)):
            self._write(oid, self._pushed_objects, self._written)
        stdin = "".join(f"{old} {new} {ref}\n" for old, new, ref in lines).encode()
        code, told = self._hook(stdin, self.given(who) | (environment or {}))
        assert self.refs() == before, "the hook moved a ref"
        assert _names(self.site.server / "objects") == self._objects, "the hook wrote an object"
        entry = self.last_entry()
        if code == 0 and effect:
            for old, new, ref in lines:
                self._move(ref, old, new)
        return Answer(code, told, entry, _differences(before, self.refs()))

    def put(self, ref: str, oid: str) -> None:
        """Move a ref behind the hook's back."""
        self._write(oid, self._pushed_objects, self._written)
        self._move(ref, None, oid)

    def lose(self, oid: str) -> None:
        """Never write this object."""
        self._written.add(oid)

    def git(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run git in the repository; it may fail."""
        return subprocess.run(["git", *arguments], cwd=self.site.server, env=self._environment,
                              capture_output=True, text=True, check=False)

    def last_entry(self) -> Mapping[str, Any]:
        log = self.site.state / "decisions.jsonl"
        lines = log.read_bytes().splitlines() if log.exists() else []
        return json.loads(lines[-1]) if lines else {}

    def given(self, who: str | None) -> dict[str, str]:
        """The environment that git gives to the hook."""
        named = {"REMOTE_USER": who} if who is not None else {}
        return {
            "PATH": os.environ["PATH"], "HOME": str(self.site.folder),
            "GIT_DIR": str(self.site.server), "GIT_QUARANTINE_PATH": str(self._quarantine),
            "GIT_OBJECT_DIRECTORY": str(self._quarantine),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(self.site.server / "objects"), **named}

    def _hook(self, stdin: bytes, environment: Mapping[str, str]) -> tuple[int, str]:
        told = io.StringIO()
        with redirect_stderr(told):
            code = hook.main(self.site.home, stdin, environment)
        return code, told.getvalue()

    def _move(self, ref: str, old: str | None, new: str) -> None:
        """One ref by itself, as receive-pack does it; what git does not allow stays."""
        known = [] if old is None else [old]
        if new == ZERO:
            self.git("update-ref", "-d", ref, *known)
        else:
            self.git("update-ref", ref, new, *known)

    def _write(self, oid: str, folder: Path, written: set[str]) -> None:
        """Write an object and all that it leads to, where they are not written yet."""
        for one in self.store.behind(oid):
            if one not in written:
                written.add(one)
                kind, data = self.store.objects[one]
                (folder / one[:2]).mkdir(exist_ok=True)
                (folder / one[:2] / one[2:]).write_bytes(
                    zlib.compress(b"%s %d\0" % (kind.encode(), len(data)) + data, 0))


class RealServer(Server):
    """The same by `git push` from a repository of the pusher's; much slower."""

    def __init__(self, site: Site, store: Store) -> None:
        super().__init__(site, store)
        (site.server / "objects/info/alternates").unlink()
        self._client = site.folder / "client.git"
        shutil.copytree(self._kept / "server", self._client)
        (self._client / "hooks/pre-receive").unlink()
        self._held: set[str] = set()

    def put(self, ref: str, oid: str) -> None:
        self._write(oid, self.site.server / "objects", set())
        self._move(ref, None, oid)

    def push(self, sent: Sequence[Sent], who: str | None, *, effect: bool = True,
             environment: Mapping[str, str] | None = None) -> Answer:
        named = {"REMOTE_USER": who} if who is not None else {}
        before, entries = self.refs(), len(self.site.log())
        for oid in filter(None, (s.new for s in sent)):
            self._write(oid, self._client / "objects", self._held)
        later = self.site.server / "hooks/pre-receive.before-policyd"
        if not effect:
            later.write_text("#!/bin/sh\nexit 1\n")
            later.chmod(0o755)
        told = self._pushed(sent, {**named, **(environment or {})})
        later.unlink(missing_ok=True)
        log = self.site.log()
        moved = _differences(before, self.refs())
        if len(log) == entries:
            return Answer(None, self.err, {}, moved)
        return Answer({"accepted": 0, "unjudged": 2}.get(log[-1]["verdict"], 1), told, log[-1],
                      moved)

    def _pushed(self, sent: Sequence[Sent], named: Mapping[str, str]) -> str:
        told = subprocess.run(
            ["git", "push", "--force", str(self.site.server),
             *(f"{s.new or ''}:{s.ref}" for s in sent)], cwd=self._client, text=True,
            env={**self._environment, **named}, capture_output=True, check=False).stderr
        self.err = told
        return "\n".join(line for line in told.splitlines() if line.startswith("remote:")
                         and not line.startswith("remote: error: "))  # that is git's own


def _names(folder: Path) -> set[str]:
    return {os.path.join(above, name) for above, _, names in os.walk(folder) for name in names}


def _differences(before: Mapping[str, str], after: Mapping[str, str],
                 ) -> dict[str, tuple[str | None, str | None]]:
    return {ref: (before.get(ref), after.get(ref)) for ref in sorted({*before, *after})
            if before.get(ref) != after.get(ref)}
