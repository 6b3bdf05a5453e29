"""Where a path of Python source leads, as far as that can be read: text with gaps in it.

`places` says all that an expression may be; what it cannot tell is a gap. Arithmetic of paths,
f-strings, names, attributes of self, functions of the same file and their callers are followed,
up to a budget, beyond which everything is a gap.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import NamedTuple

from policyd.languages.python_names import Function, Names, Scope, called
from policyd.languages.python_spots import ANY, NAME, ROOT, SCRATCH, UNKNOWN, Place

Bound = Mapping[str, Sequence[Place]] | None
"""What the parameters of a function are in one call of it; None: in any call."""

_MOST = 32
_DEEPEST = 24
_BUDGET = 20_000
"""Expressions looked at for one file."""

_PATHS = frozenset([
    "Path", "PurePath", "PosixPath", "PurePosixPath", "WindowsPath", "PureWindowsPath", "local",
    "LocalPath", "AnyioPath", "UPath"
])  # fmt: skip
_SAME = frozenset([
    "str", "fspath", "abspath", "realpath", "normpath", "expanduser", "expandvars", "fsdecode",
    "fsencode", "resolve", "absolute", "as_posix", "strip", "rstrip", "lstrip", "list", "sorted",
    "tuple", "set", "reversed", "relpath", "repr", "next", "iter", "encode", "decode", "as_uri"
])  # fmt: skip
_ROOTS = frozenset(["rootpath", "rootdir", "invocation_dir", "startpath"])
_RESOURCES = ("importlib.resources.files", "importlib_resources.files")
_TEXTS = {"os.curdir": ".", "os.pardir": "..", "os.sep": "/", "os.path.sep": "/",
          "os.path.pardir": "..", "os.path.curdir": ".", "os.devnull": "/dev/null"}
_SCRATCH = re.compile(r"tempfile\.\w+|tmp(?:_path|dir)_factory\.(?:mktemp|getbasetemp)")
_SCRATCH_NAMES = frozenset(["tmp_path", "tmpdir"])


class _Frame(NamedTuple):
    scope: Scope
    bound: Bound
    depth: int


class Places:
    """Those of one file."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._left = _BUDGET
        self._known: dict[tuple[Scope, str], Sequence[Place]] = {}
        self._sites: dict[str, list[tuple[ast.Call, Scope]]] = {}
        for node, scope in names.of(ast.Call):
            if (name := called(node)) in names.functions:
                self._sites.setdefault(name, []).append((node, scope))

    def of(self, node: ast.expr, scope: Scope) -> Sequence[Place]:
        """All that it may be, each once; never nothing."""
        return self._of(node, _Frame(scope, None, 0))

    def resource(self, node: ast.expr, scope: Scope) -> Place:
        """The folder of a package that is given by name or as a module."""
        name = self._names.text(node) or self._names.dotted(node, scope)
        if name in ("", "__name__", "__package__"):
            return Place("file", "") if name else UNKNOWN
        return Place("unknown", f"{ANY}/{name.replace('.', '/')}")

    def _of(self, node: ast.expr, frame: _Frame) -> Sequence[Place]:
        self._left -= 1
        if frame.depth > _DEEPEST or self._left < 0:
            return [UNKNOWN]
        text = self._names.text(node)
        if text is not None:
            return [Place("", text.replace(ANY, "?").replace(NAME, "?"))]
        found = self._made(node, frame._replace(depth=frame.depth + 1))
        return list(dict.fromkeys(found))[:_MOST] or [UNKNOWN]

    def _made(self, node: ast.expr, frame: _Frame) -> Sequence[Place]:
        match node:
            case ast.Constant(value=int() | float()) if not isinstance(node.value, bool):
                return [Place("", str(node.value)[:40])]
            case ast.Name(id=name):
                return self._named(name, frame)
            case ast.Attribute():
                return self._attribute(node, frame)
            case ast.BinOp(left=left, op=op, right=right):
                return self._operation(left, op, right, frame)
            case ast.JoinedStr(values=values):
                return self._each(Place.then, values, frame)
            case ast.FormattedValue():
                return self._field(node, frame)
            case ast.Call():
                return self._call(node, frame)
            case ast.Subscript(value=of, slice=key):
                return self._subscript(of, key, frame)
            case _:
                return [place for each in _choices(node) for place in self._of(each, frame)]

    def _each(
        self, step: Callable[[Place, Place], Place], nodes: Iterable[ast.expr], frame: _Frame
    ) -> Sequence[Place]:
        """The nodes one after the other, in all combinations."""
        found: Sequence[Place] | None = None
        for node in nodes:
            more = self._of(node, frame)
            found = more if found is None else [
                step(one, other) for one, other in product(found, more)][:_MOST]
        return found if found is not None else [ROOT]

    def _operation(
        self, left: ast.expr, op: ast.operator, right: ast.expr, frame: _Frame
    ) -> Sequence[Place]:
        match op:
            case ast.Div():
                return self._each(Place.join, [left, right], frame)
            case ast.Add():
                return self._each(Place.then, [left, right], frame)
            case ast.Mod() if (template := self._names.text(left)) is not None:
                return [Place("", template).gapped("%")]
        return [UNKNOWN]

    def _field(self, node: ast.FormattedValue, frame: _Frame) -> Sequence[Place]:
        """A format such as `:03d` is for numbers, and a number is one name at most."""
        spec = self._names.text(node.format_spec.values[0]) \
            if isinstance(node.format_spec, ast.JoinedStr) and node.format_spec.values else None
        if node.format_spec is not None:
            return [Place("", NAME if spec and spec[-1] in "dxXobeEfFgG%" else ANY)]
        return self._of(node.value, frame)

    def _named(self, name: str, frame: _Frame) -> Sequence[Place]:
        if name == "__file__":
            return [Place("file", NAME)]
        if frame.bound is not None and name in frame.bound:
            return frame.bound[name]
        if name in self._names.imported:
            return _text_of(self._names.imported[name])
        if frame.bound is not None:
            return self._variable(name, frame)
        key = frame.scope, name
        if key not in self._known:
            self._known[key] = [UNKNOWN]  # while it is being looked at: it may go in circles
            self._known[key] = self._variable(name, frame)
        return self._known[key]

    def _variable(self, name: str, frame: _Frame) -> Sequence[Place]:
        for scope in self._names.scopes(frame.scope):
            inner = frame._replace(scope=scope)
            found = self._assigned(name, inner)
            for items, is_whole in self._names.iterated.get((scope, name), [])[:_MOST]:
                found += self._items(items, inner) if is_whole else [UNKNOWN]
            if isinstance(scope, Function) and name in self._names.given(scope):
                found += self._parameter(name, scope, frame.depth)
            if found:
                return list(dict.fromkeys(found))[:_MOST]
        values = self._names.values(name, None)
        return [place for value in values for place in self._of(value, frame)] or [UNKNOWN]

    def _assigned(self, name: str, frame: _Frame) -> list[Place]:
        """One after the other: `p = p / "x"` goes on from what p was, once, outside of a loop."""
        key = frame.scope, name
        found: list[Place] = []
        for value in self._names.assigned.get(key, [])[:_MOST]:
            if frame.bound is None and self._known.get(key) is not None:
                self._known[key] = found[:] if found and not self._names.is_repeated(value) \
                    else [UNKNOWN]
            found += self._of(value, frame)
        return found

    def _items(self, node: ast.expr, frame: _Frame) -> Sequence[Place]:
        """What a loop runs over."""
        match aimed := self._names.aim(node, frame.scope):
            case ast.Tuple(elts=items) | ast.List(elts=items) | ast.Set(elts=items):
                return [place for each in items[:_MOST] for place in self._of(each, frame)]
            case ast.Call() if called(aimed) in ("range", "count"):
                return [Place("", NAME)]
            case ast.Call():
                return self._of(aimed, frame)
        return [UNKNOWN]

    def _parameter(self, name: str, function: Function, depth: int) -> Sequence[Place]:
        """By its callers in this file, its parameters, its fixture; without any, a gap."""
        if isinstance(function, ast.Lambda):
            return [UNKNOWN]
        outside = _Frame(self._names.outer[function], None, depth)
        default = self._names.given(function)[name]
        found = list(self._of(default, outside)) if default is not None else []
        for call, scope in self._sites.get(function.name, [])[:_MOST]:
            value = arguments(call, function).get(name)
            if value is not None:
                found += self._of(value, _Frame(scope, None, depth))
            elif default is None:
                found.append(UNKNOWN)
        for value in _parametrized(function, name):
            found += self._of(value, outside)
        for fixture in self._names.functions.get(name, []):
            if any("fixture" in ast_name for ast_name in map(_last, fixture.decorator_list)):
                found += self._results(fixture, None, depth)
        if not found and name in _SCRATCH_NAMES:
            return [Place(SCRATCH, ".")]
        return found or [UNKNOWN]

    def _attribute(self, node: ast.Attribute, frame: _Frame) -> Sequence[Place]:
        if node.attr == "parent":
            return [place.parent() for place in self._of(node.value, frame)]
        if node.attr in ("name", "stem", "suffix", "basename"):
            return [place.last() if node.attr == "name" else Place("", NAME)
                    for place in self._of(node.value, frame)]
        if node.attr in _ROOTS:
            return [ROOT]
        if node.attr in ("fspath", "path") and _last(node.value) in ("request", "node"):
            return [Place("file", NAME)]
        if node.attr in ("path", "strpath"):
            return self._of(node.value, frame)
        if isinstance(node.value, ast.Name) and node.value.id not in self._names.imported:
            return self._of_self(node.attr, frame.depth)
        return _text_of(self._names.dotted(node, frame.scope))

    def _of_self(self, name: str, depth: int) -> Sequence[Place]:
        key = None, f"self.{name}"
        if key not in self._known:
            self._known[key] = [UNKNOWN]
            found = [place for value, scope in self._names.attributes.get(name, [])[:_MOST]
                     for place in self._of(value, _Frame(scope, None, depth))]
            self._known[key] = list(dict.fromkeys(found))[:_MOST] or [UNKNOWN]
        return self._known[key]

    def _subscript(self, of: ast.expr, key: ast.expr, frame: _Frame) -> Sequence[Place]:
        if isinstance(of, ast.Attribute) and of.attr == "parents":
            if isinstance(key, ast.Constant) and type(key.value) is int and 0 <= key.value < 64:
                return [place.parent(key.value + 1) for place in self._of(of.value, frame)]
            return [UNKNOWN]
        match self._names.aim(of, frame.scope):
            case ast.Dict(values=values) | ast.List(elts=values) | ast.Tuple(elts=values):
                return [place for each in values[:_MOST] for place in self._of(each, frame)]
        return [UNKNOWN]

    def _call(self, node: ast.Call, frame: _Frame) -> Sequence[Place]:
        name, args = called(node), node.args
        known = self._names.imported.get(name, name).rpartition(".")[2]
        of = node.func.value if isinstance(node.func, ast.Attribute) else None
        if name == "cwd" or name in ("getcwd", "getcwdb", "getrootdir"):
            return [ROOT]
        if known in _PATHS or (known == "join" and self._is_function(of, frame)):
            return self._each(Place.join, args, frame)
        if known == "dirname" and args:
            return [place.parent() for place in self._of(args[0], frame)]
        if known == "basename" and args:
            return [place.last() for place in self._of(args[0], frame)]
        dotted = self._names.dotted(node.func, frame.scope)
        if _SCRATCH.fullmatch(dotted):
            return [Place(SCRATCH, ".")]
        if dotted in _RESOURCES:
            return [self.resource(each, frame.scope) for each in args[:1]] or [UNKNOWN]
        if known in _SAME and (args or of is not None):
            whole = args[0] if args and self._is_function(of, frame) else of
            return self._of(whole, frame) if whole is not None else [UNKNOWN]
        if name in self._names.functions:
            return self._own(node, frame)
        return self._method(name, of, args, frame) if of is not None else self._listing(
            name, args, frame)

    def _is_function(self, of: ast.expr | None, frame: _Frame) -> bool:
        """Whether it is no method of a value."""
        return of is None or self._names.is_imported(of, frame.scope)

    def _method(
        self, name: str, of: ast.expr, args: Sequence[ast.expr], frame: _Frame
    ) -> Sequence[Place]:
        match name:
            case "joinpath" | "__truediv__" | "joinpaths":
                return self._each(Place.join, [of, *args], frame)
            case "with_name" if args:
                return [one.parent().join(other) for one in self._of(of, frame)
                        for other in self._of(args[0], frame)]
            case "with_suffix" | "with_stem":
                return [place.parent().join(Place("", NAME)) for place in self._of(of, frame)]
            case "format" if (template := self._names.text(of)) is not None:
                return [Place("", template).gapped("{")]
            case "join" if args and isinstance(args[0], ast.List | ast.Tuple):
                between = self._names.text(of)
                return self._each(Place.join if between == "/" else Place.then, args[0].elts, frame)
            case "join" if self._names.text(of) is None:
                return self._each(Place.join, [of, *args], frame)
            case "iterdir" | "listdir" | "scandir" if not args:
                return [place.join(Place("", NAME)) for place in self._of(of, frame)]
            case "glob" | "rglob" if args and _last(of) != "glob":
                deep = [Place("", ANY)] if name == "rglob" else [ROOT]
                return [one.join(deep[0]).join(other.globbed()) for one in self._of(of, frame)
                        for other in self._of(args[0], frame)]
        return self._listing(name, args, frame)

    def _listing(self, name: str, args: Sequence[ast.expr], frame: _Frame) -> Sequence[Place]:
        match name:
            case "listdir" if args:
                return [Place("", NAME)]
            case "glob" | "iglob" if args:
                return [place.globbed() for place in self._of(args[0], frame)]
            case "scandir" if args:
                return [place.join(Place("", NAME)) for place in self._of(args[0], frame)]
        return [UNKNOWN]

    def _own(self, node: ast.Call, frame: _Frame) -> Sequence[Place]:
        """A function of this file: what it returns, given these arguments."""
        found: list[Place] = []
        for function in self._names.functions[called(node)]:
            given = arguments(node, function)
            bound = {name: self._of(value, frame) for name, value in given.items()}
            for name, default in self._names.given(function).items():
                if name not in bound:
                    bound[name] = self._of(default, frame) if default else [UNKNOWN]
            found += self._results(function, bound, frame.depth)
        return found

    def _results(
        self, function: ast.FunctionDef | ast.AsyncFunctionDef, bound: Bound, depth: int
    ) -> Sequence[Place]:
        frame = _Frame(function, bound, depth)
        return [place for value in self._names.results.get(function, [])[:_MOST]
                for place in self._of(value, frame)]


