"""The tests of a Python file, as pytest and unittest find them, and what they claim."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import islice
from typing import Final

from policyd.core.sheet import Marker, Mock, Role, Sample, Test
from policyd.core.values import dataclass
from policyd.languages.literal import Unparseable, bounded
from policyd.languages.python_asserts import Walker
from policyd.languages.python_bodies import body_of
from policyd.languages.python_cases import Table, cases_of, tables
from policyd.languages.python_conditions import Conditions
from policyd.languages.python_constants import Part
from policyd.languages.python_defined import names_of
from policyd.languages.python_dotted import Dotted, ascii_name, last_name
from policyd.languages.python_guards import Guards, is_barren
from policyd.languages.python_helpers import Helpers, is_fixture, returned
from policyd.languages.python_limits import Limits
from policyd.languages.python_markers import Markers
from policyd.languages.python_marks import Marks
from policyd.languages.python_mocks import Mocks
from policyd.languages.python_needs import Needs
from policyd.languages.python_outline import Outline, Scope
from policyd.languages.python_roles import Roles
from policyd.languages.python_samples import Cases, doctests
from policyd.languages.python_uncollected import Uncollected
from policyd.languages.python_worth import Ground, Names, truth

_MOST: Final = 20_000
"""Tests, and assertions, of one file."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A test: its function, the class that it runs in, and its name."""

    scope: Scope
    owner: Scope | None
    name: str


@dataclass(frozen=True, slots=True)
class TestParts:
    """The part of a sheet that is about tests."""

    __test__ = False

    tests: tuple[Test, ...] = ()
    markers: tuple[Marker, ...] = ()
    mocks: tuple[Mock, ...] = ()
    samples: tuple[Sample, ...] = ()
    imports: tuple[str, ...] = ()
    roles: Mapping[int, Role] = field(default_factory=dict)
    """By the id of a constant's node."""


class File:
    """What the readers of one file share."""

    def __init__(self, tree: ast.Module, parts: Mapping[int, Part]) -> None:
        self.tree = tree
        self.outline = Outline(tree)
        self.dotted = Dotted(self.outline)
        self.helpers = Helpers(self.outline)
        self.conditions = Conditions(self.outline, self.dotted)
        self.ground = Ground(self.dotted, parts, self.outline.module.all_changed())
        self.ground.returned.update(
            (name, value) for name, scope in self.helpers.functions.items()
            if not scope.params and (value := returned(scope)) is not None)
        self.ground.barren = frozenset(
            name for name, scope in self.helpers.functions.items() if not is_fixture(scope)
            and ((id(scope) in self.outline.yielding) or returned(scope) is not None)
            and is_barren(scope, self.ground, None if id(scope) in self.outline.yielding
                          else returned(scope)))
        self.tests = tuple(placed(self.outline, self.helpers, self.dotted))


def read(tree: ast.Module, parts: Mapping[int, Part]) -> TestParts:
    """What a file says as a test. `parts`: its constants, by the id of their nodes."""
    file = File(tree, parts)
    names: dict[int, list[str]] = {}
    for one in file.tests:
        names.setdefault(id(one.scope), []).append(bounded(ascii_name(one.name)))
    cases = Cases(Names(file.ground))
    tests, samples = _tests(file, cases)
    roles = Roles(file.outline, file.dotted).read(cases.answers, file.ground.returned)
    mocks = list(islice(Mocks(file.outline, file.dotted, names).found(), _MOST))
    samples += islice(doctests(file.outline), _MOST)
    return TestParts(
        tests, _markers(file, names),
        tuple(sorted(set(mocks), key=lambda one: (one.line, one.target, one.on))),
        tuple(dict.fromkeys(samples))[:_MOST], tuple(sorted(file.dotted.imports(parts))), roles)


