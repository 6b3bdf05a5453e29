"""The last step of every change to records: looked at whole, written whole, and the commit said."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from policyd.cli.record.clone import Clone
from policyd.core.errors import Fault, FileInvalid, PolicydError
from policyd.core.nodes import in_order
from policyd.core.recordedit import CannotEdit

_WIDTH = 72
_LINES = re.compile(r"line \d+|:\d+ already")
"""In messages: where a row stands moves with those before it."""


def readable(there: Clone, path: str) -> bytes | None:
    """A record file to be edited; None where there is none yet. Raises FileInvalid for faults."""
    data = there.tree.read(path)
    faults = [fault for fault in there.records().faults if fault.source == path]
    if data is not None and faults:
        raise FileInvalid(in_order(faults))
    return data


@contextmanager
def of(path: str) -> Iterator[None]:
    """Says of which file it is what a row of it cannot be made into."""
    try:
        yield
    except CannotEdit as error:
        raise PolicydError(f"{path}: {error}") from None


def saved(there: Clone, files: Mapping[str, bytes], was: Mapping[str, bytes | None],
          subject: str, *, body: Sequence[str] = (), before_that: Sequence[str] = ()) -> None:
    """Write files of records if they leave no new fault, and print the commit to make of them.

    `was` is what they were when they were read, `before_that` what is to be done before the
    commit is made.
    Raises PolicydError, and then nothing was written.
    """
    known = {_what(fault) for fault in there.records().faults}
    new = [fault for fault in there.records(files).faults if _what(fault) not in known]
    if new:
        raise PolicydError("nothing was written: " + "; ".join(
            f"{fault.source}: {fault.message}" for fault in in_order(new)[:5]))
    dirty = set(there.tree.changed(*files))
    there.tree.write(files, was)
    for path in files:
        click.echo(f"wrote {path}")
        if path in dirty and was[path] is not None:
            click.echo(f"note: {path} had changes already that are not committed")
    for line in (*before_that, "commit it alone, without source:"):
        click.echo(line)
    top = "" if os.path.samefile(Path.cwd(), there.tree.root) else ":/"
    click.echo(f"  {commit_line([top + path for path in files], subject, body)}")


def commit_line(paths: Sequence[str], subject: str, body: Sequence[str] = ()) -> str:
    """The commands that commit these paths and nothing else."""
    named = " ".join(shlex.quote(path) for path in paths)
    said = " ".join(f"-m {shlex.quote(' '.join(part.split()))}" for part in (_cut(subject), *body))
    return f"git add -- {named} && git commit {said} -- {named}"


def _cut(subject: str) -> str:
    """A subject of a length that git's own lists show whole."""
    line = " ".join(subject.split())
    return line if len(line) <= _WIDTH else f"{line[:_WIDTH - 3].rstrip()}..."


def _what(fault: Fault) -> tuple[str, str]:
    return fault.source, _LINES.sub("", fault.message)
