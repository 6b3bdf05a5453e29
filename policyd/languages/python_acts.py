"""What Python source does to the process or the runner that judges it: ends it, patches it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from policyd.core.sheet import Suspect, Trick
from policyd.languages.python_names import Names, Scope, called, printable
from policyd.languages.python_senses import RUNNERS, VARIABLES

_HARD = frozenset(["os._exit", "os.abort", "posix._exit", "faulthandler._sigsegv",
                   "signal.raise_signal"])
_EXEC = re.compile(r"os\.exec[lv]p?e?")
_SOFT = {"sys.exit": "sys.exit", "exit": "sys.exit", "quit": "sys.exit", "SystemExit": "SystemExit",
         "builtins.exit": "sys.exit", "builtins.quit": "sys.exit",
         "builtins.SystemExit": "SystemExit"}
_KILLS = frozenset(["os.kill", "os.killpg", "signal.pthread_kill"])
_COMMAND = re.compile(
    r"_*(?:\w+_)?(?:main|cli|cmd|command|run|exit|quit|die|fail|usage|error|abort|console|script"
    r"|app|entry\w*|parse_?\w*args?|parse_\w*|handle\w*|signal\w*|shutdown\w*|stop)(?:_\w+)?",
    re.IGNORECASE)
_COMMAND_LIBRARIES = frozenset(["argparse", "click", "typer", "optparse", "getopt", "docopt",
                                "fire", "cmd", "absl", "cleo", "cyclopts", "plac"])

_PATCHED = re.compile(
    r"(?:_?pytest|unittest|nose2?|hypothesis|doctest|pluggy|numpy\.testing|pandas\.testing"
    r"|builtins|__builtins__|json|math|cmath|decimal|fractions|statistics|random|re|hashlib|hmac"
    r"|datetime|time|operator|functools|itertools|collections|copy|pickle|inspect|traceback"
    r"|linecache|difflib|filecmp|types|importlib|dis|ast|_io|io|os|codecs|string|struct)\.\w.*"
    r"|sys\.(?:stdout|stderr|__stdout__|__stderr__|exit|settrace|setprofile|_getframe|meta_path"
    r"|path_hooks|getrecursionlimit|modules|breakpointhook|unraisablehook|exc_info)(?:\..+)?")
_HARMLESS = re.compile(r"os\.environ|re\.DEFAULT\w*|time\.tzset|\w+\.__version__")
_TRACES = frozenset(["sys.settrace", "sys.setprofile", "threading.settrace", "threading.setprofile",
                     "sys.monitoring.use_tool_id", "sys.addaudithook"])
_MOCKS = re.compile(r"(?:unittest\.)?mock\.patch(?:\.\w+)?|pytest\.MonkeyPatch(?:\.\w+)?")
_FINDERS = re.compile(r"sys\.(?:meta_path|path_hooks)\.(?:insert|append|extend)")


def exits(names: Names) -> Iterator[Suspect]:
    """Hard ends anywhere; soft ones that succeed, outside of what is a command line."""
    is_command, guards = _is_command(names), _guards(names)
    ends: list[tuple[ast.Call | ast.Raise, Scope]] = [*names.of(ast.Call), *names.of(ast.Raise)]
    for node, scope in ends:
        if isinstance(node, ast.Raise):
            name = names.dotted(node.exc, scope) if isinstance(node.exc, ast.Name) else ""
        else:
            name = names.dotted(node.func, scope)
        if name in _HARD or _EXEC.fullmatch(name) or (name in _KILLS and _kills_itself(node)):
            yield Suspect(Trick.EXITS, node.lineno, name)
        elif name in _SOFT and name not in names.functions and _succeeds(names, node, scope):
            if not _is_for_commands(names, node, scope, is_command, guards):
                yield Suspect(Trick.EXITS, node.lineno, _SOFT[name])
        elif name == "atexit.register" and isinstance(node, ast.Call) and node.args:
            last = names.dotted(node.args[0], scope)
            if last in _HARD or _EXEC.fullmatch(last):
                yield Suspect(Trick.EXITS, node.lineno, last)


def _succeeds(names: Names, node: ast.Call | ast.Raise, scope: Scope) -> bool:
    """`sys.exit()`, `sys.exit(0)`: an end in failure fools nobody."""
    given = node.args if isinstance(node, ast.Call) else []
    if not given:
        return isinstance(node, ast.Call) or not isinstance(node.exc, ast.Call)
    return names.worth(given[0], scope) in ("0", "None", "False")


def _kills_itself(node: ast.AST) -> bool:
    """`os.kill(os.getpid(), ...)`, also the parent and the whole group."""
    if not isinstance(node, ast.Call) or not node.args:
        return False
    whom = node.args[0]
    if isinstance(whom, ast.Call):
        return called(whom) in ("getpid", "getppid", "getpgrp", "get_ident")
    return isinstance(whom, ast.Constant) and whom.value == 0


def _is_command(names: Names) -> bool:
    """Whether the file reads a command line, or can be run."""
    if any(name.partition(".")[0] in _COMMAND_LIBRARIES for name in names.imported.values()):
        return True
    return any(node.id == "__name__" and isinstance(names.parent.get(node), ast.Compare)
               for node, _ in names.of(ast.Name))


def _guards(names: Names) -> frozenset[ast.AST]:
    """`if __name__ == "__main__":`."""
    found = set()
    for node, _ in names.of(ast.Name):
        if node.id == "__name__":
            test: ast.AST = node
            while isinstance(parent := names.parent.get(test), ast.expr):
                test = parent
            if isinstance(parent, ast.If):
                found.add(parent)
    return frozenset(found)


def _is_for_commands(names: Names, node: ast.AST, scope: Scope, is_command: bool,
                     guards: frozenset[ast.AST]) -> bool:
    for each in names.scopes(scope):
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) and (
                _COMMAND.fullmatch(each.name) or (is_command and each.decorator_list)):
            return True
    while (parent := names.parent.get(node)) is not None:
        if parent in guards:
            return True
        if isinstance(parent, ast.ClassDef) and re.search(r"Command|CLI|App|Parser", parent.name):
            return True
        node = parent
    return False


def patches(names: Names) -> Iterator[Suspect]:
    """Assignments into the runner, the standard library and the streams; hooks and tracers."""
    targets = [(target, scope) for node, scope in names.of(ast.Assign) for target in node.targets]
    targets += [(one, scope) for gone, scope in names.of(ast.Delete) for one in gone.targets]
    targets += [(sum_.target, scope) for sum_, scope in names.of(ast.AugAssign)]
    targets += [(typed.target, scope) for typed, scope in names.of(ast.AnnAssign)]
    for target, scope in targets:
        yield from _assigned(names, target, scope)
    for call, scope in names.of(ast.Call):
        yield from _called(names, call, scope)
    classes: list[tuple[ast.ClassDef | ast.FunctionDef, Scope]] = [*names.of(ast.ClassDef)]
    for made, _ in (*classes, *names.of(ast.FunctionDef)):
        if made.name == "AssertionError":
            yield Suspect(Trick.PATCHES, made.lineno, "AssertionError")
        elif isinstance(made, ast.FunctionDef) and made.name.startswith("pytest_") and isinstance(
                names.parent.get(made), ast.Module):
            yield Suspect(Trick.PATCHES, made.lineno, printable(made.name))


def _assigned(names: Names, target: ast.expr, scope: Scope) -> Iterator[Suspect]:
    match target:
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            for each in elements:
                if not isinstance(each, ast.Tuple | ast.List):
                    yield from _assigned(names, each, scope)
        case ast.Name(id="AssertionError"):
            yield Suspect(Trick.PATCHES, target.lineno, "AssertionError")
        case ast.Attribute():
            name = names.dotted(target, scope)
            patched = _PATCHED.fullmatch(name) and not _HARMLESS.fullmatch(name)
            if patched and names.is_imported(target, scope):
                yield Suspect(Trick.PATCHES, target.lineno, printable(name))
        case ast.Subscript(value=of, slice=key):
            yield from _item(names, names.dotted(of, scope), key, target.lineno)


def _item(names: Names, of: str, key: ast.expr, line: int) -> Iterator[Suspect]:
    text = names.text(key) or ""
    if of == "os.environ" and VARIABLES.fullmatch(text) and text.upper().startswith(
            ("PYTEST", "TOX", "COV", "HYPOTHESIS", "POLICYD")):
        yield Suspect(Trick.PATCHES, line, printable(f"environ:{text}"))
    elif of == "sys.modules" and (_PATCHED.fullmatch(f"{text}.x") or text in RUNNERS):
        yield Suspect(Trick.PATCHES, line, printable(f"sys.modules:{text}"))
    elif of.endswith(("__builtins__", "builtins.__dict__")):
        yield Suspect(Trick.PATCHES, line, printable(f"builtins.{text}"))
    elif of.endswith(".__dict__") and _PATCHED.fullmatch(of):
        yield Suspect(Trick.PATCHES, line, printable(f"{of.removesuffix('.__dict__')}.{text}"))


def _called(names: Names, node: ast.Call, scope: Scope) -> Iterator[Suspect]:
    name = names.dotted(node.func, scope)
    if name in _TRACES or _FINDERS.fullmatch(name) or _MOCKS.fullmatch(name):
        yield Suspect(Trick.PATCHES, node.lineno, name)
    elif name.rpartition(".")[2] in ("setattr", "delattr", "__setattr__") and len(node.args) > 1:
        of = names.dotted(node.args[0], scope)
        target = f"{of}.{names.text(node.args[1]) or '*'}"
        if names.is_imported(node.args[0], scope) and _PATCHED.fullmatch(target):
            yield Suspect(Trick.PATCHES, node.lineno, printable(target))
