"""Literals of Python source that one input may have to hold together. Runs nothing of it.

Stands alone, without the rest of policyd: it is called inside the sandbox, like a candidate. A
cluster is a list of plain values: the arguments of one call, the constants of one condition. A
plain value is an int, a finite float, a str, bytes, or a list, tuple or dict of plain values.
"""

from __future__ import annotations

import ast
import operator
from collections import Counter

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing typing would cost as much as a call
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

MOST = 256
"""Clusters of one kind."""
_MOST_TOGETHER = 16
"""Values of one cluster."""
_STEPS, _STEPS_INSIDE = 2000, 30
"""Nodes that are looked at of one condition, and of one inside another."""
_MOST_BITS = 1024
_LONGEST = 4000
"""Characters of one cluster."""
_ALL = 60_000
"""Characters of all clusters of one kind: encoded, both kinds are below a megabyte."""

_CONDITION, _TOGETHER, _OPTION, _PART, _KEYS, _DULL, _ALONE, _DULL_ALONE = range(8)
"""Ranks: what comes first where there is too much."""
_DULL_VALUES: tuple[object, ...] = (0, 1, -1, 2, "", b"", [], (), {})
_BESIDE, _WITHIN, _LENGTH = range(3)
"""How a constant stands in a condition: compared, deeper inside, compared with a length."""
_SYMBOLS = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)
_TRANSPARENT = (ast.pattern, ast.Set, ast.List, ast.Tuple)
_ARITHMETIC: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
    ast.Pow: operator.pow, ast.LShift: operator.lshift, ast.RShift: operator.rshift,
    ast.BitOr: operator.or_, ast.BitAnd: operator.and_}

if TYPE_CHECKING:
    _Held = tuple[Any, int, int]
    """A constant, how it stands, and the choice it is one option of; 0 for none."""


def harvest(sources: list[str], calls: list[str]) -> list[list[list[Any]]]:
    """The clusters [documented, dictionary]: at most MOST each, the same for the same texts.

    documented: the arguments of calls of functions of these names, where all are literal.
    dictionary: what each condition holds, then what stands alone; texts take turns. Raises
    SyntaxError where a text does not parse, whatever the parser made of it.
    """
    texts = [_Text(_parsed(source)) for source in sources]
    documented = [[(0, found) for found in text.arguments(frozenset(calls))] for text in texts]
    return [_in_turn(documented), _in_turn([list(text.constants()) for text in texts])]


def _parsed(source: str) -> ast.Module:
    try:
        return ast.parse(source)
    except (ValueError, OverflowError, RecursionError, MemoryError) as error:
        raise SyntaxError(f"no source that can be read: {type(error).__name__}") from None


def _in_turn(found: list[list[tuple[int, list[Any]]]]) -> list[list[Any]]:
    """By rank, then one cluster of each text in turn, in the order of the texts."""
    ranked = [(rank, at, text, cluster) for text, clusters in enumerate(found)
              for at, (rank, cluster) in enumerate(sorted(clusters, key=lambda pair: pair[0]))]
    ranked.sort(key=lambda entry: entry[:3])
    kept: dict[str, list[Any]] = {}
    left = _ALL
    for *_, cluster in ranked:
        if len(kept) == MOST:
            break
        name = ascii(cluster)
        if cluster and name not in kept and len(name) <= min(left, _LONGEST):
            kept[name] = cluster
            left -= len(name)
    return list(kept.values())


def _children(node: ast.AST) -> list[ast.AST]:
    """What may hold a constant, in the order of the text; annotations are left out."""
    aside = getattr(node, "annotation", None), getattr(node, "returns", None)
    return [child for child in ast.iter_child_nodes(node)
            if not isinstance(child, _SYMBOLS) and child not in aside]


