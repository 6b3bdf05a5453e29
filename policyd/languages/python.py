"""Python source in, the literals that it holds out. Reads the tree only; runs none of it.

The source is hostile: call this in a process that may die (policyd.adapters.sourcereader). What
base64, chr(), slices or replace() hide, and what stands in annotations, docstrings, `__all__` or
`Literal[...]`, is not found.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from warnings import catch_warnings, simplefilter

from policyd.core.sheet import Literal, Role, Sheet
from policyd.languages import python_tests
from policyd.languages.literal import Unparseable, telling_number, telling_text
from policyd.languages.python_constants import Display, Part, constants, form
from policyd.languages.python_defined import defined
from policyd.languages.python_defines import defines
from policyd.languages.python_roles import role_of
from policyd.languages.python_tricks import tricks
from policyd.languages.python_uses import spots
from policyd.languages.python_values import is_number

NO_ROLES: Mapping[int, Role] = {}
NO_NAMES: Mapping[int, str] = {}
_TOO_DEEP = "nested too deeply, or too large, to be parsed"
_DISPLAY = 3

_REASONS = (
    (r"too many nested|too deep|recursion|stack overflow", _TOO_DEEP),
    (r"null byte", "holds a NUL byte"),
    (r"encod|codec|unicode error", "not in the encoding that it declares (UTF-8 by default)"),
    (r"Missing parentheses in call", "not {python} (Python 2?)"),
    (r"f-string|must be parenthesized", "not {python} (newer or older syntax?)"),
    (r"4300|integer string", "holds an integer too long to be read"),
)
_NEWER = re.compile(r"\s*(type\s+\w+.*=|(async\s+)?def\s+\w+\s*\[|class\s+\w+\s*\[)|.*\bt['\"]")


def sheet(source: bytes, min_length: int, *, python: str = "this Python") -> Sheet:
    """All that a file says. Raises Unparseable."""
    tree = _parsed(source, python)
    try:
        parts = tuple(constants(spots(tree)))
        found = tricks(tree, parts)
        told = python_tests.read(tree, {part.key: part for part in parts})
        return Sheet(
            literals=_literals(parts, min_length, told.roles, _constants(tree)), tests=told.tests,
            markers=told.markers, mocks=told.mocks, samples=told.samples, imports=told.imports,
            keyed=found.keyed, suspects=found.suspects, opened=found.opened,
            defines=defines(tree), defined=defined(tree))
    except (MemoryError, RecursionError):
        raise Unparseable(1, _TOO_DEEP) from None


def literals(source: bytes, min_length: int, *, python: str = "this Python") -> tuple[Literal, ...]:
    """The telling literals of a file, by line; a constant expression counts as its worth.

    Telling: text of `min_length` code points and more with a letter or digit in it, numbers of
    four significant digits and more, displays of three constants and more that are not all the
    same. Raises Unparseable; `python` is what its reasons call the interpreter.
    """
    tree = _parsed(source, python)
    try:
        return _literals(constants(spots(tree)), min_length)
    except (MemoryError, RecursionError):
        raise Unparseable(1, _TOO_DEEP) from None


def _literals(
    parts: Iterable[Part], min_length: int, roles: Mapping[int, Role] = NO_ROLES,
    names: Mapping[int, str] = NO_NAMES,
) -> tuple[Literal, ...]:
    found = {_literal(part, roles, names) for part in parts if _telling(part, min_length)}
    return tuple(sorted(found, key=lambda each: (
        each.line, each.value, each.use, each.role.value, each.name)))


def _constants(tree: ast.Module) -> dict[int, str]:
    """The names that a module gives to whole values, by the value's node."""
    found = {}
    for statement in tree.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                found[id(value)] = name
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                found[id(value)] = name
    return found


def _parsed(source: bytes, python: str) -> ast.Module:
    """Bytes, not text: byte order marks, line ends and cookies are then the parser's business.

    Any exception at all means that the file cannot be read; the parser has raised SystemError
    and LookupError too.
    """
    try:
        with catch_warnings():
            simplefilter("ignore")
            return ast.parse(source)
    except SyntaxError as error:
        raise Unparseable(max(1, error.lineno or 1), _reason(error, python)) from None
    except UnicodeError:
        raise Unparseable(1, "not in the encoding that it declares (UTF-8 by default)") from None
    except (MemoryError, RecursionError, SystemError):
        raise Unparseable(1, _TOO_DEEP) from None
    except Exception as error:
        raise Unparseable(1, _reason(error, python)) from None


def _reason(error: Exception, python: str) -> str:
    """In our own words: the parser's may quote what was pushed."""
    said = error.msg if isinstance(error, SyntaxError) else str(error)
    for pattern, reason in _REASONS:
        if re.search(pattern, said):
            return reason.format(python=python)
    text = error.text if isinstance(error, SyntaxError) else None
    newer = text and _NEWER.match(text[:1000])
    return f"not {python} (newer syntax?)" if newer else f"invalid syntax for {python}"


def _telling(part: Part, min_length: int) -> bool:
    value = part.value
    if isinstance(value, Display):
        return value.size >= _DISPLAY and value.alike is None
    if isinstance(value, str | bytes):
        return telling_text(value, min_length)
    return is_number(value) and telling_number(value)


def _literal(part: Part, roles: Mapping[int, Role], names: Mapping[int, str]) -> Literal:
    role = role_of(roles, part.key, part.value, part.use) if roles is not NO_ROLES else Role.PLAIN
    return Literal(form(part.value), part.line, part.use, role, names.get(part.key, ""))
