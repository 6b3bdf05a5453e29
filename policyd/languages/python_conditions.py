"""What a condition in a Python test depends on: platform, version, a package, or something else."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from policyd.languages.python_dotted import Dotted, ascii_name, last_name
from policyd.languages.python_outline import FIELDS, Outline
from policyd.languages.python_worlds import everywhere
from policyd.languages.python_worth import truth

OTHER: Final = "other"
ALWAYS: Final = ""
_DEEPEST = 8
_MOST = 400
"""Nodes of a condition that are looked at."""

_PLATFORM = frozenset(["sys.platform", "os.name", "sys.byteorder", "sys.maxsize", "os.uname",
                       "sysconfig.get_platform"])
_VERSION = frozenset(["sys.version_info", "sys.version", "sys.hexversion", "sys.implementation",
                      "sys.implementation.name", "platform.python_version",
                      "platform.python_version_tuple", "platform.python_implementation"])
_PLATFORM_NAME = re.compile(
    r"(^|_)(is_?)?(win(dows|32)?|mac(os)?|darwin|linux|posix|cygwin|freebsd|wasm|emscripten|bsd|"
    r"android|ios|arm64|aarch64|x86)(_|$)", re.IGNORECASE)
_VERSION_NAME = re.compile(r"(^|_)(py(thon)?_?[23]\w*|pypy|cpython|version(_info)?|lt|gte?|lte?)$",
                           re.IGNORECASE)
_FINDING = frozenset(["find_spec", "find_loader", "importorskip", "find_module"])
_VERSIONS = frozenset(["Version", "parse_version", "LooseVersion", "StrictVersion", "__version__"])


class Conditions:
    """One for a file: it knows the flags that are set where an import succeeds or fails."""

    def __init__(self, outline: Outline, dotted: Dotted) -> None:
        self._dotted = dotted
        self._flags: dict[str, str] = {}
        """Names that tell whether a package is there, and which."""
        for statement in outline.module.statements:
            if isinstance(statement, ast.Try):
                self._flag(statement)

    def of(self, test: ast.expr, depth: int = _DEEPEST) -> str | None:
        """What a condition depends on; ALWAYS, or None where it never holds."""
        sure = truth(test)
        if sure is not None and not _is_text(test):
            return ALWAYS if sure else None
        sure = everywhere(test, self._dotted)
        if sure is not None:
            return ALWAYS if sure else None
        match test:
            case ast.Constant(value=str() as text):
                parsed = _parsed(text)
                return self.of(parsed, depth - 1) if parsed is not None and depth else OTHER
            case ast.UnaryOp(op=ast.Not(), operand=operand) if depth:
                inner = self.of(operand, depth - 1)
                return ALWAYS if inner is None else None if inner == ALWAYS else inner
            case ast.BoolOp(op=op, values=values) if depth:
                inside = [self.of(value, depth - 1) for value in values[:50]]
                return _any_of(inside) if isinstance(op, ast.Or) else _all_of(inside)
            case ast.Name(id=name) if depth and (held := self._held(name)) is not None:
                return self.of(held, depth - 1)
        return self._leaf(test)

    def _held(self, name: str) -> ast.expr | None:
        """What a flag of the module is set to; not where it is a plain constant."""
        held = self._dotted.assigned.get(name)
        return None if name in self._flags or isinstance(held, ast.Constant) else held

    def _leaf(self, test: ast.expr) -> str:
        """The first thing in it that tells."""
        found = OTHER
        for node in _within(test):
            if isinstance(node, ast.Call) and last_name(node.func) in _FINDING:
                return package(node.args[:1])
            if isinstance(node, ast.Constant) and node.value == "pypy_version_info":
                return "version"
            name = self._dotted.of(node) if isinstance(node, ast.Name | ast.Attribute) else ""
            if name in _VERSION or last_name(node) in _VERSIONS:
                return "version"
            if name in _PLATFORM or name.startswith("platform."):
                return "platform"
            if isinstance(node, ast.Name) and node.id in self._flags:
                return f"package:{self._flags[node.id]}"
            last = name.rpartition(".")[2]
            if last and _PLATFORM_NAME.search(last):
                found = "platform"
            elif last and _VERSION_NAME.search(last) and found == OTHER:
                found = "version"
        return found

    def _flag(self, statement: ast.Try) -> None:
        """`try: import numpy` / `except ImportError: numpy = None`."""
        imported = [alias.name for one in statement.body
                    if isinstance(one, ast.Import | ast.ImportFrom)
                    for alias in (one.names if isinstance(one, ast.Import) else ())]
        imported += [one.module for one in statement.body
                     if isinstance(one, ast.ImportFrom) and one.module]
        if not imported or not any(map(is_missing, statement.handlers)):
            return
        package_ = ascii_name(imported[0].split(".")[0])
        blocks = (statement.body, statement.orelse, *(one.body for one in statement.handlers))
        for one in (each for block in blocks for each in block):
            for target in getattr(one, "targets", ()):
                if isinstance(target, ast.Name):
                    self._flags[target.id] = package_


def is_missing(handler: ast.ExceptHandler) -> bool:
    """Whether a handler is for an import that fails."""
    if handler.type is None:
        return True
    types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(last_name(one) in ("ImportError", "ModuleNotFoundError", "Exception")
               for one in types)


def package(args: Iterable[ast.expr]) -> str:
    for node in args:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return f"package:{ascii_name(node.value.split('.')[0])[:64]}"
    return OTHER


def _any_of(inside: list[str | None]) -> str | None:
    """Of several that are enough each."""
    held = {one for one in inside if one is not None}
    if not held or ALWAYS in held:
        return ALWAYS if held else None
    return held.pop() if len(held) == 1 else OTHER


def _all_of(inside: list[str | None]) -> str | None:
    """Of several that have to hold together: the first that is known."""
    if None in inside:
        return None
    held = [one for one in inside if one]
    known = [one for one in held if one != OTHER]
    return known[0] if known else OTHER if held else ALWAYS


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _parsed(text: str) -> ast.expr | None:
    """A condition that is written as text."""
    try:
        return ast.parse(text.strip()[:1000], mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def _within(node: Any) -> Iterator[Any]:
    stack = [node]
    for _ in range(_MOST):
        if not stack:
            return
        node = stack.pop()
        yield node
        for name in FIELDS.get(node.__class__, ()):
            child = getattr(node, name)
            stack += child if child.__class__ is list else [child]
