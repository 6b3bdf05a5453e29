"""When a condition of a Python function holds, said of what the function is given."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from itertools import islice, pairwise, product
from typing import NamedTuple

from policyd.languages.python_names import Function, Names, called

_MOST_PAIRS = 512
_MOST_VALUES = 16
_DEEPEST = 40
_ROUNDS = 3

_SAME_VALUE = frozenset([
    "str", "int", "float", "bytes", "bytearray", "tuple", "list", "set", "frozenset", "sorted",
    "repr", "ascii", "dict", "next", "iter", "Decimal", "Fraction", "Path", "PurePath",
    "deepcopy", "cast"
])  # fmt: skip
_FOLDS = frozenset([
    "len", "hash", "sum", "min", "max", "abs", "round", "ord", "chr", "bool", "type", "id",
    "crc32", "adler32"
])  # fmt: skip
_FOLDING_MODULES = ("hashlib.", "hmac.", "zlib.", "binascii.", "base64.", "json.", "pickle.")
_METHODS = frozenset([
    "lower", "upper", "strip", "lstrip", "rstrip", "casefold", "title", "capitalize",
    "swapcase", "replace", "split", "rsplit", "splitlines", "partition", "rpartition", "join",
    "encode", "decode", "format", "get", "keys", "values", "items", "copy", "removeprefix",
    "removesuffix", "isoformat", "as_posix", "group", "groups", "tolist", "pop"
])  # fmt: skip
_FOLDING_METHODS = frozenset([
    "hexdigest", "digest", "count", "index", "find", "rfind", "as_tuple", "timestamp"
])  # fmt: skip
_METHOD_TESTS = frozenset([
    "startswith", "endswith", "match", "fullmatch", "search", "__eq__", "__contains__",
    "issubset", "issuperset"
])  # fmt: skip
_TESTS = frozenset([
    "fullmatch", "match", "search", "eq", "is_", "isclose", "compare_digest", "fnmatch",
    "contains"
])  # fmt: skip


class Met(NamedTuple):
    """Values that the input has to have, all of them, for a branch to be taken."""

    values: tuple[str, ...]
    is_bare: bool = True
    """Whether it is the input that has them, and not its length, a hash or a part of it."""


Alternatives = tuple[Met, ...]
"""Each on its own is enough; empty where nothing is known."""


class Inputs:
    """What one function is given, and the locals that are only that."""

    def __init__(self, names: Names, function: Function) -> None:
        self._names, self._scope = names, function
        self._bare: dict[str, bool] = {}
        self._packed: set[str] = set()
        self._levels: dict[ast.expr, int | None] = {}
        for scope in names.scopes(function):
            if scope is not None:
                self._bare.update(dict.fromkeys(names.given(scope), True))
                self._packed.update(arg.arg for arg in (scope.args.vararg,) if arg)
        self._bare.pop("cls", None)
        self._derive()

    def _derive(self) -> None:
        """Names that are assigned from inputs, or run over them, are inputs too."""
        for _ in range(_ROUNDS):
            before = len(self._bare)
            for name, value in self._names.locals.get(self._scope, []):
                if name not in self._bare and (level := self.level(value)):
                    self._bare[name] = level == 1
            if len(self._bare) == before:
                return

    def level(self, node: ast.expr, depth: int = 0) -> int | None:
        """1: (a part of) the input; 2: worked out from nothing else; 0: constant; None: neither."""
        if depth > _DEEPEST:
            return None
        match node:
            case ast.Constant():
                return 0
            case ast.Name(id=name) if name in self._bare:
                return 1 if self._bare[name] else 2
            case ast.Name():
                return 0 if self._names.worth(node, self._scope) is not None else None
            case ast.Attribute(value=inner) | ast.Starred(value=inner):
                return self._only(self.level(inner, depth + 1), 1)
            case ast.NamedExpr(value=inner) | ast.Await(value=inner):
                return self.level(inner, depth + 1)
            case ast.Subscript(value=inner, slice=ast.Slice()):
                return self._only(self.level(inner, depth + 1), 2)
            case ast.Subscript(value=inner, slice=key):
                found = self._only(self.level(inner, depth + 1), 1)
                return found if self.level(key, depth + 1) is not None else None
            case ast.Call():
                return self._of_call(node, depth + 1)
            case _:
                return self._of_several(node, depth + 1)

    def _level(self, node: ast.expr) -> int | None:
        """Kept: one input is held against each entry of a table."""
        if node not in self._levels:
            self._levels[node] = self.level(node)
        return self._levels[node]

    def _only(self, level: int | None, at_least: int) -> int | None:
        return max(level, at_least) if level else None

    def _of_several(self, node: ast.expr, depth: int) -> int | None:
        match node:
            case ast.Tuple(elts=nodes) | ast.List(elts=nodes) | ast.BoolOp(values=nodes):
                return self._all(nodes, depth)
            case ast.BinOp(left=left, right=right):
                return self._only(self._all([left, right], depth), 2)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=inner):
                return self.level(inner, depth)
            case ast.JoinedStr(values=nodes):
                fields = [each.value for each in nodes if isinstance(each, ast.FormattedValue)]
                return self._only(self._all(fields, depth), 2)
        return None

    def _all(self, nodes: Iterable[ast.expr], depth: int) -> int | None:
        levels = [self.level(each, depth) for each in nodes]
        return None if None in levels else max((each or 0 for each in levels), default=0)

    def _of_call(self, node: ast.Call, depth: int) -> int | None:
        """Of what is worked out; what other functions make of the input is not the input."""
        name = called(node)
        given = self._all([*node.args, *(each.value for each in node.keywords)], depth)
        if given is None:
            return None
        if isinstance(node.func, ast.Name) or not name:
            known = self._names.imported.get(name, name)
            if known.rpartition(".")[2] in _SAME_VALUE:
                return given
            folds = name in _FOLDS or known.startswith(_FOLDING_MODULES)
            return self._only(given, 2) if folds else None
        if self._names.dotted(node.func, self._scope).startswith(_FOLDING_MODULES):
            return self._only(given, 2)
        if name in _SAME_VALUE or name in _FOLDS:
            return self._only(given, 1)
        of = self._all([node.func.value], depth) if isinstance(node.func, ast.Attribute) else None
        if of is None or name not in _METHODS | _FOLDING_METHODS:
            return None
        return self._only(max(of, given), 1 if name in _METHODS else 2)

    def when(self, test: ast.expr, truth: bool = True, depth: int = 0) -> Alternatives:
        """What makes the test come out like that."""
        if depth > _DEEPEST:
            return ()
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                return self.when(inner, not truth, depth + 1)
            case ast.BoolOp(op=op, values=values):
                each = [self.when(value, truth, depth + 1) for value in values]
                if isinstance(op, ast.And) is truth:
                    return both(*each)
                return tuple(met for found in each for met in found)
            case ast.Compare():
                operands = pairwise([test.left, *test.comparators])
                return both(*(self._compared(op, left, right, truth)
                              for op, (left, right) in zip(test.ops, operands, strict=True)))
            case ast.Call() if truth:
                return self._called(test)
            case ast.NamedExpr(value=inner):
                return self.when(inner, truth, depth + 1)
        return ()

    def _compared(
        self, op: ast.cmpop, left: ast.expr, right: ast.expr, truth: bool
    ) -> Alternatives:
        match op, truth:
            case (ast.Eq() | ast.Is(), True) | (ast.NotEq() | ast.IsNot(), False):
                return self.equal(left, right) or self.equal(right, left)
            case (ast.In(), True) | (ast.NotIn(), False):
                return self._member(left, right)
        return ()

    def equal(self, given: ast.expr, value: ast.expr) -> Alternatives:
        """What the input has to be to equal the value."""
        level = self._level(given)
        if not level:
            return ()
        wholes = self._elements(given, value)
        if wholes is not None:
            return (Met(wholes, level == 1),) if wholes else ()
        found = self._worth(value)
        return (Met((found,), level == 1),) if found is not None else ()

    def _worth(self, node: ast.expr) -> str | None:
        """Also of `Decimal("7")`, as of what it is made of."""
        found = self._names.worth(node, self._scope)
        aimed = self._names.aim(node, self._scope)
        if found is None and isinstance(aimed, ast.Call) and len(aimed.args) == 1:
            name = called(aimed)
            if name in _SAME_VALUE or name[:1].isupper():
                return self._names.worth(aimed.args[0], self._scope)
        return found

    def _elements(self, given: ast.expr, value: ast.expr) -> tuple[str, ...] | None:
        """Where several inputs are held against as many values: those, one by one."""
        value = self._names.aim(value, self._scope)
        if not isinstance(value, ast.Tuple | ast.List):
            return None
        if isinstance(given, ast.Tuple | ast.List) and len(given.elts) == len(value.elts):
            pairs = zip(given.elts, value.elts, strict=True)
            values = [self._worth(each) for one, each in pairs if self.level(one)]
        elif isinstance(given, ast.Name) and given.id in self._packed:
            values = [self._worth(each) for each in value.elts]
        else:
            return None
        return tuple(each for each in values if each is not None)[:_MOST_VALUES]

    def _member(self, left: ast.expr, right: ast.expr) -> Alternatives:
        if self.level(left):
            return tuple(met for item in self._items(right) for met in self.equal(left, item))
        return self._part_of(right, [left])

    def _items(self, node: ast.expr) -> Iterator[ast.expr]:
        match aimed := self._names.aim(node, self._scope):
            case ast.Tuple(elts=items) | ast.List(elts=items) | ast.Set(elts=items):
                yield from items
            case ast.Dict(keys=keys):
                yield from (key for key in keys if key is not None)
            case ast.Call(args=[inner]) if called(aimed) in _SAME_VALUE | {"keys"}:
                yield from self._items(inner) if inner is not node else ()
            case ast.Constant(value=str()):
                yield aimed

    def _part_of(self, given: ast.expr, values: Iterable[ast.expr]) -> Alternatives:
        """Values of which the input has to hold or match one."""
        if not self.level(given):
            return ()
        found = [self._worth(each) for each in values]
        return tuple(Met((each,), False) for each in found if each is not None)

    def _called(self, test: ast.Call) -> Alternatives:
        name, args = called(test), test.args
        if name in ("any", "all", "bool") and len(args) == 1:
            match args[0]:
                case ast.GeneratorExp(elt=inner) | ast.ListComp(elt=inner):
                    return self.when(inner)
                case ast.List(elts=[inner]) | ast.Tuple(elts=[inner]) | inner:
                    return self.when(inner) if name == "bool" else ()
        if isinstance(test.func, ast.Attribute) and name in _METHOD_TESTS and len(args) == 1:
            of = test.func.value
            if name == "__eq__":
                return self.equal(of, args[0]) or self.equal(args[0], of)
            if name == "__contains__":
                return self._member(args[0], of)
            return self._part_of(of, self._several(args[0])) or self._part_of(args[0], [of])
        if name in _TESTS and len(args) >= 2:
            if name in ("eq", "is_", "compare_digest", "isclose"):
                return self.equal(args[0], args[1]) or self.equal(args[1], args[0])
            return self._part_of(args[1], [args[0]]) or self._part_of(args[0], [args[1]])
        return ()

    def _several(self, node: ast.expr) -> list[ast.expr]:
        aimed = self._names.aim(node, self._scope)
        return aimed.elts if isinstance(aimed, ast.Tuple) else [node]

    def matched(self, pattern: ast.pattern, subject: ast.expr, depth: int = 0) -> Alternatives:
        """What makes a `case` match."""
        if depth > _DEEPEST:
            return ()
        match pattern:
            case ast.MatchValue(value=value):
                return self.equal(subject, value)
            case ast.MatchSingleton(value=value) if self.level(subject):
                return (Met((repr(value),), self.level(subject) == 1),)
            case ast.MatchOr(patterns=patterns):
                return tuple(met for each in patterns
                             for met in self.matched(each, subject, depth + 1))
            case ast.MatchAs(pattern=ast.pattern() as inner):
                return self.matched(inner, subject, depth + 1)
            case ast.MatchSequence(patterns=patterns):
                same = subject.elts if isinstance(subject, ast.Tuple | ast.List) else []
                of = same if len(same) == len(patterns) else [subject] * len(patterns)
                return both(*(self.matched(each, one, depth + 1)
                              for each, one in zip(patterns, of, strict=True)))
            case ast.MatchMapping(patterns=patterns) | ast.MatchClass(kwd_patterns=patterns):
                return both(*(self.matched(each, subject, depth + 1) for each in patterns))
        return ()


def both(*each: Alternatives) -> Alternatives:
    """What it takes where all have to hold; those of which nothing is known count as held."""
    found: Alternatives = ()
    for more in each:
        if not found or not more:
            found = found or more
            continue
        pairs = islice(product(found, more), _MOST_PAIRS)
        found = tuple(
            Met((one.values + other.values)[:_MOST_VALUES], one.is_bare and other.is_bare)
            for one, other in pairs
        )
    return found
