"""What an expression in a test is worth: its spelling, and whether it is known beforehand."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Set
from typing import Any, Final, NamedTuple

from policyd.languages.python_constants import Part, form
from policyd.languages.python_dotted import Dotted, ascii_name, last_name
from policyd.languages.python_outline import FIELDS, Scope
from policyd.languages.python_spelling import Texts, constant_form, held, local, spelled

CONSTANT: Final = 0
MADE: Final = 1
"""A constant in a wrapping: `Decimal("19.25")`, `snapshot(7)`."""
STORED: Final = 2
"""Read from a file, or a name that says that it is known: `EXPECTED`, `Color.RED`."""
NAMED: Final = 3
WORKED_OUT: Final = 4
"""What a call returns."""

_DEEPEST = 8
_EXPECTED = re.compile(r"expect|want|golden|reference", re.IGNORECASE)
_READERS = frozenset([
    "open", "read_text", "read_bytes", "read_csv", "read_json", "read_parquet", "read_excel",
    "loadtxt", "genfromtxt", "get_data", "open_text", "fromfile", "imread",
])
_PASSING = frozenset([
    "load", "loads", "safe_load", "read", "readlines", "readline", "getvalue", "literal_eval",
    "decode", "encode", "strip", "rstrip", "lstrip", "splitlines", "split", "copy", "deepcopy",
    "join", "replace", "format", "dedent", "lower", "upper", "items", "keys", "values",
])
"""Calls whose result is known where what they are given is."""
_PLAIN = frozenset([
    "str", "bytes", "int", "float", "bool", "complex", "list", "tuple", "set", "frozenset", "dict",
    "sorted", "len", "range", "date", "datetime", "timedelta", "array", "namedtuple", "approx",
    "namespace", "reversed", "abs", "round", "object", "type", "repr",
])

_CONTAINERS = frozenset(["list", "dict", "set", "deque", "defaultdict", "Counter", "OrderedDict",
                         "bytearray", "Queue", "SimpleQueue"])
_SURE = frozenset([ast.List, ast.Tuple, ast.Set, ast.Dict, ast.JoinedStr, ast.Lambda, ast.BoolOp,
                   ast.GeneratorExp, ast.NamedExpr, ast.UnaryOp])
"""What may be true, or false, whatever is in it."""
_UNKNOWN_NAME = (NAMED, "name")


class Worth(NamedTuple):
    """`answer`: of a constant, its form. `truth`: of what is always true or always false.

    `shared`: it is held under a name and may have changed in place since.
    """

    text: str
    weight: int
    against: str
    answer: str = ""
    truth: bool | None = None
    node: ast.expr | None = None
    shared: bool = False

    def under_name(self) -> Worth:
        """The same when a name holds it."""
        return self._replace(shared=True, truth=None) if _is_mutable(self.node) else self

    def as_tested(self) -> Worth:
        """The same when it is held against a value: it is not known what it has become."""
        return self._replace(weight=NAMED, against="name", answer="") if self.shared else self


def _is_mutable(node: ast.expr | None) -> bool:
    return isinstance(node, ast.List | ast.Dict | ast.Set)


def starts_empty(node: ast.expr | None) -> bool:
    """A list, dict or set that something is to be put into."""
    match node:
        case ast.List(elts=[]) | ast.Dict(keys=[]):
            return True
        case ast.Call(func=func, args=args):
            name = last_name(func)
            return name in _CONTAINERS and (not args or name == "defaultdict")
    return False


class Ground:
    """What is the same for all tests of a file."""

    def __init__(self, dotted: Dotted, parts: Mapping[int, Part], changed: Set[str]) -> None:
        self.dotted = dotted
        self._changed = changed
        self.parts = parts
        self.returned: dict[str, ast.expr] = {}
        """What functions of the file without parameters, fixtures too, return and do no more."""
        self.barren: frozenset[str] = frozenset()
        """Functions of the file that give nothing to a loop over what they return."""
        self._known: dict[str, Worth | None] = {}
        self._knowable: frozenset[str] | None = None

    @property
    def knowable(self) -> frozenset[str]:
        """The names that `known` may know."""
        if self._knowable is None:
            self._knowable = frozenset(self.dotted.assigned) | frozenset(self.returned)
        return self._knowable

    def unchanged(self, name: str) -> ast.expr | None:
        """What a name of the module is set to, once, if nothing is put into it."""
        return None if name in self._changed else self.dotted.assigned.get(name)

    def known(self, name: str) -> Worth | None:
        """What a name of the module is worth, where that is known before the test runs."""
        if name not in self._known:
            self._known[name] = None
            node = self.dotted.assigned.get(name) or self.returned.get(name)
            if node is None or name in self._changed or starts_empty(node):
                return None
            worth = Names(self).worth(node).under_name()
            self._known[name] = worth if worth.weight < NAMED else None
        return self._known[name]


class _Texts(Texts):
    """What a name is set to is spelled when it is asked for."""

    __slots__ = ("names",)

    def __init__(self, names: Names, texts: Mapping[str, str]) -> None:
        super().__init__(texts)
        self.names = names

    def __missing__(self, name: str) -> str:
        worth = self.names.held(name)
        return ascii_name(name) if worth is None else worth.text


class Names:
    """What the names of one function are worth at some point of it."""

    __slots__ = ("_depth", "_later", "_worths", "ground", "params", "texts")

    def __init__(self, ground: Ground, scope: Scope | None = None) -> None:
        self.ground = ground
        self.params: tuple[str, ...] = () if scope is None else scope.params
        imported = ground.dotted.imported.get(id(scope), ())
        self._worths: dict[str, Worth] = {}
        self._later: dict[str, ast.expr] = {}
        self._depth = 0
        self.texts: Texts = _Texts(self, {} if scope is None else {
            name: local(name) for name in scope.stored if name not in imported})

    def within(self, scope: Scope, around: Scope) -> Names:
        """Those of a function in this one: it knows what is around it and set only once."""
        self._settle()
        names = Names(self.ground, scope)
        names.know(scope.names)
        names._worths = {**self._worths, **names._worths}
        names.texts = _Texts(names, {**self.texts, **names.texts})
        own = {*scope.stored, *scope.params}.difference(
            self.ground.dotted.imported.get(id(scope), ()))
        for name in own.union(name for name, count in around.stored.items() if count > 1):
            names.drop(name)
        return names

    def put(self, name: str, worth: Worth) -> None:
        self.texts[name] = worth.text
        self._worths[name] = worth

    def put_later(self, name: str, node: ast.expr) -> None:
        """Of a name that is set once: most are never asked for."""
        self.texts.pop(name, None)
        self._later[name] = node

    def drop(self, name: str) -> None:
        self._settle()
        self.texts[name] = local(name)
        self._worths.pop(name, None)

    def again(self, name: str, node: ast.expr) -> None:
        """Of a name that is set more than once."""
        self._settle()
        self.put(name, self.worth(node).under_name()._replace(truth=None))

    def held(self, name: str) -> Worth | None:
        """What a name is worth, if that is known."""
        if name in self._later:
            self._set(name)
        return self._worths.get(name)

    def _set(self, name: str) -> None:
        """A long chain of names is followed from its start: no recursion goes deep."""
        if self._depth >= _DEEPEST:
            self._settle()
        node = self._later.pop(name, None)
        if node is not None:
            self.texts[name] = local(name)
            self._depth += 1
            self.put(name, self.worth(node).under_name())
            self._depth -= 1

    def _settle(self) -> None:
        """What waits is worth what it was worth until now."""
        while self._later:
            name = next(iter(self._later))
            node = self._later.pop(name)
            self.texts[name] = local(name)
            self.put(name, self.worth(node).under_name())

    def know(self, names: Set[str]) -> None:
        """Take in what the module knows of names that are not the function's own."""
        for name in names & self.ground.knowable:
            if name not in self.texts and (worth := self.ground.known(name)) is not None:
                self.put(name, worth)

    def spelled(self, node: ast.AST) -> str:
        return held(spelled(node, self.texts))

    def answer(self, node: ast.AST) -> str:
        """The form of what is constant, if need be through a name; empty otherwise."""
        part = self.ground.parts.get(id(node))
        if part is not None:
            return form(part.value)
        if isinstance(node, ast.Name):
            worth = self.held(node.id)
            return worth.answer if worth and worth.weight == CONSTANT else ""
        return constant_form(node.value) if isinstance(node, ast.Constant) else ""

    def number(self, node: ast.AST | None) -> float | None:
        """The size of a constant number."""
        for _ in range(9):
            part = self.ground.parts.get(id(node))
            value: Any = part.value if part is not None else None
            if type(value) in (int, float):
                try:
                    return abs(float(value))
                except OverflowError:
                    return float("inf")
            if not isinstance(node, ast.Name):
                break
            worth = self.held(node.id)
            if worth is None and node.id not in self.texts:
                worth = self.ground.known(node.id)
            if worth is None:
                break
            node = worth.node
        return None

    def worth(self, node: ast.expr) -> Worth:
        if isinstance(node, ast.Await):
            node = node.value
        if isinstance(node, ast.Name) and (known := self.held(node.id)) is not None:
            return known
        text = self.spelled(node)
        answer = self.answer(node)
        if answer:
            return Worth(text, CONSTANT, "literal", answer, truth(node), node)
        sure = truth(node) if type(node) in _SURE else None
        weight, against = self._weighed(node)
        if against == "file" and "tmp" in text:
            weight, against = WORKED_OUT, "call"
        if weight == MADE and isinstance(node, ast.Call) and len(node.args) == 1:
            answer = self.answer(node.args[0])
        return Worth(text, weight, against, answer, sure, node)

    def _weighed(self, node: Any) -> tuple[int, str]:
        """The heaviest of what the expression is made of."""
        most = (CONSTANT, "literal")
        stack = [node]
        while stack and most[0] < WORKED_OUT:
            node = stack.pop()
            kind = node.__class__
            if kind is ast.Constant:
                continue
            if kind is ast.Name:
                most = max(most, self._named(node.id))
            elif kind is ast.Call:
                most = max(most, self._called(node, stack))
            elif kind is ast.Yield or kind is ast.YieldFrom:
                return WORKED_OUT, "call"
            elif kind is ast.Attribute and _is_member(node):
                most = max(most, (STORED, "name"))
            else:
                for name in FIELDS.get(kind, ()):
                    child = getattr(node, name)
                    stack += child if child.__class__ is list else [child]
        return most

    def _named(self, name: str) -> tuple[int, str]:
        worth = self.held(name)
        if worth is not None:
            return worth.weight, worth.against
        if "snapshot" in name:
            return MADE, "snapshot"
        return (STORED, "name") if _EXPECTED.search(name) or name.isupper() else _UNKNOWN_NAME

    def _called(self, node: ast.Call, stack: list[Any]) -> tuple[int, str]:
        name = last_name(node.func)
        if "snapshot" in name:
            return MADE, "snapshot"
        if name in _READERS:
            return STORED, "file"
        is_passing = name in _PASSING and isinstance(node.func, ast.Attribute)
        if is_passing or name in _PLAIN or name[:1].isupper():
            stack += node.args
            stack += [keyword.value for keyword in node.keywords]
            if is_passing and not isinstance(getattr(node.func, "value", None), ast.Name):
                stack.append(node.func)
            elif is_passing:
                stack += self._receiver(node.func)
            return MADE, "literal"
        return WORKED_OUT, "call"

    def _receiver(self, func: Any) -> list[Any]:
        """`json` in `json.loads(...)` weighs nothing; `handle` in `handle.read()` does."""
        return [] if func.value.id in self.ground.dotted.bound else [func.value]


