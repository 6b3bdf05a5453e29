"""What in a Python test is never reached, or fails without anybody noticing."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from policyd.languages.python_dotted import Dotted, last_name
from policyd.languages.python_worth import truth

_DEEPEST = 20
_CATCHING = frozenset(["AssertionError", "Exception", "BaseException"])
_SAYING = frozenset(["print", "debug", "info", "warning", "warn", "error", "exception", "log",
                     "critical", "print_exc", "write", "append", "skip", "xfail", "skipTest"])
_LEAVING = frozenset(["pytest.skip", "pytest.xfail", "pytest.exit", "pytest.fail", "self.skipTest",
                      "self.fail", "sys.exit", "os._exit", "exit", "quit"])
_LAST_NAMES = {name.rpartition(".")[2] for name in _LEAVING}
MAY_END = frozenset([ast.Return, ast.Continue, ast.Break, ast.Raise, ast.Expr, ast.If, ast.With,
                     ast.AsyncWith])


def ends(statement: ast.AST, dotted: Dotted, *, raising: bool = True, depth: int = _DEEPEST
         ) -> bool:
    """Whether nothing behind a statement is reached. `raising`: an error leads past it."""
    match statement:
        case ast.Return() | ast.Continue() | ast.Break():
            return True
        case ast.Raise():
            return raising
        case ast.Expr(value=ast.Call(func=func)):
            return last_name(func) in _LAST_NAMES and dotted.of(func) in _LEAVING
        case ast.If(test=test, body=body, orelse=orelse) if depth:
            sure = truth(test)
            first = sure is False or _block_ends(body, dotted, raising, depth - 1)
            return first and (sure is True or _block_ends(orelse, dotted, raising, depth - 1))
        case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body) if depth:
            catches = any(isinstance(item.context_expr, ast.Call) and _may_catch(
                item.context_expr) for item in items)
            return not catches and _block_ends(body, dotted, False, depth - 1)
    return False


def _block_ends(block: Sequence[ast.stmt], dotted: Dotted, raising: bool, depth: int) -> bool:
    return any(ends(statement, dotted, raising=raising, depth=depth) for statement in block)


def _may_catch(call: ast.Call) -> bool:
    name = last_name(call.func).lower()
    return "raises" in name or "suppress" in name or "subtest" in name


def swallows(statement: ast.Try | ast.TryStar) -> bool:
    """Whether the handler that meets a failed assertion lets it pass."""
    for handler in statement.handlers:
        if _catches(handler.type):
            return is_quiet(handler.body)
    return False


def _catches(node: ast.expr | None) -> bool:
    if node is None:
        return True
    types = node.elts if isinstance(node, ast.Tuple) else [node]
    return any(isinstance(one, ast.Name) and one.id in _CATCHING for one in types)


def is_quiet(block: Sequence[ast.stmt], *, leaving: bool = False) -> bool:
    """Whether a block does nothing about what brought it there. `leaving`: goes away with it."""
    if leaving:
        return any(isinstance(one, ast.Return | ast.Break | ast.Continue) for one in block)
    return all(map(_is_nothing, block))


def _is_nothing(statement: ast.stmt) -> bool:
    match statement:
        case ast.Pass() | ast.Continue() | ast.Break() | ast.Return() | ast.Import() | (
                ast.ImportFrom()):
            return True
        case ast.Expr(value=ast.Constant()):
            return True
        case ast.Expr(value=ast.Call(func=func)):
            name = last_name(func)
            return name in _SAYING and name != "append"
        case ast.Raise(exc=exc):
            made = exc.func if isinstance(exc, ast.Call) else exc
            return made is not None and last_name(made) == "SkipTest"
    return False


def is_suppressing(call: ast.Call) -> bool:
    """`contextlib.suppress(AssertionError)`, or of something broader."""
    return last_name(call.func) == "suppress" and any(
        last_name(arg) in _CATCHING for arg in call.args)
