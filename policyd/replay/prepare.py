"""What a replay of one push would be: tables, key and seed; and its trees, written to disk."""

from __future__ import annotations

import hmac
import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from functools import cache
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from tokenize import detect_encoding
from typing import Any

from policyd.adapters.gitrepo import PushedRepo
from policyd.core.errors import CannotJudge, Unfit
from policyd.core.policy import Places, Replaying
from policyd.core.trees import TREE, Entry, Trees, is_tree, split
from policyd.core.values import dataclass
from policyd.replay import oracle, properties, table, tree
from policyd.replay.execute import Mode
from policyd.replay.interpreter import Interpreter
from policyd.replay.job import Given
from policyd.replay.oracle import Asked
from policyd.replay.table import Table

SEED_RULE = 1
"""Counts up when the same seed makes other draws."""
LOCKS = ("requirements.txt", "requirements.lock", "poetry.lock", "Pipfile.lock", "uv.lock",
         "pdm.lock", "pylock.toml")
KNOWN_LOCKS = "policyd.locks"
"""A file of the site: the SHA-256 of each lock file that it was installed from, one a line."""
TESTS = "tests"
"""The folder whose calls of an entry point are documented examples."""
_MOST_HARVESTED = 8 << 20
_MOST_TESTS = 1 << 20
_LIKE_ASCII = ("iso-8859-1", "ascii", "us-ascii", "cp1252", "iso-8859-15")
"""Encodings in which ASCII is ASCII."""


@dataclass(frozen=True, slots=True)
class Trial:
    """All that one job needs besides its trees; it crosses to the daemon's workers as JSON."""

    key: str
    """SHA-256, hex: equal keys have equal verdicts."""
    seed: str
    """32 hex digits."""
    options: Replaying
    places: Places
    today: date
    base: str
    """The commit whose oracle judges."""
    candidate: str
    """The commit that is judged."""
    base_tree: str
    candidate_tree: str
    sha: str
    """Of the base's tables."""
    harness: str
    site: str = ""
    """What the site holds, as a SHA-256."""
    about: Mapping[str, str] | None = None
    """For people: the repository's name, its ref."""


@dataclass(frozen=True, slots=True)
class Sides:
    """The two commits of a trial with their trees, raw ids."""

    base: str
    base_tree: bytes
    candidate: str
    candidate_tree: bytes


def trial(repo: PushedRepo, trees: Trees, sides: Sides, options: Replaying, places: Places,
          today: date, secret: Callable[[], bytes], *,
          always: bool = False) -> tuple[Table, Trial] | None:
    """The trial of a candidate; None where the base has no table, or no root differs.

    `always`: also where no root differs. Raises CannotJudge where the base's records or the
    site are not in order.
    """
    there = table.load(repo, sides.base_tree, places, today) or _without(trees, sides, options)
    if there is None:
        return None
    before, after = (_roots(trees, one, there.roots)
                     for one in (sides.base_tree, sides.candidate_tree))
    if before == after and not always:
        return None
    if options.site is not None:
        _check_locks(repo, trees, sides, Path(options.site))
    harness, site = harness_sha(), "" if options.site is None else site_sha(Path(options.site))
    if options.seed is None:
        said = json.dumps([after, there.sha, harness, SEED_RULE]).encode()
        seed = hmac.digest(secret(), said, "sha256")[:16]
    else:
        seed = sha256(f"{SEED_RULE} {options.seed}".encode()).digest()[:16]
    proving = () if options.site is None else properties.paths(places)
    oracles = [_entry(trees, sides.base_tree, path) for path in (*there.paths, *proving, TESTS)]
    freezes = [[row.id, row.freeze.reruns, row.freeze.pass_needed] for row in there.rows
               if row.freeze is not None]
    key = sha256(json.dumps([
        SEED_RULE, before, after, there.sha, oracles, freezes, harness, site, seed.hex(),
        options.python, options.sandbox, _version(options)]).encode()).hexdigest()
    return there, Trial(key, seed.hex(), options, places, today, sides.base, sides.candidate,
                        sides.base_tree.hex(), sides.candidate_tree.hex(), there.sha, harness,
                        site)


def _without(trees: Trees, sides: Sides, options: Replaying) -> Table | None:
    """A table without rows, where the base has properties and a site to run them with."""
    if options.site is None or not _entry(trees, sides.base_tree, properties.FOLDER):
        return None
    return Table((), table.ROOTS, (), "")


