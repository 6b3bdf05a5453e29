"""What a source file says, in the words that rules speak; any language is read into these.

A `Sheet` is made by a reader of `policyd.languages` in a process of its own and crosses a pipe
as JSON: `packed` and `unpacked` know how. Texts are printable ASCII, bounded, and made by the
reader. Lines start at 1. No field tells which language it was.

What two readers must agree on is said here, at each field; how a reader finds it is its own.
"""

from __future__ import annotations

import typing
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, TypeVar, cast

from policyd.core.values import dataclass

T = TypeVar("T")


class Role(Enum):
    """What a literal is there for."""

    ANSWER = "answer"
    """What a result is held against: compared, asserted, matched, parametrised as expected."""
    NAME = "name"
    """What only names something: a key, an attribute, an option, a module, the text of a log."""
    PLAIN = "plain"
    """Neither, or it cannot be told."""


@dataclass(frozen=True, slots=True)
class Literal:
    """A value as it compares, the line it starts on, and how it stands there.

    `use` is one of: compared, returned, argument, assigned, raised, matched, element, default,
    used.
    """

    value: str
    line: int
    use: str
    role: Role = Role.PLAIN
    name: str = ""
    """The constant of the module whose whole value it is: `RATE` of `RATE = "19.25"`."""


class Kind(Enum):
    """What an assertion claims, the strongest first."""

    EQUAL = "equal"
    """The whole of a value: ==, toEqual, assertEqual, is None, raises with a matched text."""
    CLOSE = "close"
    """A number up to a tolerance."""
    ORDER = "order"
    """<, <=, !=, not in: many values hold."""
    MEMBER = "member"
    """A part of a value: in, startswith, a regular expression, one key, a length."""
    RAISES = "raises"
    """That something is raised, of a type."""
    CALLED = "called"
    """That a stand-in was called."""
    TRUTH = "truth"
    """That a value is truthy, not None, or of a type."""
    NOTHING = "nothing"
    """What cannot fail: a constant, `x or True`, swallowed by a handler, behind a return."""


@dataclass(frozen=True, slots=True)
class Assertion:
    """One claim of a test.

    `form` is the claim in one normal form: two assertions that claim the same have the same
    form, whatever their locals, helpers' names of self, quotes and line breaks are.
    """

    line: int
    kind: Kind
    form: str
    subject: str = ""
    """The part of `form` that is tested: `total(prices)`; empty where there is no such part."""
    against: str = ""
    """What it is held against: literal, file, snapshot, call, name; empty where it is nothing."""
    answer: str = ""
    """The literal that it is held against, as `Literal.value`."""
    tolerance: float | None = None
    """How far apart both may be; relative and absolute alike."""
    types: tuple[str, ...] = ()
    """What may be raised; `*` where anything may."""


@dataclass(frozen=True, slots=True)
class Test:
    """A test. Its `name` is what stands behind the file in a node id: `TestCart::test_total`.

    `body` is the same for the same statements, whatever the test is called and where it stands;
    decorators, docstring and remarks are no part of it.
    """

    name: str
    line: int
    body: str
    assertions: tuple[Assertion, ...] = ()
    """Those of helpers that stand in the same file count where they are called."""
    uses: tuple[str, ...] = ()
    """The modules, dotted or by path, that it needs of those that its file imports."""
    cases: int = 1
    """How many times it runs by its own parameters, as far as they are literal."""
    names: tuple[str, ...] = ()
    """Of members, of arguments and of what it does not define itself, sorted."""


class Mark(Enum):
    """What takes the edge off a test."""

    SKIP = "skip"
    XFAIL = "xfail"
    RERUN = "rerun"
    TIMEOUT = "timeout"
    """A limit of time; `amount` in seconds."""
    TOLERANCE = "tolerance"
    """A limit of difference outside of an assertion, such as a constant EPSILON."""
    UNCOLLECTED = "uncollected"
    """`__test__ = False`, collect_ignore, a hook that drops items, a name that is not found."""


@dataclass(frozen=True, slots=True)
class Marker:
    """A mark, where it stands and what it is on."""

    mark: Mark
    line: int
    on: str = ""
    """The name of the test or class, as `Test.name`; empty: the whole file, or unknown."""
    says: str = ""
    """As it was written, shortened: `@pytest.mark.skip`, `raise SkipTest`."""
    condition: str = ""
    """What it depends on: platform, version, package:NAME, other; empty: it always holds."""
    amount: float | None = None
    """Of a limit, where it is known."""
    asks: str = ""
    """The one name that its condition is, which the file imports."""


