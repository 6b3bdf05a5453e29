"""`policyd adopt`: a maintainer makes a record of what somebody else proposed, in a clone."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from policyd.cli import OK
from policyd.cli.record import clone, saving
from policyd.cli.record.flake import add as add_flake
from policyd.cli.record.lease import new as new_lease
from policyd.cli.record.quarantine import add as add_quarantine
from policyd.cli.record.receipt import record as record_receipt
from policyd.cli.record.relation import new as new_relation
from policyd.core import recordedit
from policyd.core.errors import FileInvalid, PolicydError
from policyd.core.nodes import Mapping as Keyed
from policyd.core.nodes import Node, Sequence
from policyd.core.proposals import PATCH_SUFFIX
from policyd.core.rows import Record
from policyd.core.values import dataclass
from policyd.records import proposals, skeletons
from policyd.rules.literal_overlap import Options as Overlap


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the maintainer says; None for what was not said."""

    context: click.Context
    there: clone.Clone
    path: str
    """The proposal's, from the top of the clone."""
    policy: Mapping[str, Any]
    """The options that say which policy holds, for the commands below."""
    owner: str | None
    until: str | None
    days: int | None
    reason: str | None
    name: str | None
    max_runs: int | None
    entry: str | None
    says: str | None
    is_open: bool
    is_called: bool

    def make(self, command: click.Command, **more: Any) -> None:
        """Do what `policyd record` does, with what the proposal says."""
        self.context.invoke(command, **self.policy, **more)

    @property
    def stem(self) -> str:
        return Path(self.path).stem


@click.command("adopt")
@click.argument("file", metavar="FILE")
@click.option("--owner", metavar="NAME", help="Who answers for it; git's user.name by default.")
@clone.until()
@click.option("--reason", metavar="TEXT", help="Instead of the proposal's own.")
@click.option("--name", metavar="NAME", help="Of a flake row, of a receipt's file, or of the "
                                             "table that takes a relation.")
@click.option("--max-runs", type=click.IntRange(min=1), metavar="N",
              help="Of a flake: runs in all, the first included; 3 unless the proposal says it.")
@click.option("--open", "is_open", is_flag=True, help="Of a quarantine row: only watch it.")
@click.option("--entry", metavar="MODULE:FUNCTION", help="Of a relation, where its draft has none.")
@click.option("--relation", "says", metavar="TEXT", help="What a relation says, in one line.")
@click.option("--call/--no-call", "is_called", default=True, show_default=True,
              help="Of a receipt: call the entry point once, in the sandbox.")
@clone.options
@click.pass_context
def command(context: click.Context, /, file: str, bundle_file: Path | None,
            repository: str | None, **said: Any) -> int:
    """Record what the proposal FILE asks for, and take the file away.

    It is for another maintainer than who brought the proposal: the server knows whose push that
    was. Nothing is committed; the commits to make are printed.
    """
    there = clone.opened(context.obj, bundle_file, repository)
    path = _inside(there, file)
    data = there.tree.read(path)
    if data is None or not there.tree.holds("ls-files", "--error-unmatch", "--", path):
        raise PolicydError(f"{file} is no file that git knows; a proposal is adopted where a "
                           "branch holds it")
    asked = _Asked(context, there, path,
                   {"bundle_file": bundle_file, "repository": repository}, **said)
    if path.lower().endswith(PATCH_SUFFIX):
        return _of_others(asked, "apply what you agree with, and commit it without source:",
                          f"git apply --index -- {shlex.quote(path)}")
    found = proposals.load(path, data)
    if found.said is None:
        raise FileInvalid(found.faults)
    if isinstance(found.said, proposals.Golden):
        return _of_others(asked, f"why: {found.said.why}; record it from a run of your own, "
                          "without source:", f"git add -- {shlex.quote(found.said.path)}")
    _MAKERS[type(found.said)](asked, found.said)
    return _taken_away(asked)


def _flake(asked: _Asked, said: proposals.Flake) -> None:
    first = None if said.first_seen is None else said.first_seen.isoformat()
    asked.make(add_flake, nodeid=said.nodeid,
               reason=asked.reason or said.reason, until=asked.until, days=asked.days,
               max_runs=asked.max_runs or said.max_runs or 3, owner=asked.owner, name=asked.name,
               first_seen=first)


def _quarantine(asked: _Asked, said: proposals.Quarantine) -> None:
    asked.make(add_quarantine, nodeid=said.nodeid,
               reason=asked.reason or said.reason, until=asked.until, days=asked.days,
               owner=asked.owner, is_open=asked.is_open)


def _receipt(asked: _Asked, said: proposals.Receipt) -> None:
    must = _value(said.constraints)
    asked.make(record_receipt, entry=said.entry_point,
               given=json.dumps(_value(said.input)),
               constraints=[f"{key}={json.dumps(value)}" for key, value in must.items()],
               name=asked.name or asked.stem, owner=asked.owner,
               notes=asked.reason or said.reason, wanted=asked.is_called)


def _lease(asked: _Asked, said: proposals.Lease) -> None:
    found = asked.there.tree.sha256(said.path)
    if said.sha256 is not None and found != said.sha256:
        raise PolicydError(f"{said.path} is not what was proposed: it has "
                           f"{found or 'no content'}, not {said.sha256}; look at it, and record "
                           "it by `policyd record lease new`")
    asked.make(new_lease, path=str(asked.there.tree.root / said.path),
               until=asked.until, days=asked.days, relations=said.allowed_relations,
               owner=asked.owner, quantum=said.quantum, name=said.id,
               notes=asked.reason or said.reason)