def _version(options: Replaying) -> str:
    return interpreter(options).version


def interpreter(options: Replaying) -> Interpreter:
    """The Python of candidates. Raises CannotJudge."""
    return Interpreter.own() if options.python is None else Interpreter.asked(Path(options.python))


def _roots(trees: Trees, tree: bytes, roots: Sequence[str]) -> list[str]:
    return [_entry(trees, tree, root) for root in roots]


def _entry(trees: Trees, tree: bytes, path: str) -> str:
    """What stands at a path, as text; "." is the whole tree."""
    if path in ("", "."):
        return tree.hex()
    found = trees.at(tree, path.encode("utf-8", "surrogateescape"))
    return "" if found is None else f"{found[0].decode('ascii')} {found[1].hex()}"


@cache
def harness_sha() -> str:
    """SHA-256 of the code that draws, runs, reads outcomes and compares."""
    total = sha256()
    for file in sorted(Path(__file__).parent.glob("*.py")):
        total.update(file.read_bytes())
    return total.hexdigest()


def site_sha(site: Path) -> str:
    """SHA-256 over names, sizes and times of a site's files. Raises CannotJudge.

    Nobody but root, or the user that policyd runs as, may be able to write to it.
    """
    total = sha256()
    try:
        _check_owner(site)
        for folder, folders, files in os.walk(site):
            folders.sort()
            _check_owner(Path(folder))
            for name in sorted(files):
                there = os.lstat(os.path.join(folder, name))
                total.update(f"{folder}/{name}\0{there.st_size}\0{there.st_mtime_ns}\n".encode(
                    "utf-8", "surrogateescape"))
    except OSError as error:
        raise CannotJudge(f"the site {site} cannot be read: {error.strerror}; the operator makes "
                          "it, or takes `site` out of the policy") from error
    return total.hexdigest()


def _check_owner(folder: Path) -> None:
    there = os.lstat(folder)
    if not stat.S_ISDIR(there.st_mode) or there.st_mode & (stat.S_IWGRP | stat.S_IWOTH) \
            or there.st_uid not in (0, os.geteuid()):
        raise CannotJudge(f"the site's {folder} may be written by others or is no folder; "
                          f"`chown -R root {folder}` and `chmod -R go-w {folder}`")


def _check_locks(repo: PushedRepo, trees: Trees, sides: Sides, site: Path) -> None:
    """A lock file that changes needs a site that was installed from it."""
    for name in LOCKS:
        before, after = (trees.at(one, name.encode()) for one in (
            sides.base_tree, sides.candidate_tree))
        if before == after or after is None:
            continue
        data = repo.read(after[1])[1] if not is_tree(after[0]) else b""
        try:
            known = (site / KNOWN_LOCKS).read_text("ascii", "replace").split()
        except OSError:
            known = []
        if sha256(data).hexdigest() not in known:
            raise CannotJudge(f"{name} changes, and the site {site} was not installed from it; the "
                              f"operator installs it there and adds `sha256sum {name}` to "
                              f"{site / KNOWN_LOCKS}")


def written(repo: PushedRepo, trees: Trees, there: Table, one: Trial, place: Path,
            kept: Mapping[str, Sequence[Mapping[str, Any]]]) -> Given:
    """Write both trees below an empty folder. Raises Unfit for what `tree` refuses of source."""
    base, candidate = bytes.fromhex(one.base_tree), bytes.fromhex(one.candidate_tree)
    if refused := tree.candidate(repo, candidate, there.roots, place / "candidate"):
        rest = f", and {len(refused) - 1} more" if len(refused) > 1 else ""
        raise Unfit(f"{refused[0].path} {refused[0].why}{rest}")
    if refused := tree.oracle(repo, base, there.paths, place / "oracle"):
        raise CannotJudge(f"{refused[0].path} of the base {refused[0].why}; a maintainer mends it")
    oracle.lay(place / "oracle")
    sources = place / "sources.json"
    sources.write_text(json.dumps({
        "changed": changed_sources(repo, trees, there.roots, base, candidate),
        "tests": tests_of(repo, trees, base, there)}))
    (place / "breaks.json").write_text(json.dumps(dict(kept)))
    if one.options.site is not None:
        proof = properties.laid(repo, base, place / "candidate", there.roots, one.places,
                                Path(one.options.site), one.today.isoformat(),
                                place / "properties")
        (place / "receipts.json").write_text(json.dumps(None if proof is None else proof.receipts))
    return given(there, one, place)


