"""What the names of a Python file stand for: modules and their parts, dotted."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from policyd.languages.python_constants import Part
from policyd.languages.python_outline import Outline, Scope

_DEEPEST = 40
_IMPORTERS = frozenset(["importlib.import_module", "import_module", "__import__",
                        "pytest.importorskip", "runpy.run_module", "pkgutil.resolve_name"])
_LAST_NAMES = {name.rpartition(".")[2] for name in _IMPORTERS}
_UNKNOWN = ""


def ascii_name(name: str) -> str:
    return name if name.isascii() else name.encode("unicode_escape").decode("ascii")


class Dotted:
    """Resolves through imports anywhere in the file, and through plain aliases of its module."""

    def __init__(self, outline: Outline) -> None:
        self._outline = outline
        self.bound: dict[str, str] = {}
        """What an imported name stands for: `app` for `shop.app`, `total` for `shop.app.total`."""
        self.imported: dict[int, set[str]] = {}
        """The names that a scope imports itself, by its id."""
        self.modules: dict[str, None] = {}
        """The modules that are imported, in order; a leading dot for each level up."""
        self.plain: dict[str, list[str]] = {}
        """The modules of `import a.b`, by the name `a` that it binds."""
        self.assigned: dict[str, ast.expr] = {}
        """What names of the module are set to, where that happens once."""
        for statement, scope in outline.imports:
            self._import(statement, scope)
        for each in outline.module.statements:
            self._assignment(each)

    def _import(self, statement: ast.Import | ast.ImportFrom, scope: Scope) -> None:
        """What the module itself imports wins over what a function does."""
        base = "." * statement.level if isinstance(statement, ast.ImportFrom) else ""
        if isinstance(statement, ast.ImportFrom):
            base += statement.module or ""
            if statement.module:
                self.modules[ascii_name(base)] = None
        for alias in statement.names:
            if isinstance(statement, ast.Import):
                name = alias.asname or alias.name.split(".")[0]
                whole = alias.name if alias.asname else name
                self.modules[ascii_name(alias.name)] = None
                if whole != alias.name:
                    self.plain.setdefault(name, []).append(ascii_name(alias.name))
            else:
                name = alias.asname or alias.name
                whole = f"{base}{'' if base.endswith('.') else '.'}{alias.name}"
                if not statement.module:
                    self.modules[ascii_name(whole)] = None
            self.imported.setdefault(id(scope), set()).add(name)
            if scope is self._outline.module or name not in self.bound:
                self.bound[name] = ascii_name(whole)

    def _assignment(self, statement: ast.AST) -> None:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                pass
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                pass
            case _:
                return
        if self._outline.module.stored.get(name) == 1:
            self.assigned[name] = value

    def of(self, node: ast.AST) -> str:
        """`pytest.mark.skip` for whatever spells it; empty where it is no dotted name.

        Names that are neither imported nor an alias stand for themselves.
        """
        parts: list[str] = []
        for _ in range(_DEEPEST):
            match node:
                case ast.Attribute(value=value, attr=attr):
                    parts.append(attr)
                    node = value
                case ast.Call(func=ast.Name(id="getattr"), args=[
                        value, ast.Constant(value=str() as attr), *_]):
                    parts.append(attr)
                    node = value
                case ast.Name(id=name):
                    alias = self.assigned.get(name)
                    if name in self.bound or not isinstance(alias, ast.Name | ast.Attribute):
                        parts.append(self.bound.get(name, ascii_name(name)))
                        return ".".join(reversed(parts))
                    node = alias
                case _:
                    return _UNKNOWN
        return _UNKNOWN

    def seen(self, node: ast.expr) -> ast.expr:
        """What a name is an alias of, or the expression itself."""
        for _ in range(_DEEPEST):
            if not (isinstance(node, ast.Name) and node.id in self.assigned):
                break
            node = self.assigned[node.id]
        return node

    def imports(self, parts: Mapping[int, Part]) -> Iterator[str]:
        """The modules that the file imports, by statement or by name. `parts`: its constants."""
        found = dict(self.modules)
        for calls in self._outline.calls.values():
            for call in calls:
                if call.args and last_name(call.func) in _LAST_NAMES and (
                        self.of(call.func) in _IMPORTERS):
                    part = parts.get(id(self.seen(call.args[0])))
                    if part is not None and isinstance(part.value, str):
                        found[ascii_name(part.value.partition(":")[0])] = None
        yield from (name for name in found if len(name) <= 256)


def last_name(node: ast.AST) -> str:
    """`skip` of `pytest.mark.skip`."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
