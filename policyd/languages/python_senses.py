"""How Python source finds out that a test runs it: modules, variables, arguments, the stack."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping

from policyd.core.sheet import Suspect, Trick
from policyd.languages.python_names import Names, Scope, called, printable

RUNNERS = frozenset(["pytest", "_pytest", "py.test", "unittest", "nose", "nose2", "hypothesis",
                     "doctest", "pluggy", "xdist", "pytest_cov", "coverage", "tox", "conftest"])
VARIABLES = re.compile(
    r"PYTEST\w*|CI|CONTINUOUS_INTEGRATION|GITHUB_(?:ACTIONS?|WORKFLOW|JOB|RUN_ID)|GITLAB_CI|CI_\w+"
    r"|TOX\w*|_?COV(?:ERAGE)?_\w+|NOSE\w*|HYPOTHESIS\w*|UNITTEST\w*|TRAVIS|JENKINS_\w+|BUILDKITE"
    r"|CIRCLECI|TEAMCITY_\w+|APPVEYOR|TF_BUILD|(?:[A-Z0-9]+_)*TEST(?:S|ING|_\w+)?|POLICYD_\w+")
_RUNNER_TEXT = re.compile(
    r"(?:.*\W)?(_?py\.?test|unittest|nose2?|conftest|tox|hypothesis)(?:\W.*|_.*)?", re.DOTALL)
TESTING = re.compile(r"(?:.*[\W_])?(?:tests?|testing|_?py\.?test|unittest|conftest)(?:[\W_].*)?",
                     re.DOTALL)
_STACK = frozenset([
    "inspect.stack", "inspect.currentframe", "sys._getframe", "traceback.extract_stack",
    "traceback.format_stack", "traceback.walk_stack", "inspect.getouterframes", "inspect.trace",
    "sys._current_frames", "traceback.print_stack", "sys._getframemodulename"
])  # fmt: skip
_TRACERS = frozenset(["sys.gettrace", "sys.getprofile", "sys.monitoring.get_tool"])
_FINDERS = re.compile(r"(?:importlib\.(?:util\.find_spec|import_module|metadata\.\w+)|__import__"
                      r"|pkgutil\.(?:find_loader|get_loader))")
_PREDICATES = frozenset(["startswith", "endswith", "find", "index", "count", "match", "search",
                         "fullmatch", "fnmatch", "__contains__", "intersection", "isdisjoint"])
_OWN_PLACE = frozenset(["__file__", "__name__", "os.getcwd", "os.getcwdb", "pathlib.Path.cwd"])
_HOMES = frozenset(["__module__", "co_filename"])
"""Attributes that tell where a value's type, or a function, was written."""
_HOME_CALLS = frozenset(["inspect.getmodule", "inspect.getfile", "inspect.getsourcefile"])
_Named = ast.Name | ast.Attribute | ast.Call
_BLOCKS = (ast.If, ast.While, ast.Try, ast.With, ast.AsyncWith, ast.Module, ast.Match, ast.Lambda,
           ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _is_runner(text: str) -> bool:
    return text.partition(".")[0] in RUNNERS


def _is_variable(text: str) -> bool:
    return VARIABLES.fullmatch(text) is not None


def _names_runner(text: str) -> bool:
    return _RUNNER_TEXT.fullmatch(text) is not None


def _names_test(text: str) -> bool:
    return TESTING.fullmatch(text) is not None


_PLACES = _OWN_PLACE | _HOMES | _HOME_CALLS
_TELLING: Mapping[str, tuple[str, Callable[[str], bool]]] = {
    "sys.modules": ("sys.modules", _is_runner),
    **dict.fromkeys(("os.environ", "os.environb", "os.getenv", "os.getenvb"),
                    ("environ", _is_variable)),
    **{name: (name, _names_runner)
       for name in ("sys.argv", "sys.orig_argv", "__main__.__file__", "sys.executable")},
    **{name: (name, _names_test) for name in (*_OWN_PLACE, *_HOMES, *_HOME_CALLS)},
}
"""A name, how it is told, and which text beside it tells a test."""


_WORDS = {name.rpartition(".")[2] for name in _TELLING} | {"getattr", "import_module", "__import__"}
_BEGUN = ("_called_from", "_pytest", "_mock_")


def senses(names: Names) -> Iterator[Suspect]:
    """Whatever names one of them together with what tells a test; twice where twice."""
    looked: set[tuple[ast.AST, str]] = set()
    named: list[tuple[_Named, Scope]] = [*names.of(ast.Name), *names.of(ast.Attribute)]
    for node, scope in (*named, *names.of(ast.Call)) if _may_name(names) else ():
        yield from _by_name(names, node, scope, looked)
    for call, scope in names.of(ast.Call):
        yield from _by_call(names, call, scope)
    for plain, _ in names.of(ast.Import):
        yield from _by_import(names, plain)
    for of, _ in names.of(ast.ImportFrom):
        yield from _by_import(names, of)
    yield from _by_stack(names)


def _may_name(names: Names) -> bool:
    """Whether one of the telling names can be in the file at all: most hold none."""
    words = {node.attr for node, _ in names.of(ast.Attribute)}
    words.update(node.id for node, _ in names.of(ast.Name))
    words.update(name.rpartition(".")[2] for name in names.imported.values())
    return not words.isdisjoint(_WORDS) or any(word.startswith(_BEGUN) for word in words)


def _by_name(names: Names, node: _Named, scope: Scope,
             looked: set[tuple[ast.AST, str]]) -> Iterator[Suspect]:
    name = names.dotted(node, scope)
    if isinstance(node, ast.Attribute) and node.attr in _HOMES:
        name = node.attr
    if name in _TELLING:
        statement = _statement(names, node)
        if (statement, name) not in looked:  # one that is named often is looked at once
            looked.add((statement, name))
            yield from _near(names, statement, name)
    elif name.startswith(("sys._called_from", "builtins._called_from", "sys._pytest")):
        yield Suspect(Trick.SENSES, node.lineno, printable(name))
    elif isinstance(node, ast.Attribute) and node.attr.startswith("_mock_") and not (
            isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")):
        yield Suspect(Trick.SENSES, node.lineno, printable(node.attr))


def _near(names: Names, statement: ast.AST, name: str) -> Iterator[Suspect]:
    """The telling texts of the statement that a name stands in."""
    what, tells = _TELLING[name]
    for line, text, is_compared in _texts(names, statement):
        if tells(text) and (is_compared or name not in _PLACES):
            yield Suspect(Trick.SENSES, line, printable(f"{what}:{text}"))


def _statement(names: Names, node: ast.AST) -> ast.AST:
    """The smallest that says what is done with a value: of an `if` its test, of a loop all."""
    while (parent := names.parent.get(node)) is not None:
        loops = isinstance(parent, ast.For | ast.AsyncFor)
        if isinstance(parent, _BLOCKS) or (loops and node is not getattr(parent, "iter", None)):
            return node
        node = parent
        if loops:
            return node
    return node


def _texts(names: Names, within: ast.AST) -> Iterator[tuple[int, str, bool]]:
    """Line, text, and whether something is compared with it."""
    stack: list[tuple[ast.AST, bool]] = [(within, False)]
    while stack:
        node, is_compared = stack.pop()
        names.again()
        text = _constant(names, node) if isinstance(node, ast.Name) else names.text(node)
        if text is not None and isinstance(node, ast.expr):
            yield node.lineno, text, is_compared
        compares = isinstance(node, ast.Compare) or (
            isinstance(node, ast.Call) and called(node) in _PREDICATES)
        stack += [(child, is_compared or compares) for child in ast.iter_child_nodes(node)]


def _constant(names: Names, node: ast.Name) -> str | None:
    """Of a name at the top of the module, such as one for a variable of the environment."""
    found = names.assigned.get((None, node.id), [])
    return names.text(found[0]) if len(found) == 1 else None


def _by_call(names: Names, node: ast.Call, scope: Scope) -> Iterator[Suspect]:
    name = names.dotted(node.func, scope)
    first = names.text(node.args[0]) if node.args else None
    if _FINDERS.fullmatch(name) and first and first.partition(".")[0] in RUNNERS:
        yield Suspect(Trick.SENSES, node.lineno, printable(f"import:{first}"))
    elif name in _TRACERS:
        yield Suspect(Trick.SENSES, node.lineno, name)
    elif called(node) in ("hasattr", "getattr") and len(node.args) > 1:
        asked = names.text(node.args[1]) or ""
        if asked.startswith(("_mock_", "_called_from", "_pytest", "assert_called")):
            yield Suspect(Trick.SENSES, node.lineno, printable(asked))


def _by_import(names: Names, node: ast.Import | ast.ImportFrom) -> Iterator[Suspect]:
    """An import of the runner that may fail, or that is put off."""
    found = [alias.name for alias in node.names] if isinstance(node, ast.Import) \
        else [node.module or ""] if not node.level else []
    for name in found:
        if name.partition(".")[0] in RUNNERS and _may_fail(names, node):
            yield Suspect(Trick.SENSES, node.lineno, printable(f"import:{name}"))


def _may_fail(names: Names, node: ast.AST) -> bool:
    """In a `try` of its own: an import in a function may only be late."""
    parent = names.parent.get(node)
    return isinstance(parent, ast.Try) and any(node is each for each in parent.body)


def _by_stack(names: Names) -> Iterator[Suspect]:
    """The stack, in a function that also holds a text of tests."""
    calls: dict[Scope, list[tuple[ast.Call, str]]] = {}
    for node, scope in names.of(ast.Call):
        if (name := names.dotted(node.func, scope)) in _STACK:
            calls.setdefault(scope, []).append((node, name))
    for scope, found in calls.items():
        texts = list(_texts(names, scope)) if scope is not None else [
            one for call, _ in found for one in _texts(names, _statement(names, call))]
        telling = [text for _, text, _ in texts if TESTING.fullmatch(text)]
        for call, name in found:
            if telling:
                yield Suspect(Trick.SENSES, call.lineno, printable(f"{name}:{telling[0]}"))