def given(there: Table, one: Trial, place: Path) -> Given:
    """The job whose trees `written` put below a folder."""
    kept = {row: tuple(_asked(draw) for draw in draws)
            for row, draws in json.loads((place / "breaks.json").read_text()).items()}
    mode = Mode.NONE if one.options.sandbox == "none" else Mode.WARM
    site = None if one.options.site is None else Path(one.options.site)
    receipts = None if site is None else json.loads((place / "receipts.json").read_text())
    proof = None if site is None or receipts is None else properties.Proof(
        place / "properties", there.roots, site, receipts, one.today.isoformat())
    texts = json.loads((place / "sources.json").read_text())
    return Given(one.key, bytes.fromhex(one.seed), there, place / "oracle", place / "candidate",
                 tuple(texts["changed"]), tuple(texts["tests"]), kept,
                 interpreter(one.options), site, mode, proof=proof)


def _asked(draw: Mapping[str, Any]) -> Asked:
    return Asked(int(draw.get("index", 0)), str(draw.get("kind", "domain")), (),
                 tuple(map(int, draw["choices"])), bytes.fromhex(draw["seed"]))


def changed_sources(repo: PushedRepo, trees: Trees, roots: Sequence[str], base: bytes,
                    candidate: bytes) -> list[str]:
    """Texts of the Python files below the roots that differ from the base's. Raises CannotJudge."""
    found: dict[str, str] = {}
    total = 0
    for root in roots:
        sides = [trees.at(one, root.encode("utf-8", "surrogateescape"))
                 if root not in ("", ".") else (TREE, one) for one in (base, candidate)]
        for path, oid in _differing(trees, root, sides[0], sides[1]):
            data = repo.read(oid)[1]
            total += len(data)
            if total > _MOST_HARVESTED:
                raise Unfit(f"more than {_MOST_HARVESTED >> 20} MiB of source change: push it in "
                            "parts")
            found[path] = _text(path, data)
    return [found[path] for path in sorted(found)]


def tests_of(repo: PushedRepo, trees: Trees, base: bytes, there: Table) -> list[str]:
    """Texts of the base's tests that name an entry point, as many as a mebibyte holds."""
    names = [entry.rpartition(":")[2].encode() for entry in there.entries]
    found: dict[str, str] = {}
    left = _MOST_TESTS
    for path, oid in sorted(_differing(trees, TESTS, None, trees.at(base, TESTS.encode()))):
        if left >= repo.size(oid):
            data = repo.read(oid)[1]
            if any(name in data for name in names):
                left -= len(data)
                found[path] = data.decode("utf-8", "replace")
    return list(found.values())


def _text(path: str, data: bytes) -> str:
    """As Python reads it. Raises Unfit: in another encoding literals would hide."""
    lines = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    try:
        encoding, _ = detect_encoding(BytesIO(lines).readline)
        if encoding in ("utf-8", "utf-8-sig") or (data.isascii() and encoding in _LIKE_ASCII):
            return data.decode("utf-8-sig")
    except (SyntaxError, UnicodeDecodeError):
        pass
    raise Unfit(f"{ascii(path)[1:-1]} is no UTF-8, or says that it is not: save it as UTF-8")


def _differing(trees: Trees, path: str, old: Entry | None,
               new: Entry | None) -> Iterator[tuple[str, bytes]]:
    stack = [(path, old, new)]
    while stack:
        path, old, new = stack.pop()
        if new is None or new == old:
            continue
        if not is_tree(new[0]):
            if path.endswith(".py"):
                yield path, new[1]
            continue
        before = _named(trees, old) if old is not None and is_tree(old[0]) else {}
        for name, entry in _named(trees, new).items():
            stack.append((f"{path}/{name.decode('utf-8', 'surrogateescape')}", before.get(name),
                          entry))


def _named(trees: Trees, folder: Entry) -> dict[bytes, Entry]:
    return {split(label)[1]: (split(label)[0], oid)
            for label, oid in trees.entries(folder[1]).items()}
