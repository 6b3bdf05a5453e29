"""What the names of a JavaScript file stand for: modules, functions, values told once."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from policyd.languages.javascript_names import (
    ASSERTERS,
    ASSERTING,
    FUNCTIONS,
    arguments,
    callee,
    member,
    spine,
)
from policyd.languages.javascript_tree import Node, walk
from policyd.languages.javascript_values import text_of

_ENDS = re.compile(r"\.(?:[cm]?[jt]sx?)$")
_LOADS = frozenset({"require", "import", "jest.requireActual", "vi.importActual", "require.resolve",
                    "jest.requireMock", "vi.importMock", "proxyquire", "rewire", "esmock"})
_ASSERT_MODULES = frozenset({"assert", "assert/strict", "chai", "power-assert", "uvu/assert",
                             "tap", "tape"})
_MOST_NAMES = 400
"""Names that are followed for one test."""
_MOST_ORIGINS = 40
_OPENS = frozenset({"identifier", "shorthand_property_identifier"})


def module_of(written: str) -> str:
    """A module as `Sheet.imports` has it: without what a build puts at the end of a path."""
    plain = written.removeprefix("node:")
    return _ENDS.sub("", plain) if plain.startswith(".") else plain


class Bindings:
    """`modules` by the name that holds them; `values` of names that are declared once."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.imports: dict[str, int] = {}
        """Modules with the line where each is first asked for."""
        self.modules: dict[str, str] = {}
        self.renamed: dict[str, str] = {}
        """Functions of an assertion library by the names that they have here."""
        self.bare: set[str] = set()
        """Modules that are loaded for what they do."""
        self.values: dict[str, Node] = {}
        self._made: dict[str, set[str]] = {}
        """By name, what the calls and constructions begin with that it is set to anywhere."""
        self._declared: set[str] = set()
        self._used: dict[str, frozenset[str]] = {}
        for node in nodes:
            self._take(node)

    def function(self, node: Node | None) -> Node | None:
        """The function that a name stands for, or that stands there itself."""
        for _ in range(3):
            if node is None or node.kind in FUNCTIONS:
                return node
            node = self.values.get(node.text) if node.kind == "identifier" else None
        return None

    def value(self, node: Node) -> Node:
        """What a name is declared to be; the node itself where that is not known."""
        for _ in range(8):
            held = self.values.get(node.text) if node.kind == "identifier" else None
            if held is None:
                break
            node = held
        return node

    def origins(self, name: str) -> list[str]:
        """The modules that a name is of, or that what it is set to was made by."""
        found: set[str] = set()
        seen: set[str] = set()
        left = [name]
        while left and len(seen) < _MOST_ORIGINS:
            one = left.pop()
            if one in self.modules:
                found.add(self.modules[one])
            elif one not in seen:
                left += sorted(self._made.get(one, ()))
            seen.add(one)
        return sorted(found)

    def modules_of(self, names: frozenset[str]) -> Iterator[str]:
        """The modules that names lead to, by what the file's own functions use in turn."""
        seen: set[str] = set()
        left = list(names)
        while left and len(seen) < _MOST_NAMES:
            name = left.pop()
            if name in seen:
                continue
            seen.add(name)
            if name in self.modules:
                yield self.modules[name]
            elif name in self.values:
                left.extend(self._inside(name))

    def _inside(self, name: str) -> frozenset[str]:
        if name not in self._used:
            self._used[name] = names_in(self.values[name])
        return self._used[name]

    def _take(self, node: Node) -> None:
        match node.kind:
            case "import_statement":
                self._import(node)
            case "export_statement":
                source = node.get("source")
                if source is not None:
                    self._load(source)
            case "call_expression" if callee(node) in _LOADS and arguments(node):
                self._load(arguments(node)[0])
            case "variable_declarator":
                self._variable(node)
            case "function_declaration" | "generator_function_declaration" | "class_declaration":
                name = node.get("name")
                if name is not None:
                    self._declare(name.text, node)
            case "assignment_expression" | "augmented_assignment_expression":
                target = node.get("left")
                if target is not None and target.kind == "identifier":
                    self._spoil(target.text)
                    self._came(target.text, node.get("right"))

    def _load(self, source: Node) -> str:
        written = text_of(source)
        if not written:
            return ""
        module = module_of(written)
        self.imports.setdefault(module, source.line)
        return module

    def _import(self, node: Node) -> None:
        source, clauses = node.get("source"), [
            child for child in node.children if child.kind in ("import_clause",
                                                               "import_require_clause")]
        if source is None and clauses:
            source = clauses[0].get("source")
        module = self._load(source) if source is not None else ""
        if not clauses:
            self.bare.add(module)
        for clause in clauses:
            for one in walk(clause):
                if one.kind == "import_specifier":
                    told = one.get("name")
                    self._bind(one.get("alias") or told, module, told)
                elif one.kind == "identifier" and one.field not in ("name", "alias"):
                    self._bind(one, module, None)

    def _bind(self, name: Node | None, module: str, original: Node | None) -> None:
        if name is None:
            return
        self.modules[name.text] = module
        self._rename(name.text, module, original.text if original is not None else "")

    def _rename(self, name: str, module: str, original: str) -> None:
        if module not in _ASSERT_MODULES:
            return
        if original in ASSERTING and name not in ASSERTERS:
            self.renamed[name] = original
        elif original in ("", "default", "ok") and name not in ASSERTERS:
            self.renamed[name] = "ok"
            self.renamed |= {f"{name}.{one}": one for one in ASSERTING}

    def _variable(self, node: Node) -> None:
        name, value = node.get("name"), node.get("value")
        if name is None:
            return
        loaded = _loaded(value) if value is not None else None
        module = module_of(text_of(loaded) or "") if loaded is not None else ""
        if name.kind == "identifier":
            if module:
                self.modules[name.text] = module
                self._rename(name.text, module, member(value) if value is not None else "")
            if value is not None:
                self._declare(name.text, value)
                self._came(name.text, value)
            else:
                self._spoil(name.text)
            return
        for one in walk(name):
            if one.kind == "shorthand_property_identifier_pattern" and module:
                self._bind(one, module, one)
            elif one.kind == "pair_pattern" and module:
                self._bind(one.get("value"), module, one.get("key"))
            elif one.kind in ("shorthand_property_identifier_pattern", "identifier"):
                self._spoil(one.text)

    def _came(self, name: str, value: Node | None) -> None:
        if value is not None and value.kind == "await_expression" and value.children:
            value = value.children[0]
        root = spine(value)[-1] if value is not None else None
        if root is not None and root.kind == "new_expression":
            root = spine(root.get("constructor") or root)[-1]
        if root is not None and root.kind == "identifier" and root.text != name:
            self._made.setdefault(name, set()).add(root.text)

    def _declare(self, name: str, value: Node) -> None:
        if name in self._declared:
            self._spoil(name)
        else:
            self.values[name] = value
        self._declared.add(name)

    def _spoil(self, name: str) -> None:
        self._declared.add(name)
        self.values.pop(name, None)


def names_in(node: Node) -> frozenset[str]:
    return frozenset(one.text for one in walk(node) if one.kind in _OPENS)


def _loaded(value: Node) -> Node | None:
    """What `require("x")`, `require("x").y` or `await import("x")` loads."""
    for _ in range(4):
        if value.kind == "call_expression" and callee(value) in _LOADS and arguments(value):
            return arguments(value)[0]
        inner = value.get("object") or value.get("function") or (
            value.children[0] if value.kind == "await_expression" and value.children else None)
        if inner is None:
            return None
        value = inner
    return None


def constants_of(bindings: Bindings, kinds: frozenset[str]) -> Mapping[str, Node]:
    """Names that stand for plain values."""
    return {name: value for name, value in bindings.values.items() if value.kind in kinds}