def _draft(asked: _Asked, said: proposals.Draft) -> None:
    entry = asked.entry or said.entry or clone.asked(
        "entry point (module:function)", "the draft names no entry point; say --entry "
        "MODULE:FUNCTION")
    says = asked.says or said.relation or clone.asked(
        "what it says, in one line", "the draft does not say what must hold; say it with "
        "--relation TEXT")
    table = asked.name or entry.partition(":")[0].rpartition(".")[2]
    mapped = said.compare in ("map", "quota")
    asked.make(new_relation, name=said.id, entry=entry,
               kind="commuting" if mapped else "", says=says, table=table, owner=asked.owner,
               until=asked.until, days=asked.days)
    _as_drafted(asked, said, f"{asked.there.places.relations}/{table}", entry)


def _as_drafted(asked: _Asked, said: proposals.Draft, stem: str, entry: str) -> None:
    """The row compares as its draft does, and the functions stand beside what was drafted."""
    tree, compare = asked.there.tree, said.compare.removeprefix("canon-")
    rows, functions = tree.read(f"{stem}.yaml"), tree.read(f"{stem}.py")
    at = recordedit.position(rows or b"", Record.RELATIONS, "id", said.id)
    if rows is None or functions is None or at is None:
        raise PolicydError(f"{stem}.yaml was changed by somebody else meanwhile; try again")
    plain = re.sub(r"[^a-z0-9]+", "_", said.id.lower()).strip("_")
    bound = f"{plain if plain[:1].isalpha() else f'r_{plain}'}_within"
    values = {"compare": compare,
              **({"within": bound} if compare in ("tolerance", "quota") else {})}
    more = f"\n\n# {said.id} as drafted: {said.transform}; it must not {said.must_not}.\n"
    if "within" in values:
        more += "\n\n" + skeletons.unwritten(
            bound, "draw", f"how far apart two numbers may be; of {entry}")
    made = {f"{stem}.yaml": recordedit.changed(rows, Record.RELATIONS, at, values),
            f"{stem}.py": functions.rstrip(b"\n") + b"\n" + more.encode()}
    tree.write(made, {f"{stem}.yaml": rows, f"{stem}.py": functions})


def _literal(asked: _Asked, said: proposals.Allowed) -> None:
    path = next((clause.options.allow_file for policy in asked.there.policies
                 if (clause := policy.clause("literal-overlap")) is not None),
                Overlap().allow_file)
    before = asked.there.tree.read(path)
    text = (before or b"").decode("utf-8", "surrogateescape")
    if said.text in text.splitlines():
        raise PolicydError(f"{path} has this line already; only the proposal is to go")
    lines = text + ("" if not text or text.endswith("\n") else "\n") + f"{said.text}\n"
    asked.there.tree.write({path: lines.encode("utf-8", "surrogateescape")}, {path: before})
    click.echo(f"wrote {path}")
    click.echo("commit it alone, without source:")
    click.echo("  " + saving.commit_line([_top(asked) + path], f"Allow the literal {said.text}",
                                         (asked.reason or said.reason,)))


_MAKERS: Mapping[type[Any], Callable[[_Asked, Any], None]] = {
    proposals.Flake: _flake, proposals.Quarantine: _quarantine, proposals.Receipt: _receipt,
    proposals.Lease: _lease, proposals.Draft: _draft, proposals.Allowed: _literal}


def _of_others(asked: _Asked, says: str, line: str) -> int:
    """What no program records: how it is done, and the proposal goes with it."""
    click.echo(says)
    click.echo(f"  {line}")
    click.echo("then take the proposal away, in the same push:")
    click.echo(f"  git rm -q -- {shlex.quote(_top(asked) + asked.path)}")
    click.echo(f"  git commit -m {shlex.quote(f'Adopt {asked.path}')}")
    _tell_whose(asked)
    return OK


def _taken_away(asked: _Asked) -> int:
    (asked.there.tree.root / asked.path).unlink()
    click.echo(f"removed {asked.path}; in the same push:")
    click.echo("  " + saving.commit_line([_top(asked) + asked.path], f"Adopt {asked.path}"))
    _tell_whose(asked)
    return OK


def _tell_whose(asked: _Asked) -> None:
    """By the commits; the server goes by who pushed them."""
    tree = asked.there.tree
    authors = tree.git("log", "--follow", "--format=%an", "--", asked.path).splitlines()
    people = ", ".join(dict.fromkeys(reversed(authors)))
    if people:
        click.echo(f"note: it came by {people}; the push is for another maintainer")


def _inside(there: clone.Clone, file: str) -> str:
    """A path as typed, from the top of the clone."""
    folder, name = os.path.split(os.path.abspath(file))
    found = os.path.relpath(os.path.join(os.path.realpath(folder), name), there.tree.root)
    if found.startswith(".."):
        raise PolicydError(f"{file} is not in the clone at {there.tree.root}")
    return found


def _top(asked: _Asked) -> str:
    """What makes a path one from the top for git, wherever it is started."""
    return "" if os.path.samefile(Path.cwd(), asked.there.tree.root) else ":/"


def _value(node: Node) -> Any:
    if isinstance(node, Keyed):
        return {key.text: _value(value) for key, value in node.entries}
    if isinstance(node, Sequence):
        return [_value(item) for item in node.items]
    return node.value
