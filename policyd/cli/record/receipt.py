"""`policyd record receipt`: inputs recorded from a known commit, with what must hold of them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import click

from policyd.cli import FAULTS, OK
from policyd.cli.record import calling, clone, saving
from policyd.core import jsondocs
from policyd.core.errors import Fault, FileInvalid, PolicydError
from policyd.core.rows import MAX_RECORD_BYTES, Record
from policyd.core.rowtext import as_json
from policyd.core.values import dataclass
from policyd.records import load

_WORD = re.compile(r"[^A-Za-z0-9]+")
_COUNTS_NOT = "(what lies below {} and is not committed does not count)"


@dataclass(frozen=True, slots=True)
class _Run:
    """How the entry point is called, if at all."""

    wanted: bool
    roots: tuple[str, ...]
    site: Path | None
    python: Path | None
    sandbox: str

    def source(self, there: clone.Clone, commit: str) -> calling.Source:
        roots = self.roots or (("src",) if (there.tree.root / "src").is_dir() else (".",))
        return calling.Source(there.tree, commit, roots, self.site, self.python, self.sandbox)


def _called(function: click.decorators.FC) -> click.decorators.FC:
    for one in (
            click.option("--call/--no-call", "wanted", default=True, show_default=True,
                         help="Call the entry point once, in the sandbox."),
            click.option("--root", "roots", multiple=True, metavar="DIR",
                         help="Where modules are found; src, or the top where there is none."),
            click.option("--site", type=click.Path(path_type=Path, file_okay=False, exists=True),
                         help="A folder of packages that the source may import."),
            click.option("--python", type=click.Path(path_type=Path, dir_okay=False, exists=True),
                         help="The interpreter of the source; this one by default."),
            click.option("--sandbox", type=click.Choice(["bubblewrap", "none"]),
                         default="bubblewrap", show_default=True,
                         help="`none` isolates nothing: for your own code alone.")):
        function = one(function)
    return function


@click.group("receipt")
def command() -> None:
    """Inputs recorded from a known commit, with what must hold of their output."""


@command.command()
@click.argument("entry", metavar="ENTRY")
@click.option("--input", "given", required=True, metavar="JSON|@FILE",
              help="A mapping is keyword arguments, a list positional ones, else one argument.")
@click.option("--constraint", "constraints", multiple=True, required=True, metavar="KEY=VALUE",
              help="What must hold; VALUE is JSON, or text. type, length, sum-equals-input and "
                   "raises are checked here.")
@click.option("--name", metavar="NAME", help="Of the file; of the entry point by default.")
@click.option("--owner", metavar="NAME", help="Who answers for it; nobody unless given.")
@click.option("--notes", metavar="TEXT")
@_called
@clone.options
@click.pass_obj
def record(home: Path, /, entry: str, given: str, constraints: Sequence[str], name: str | None,
           owner: str | None, notes: str | None, bundle_file: Path | None,
           repository: str | None, **run: Any) -> int:
    """Record an input of ENTRY, module:function, at HEAD. What it gives is not recorded.

    HEAD must be on a guarded branch of origin, and the clone clean.
    """
    there = clone.opened(home, bundle_file, repository)
    must, value = _constraints(constraints), _input(given)
    head = _known_head(there)
    receipt = {"baseline": head, "recorded": there.today(),
               **({} if owner is None else {"owner": there.owner(owner)}),
               "entry_point": entry, "input": value, "constraints": must,
               **({} if notes is None else {"notes": notes})}
    data = (as_json(receipt, indent="  ") + "\n").encode("utf-8")
    path = _path(there, name, entry, value)
    if faults := load(Record.RECEIPTS, path, data).faults:
        raise PolicydError("nothing was written: " + "; ".join(f.message for f in faults))
    if there.tree.read(path) is not None:
        raise PolicydError(f"{path} is there already; say another --name")
    asked = _Run(**run)
    if asked.wanted:
        _must_hold(calling.wrong(asked.source(there, head), entry, value, must))
        _tell_left(must)
    saving.saved(there, {path: data}, {path: None}, f"Record a receipt of {entry}",
                 body=(f"From {head[:12]}, input and constraints alone.",))
    return OK


@command.command()
@click.argument("files", metavar="[FILE]...", nargs=-1)
@_called
@clone.options
@click.pass_obj
def check(home: Path, /, files: Sequence[str], bundle_file: Path | None, repository: str | None,
          **run: Any) -> int:
    """Look at receipts, all unless given: schema, baseline, and what HEAD's source makes of them.

    Exits with 1 where something is wrong.
    """
    there, asked = clone.opened(home, bundle_file, repository), _Run(**run)
    known = sorted(there.files(Record.RECEIPTS))
    wanted = [_of_clone(there, file) for file in files] or known
    if unknown := sorted(set(wanted) - set(known)):
        raise PolicydError(f"{unknown[0]} is no receipt; they are below {there.places.receipts}")
    code = OK
    for path in wanted:
        problems = _problems(there, path, asked)
        code = FAULTS if problems else code
        for problem in problems or (f"{path}: holds",):
            click.echo(problem)
    if not wanted:
        click.echo("there is no receipt")
    return code


def _problems(there: clone.Clone, path: str, asked: _Run) -> list[str]:
    data = there.tree.read(path) or b""
    parsed = load(Record.RECEIPTS, path, data)
    if parsed.faults:
        return [str(fault) for fault in parsed.faults]
    receipt = parsed.receipts[0]
    if not there.tree.holds("cat-file", "-e", f"{receipt.baseline}^{{commit}}") \
            or there.holding(receipt.baseline) is None:
        return [str(Fault(path, receipt.baseline_line, 1,
                          f"the baseline {receipt.baseline[:12]} is on no guarded branch of "
                          f"origin that is known here{_fetch(there)}"))]
    if not asked.wanted:
        return []
    said = json.loads(data)
    head = there.tree.git("rev-parse", "HEAD")
    return [f"{path}:{receipt.line}: {problem}" for problem in calling.wrong(
        asked.source(there, head), receipt.entry_point, said["input"], said["constraints"])]


def _known_head(there: clone.Clone) -> str:
    """HEAD's commit, where it is one that everybody has. Raises PolicydError."""
    receipts = there.places.receipts
    dirty = [path for path in there.tree.changed() if not path.startswith(f"{receipts}/")]
    if dirty:
        more = f" and {len(dirty) - 1} more" if len(dirty) > 1 else ""
        raise PolicydError(f"{dirty[0]}{more}: not committed; a receipt is recorded from a clean "
                           f"commit {_COUNTS_NOT.format(receipts)}")
    head = there.tree.git("rev-parse", "--verify", "HEAD^{commit}")
    if there.holding(head) is None:
        raise PolicydError(f"HEAD ({head[:12]}) is on no guarded branch of origin that is known "
                           f"here; record from one of its commits{_fetch(there)}")
    return head


