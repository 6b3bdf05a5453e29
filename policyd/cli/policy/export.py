"""`policyd policy export FILE`: what is in force, for `policyd check --policy` in clones."""

from __future__ import annotations

from pathlib import Path

import click

from policyd.adapters import activepolicy, bundle
from policyd.cli.policy import files


@click.command("export")
@click.argument("file", type=click.Path(path_type=Path))
@click.pass_obj
def command(home: Path, file: Path) -> None:
    """Write the policies in force into FILE, for everybody to read.

    Nothing of the server goes with them: no paths, no state. The names in groups do, since the
    rules go by them.
    """
    bundle.write(file.absolute(), activepolicy.load(home, files.options()))