class _Worths:
    """What the constant expressions of a text are worth: a value and its size."""

    def __init__(self, tree: ast.Module) -> None:
        self.below: dict[int, list[ast.AST]] = {}
        stack: list[ast.AST] = [tree]
        order = []
        while stack:
            node = stack.pop()
            order.append(node)
            stack += self.below.setdefault(id(node), _children(node))
        self.nodes = order[::-1]
        """All nodes, each behind those below it."""
        once = _bound_once(order)
        self._bound = {name: node.value for node in order
                       if isinstance(node, ast.Assign | ast.AnnAssign)
                       for name in _targets(node) if name in once}
        names = {id(value): name for name, value in self._bound.items()}
        self._names: dict[str, tuple[Any, int]] = {}
        self._known: dict[int, tuple[Any, int]] = {}
        for node in self.nodes:
            worth = self._worth(node)
            if worth is not None:
                self._known[id(node)] = worth
                if id(node) in names:
                    self._names[names[id(node)]] = worth

    def __contains__(self, node: ast.AST) -> bool:
        return id(node) in self._known

    def __getitem__(self, node: ast.AST) -> Any:
        return self._known[id(node)][0]

    def meant(self, node: ast.AST) -> ast.AST | None:
        """What a name that is bound once stands for; else the node itself."""
        return self._bound.get(node.id) if isinstance(node, ast.Name) else node

    def _worth(self, node: ast.AST) -> tuple[Any, int] | None:
        match node:
            case ast.Constant(value=value):
                return _sized(value)
            case ast.Name(id=name, ctx=ast.Load()):
                return self._names.get(name)
            case ast.MatchValue(value=inner):
                return self._known.get(id(inner))
            case ast.List(elts=items):
                return self._many(list, items)
            case ast.Tuple(elts=items) | ast.MatchSequence(patterns=items):
                return self._many(tuple, items)
            case ast.Dict(keys=keys, values=values):
                return self._dict(keys, values)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=operand):
                return _negated(self._known.get(id(operand)), isinstance(sign, ast.USub))
            case ast.BinOp(left=left, op=operation, right=right):
                return _folded(operation, self._known.get(id(left)), self._known.get(id(right)))
        return None

    def _parts(self, nodes: Sequence[ast.AST | None]) -> tuple[list[Any], int] | None:
        """What all are worth, and its size; None where one is not constant or all are too much.

        Each level costs half as much again, so that nothing is deeper than 20.
        """
        parts, total = [], 2.0
        for node in nodes:
            worth = self._known.get(id(node))
            if worth is None or total > _LONGEST:
                return None
            total += 1.5 * worth[1] + 1
            parts.append(worth[0])
        return (parts, int(total)) if total <= _LONGEST else None

    def _many(self, kind: type, nodes: Sequence[ast.AST]) -> tuple[Any, int] | None:
        parts = self._parts(nodes)
        return parts and (kind(parts[0]), parts[1])

    def _dict(self, keys: Sequence[ast.AST | None],
              values: Sequence[ast.AST]) -> tuple[Any, int] | None:
        parts = self._parts([*keys, *values])
        try:
            return parts and (dict(zip(parts[0], parts[0][len(keys) :], strict=False)), parts[1])
        except TypeError:  # a list is no key
            return None


def _targets(node: ast.Assign | ast.AnnAssign) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _bound_once(nodes: Iterable[ast.AST]) -> set[str]:
    """Names that one place of the text binds."""
    met = Counter(node.arg if isinstance(node, ast.arg) else node.id for node in nodes
                  if isinstance(node, ast.arg)
                  or (isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)))
    return {name for name, times in met.items() if times == 1}


def _sized(value: Any) -> tuple[Any, int] | None:
    """A plain scalar or a folded value, with its size; None for any other, and where too long."""
    kind = type(value)
    if kind is int:
        return (value, 1) if value.bit_length() <= _MOST_BITS else None
    if kind is float:
        return (value, 1) if value - value == 0 else None
    if kind is str or kind is bytes:
        return (value, len(value)) if len(value) <= _LONGEST else None
    return None


def _negated(worth: tuple[Any, int] | None, is_minus: bool) -> tuple[Any, int] | None:
    if worth is None or type(worth[0]) not in (int, float):
        return None
    return (-worth[0], 1) if is_minus else worth


