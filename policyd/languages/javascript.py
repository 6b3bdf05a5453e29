"""JavaScript and TypeScript source in, what it says out. Reads the tree only; runs none of it.

The source is hostile: call this in a process that may die (policyd.adapters.sourcereader). What
stands in types and remarks is not found, nor what base64, String.fromCharCode(), slices or
replace() hide, and of what runners are set to, what the file exports as a function works out.
"""

from __future__ import annotations

from policyd.core.sheet import Sheet
from policyd.languages.javascript_bindings import Bindings
from policyd.languages.javascript_constants import Constants
from policyd.languages.javascript_defined import defined
from policyd.languages.javascript_keyed import keyed
from policyd.languages.javascript_literals import literals
from policyd.languages.javascript_markers import markers, places
from policyd.languages.javascript_mocks import mocks
from policyd.languages.javascript_paths import opened
from policyd.languages.javascript_settings import settings
from policyd.languages.javascript_suspects import suspects
from policyd.languages.javascript_tests import File, found, tests
from policyd.languages.javascript_tree import load, tree

__all__ = ["load", "sheet"]


def sheet(source: bytes, min_length: int, *, dialect: str = "javascript") -> Sheet:
    """All that a file says; `dialect` is javascript, typescript or tsx. Raises Unparseable."""
    with tree(source, dialect) as nodes:
        constants = Constants(nodes)
        file = File.of(nodes, constants, Bindings(nodes))
        known = found(file)
        its_tests, samples = tests(file, known)
        files, where = opened(file), places(file, known)
        return Sheet(
            literals=literals(nodes, constants, min_length),
            tests=its_tests,
            markers=markers(file, known, where),
            keyed=keyed(file),
            samples=samples,
            suspects=suspects(file, files),
            opened=files,
            mocks=mocks(file, where),
            settings=settings(file),
            imports=tuple(file.bindings.imports),
            defined=defined(nodes),
        )