def _is_member(node: ast.Attribute) -> bool:
    """`Color.RED`, `errors.NOT_FOUND`."""
    return node.attr.isupper() or (
        isinstance(node.value, ast.Name) and node.value.id[:1].isupper())


def truth(node: ast.AST, depth: int = 20) -> bool | None:
    """Of an expression that is always true, or always false, which."""
    match node:
        case ast.Constant(value=value):
            return bool(value)
        case ast.List(elts=elts) | ast.Tuple(elts=elts) | ast.Set(elts=elts):
            starred = any(isinstance(item, ast.Starred) for item in elts)
            return None if starred and len(elts) == 1 else bool(elts)
        case ast.Dict(keys=keys):
            return True if any(keys) else None if keys else False
        case ast.JoinedStr(values=values):
            return True if any(isinstance(item, ast.Constant) for item in values) else None
        case ast.Lambda() | ast.GeneratorExp():
            return True
        case ast.NamedExpr(value=value) if depth:
            return truth(value, depth - 1)
        case ast.UnaryOp(op=ast.Not(), operand=operand) if depth:
            inner = truth(operand, depth - 1)
            return None if inner is None else not inner
        case ast.BoolOp(op=op, values=values) if depth:
            decides = isinstance(op, ast.Or)
            inside = {truth(value, depth - 1) for value in values}
            return decides if decides in inside else None if None in inside else not decides
    return None
