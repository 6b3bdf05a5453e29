"""What Python source does that a judge wants to know of: keyed answers, tricks, opened files."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import NamedTuple

from policyd.core.sheet import Keyed, Opened, Suspect
from policyd.languages.python_acts import exits, patches
from policyd.languages.python_constants import Part
from policyd.languages.python_keyed import keyed
from policyd.languages.python_names import Names
from policyd.languages.python_opened import named_paths, opened
from policyd.languages.python_places import Places
from policyd.languages.python_pleases import pleases
from policyd.languages.python_senses import senses


class Tricks(NamedTuple):
    """Each sorted by line, and none of it twice."""

    keyed: tuple[Keyed, ...]
    suspects: tuple[Suspect, ...]
    opened: tuple[Opened, ...]


def tricks(tree: ast.Module, parts: Iterable[Part]) -> Tricks:
    """`parts` are what the constants of the tree are worth. Raises Unparseable."""
    names = Names(tree, parts)
    places = Places(names)
    opens = opened(names, places)
    suspects = {*senses(names), *exits(names), *pleases(names), *patches(names),
                *named_paths(names, places, opens)}
    return Tricks(
        keyed(names),
        tuple(sorted(suspects, key=lambda one: (one.line, one.trick.value, one.what))),
        opens)
