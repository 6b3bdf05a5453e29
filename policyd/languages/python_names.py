"""Whose name is whose in a Python tree: imports, assignments, functions, what constants are worth.

Names are told apart by function, not by control flow: what a name is assigned anywhere in its
function, it may be. Chains are followed in loops and to a fixed depth: the tree is hostile.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar, cast

from policyd.languages.literal import Unparseable, bounded
from policyd.languages.python_constants import Part, form

T = TypeVar("T", bound=ast.AST)
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Scope = Function | None
"""The innermost function around a node; None at the top of the module and in its classes."""

_HOPS = 6
"""From a name to what it was assigned, to what that was assigned."""
_LONGEST_CHAIN = 40
_MOST_AGAIN = 500_000
"""Nodes that may be looked at more than once, all in all; an honest file has hundreds."""


_NO_NODES = frozenset([
    "ctx", "op", "ops", "kind", "conversion", "type_comment", "type_ignores", "id", "attr", "arg",
    "asname", "module", "level", "kwd_attrs", "rest", "simple", "is_async", "tag"
])  # fmt: skip
_NAMED = frozenset(["TypeAlias"])
_LEAVES = frozenset(["Name", "Constant", "Global", "Nonlocal", "alias", "MatchSingleton"])


def _children(kind: type[ast.AST]) -> tuple[str, ...]:
    """The fields that hold nodes other than contexts and operators, the last one first."""
    if kind.__name__ in _LEAVES:
        return ()
    left_out = _NO_NODES | (frozenset() if kind.__name__ in _NAMED else {"name"})
    return tuple(name for name in reversed(kind._fields) if name not in left_out)


_CHILDREN = {kind: _children(kind) for kind in vars(ast).values()
             if isinstance(kind, type) and issubclass(kind, ast.AST)}
_FUNCTIONS = frozenset([ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda])


class Names:
    """One tree, walked once; later questions are look-ups."""

    def __init__(self, tree: ast.Module, parts: Iterable[Part]) -> None:
        """`parts` are what the constant expressions of the tree are worth."""
        self.tree = tree
        self._parts = {part.key: part for part in parts}
        self._of: dict[type[ast.AST], list[Any]] = {}
        self.parent: dict[ast.AST, ast.AST] = {}
        self.outer: dict[Function, Scope] = {}
        self.imported: dict[str, str] = {}
        """A name here, to what it is elsewhere: `np` to `numpy`, `join` to `os.path.join`."""
        self.assigned: dict[tuple[Scope, str], list[ast.expr]] = {}
        self.iterated: dict[tuple[Scope, str], list[tuple[ast.expr, bool]]] = {}
        """What a name runs over, and whether it is the whole of an item or a part of one."""
        self.attributes: dict[str, list[tuple[ast.expr, Scope]]] = {}
        """What is assigned to `self.NAME` anywhere, and to NAME in a class."""
        self.functions: dict[str, list[ast.FunctionDef | ast.AsyncFunctionDef]] = {}
        self.locals: dict[Scope, list[tuple[str, ast.expr]]] = {}
        """Of a function, each name with what it is assigned or runs over."""
        self.results: dict[Function, list[ast.expr]] = {}
        """What a function returns or yields."""
        self._again = _MOST_AGAIN
        self._dotted: dict[ast.AST, str] = {}
        self._set: frozenset[str] | None = None
        self._given: dict[Function, dict[str, ast.expr | None]] = {}
        self._walk()

    def _walk(self) -> None:
        """This loop is much of what a file costs."""
        stack: list[tuple[Any, Scope]] = [(self.tree, None)]
        children, notes, parent, of = _CHILDREN, _NOTES, self.parent, self._of
        while stack:
            pair = stack.pop()
            node, scope = pair
            kind = node.__class__
            if kind in of:
                of[kind].append(pair)
            else:
                of[kind] = [pair]
            if kind in notes:
                notes[kind](self, node, scope)
            if kind in _FUNCTIONS:
                self.outer[node] = scope
                scope = node
            for name in children[kind]:
                child = getattr(node, name)
                if child.__class__ is list:
                    for item in reversed(child):
                        if item is not None:
                            parent[item] = node
                            stack.append((item, scope))
                elif child is not None:
                    parent[child] = node
                    stack.append((child, scope))

    def of(self, kind: type[T]) -> list[tuple[T, Scope]]:
        """The nodes of one kind, each with its function; parents first, and in their order."""
        return cast(list[tuple[T, Scope]], self._of.get(cast(type[ast.AST], kind), []))

    def _note_import(self, node: ast.Import | ast.ImportFrom, _: Scope) -> None:
        self.imported.update(_imports(node))

    def _note_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, _: Scope) -> None:
        self.functions.setdefault(node.name, []).append(node)

    def _note_result(self, node: ast.Return | ast.Yield, scope: Scope) -> None:
        if scope is not None and node.value is not None:
            self.results.setdefault(scope, []).append(node.value)

    def _note_assignment(self, node: ast.Assign, scope: Scope) -> None:
        for target in node.targets:
            self._assign(target, node.value, scope, self.parent.get(node))

    def _note_typed(self, node: ast.AnnAssign | ast.NamedExpr, scope: Scope) -> None:
        if node.value is not None:
            self._assign(node.target, node.value, scope, self.parent.get(node))

    def _note_sum(self, node: ast.AugAssign, scope: Scope) -> None:
        self._assign(node.target, _sum(node), scope, self.parent.get(node))

    def _note_item(self, node: ast.withitem, scope: Scope) -> None:
        if node.optional_vars is not None:
            self._assign(node.optional_vars, node.context_expr, scope)

    def _note_loop(self, node: ast.For | ast.AsyncFor | ast.comprehension, scope: Scope) -> None:
        whole = isinstance(node.target, ast.Name)
        for name in _names_in(node.target):
            self.iterated.setdefault((scope, name), []).append((node.iter, whole))
            self.locals.setdefault(scope, []).append((name, node.iter))

    def _assign(self, target: ast.expr, value: ast.expr, scope: Scope,
                within: ast.AST | None = None) -> None:
        match target:
            case ast.Name(id=name) if isinstance(within, ast.ClassDef):
                self.attributes.setdefault(name, []).append((value, scope))
            case ast.Name(id=name):
                self.assigned.setdefault((scope, name), []).append(value)
                self.locals.setdefault(scope, []).append((name, value))
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name):
                self.attributes.setdefault(name, []).append((value, scope))
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                same = value.elts if isinstance(value, ast.Tuple | ast.List) else []
                if len(same) == len(elements):
                    for element, given in zip(elements, same, strict=True):
                        if isinstance(element, ast.Name):
                            self._assign(element, given, scope, within)

    def again(self, count: int = 1) -> None:
        """Counts nodes of another look. Raises Unparseable."""
        self._again -= count
        if self._again < 0:
            raise Unparseable(1, "too much in it hangs together to be looked at")

    def scopes(self, scope: Scope) -> Iterator[Scope]:
        """From the innermost function to the module."""
        for _ in range(_LONGEST_CHAIN):
            yield scope
            if scope is None:
                return
            scope = self.outer[scope]
        yield None

    def given(self, function: Function) -> dict[str, ast.expr | None]:
        """The parameters of a function, with their defaults."""
        if function not in self._given:
            self._given[function] = parameters(function)
        return self._given[function]

    def values(self, name: str, scope: Scope) -> list[ast.expr]:
        """What a name is assigned, in the innermost function that assigns it, or in a class."""
        for each in self.scopes(scope):
            if found := self.assigned.get((each, name)):
                return found
            if each is not None and name in self.given(each):
                return []
        return [value for value, _ in self.attributes.get(name, [])]

    def default(self, name: str, scope: Scope) -> ast.expr | None:
        """Of a parameter, in the innermost function that has it."""
        for each in self.scopes(scope):
            if each is not None and name in (given := self.given(each)):
                return given[name]
        return None

    def is_repeated(self, node: ast.AST) -> bool:
        """Whether it stands in a loop of its function."""
        if isinstance(node, ast.BinOp) and node not in self.parent:
            node = node.right  # of `a += b`, which has no such node
        while (parent := self.parent.get(node)) is not None and not isinstance(parent, Function):
            if isinstance(parent, ast.For | ast.AsyncFor | ast.While):
                return True
            node = parent
        return False

    def part(self, node: ast.expr) -> Part | None:
        return self._parts.get(id(node))

    def text(self, node: ast.AST | None) -> str | None:
        """The text that an expression is, constants joined; None where it is none."""
        part = self._parts.get(id(node))
        if part is None or not isinstance(part.value, str | bytes):
            return None
        return part.value if isinstance(part.value, str) else part.value.decode("latin-1")

    def aim(self, node: ast.expr, scope: Scope) -> ast.expr:
        """What a name or attribute stands for, where it is assigned once."""
        for _ in range(_HOPS):
            found: list[ast.expr] = []
            if isinstance(node, ast.Name):
                found = self.values(node.id, scope)
            elif isinstance(node, ast.Attribute) and self._is_own(node.value):
                found = [value for value, _ in self.attributes.get(node.attr, [])]
            elif isinstance(node, ast.NamedExpr):
                found = [node.value]
            if len(found) != 1:
                return node
            node = found[0]
        return node

    def _is_own(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id not in self.imported

    def worth(self, node: ast.expr, scope: Scope) -> str | None:
        """The form of a constant, also of a name that is one."""
        part = self.part(node) or self.part(self.aim(node, scope))
        return form(part.value) if part else None

    def dotted(self, node: ast.AST, scope: Scope) -> str:
        """`os.path.join` for what is that, whatever it is called here; "" for what has no name."""
        found = self._dotted.get(node)
        if found is None:
            found = self._dotted[node] = self._name_of(node, scope)
        return found

    def _name_of(self, node: ast.AST, scope: Scope) -> str:
        if isinstance(node, ast.Name):
            if node.id in self.imported:
                return self.imported[node.id]
            if node.id not in self._set_names():
                return node.id
        tail: list[str] = []
        for _ in range(_LONGEST_CHAIN):
            match node:
                case ast.Attribute(value=inner, attr=attr):
                    tail.append(attr)
                    node = inner
                case ast.Name(id=name) if name in self.imported:
                    return ".".join([self.imported[name], *reversed(tail)])
                case ast.Name(id=name):
                    aimed = self.aim(node, scope)
                    if isinstance(aimed, ast.Name) or not _is_named(aimed):
                        last = aimed.id if isinstance(aimed, ast.Name) else name
                        return ".".join([self.imported.get(last, last), *reversed(tail)])
                    node = aimed
                case ast.Call(func=ast.Name(id="getattr"), args=[of, name, *_]):
                    tail.append(self.text(name) or "*")
                    node = of
                case ast.Call(func=called, args=[name, *_]) if self._imports(called):
                    return ".".join([self.text(name) or "*", *reversed(tail)])
                case _:
                    return ""
        return ""

    def _set_names(self) -> frozenset[str]:
        """The names that something is assigned to, anywhere."""
        if self._set is None:
            self._set = frozenset(name for _, name in self.assigned) | frozenset(self.attributes)
        return self._set

    def is_imported(self, node: ast.expr, scope: Scope) -> bool:
        """Whether it is something of an imported module, and no local of that name."""
        for _ in range(_LONGEST_CHAIN):
            while isinstance(node, ast.Attribute):
                node = node.value
            if isinstance(node, ast.Name) and node.id in self.imported:
                return True
            if isinstance(node, ast.Call):
                return self.dotted(node, scope) != ""
            aimed = self.aim(node, scope)
            if aimed is node or not isinstance(aimed, ast.Attribute | ast.Name | ast.Call):
                return isinstance(node, ast.Name) and node.id == "__builtins__"
            node = aimed
        return False

    def _imports(self, called: ast.expr) -> bool:
        match called:
            case ast.Name(id=name):
                return self.imported.get(name, name).endswith(("__import__", "import_module"))
            case ast.Attribute(attr="import_module"):
                return True
        return False


_NOTES: Mapping[type[ast.AST], Callable[[Names, Any, Scope], None]] = {
    ast.Import: Names._note_import, ast.ImportFrom: Names._note_import,
    ast.FunctionDef: Names._note_function, ast.AsyncFunctionDef: Names._note_function,
    ast.Return: Names._note_result, ast.Yield: Names._note_result,
    ast.Assign: Names._note_assignment, ast.AnnAssign: Names._note_typed,
    ast.NamedExpr: Names._note_typed, ast.AugAssign: Names._note_sum,
    ast.withitem: Names._note_item, ast.For: Names._note_loop, ast.AsyncFor: Names._note_loop,
    ast.comprehension: Names._note_loop,
}


def _imports(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    """What each imported name is elsewhere."""
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            source = "." * node.level + (node.module or "")
            yield alias.asname or alias.name, f"{source}.{alias.name}"
        elif alias.asname:
            yield alias.asname, alias.name
        else:
            first = alias.name.partition(".")[0]
            yield first, first


def _sum(node: ast.AugAssign) -> ast.expr:
    """What `a += b` assigns to a."""
    return ast.BinOp(left=node.target, op=node.op, right=node.value)


def _is_named(node: ast.expr) -> bool:
    """Whether `Names.dotted` may find a name for it."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name | ast.Attribute) and bool(node.args)
    return isinstance(node, ast.Attribute)


def _names_in(target: ast.expr) -> Iterator[str]:
    return (node.id for node in ast.walk(target) if isinstance(node, ast.Name))


def parameters(function: Function) -> dict[str, ast.expr | None]:
    """The names of what a function is given, `self` too, with their defaults."""
    given = function.args
    plain = [*given.posonlyargs, *given.args]
    defaults: list[ast.expr | None] = [None] * (len(plain) - len(given.defaults))
    found = dict(zip([each.arg for each in plain], [*defaults, *given.defaults], strict=True))
    found.update(zip([each.arg for each in given.kwonlyargs], given.kw_defaults, strict=True))
    found.update((each.arg, None) for each in (given.vararg, given.kwarg) if each is not None)
    return found


def called(node: ast.Call) -> str:
    """The last part of what is called: `get` of `table.get(x)`."""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def printable(text: str) -> str:
    """In ASCII, bounded."""
    return bounded(ascii(text)[1:-1].replace("\\'", "'"))


def display(forms: Iterable[str]) -> str:
    """As a tuple or list of values with these forms compares."""
    return bounded("[" + ", ".join(forms) + "]")