def _folded(operation: ast.operator, one: tuple[Any, int] | None,
            two: tuple[Any, int] | None) -> tuple[Any, int] | None:
    """Arithmetic of small numbers, and texts and lists put together."""
    if one is None or two is None:
        return None
    left, right = one[0], two[0]
    kinds = {type(left), type(right)}
    if kinds <= {int, float}:
        return _number(operation, left, right)
    if not kinds & {str, bytes, list, tuple}:
        return None
    if isinstance(operation, ast.Add) and len(kinds) == 1:
        size = one[1] + two[1]
        return (left + right, size) if size <= _LONGEST else None
    if isinstance(operation, ast.Mult) and int in kinds:
        size = max(one[1], two[1]) * max(left if type(left) is int else right, 1)
        return (left * right, size) if size <= _LONGEST else None
    return None


def _number(operation: ast.operator, left: Any, right: Any) -> tuple[Any, int] | None:
    kind = type(operation)
    if kind is ast.Pow and type(left) is int and left.bit_length() * abs(right) > _MOST_BITS:
        return None
    if kind not in _ARITHMETIC or (kind is ast.LShift and right > _MOST_BITS):
        return None
    try:
        return _sized(_ARITHMETIC[kind](left, right))
    except (ArithmeticError, TypeError, ValueError):
        return None


class _Text:
    """One parsed text."""

    def __init__(self, tree: ast.Module) -> None:
        self._tree = tree
        self._worths = _Worths(tree)

    def arguments(self, calls: frozenset[str]) -> Iterator[list[Any]]:
        """Of calls of these names, where each argument is a constant; bool and None left out."""
        for node in self._worths.nodes:
            if isinstance(node, ast.Call) and _called(node) in calls:
                given = [*node.args, *(keyword.value for keyword in node.keywords)]
                if all(self._is_literal(argument) for argument in given):
                    yield [value for argument in given for value, *_ in self._held([argument])]

    def _is_literal(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Call) and _called(node) == "Decimal":
            return all(argument in self._worths for argument in node.args)
        return node in self._worths or isinstance(node, ast.Constant)

    def constants(self) -> Iterator[tuple[int, list[Any]]]:
        """Clusters, each with its rank."""
        functions: dict[int, list[Any]] = {}
        for node, around, is_inside, function in self._walked():
            rank, choice, steps = _CONDITION, 0, _STEPS
            if isinstance(node, ast.Dict):
                rank, choice = _KEYS, -id(node)
            elif is_inside:
                rank, steps = _PART, _STEPS_INSIDE
            for group in self._groups(node):
                held = self._held(group, steps, choice)
                together = [value for value, *_ in held]
                yield from _ranked(rank, together)
                for alternative in _alternatives(held):
                    yield from _ranked(max(rank, _OPTION), alternative)
                if rank == _CONDITION and not isinstance(node, ast.Call):
                    functions.setdefault(function, []).extend(together)
                    if around:
                        yield from _ranked(_TOGETHER, [*together, *around])
            if not is_inside and node in self._worths and not isinstance(node, ast.Name):
                yield from _ranked(_ALONE, [self._worths[node]])
        for together in functions.values():
            unlike = {ascii(value): value for value in together}
            yield from _ranked(_TOGETHER, list(unlike.values())[:_MOST_TOGETHER])

    def _walked(self) -> Iterator[tuple[ast.AST, list[Any], bool, int]]:
        """Each node in the order of the text, without the insides of folded constants.

        With it: the constants of the conditions that it is under, whether it is part of a
        condition, and the function that it is in.
        """
        stack: list[tuple[ast.AST, list[Any], bool, int]] = [(self._tree, [], False, 0)]
        while stack:
            node, around, is_inside, function = entry = stack.pop()
            if isinstance(node, ast.JoinedStr) or _is_docstring(node):
                continue
            yield entry
            if node in self._worths and not isinstance(node, ast.List | ast.Tuple | ast.Dict):
                continue
            tests = [test for group in self._groups(node) for test in group]
            of_tests = {id(test) for test in tests}
            inner, body = around, set()
            if tests and isinstance(node, ast.If | ast.While | ast.match_case):
                held = [value for value, *_ in self._held(tests)]
                inner, body = [*held, *around][:_MOST_TOGETHER], set(map(id, node.body))
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                function = id(node)
            stack += [(child, inner if id(child) in body else around,
                       is_inside or id(node) in of_tests or id(child) in of_tests, function)
                      for child in reversed(self._worths.below[id(node)])]

    def _groups(self, node: ast.AST) -> Sequence[Sequence[ast.AST]]:
        """The conditions that a node makes of what is below it, each as the nodes it is made of."""
        match node:
            case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
                return [[test]]
            case ast.Compare() | ast.BoolOp():
                return [[node]]
            case ast.match_case(pattern=pattern, guard=guard):
                return [[pattern] if guard is None else [pattern, guard]]
            case ast.comprehension(ifs=[_, *_] as tests):
                return [tests]
            case ast.Dict(keys=keys):
                return [[key for key in keys if key is not None]]
            case ast.Call(args=[_, rows, *_]) if _called(node) == "parametrize":
                return [_row(row) for row in getattr(self._worths.meant(rows), "elts", ())]
        return []

    def _held(self, nodes: Sequence[ast.AST], steps: int = _STEPS,
              choice: int = 0) -> list[_Held]:
        """The constants of one condition: what is compared first, what lengths are last."""
        found: list[_Held] = []
        stack = [(node, _BESIDE, choice) for node in reversed(nodes)]
        while stack and len(found) < _MOST_TOGETHER and steps:
            node, stands, choice = stack.pop()
            steps -= 1
            if node in self._worths:
                value = self._worths[node]
                options = value if choice > 0 and type(value) in (list, tuple, dict) else [value]
                found += [(option, stands, choice) for option in options]
            elif isinstance(node, ast.Compare):
                stack += reversed(_operands(node))
            elif not isinstance(node, ast.JoinedStr):
                stands = _BESIDE if isinstance(node, _TRANSPARENT) else _WITHIN
                choice = -id(node) if isinstance(node, ast.MatchOr) else choice
                below = self._worths.below[id(node)]
                stack += [(child, stands, choice) for child in reversed(below)]
        return sorted(found[:_MOST_TOGETHER], key=lambda one: one[1])