def arguments(call: ast.Call, function: Function) -> dict[str, ast.expr]:
    """What a call gives to which parameter; stars are left out."""
    plain = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    if plain[:1] in (["self"], ["cls"]) and isinstance(call.func, ast.Attribute):
        plain = plain[1:]
    found: dict[str, ast.expr] = {}
    for name, value in zip(plain, call.args, strict=False):
        if isinstance(value, ast.Starred):
            break
        found[name] = value
    found.update((each.arg, each.value) for each in call.keywords if each.arg)
    return found


def _parametrized(
    function: ast.FunctionDef | ast.AsyncFunctionDef, name: str
) -> Iterable[ast.expr]:
    """The literal values of `@pytest.mark.parametrize("name, other", [...])`."""
    for node in function.decorator_list:
        match node:
            case ast.Call(args=[ast.Constant(value=str() as told), ast.List(elts=rows)
                                | ast.Tuple(elts=rows), *_]) if _last(node) == "parametrize":
                names = [each.strip() for each in told.split(",")]
                if name not in names:
                    continue
                for row in rows[:_MOST]:
                    cells = row.elts if isinstance(row, ast.Tuple | ast.List) else [row]
                    if isinstance(row, ast.Call) and _last(row) == "param":
                        cells = row.args
                    if names.index(name) < len(cells):
                        yield cells[names.index(name)]


def _last(node: ast.expr) -> str:
    if isinstance(node, ast.Call):
        return called(node)
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _choices(node: ast.expr) -> Sequence[ast.expr]:
    match node:
        case ast.IfExp(body=yes, orelse=no):
            return [yes, no]
        case ast.BoolOp(values=values):
            return values
        case ast.NamedExpr(value=inner) | ast.Await(value=inner) | ast.Starred(value=inner):
            return [inner]
        case ast.GeneratorExp(elt=inner) | ast.ListComp(elt=inner):
            return [inner]
    return []


def _text_of(dotted: str) -> Sequence[Place]:
    return [Place("", _TEXTS[dotted])] if dotted in _TEXTS else [UNKNOWN]