def _markers(file: File, names: Mapping[int, Sequence[str]]) -> tuple[Marker, ...]:
    known = Names(file.ground)
    marks = Marks(file.dotted, file.conditions, known)
    readers = (
        Markers(file.outline, file.dotted, file.helpers, marks, file.conditions, names),
        Limits(file.outline, file.dotted, known, names), Uncollected(file.outline, names))
    found = [marker for reader in readers for marker in islice(reader.found(), _MOST + 1)]
    if len(found) > _MOST:
        raise Unparseable(found[-1].line, "holds too many marks to be read")
    return tuple(sorted(found, key=lambda one: (one.line, one.mark.value, one.on, one.says)))


def _tests(file: File, cases: Cases) -> tuple[tuple[Test, ...], list[Sample]]:
    walker = Walker(file.outline, file.helpers, file.ground, Guards(file.conditions))
    needs = Needs(file.outline, file.helpers, file.dotted)
    found: list[Test] = []
    samples: list[Sample] = []
    seen: dict[tuple[int, frozenset[int]], Test] = {}
    claimed = 0
    for one in file.tests:
        key = id(one.scope), file.helpers.likeness(one.owner)
        if key not in seen:
            tables_ = tuple(tables(one.scope, file.dotted))
            free = _free(one.scope, tables_)
            said = walker.said(one.scope, one.owner, free)
            samples += said.samples
            for table in (*tables_, *said.tables):
                left = max(0, _MOST - len(samples))
                samples += islice(cases.of(table, tuple(said.wanted)), left)
            seen[key] = Test(
                "", one.scope.node.lineno, body_of(one.scope, free), tuple(said.assertions),
                needs.of(one.scope, one.owner), cases_of(tables_), names_of(one.scope, free))
        found.append(replace(seen[key], name=bounded(ascii_name(one.name))))
        claimed += len(found[-1].assertions)
        if claimed > _MOST or len(found) > _MOST:
            raise Unparseable(one.scope.node.lineno, "holds too many tests to be read")
    return tuple(found), samples


def _free(scope: Scope, found: Sequence[Table]) -> tuple[str, ...]:
    params = set(scope.params)
    return tuple(name for table in found for name in table.columns if name in params)


def placed(outline: Outline, helpers: Helpers, dotted: Dotted) -> Iterator[Placed]:
    """The tests in the order of the file; of two with one name only the last is found."""
    found: dict[str, Placed] = {}
    for scope in outline.scopes:
        if scope.parent is outline.module and scope.is_function:
            if scope.name.startswith("test") and _is_reached(scope, outline) and not is_fixture(
                    scope):
                found[scope.name] = Placed(scope, None, scope.name)
        elif scope.is_class and is_collected(scope, outline, helpers, dotted):
            path = scope.path
            for name, method in helpers.methods(scope).items():
                if name.startswith("test") and not is_fixture(method):
                    if len(found) > _MOST:
                        raise Unparseable(scope.node.lineno, "holds too many tests to be read")
                    found[f"{path}::{name}"] = Placed(method, scope, f"{path}::{name}")
    yield from sorted(found.values(), key=lambda one: one.scope.node.lineno)


def is_collected(scope: Scope, outline: Outline, helpers: Helpers, dotted: Dotted) -> bool:
    """Whether tests are looked for in a class, and in all that it stands in."""
    one: Scope = scope
    while one is not outline.module and one.parent is not None:
        if not one.is_class or not _is_reached(one, outline) or not (
                is_unittest(one, helpers, dotted)
                or (one.name.startswith("Test") and not made_by_hand(one))):
            return False
        one = one.parent
    return True


def made_by_hand(scope: Scope) -> bool:
    """Whether a class has an __init__ of its own: the runner cannot make one."""
    return any(inner.name in ("__init__", "__new__") for inner in scope.inner)


def is_unittest(scope: Scope, helpers: Helpers, dotted: Dotted) -> bool:
    return any(last_name(base).endswith("TestCase") or dotted.of(base).startswith("unittest.")
               for one in helpers.bases(scope) for base in one.node.bases)


def _is_reached(scope: Scope, outline: Outline) -> bool:
    """Whether no `if False` is around a definition."""
    for around, within in outline.outer(scope.node):
        if isinstance(around, ast.If):
            sure = truth(around.test)
            if sure is not None and sure is not (within in around.body):
                return False
    return True