@dataclass(frozen=True, slots=True)
class Keyed:
    """A branch that answers a known input with a known result.

    `given` are the values that its input is compared with, `result` what is returned, both as
    `Literal.value` (short ones too). `how` is if, table, match or other.
    """

    line: int
    given: tuple[str, ...]
    result: str
    how: str = "if"


@dataclass(frozen=True, slots=True)
class Sample:
    """An input that a test or example gives, and the result that it wants; "" where unknown."""

    line: int
    given: tuple[str, ...]
    result: str = ""


class Trick(Enum):
    """What source does that only its judge can be the reason for."""

    SENSES = "senses"
    """Looks whether a test runs it: the runner's modules and variables, the call stack."""
    EXITS = "exits"
    """Ends the process past every handler."""
    PLEASES = "pleases"
    """Answers every comparison, truth test or hash alike."""
    PATCHES = "patches"
    """Changes the runner, its assertions or the standard streams."""
    READS = "reads"
    """Names a path; the rule tells whether it is a protected one."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """One such place. `what` is the variable, call or path, as `Opened.path` for a path."""

    trick: Trick
    line: int
    what: str


@dataclass(frozen=True, slots=True)
class Opened:
    """A file or folder that is opened or listed.

    `path` is normal: `/` between names, no `.`; what is not known at the time of reading is
    `*` for one name and `**` for any number. What begins with neither is relative to the
    repository's root, or to the folder of the file: the reader says which by `base`.
    """

    line: int
    path: str
    base: str = ""
    """`file`: the file's folder; `root` or empty: the working folder; `unknown`."""
    writes: bool = False


@dataclass(frozen=True, slots=True)
class Mock:
    """A stand-in: what it takes the place of, dotted; `*` where that cannot be told."""

    line: int
    target: str
    on: str = ""
    """The name of the test, as `Test.name`; empty: all of the file."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A key of a settings file that decides which tests run, and how."""

    key: str
    """Such as `pytest.addopts`, `jest.testMatch`, `scripts.test`."""
    value: str
    line: int


@dataclass(frozen=True, slots=True)
class Defined:
    """A function, a class, a member, a parameter or a constant, by its last name."""

    name: str
    words: tuple[str, ...] = ()
    """Names and short literals in it, sorted: what tells it from another one. Of a parameter:
    those of its function."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """All that a file says. A reader fills what its language knows."""

    literals: tuple[Literal, ...] = ()
    """The telling ones."""
    tests: tuple[Test, ...] = ()
    markers: tuple[Marker, ...] = ()
    keyed: tuple[Keyed, ...] = ()
    samples: tuple[Sample, ...] = ()
    suspects: tuple[Suspect, ...] = ()
    opened: tuple[Opened, ...] = ()
    mocks: tuple[Mock, ...] = ()
    settings: tuple[Setting, ...] = ()
    imports: tuple[str, ...] = ()
    """Modules that the file imports, dotted or by path; a leading dot: relative."""
    defines: tuple[str, ...] = ()
    """Names that others can import from the file."""
    defined: tuple[Defined, ...] = ()
    """All that it defines and others can say, members and parameters too."""


def packed(value: Any) -> Any:
    """A sheet, or a part of one, as JSON knows it: fields in their order, without names."""
    if is_dataclass(value):
        return [packed(getattr(value, one.name)) for one in fields(value)]
    if isinstance(value, tuple):
        return [packed(item) for item in value]
    return value.value if isinstance(value, Enum) else value


def unpacked(raw: Any, type_: type[T]) -> T:
    """What `packed` made. Raises ValueError, TypeError where it did not."""
    return cast(T, _maker(cast(Any, type_))(raw))


@cache
def _maker(type_: Any) -> Callable[[Any], Any]:
    if is_dataclass(type_):
        hints = typing.get_type_hints(type_)
        makers = [_maker(hints[one.name]) for one in fields(type_)]
        return lambda raw: cast(type, type_)(
            *(make(item) for make, item in zip(makers, raw, strict=True)))
    if typing.get_origin(type_) is tuple:
        make = _maker(typing.get_args(type_)[0])
        return lambda raw: tuple(map(make, raw))
    if isinstance(type_, type) and issubclass(type_, Enum):
        return type_
    return lambda raw: _leaf(raw, type_)


def _leaf(raw: Any, type_: Any) -> Any:
    if type_ == float | None:
        if raw is not None and type(raw) not in (int, float):
            raise TypeError("no number")
        return raw
    if type(raw) is not type_:
        raise TypeError(f"{type(raw).__name__} stands for {type_.__name__}")
    return raw
