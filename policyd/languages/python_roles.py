"""What the literals of a Python file are there for: expected answers, mere names, or neither."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any, Final

from policyd.core.sheet import Role
from policyd.languages.python_dotted import Dotted, last_name
from policyd.languages.python_outline import FIELDS, Outline, Scope

_KEY: Final = re.compile(r"[\w.:/-]{1,64}")
_WORD: Final = re.compile(r"[\w.-]{1,64}")
_OPTION: Final = re.compile(r"--?[A-Za-z][\w-]*=?")
_LOGGING: Final = frozenset(["debug", "info", "warning", "warn", "error", "critical", "exception",
                             "log", "getLogger"])
_SAYING: Final = frozenset(["print", "warn", "echo", "secho", "skip", "fail", "xfail", "exit"])
_KEYED: Final = frozenset(["get", "pop", "setdefault", "getenv", "setenv", "delenv", "setitem",
                           "usefixtures", "getfixturevalue", "parametrize", "find_spec",
                           "import_module", "importorskip", "__import__", "add_parser", "group",
                           "add_option", "addoption", "addini", "getoption", "getini"])
"""Calls of which the first argument is a name."""
_SECOND: Final = frozenset(["getattr", "setattr", "hasattr", "delattr", "object"])
_ALL_NAMES: Final = frozenset(["add_argument", "option", "argument", "encode", "decode", "patch",
                               "namedtuple", "TypeVar", "NewType"])
_FORMATS: Final = frozenset(["strftime", "strptime"])
_NAMING: Final = frozenset(["encoding", "errors", "mode", "dest", "metavar", "help", "reason", "id",
                            "ids", "newline", "prog", "choices", "argnames", "msg", "strict"])
"""Keywords of which the value is a name, or text for people."""
_HELD: Final = frozenset(["approx", "snapshot", "isclose", "allclose", "fnmatch_lines",
                          "re_match_lines", "no_fnmatch_line", "array_equal", "equals"])
_HERE: Final = ("sys.", "os.", "platform.")

_THROUGH: Final = (ast.List, ast.Tuple, ast.Set, ast.BinOp, ast.JoinedStr, ast.FormattedValue,
                   ast.IfExp, ast.Starred, ast.UnaryOp, ast.BoolOp, ast.NamedExpr)


class Roles:
    """One for a file. What is in none of `found` is plain."""

    def __init__(self, outline: Outline, dotted: Dotted) -> None:
        self._outline = outline
        self._dotted = dotted
        self.found: dict[int, Role] = {}
        self._held: dict[int, set[str]] = {}
        """Names that something is held against, by the id of the scope where that is."""

    def read(self, answers: Iterable[ast.expr], returned: Mapping[str, ast.expr]
             ) -> Mapping[int, Role]:
        """`answers`: expected cells. `returned`: what functions, such as fixtures, give back."""
        module = self._outline.module
        for node in answers:
            self._mark(node, Role.ANSWER, module)
        for compare, scope in self._outline.compares:
            self._compare(compare, scope)
        for scope in self._outline.scopes:
            for statement in (scope.node, *scope.statements):
                for call in self._outline.calls.get(id(statement), ()):
                    self._call(call, scope)
        everywhere = {name for names in self._held.values() for name in names}
        for name in returned.keys() & everywhere:
            self._mark(returned[name], Role.ANSWER, module)
        for scope in self._outline.scopes if everywhere else ():
            self._assigned(scope, self._held_in(scope) if scope.is_function else everywhere)
        for keyed in self._outline.dicts:
            for key in keyed.keys:
                self._name(key, _KEY)
        for subscript in self._outline.subscripts:
            self._mark(subscript.slice, Role.NAME, module)
        return self.found

    def _held_in(self, scope: Scope) -> set[str]:
        """Names that are held against something in a function or within it."""
        found: set[str] = set()
        stack = [scope]
        while stack:
            one = stack.pop()
            found |= self._held.get(id(one), set())
            stack += one.inner
        return found

    def _mark(self, node: Any, role: Role, scope: Scope) -> None:
        """A value and what it is made of, calls such as Decimal("19.25") included."""
        stack = [node]
        while stack:
            node = stack.pop()
            kind = node.__class__
            self.found[id(node)] = role
            if kind is ast.Dict:
                stack += node.values
            elif kind is ast.Call:
                if _is_making(node):
                    stack += node.args
                    stack += [one.value for one in node.keywords]
            elif kind is ast.Name:
                if role is Role.ANSWER:
                    self._held.setdefault(id(scope), set()).add(node.id)
            elif isinstance(node, _THROUGH):
                for name in FIELDS[kind]:
                    child = getattr(node, name)
                    stack += child if child.__class__ is list else [child]

    def _compare(self, node: ast.Compare, scope: Scope) -> None:
        sides = [node.left, *node.comparators]
        if any(self._dotted.of(side).startswith(_HERE) for side in sides
               if side.__class__ is ast.Attribute):
            role = Role.NAME
        else:
            role = Role.ANSWER
        for side in sides:
            if side.__class__ is not ast.Attribute and side.__class__ is not ast.Subscript:
                self._mark(side, role, scope)

    def _call(self, node: ast.Call, scope: Scope) -> None:
        name = last_name(node.func)
        if name.startswith("assert") or name in _HELD:
            for arg in node.args:
                self._mark(arg, Role.ANSWER, scope)
            for keyword in node.keywords:
                self._mark(keyword.value, Role.ANSWER, scope)
            return
        for keyword in node.keywords:
            if keyword.arg in _NAMING:
                self._mark(keyword.value, Role.NAME, scope)
            elif keyword.arg == "match":
                self._mark(keyword.value, Role.ANSWER, scope)
        if node.args:
            for arg in self._naming(node, name):
                self._mark(arg, Role.NAME, scope)

    def _naming(self, node: ast.Call, name: str) -> Sequence[ast.expr]:
        """The arguments that only name something, or that are read by people only."""
        args = node.args
        if name in _SAYING or (name in _LOGGING and _is_log(node.func)):
            return args
        if name in _KEYED:
            return args[:1] if _is_word(args[0]) else ()
        if name in _ALL_NAMES:
            return [arg for arg in args if _is_word(arg) or name in ("add_argument", "option")]
        if name in _SECOND:
            return [*args[1:2], *(args[:1] if _is_word(args[0]) else ())]
        if name == "open":
            return args[1:2] if isinstance(node.func, ast.Name) else args[:1] if _is_word(
                args[0]) else ()
        return args[-1:] if name in _FORMATS else ()

    def _name(self, node: ast.expr | None, pattern: re.Pattern[str]) -> None:
        if isinstance(node, ast.Constant) and isinstance(node.value, str | int) and (
                pattern.fullmatch(str(node.value)[:65])):
            self.found[id(node)] = Role.NAME

    def _assigned(self, scope: Scope, held: Set[str]) -> None:
        """What names are set to that something is held against, in a loop over cases too."""
        for statement in scope.statements:
            match statement:
                case ast.Assign(targets=targets, value=value):
                    for target in targets:
                        self._given(target, value, held)
                case ast.AnnAssign(target=target, value=ast.expr() as value):
                    self._given(target, value, held)
                case ast.For(target=target, iter=rows):
                    rows = self._dotted.seen(rows)
                    for row in rows.elts if isinstance(rows, ast.List | ast.Tuple) else ():
                        self._given(target, row, held)

    def _given(self, target: ast.expr, value: ast.expr, held: Set[str]) -> None:
        if isinstance(target, ast.Name):
            if target.id in held:
                self._mark(value, Role.ANSWER, self._outline.module)
        elif isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List):
            for one, other in zip(target.elts, value.elts, strict=False):
                if isinstance(one, ast.Name) and one.id in held:
                    self._mark(other, Role.ANSWER, self._outline.module)


def role_of(found: Mapping[int, Role], key: int, value: object, use: str) -> Role:
    """Of one literal: what its place says, and what it looks like."""
    if isinstance(value, str) and _OPTION.fullmatch(value[:80]):
        return Role.NAME
    return found.get(key, Role.ANSWER if use == "matched" else Role.PLAIN)


def _is_making(node: ast.Call) -> bool:
    """Whether a call makes a value out of what it is given, and works nothing out."""
    name = last_name(node.func)
    return name[:1].isupper() or name in ("set", "frozenset", "list", "tuple", "dict", "bytes",
                                          "str", "float", "int", "date", "datetime", "array",
                                          "approx", "snapshot", "dedent", "escape")


def _is_word(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and bool(
        _WORD.fullmatch(node.value[:65]) or "," in node.value)


def _is_log(func: ast.expr) -> bool:
    holder = func.value if isinstance(func, ast.Attribute) else func
    return "log" in last_name(holder).lower() or last_name(holder) in ("warnings", "self")