def _fetch(there: clone.Clone) -> str:
    names = [name.removeprefix("refs/remotes/") for name in there.guarded()]
    return f" ({', '.join(names[:4])})" if names else "; `git fetch origin` first"


def _constraints(pairs: Sequence[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals or not key.strip():
            raise PolicydError(f"{pair!r} is no constraint; write KEY=VALUE")
        if key in found:
            raise PolicydError(f"the constraint {key} is said twice")
        try:
            found[key] = _strict(text, "value")
        except FileInvalid:
            found[key] = text
    return found


def _input(text: str) -> Any:
    if text.startswith("@"):
        file = Path(text[1:])
        try:
            data = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise PolicydError(f"{file} is not valid UTF-8") from None
        if len(data) > MAX_RECORD_BYTES:
            raise PolicydError(f"{file} is larger than {MAX_RECORD_BYTES:,} bytes")
        text = data
    try:
        return _strict(text, "input")
    except FileInvalid as error:
        first = error.faults[0]
        raise PolicydError(f"the input is no JSON: line {first.line}, column {first.column}: "
                           f"{first.message}") from None


def _strict(text: str, name: str) -> Any:
    """A JSON value without what other readers read otherwise. Raises FileInvalid."""
    jsondocs.parse(text.encode("utf-8", "surrogateescape"), name)
    return json.loads(text)


def _path(there: clone.Clone, name: str | None, entry: str, value: Any) -> str:
    """Without a name, one of the entry point and the input: another input is another file."""
    if name is None:
        marked = sha256(as_json(value).encode("utf-8", "surrogatepass")).hexdigest()[:8]
        name = f"{_WORD.sub('-', entry).strip('-')}-{marked}"
    elif not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", name):
        raise PolicydError(f"{name!r} is no name for a receipt: letters, digits, '_', '.' and '-'")
    return f"{there.places.receipts}/{name.removesuffix('.json')}.json"


def _of_clone(there: clone.Clone, file: str) -> str:
    path = Path(file).resolve()
    return path.relative_to(there.tree.root).as_posix() if path.is_relative_to(there.tree.root) \
        else file


def _must_hold(problems: Sequence[str]) -> None:
    if problems:
        raise PolicydError("nothing was written: " + "; ".join(problems))


def _tell_left(constraints: dict[str, Any]) -> None:
    if names := calling.left(constraints):
        click.echo(f"note: {', '.join(names)}: not checked here, but by what tests/properties "
                   "makes of it")
