"""Which part of the house may reach what, enforced on the text of every module."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "policyd"
PURE = {"core", "rules", "records", "languages"}
REACH = {
    "core": {"core"},
    "rules": {"core", "languages"},
    "records": {"core", "records"},
    "languages": {"core", "languages"},
    "adapters": {"core", "languages", "adapters"},
    "pytest": {"core", "records", "adapters", "pytest"},
    "replay": {"core", "records", "languages", "adapters", "replay"},
}
DOORS = {
    "pygit2": "adapters/gitrepo.py",
    "yaml": "core/documents.py",
    "watchdog": "adapters/watch.py",
    "pathspec": "core/*.py",
    "msgspec": "*",
    "click": "cli/*",
    "rich": "cli/*",
    "structlog": "daemon/*",
    "prometheus_client": "daemon/*",
    "pytest": ("pytest/*", "replay/proving.py"),
    "_pytest": "pytest/inner.py",
    **{name: "languages/javascript*.py" for name in
       ("tree_sitter", "tree_sitter_javascript", "tree_sitter_typescript")},
}
ONE_FILE_ONLY = {"pathspec"}
# What pure code may import of the standard library. A list of what is allowed, because a list of
# what reaches the world is never complete (glob, mmap, urllib, zoneinfo, ...).
HARMLESS = {
    "__future__", "abc", "ast", "base64", "binascii", "bisect", "calendar", "collections",
    "contextlib", "copy", "dataclasses", "datetime", "decimal", "difflib", "enum", "fnmatch",
    "fractions", "functools", "graphlib", "hashlib", "heapq", "html", "itertools", "json",
    "keyword", "math", "operator", "re", "string", "struct", "textwrap", "token", "tokenize",
    "tomllib", "types", "typing", "unicodedata", "zlib"
}  # fmt: skip
# Single names out of modules that otherwise reach the world: paths as text, and silence while
# hostile source is parsed. They must be imported by name.
HARMLESS_NAMES = {f"posixpath.{name}" for name in ("basename", "dirname", "join", "normpath")} | {
    "shlex.quote",
    "warnings.catch_warnings",
    "warnings.simplefilter",
}
WORLD_CALLS = {"open", "print", "input", "exec", "eval", "compile", "__import__", "breakpoint"}
CLOCK_READS = {"now", "today", "utcnow"}
HOT_PATH_WITHOUT = {"yaml", "pathspec", "msgspec", "click", "rich", "asyncio", "tree_sitter"}


@dataclass(frozen=True, slots=True)
class Module:
    """One parsed source file, as all its nodes; `place` is its path below the package."""

    package: Path
    place: str
    nodes: tuple[ast.AST, ...]

    @property
    def layer(self) -> str:
        """The folder it stands in; a module at the top is a layer of its own."""
        return self.place.split("/")[0].removesuffix(".py")

    def imports(self) -> Iterator[tuple[int, str]]:
        """Line and absolute dotted name of everything imported, anywhere in the file."""
        for node in self.nodes:
            if isinstance(node, ast.Import):
                yield from ((node.lineno, alias.name) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                source = self._absolute(node)
                yield from ((node.lineno, f"{source}.{alias.name}") for alias in node.names)

    def _absolute(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        folders = [self.package.name, *self.place.split("/")[:-1]]
        kept = folders[: len(folders) - node.level + 1]
        return ".".join([*kept, *([node.module] if node.module else [])])

    def layer_of(self, name: str) -> str | None:
        """The layer that an imported name leads to; None outside the package."""
        first, _, rest = name.partition(".")
        if first != self.package.name:
            return None
        part = rest.split(".")[0]
        inside = (self.package / part).is_dir() or (self.package / f"{part}.py").is_file()
        return part if inside else "__init__"


def modules(package: Path) -> list[Module]:
    files = sorted(package.rglob("*.py"))
    return [
        Module(package, file.relative_to(package).as_posix(),
               tuple(ast.walk(ast.parse(file.read_bytes()))))
        for file in files
    ]


def violations(package: Path) -> list[str]:
    """Every breach in the package, one line each: PLACE:LINE: what is wrong."""
    house = modules(package)
    found = [
        f"{module.place}:{line}: {problem}"
        for module in house
        for look in (direction, doors, purity)
        for line, problem in look(module)
    ]
    return found + crowded_doors(house)


def direction(module: Module) -> Iterator[tuple[int, str]]:
    reach = REACH.get(module.layer)
    if reach is None:
        return
    if module.place == "rules/__init__.py":
        reach = reach | {"rules"}
    for line, name in module.imports():
        layer = module.layer_of(name)
        if layer not in {None, "__init__", *reach}:
            yield line, f"{module.layer} may not import {layer}"


def doors(module: Module) -> Iterator[tuple[int, str]]:
    for line, name in module.imports():
        library = name.split(".")[0]
        if library in sys.stdlib_module_names or library == module.package.name:
            continue
        door = DOORS.get(library)
        if door is None:
            yield line, f"{library} has no door; choose one file for it and name it in DOORS"
        elif not any(fnmatchcase(module.place, one) for one in _each(door)):
            yield line, f"{library} may only be imported in {' and '.join(_each(door))}"


def _each(door: str | tuple[str, ...]) -> tuple[str, ...]:
    return (door,) if isinstance(door, str) else door


def crowded_doors(house: list[Module]) -> list[str]:
    found = []
    for library in sorted(ONE_FILE_ONLY):
        users = [m.place for m in house if library in {n.split(".")[0] for _, n in m.imports()}]
        if len(users) > 1:
            found.append(f"{', '.join(users)}: {library} may be imported in one file only")
    return found


def purity(module: Module) -> Iterator[tuple[int, str]]:
    if module.layer not in PURE:
        return
    for line, name in module.imports():
        library = name.split(".")[0]
        if name not in HARMLESS_NAMES and library in sys.stdlib_module_names - HARMLESS:
            yield line, f"{module.layer} is pure and may not import {library}"
    dates = {"datetime", "date"} | renamed_dates(module)
    for node in module.nodes:
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in WORLD_CALLS:
                yield node.lineno, f"{module.layer} is pure and may not call {name}()"
            case ast.Attribute(value=ast.Name(id=base) | ast.Attribute(attr=base), attr=attr):
                if base in dates and attr in CLOCK_READS:
                    yield node.lineno, f"{module.layer} is pure and may not read {base}.{attr}"


def renamed_dates(module: Module) -> set[str]:
    return {
        alias.asname
        for node in module.nodes
        if isinstance(node, ast.ImportFrom) and node.module == "datetime"
        for alias in node.names
        if alias.asname
    }


def test_every_module_keeps_to_its_place():
    assert violations(PACKAGE) == []


def test_the_hook_loads_nothing_that_it_does_not_need():
    show = "import policyd.hook, sys; print(*sorted(sys.modules))"
    run = subprocess.run([sys.executable, "-I", "-c", show], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert HOT_PATH_WITHOUT & set(run.stdout.split()) == set()


def plant(folder: Path, files: dict[str, str]) -> Path:
    """A small package in which every layer exists, plus the given files."""
    package = folder / "policyd"
    layers = {f"{layer}/__init__.py": "" for layer in [*REACH, "cli", "daemon"]}
    for place, text in {"__init__.py": "", "hook.py": "", **layers, **files}.items():
        file = package / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return package


BREACHES = [
    # place, source, complaint
    ("core/a.py", "import os", "core is pure and may not import os"),
    ("core/a.py", "import os.path as p", "core is pure and may not import os"),
    ("core/a.py", "from pathlib import Path", "core is pure and may not import pathlib"),
    ("core/a.py", "def f():\n    import time", "core is pure and may not import time"),
    ("core/a.py", "import importlib", "core is pure and may not import importlib"),
    ("core/deep/a.py", "import sys", "core is pure and may not import sys"),
    ("core/a.py", "import posixpath", "core is pure and may not import posixpath"),
    ("core/a.py", "from posixpath import exists", "core is pure and may not import posixpath"),
    ("core/a.py", "open('x')", "core is pure and may not call open()"),
    ("core/a.py", "__import__('os')", "core is pure and may not call __import__()"),
    ("records/a.py", "import logging", "records is pure and may not import logging"),
    ("records/a.py", "print(1)", "records is pure and may not call print()"),
    ("rules/a.py", "import subprocess", "rules is pure and may not import subprocess"),
    ("languages/a.py", "from io import StringIO", "languages is pure and may not import io"),
    ("core/a.py", "import datetime\ndatetime.datetime.now()", "may not read datetime.now"),
    ("core/a.py", "from datetime import date\nx = date.today", "may not read date.today"),
    ("core/a.py", "from datetime import date as D\nD.today()", "may not read D.today"),
    ("rules/a.py", "import datetime as t\nt.datetime.utcnow()", "may not read datetime.utcnow"),
    ("core/a.py", "import policyd.rules.x", "core may not import rules"),
    ("core/a.py", "from policyd import adapters", "core may not import adapters"),
    ("core/a.py", "from policyd.languages import x", "core may not import languages"),
    ("core/a.py", "from ..cli import x", "core may not import cli"),
    ("core/a.py", "from .. import hook", "core may not import hook"),
    ("core/a.py", "from policyd.records import x", "core may not import records"),
    ("rules/a.py", "from policyd.adapters import x", "rules may not import adapters"),
    ("rules/a.py", "from policyd.rules import b", "rules may not import rules"),
    ("rules/a.py", "from . import b", "rules may not import rules"),
    ("records/a.py", "from policyd.rules import x", "records may not import rules"),
    ("languages/a.py", "from policyd.rules import x", "languages may not import rules"),
    ("adapters/a.py", "from policyd.rules import x", "adapters may not import rules"),
    ("adapters/identity/a.py", "from ...cli import x", "adapters may not import cli"),
    ("adapters/a.py", "import pygit2", "pygit2 may only be imported in adapters/gitrepo.py"),
    ("hook.py", "from pygit2 import Oid", "pygit2 may only be imported in adapters/gitrepo.py"),
    ("core/a.py", "import yaml", "yaml may only be imported in core/documents.py"),
    ("adapters/a.py", "import pathspec", "pathspec may only be imported in core/*.py"),
    ("daemon/a.py", "import watchdog.events", "watchdog may only be imported in adapters/watch.py"),
    ("hook.py", "import click", "click may only be imported in cli/*"),
    ("hook.py", "import pytest", "pytest may only be imported in pytest/*"),
    ("pytest/a.py", "import _pytest.runner", "_pytest may only be imported in pytest/inner.py"),
    ("pytest/a.py", "from policyd.rules import x", "pytest may not import rules"),
    ("pytest/a.py", "from policyd import cli", "pytest may not import cli"),
    ("adapters/a.py", "from policyd.pytest import x", "adapters may not import pytest"),
    ("replay/a.py", "from policyd.rules import x", "replay may not import rules"),
    ("adapters/a.py", "from policyd.replay import x", "adapters may not import replay"),
    ("rules/a.py", "import tree_sitter",
     "tree_sitter may only be imported in languages/javascript*.py"),
    ("hook.py", "import requests", "requests has no door"),
]


@pytest.mark.parametrize(("place", "source", "complaint"), BREACHES)
def test_a_planted_breach_is_found(tmp_path, place, source, complaint):
    found = violations(plant(tmp_path, {place: source}))
    assert len(found) == 1, found
    assert found[0].startswith(f"{place}:{source.count(chr(10)) + 1}: ")
    assert complaint in found[0]


def test_a_second_file_that_uses_pathspec_is_found(tmp_path):
    package = plant(tmp_path, {f"core/{name}.py": "import pathspec" for name in "ab"})
    assert violations(package) == [
        "core/a.py, core/b.py: pathspec may be imported in one file only"
    ]


def test_what_the_design_allows_is_no_breach(tmp_path):
    allowed = {
        "core/facts.py": "import re\nfrom datetime import date\nfrom . import gates",
        "core/gates.py": "def due(situation):\n    return situation.today",
        "core/links.py": "from posixpath import normpath\nfrom warnings import simplefilter",
        "core/documents.py": "import yaml\nfrom policyd.core import facts",
        "core/zones.py": "import pathspec\nfrom policyd import __version__\nre.compile('')",
        "rules/__init__.py": "from policyd.rules import some_rule",
        "rules/some_rule.py": "from policyd.core import facts\nfrom policyd.languages import py",
        "records/ledger.py": "import msgspec\nfrom policyd.core import documents",
        "languages/py.py": "import ast\nfrom policyd.core import facts",
        "adapters/gitrepo.py": "import os\nimport pygit2\nfrom policyd.core import facts",
        "adapters/clock.py": "from datetime import datetime\ndatetime.now()\nopen('x')",
        "hook.py": "import sys\nfrom policyd.adapters import gitrepo\nfrom policyd import rules",
        "pytest/run.py": "import pytest\nfrom policyd import records",
        "cli/main.py": "import click\nimport rich\nfrom policyd import hook",
        "daemon/serve.py": "import structlog\nfrom policyd.adapters import clock",
    }
    assert violations(plant(tmp_path, allowed)) == []