def _operands(node: ast.Compare) -> list[tuple[ast.AST, int, int]]:
    """Each with how it stands and, on the right of `in`, with the choice that it is."""
    sides = [node.left, *node.comparators]
    is_length = any(isinstance(side, ast.Call) and _called(side) == "len" for side in sides)
    stands = _LENGTH if is_length else _BESIDE
    is_choice = [False, *(isinstance(operation, ast.In | ast.NotIn) for operation in node.ops)]
    return [(side, stands, id(node) * of) for side, of in zip(sides, is_choice, strict=True)]


def _alternatives(held: Sequence[_Held]) -> Iterator[list[Any]]:
    """The same constants with another option of a choice, in place of all of its options."""
    met: set[int] = set()
    for taken, (_, _, choice) in enumerate(held):
        if choice in met:
            yield [value for at, (value, _, other) in enumerate(held)
                   if other != choice or at == taken]
        elif choice:
            met.add(choice)


def _ranked(rank: int, values: list[Any]) -> Iterator[tuple[int, list[Any]]]:
    if all(value in _DULL_VALUES or (type(value) is str and value[:2] == "__") for value in values):
        rank = _DULL_ALONE if rank == _ALONE else _DULL
    yield rank, values
    if len(values) == 1 and type(values[0]) is tuple:  # compared with several values at once
        yield rank, list(values[0])


def _row(row: ast.AST) -> Sequence[ast.AST]:
    """One set of parameters."""
    parts = row.args if isinstance(row, ast.Call) else getattr(row, "elts", [row])
    return list(parts)


def _called(node: ast.Call) -> str:
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
