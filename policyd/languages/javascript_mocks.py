"""What stands in for modules, and for what they make, in the tests of a JavaScript file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policyd.core.sheet import Mock
from policyd.languages.javascript_bindings import module_of
from policyd.languages.javascript_markers import Places
from policyd.languages.javascript_names import FUNCTIONS, arguments, callee, path
from policyd.languages.javascript_tests import File
from policyd.languages.javascript_tree import Node
from policyd.languages.javascript_values import text_of

_MOCKS = frozenset({
    "jest.mock", "vi.mock", "jest.doMock", "vi.doMock", "jest.unstable_mockModule",
    "mock.module", "t.mock.module", "td.replace", "td.replaceEsm", "mockery.registerMock",
    "jest.setMock"})  # fmt: skip
_SPIES = frozenset({
    "jest.spyOn", "vi.spyOn", "sinon.stub", "sinon.replace", "sandbox.stub", "sinon.mock",
    "sandbox.replace", "mock.method", "t.mock.method", "spyOn", "jest.replaceProperty",
    "mock.getter", "stub", "sinon.fake", "sinon.replaceGetter"})  # fmt: skip
_DEFINES = frozenset({"Object.defineProperty", "Reflect.defineProperty", "Reflect.set"})
_MOST_ORIGINS = 5
_REWIRES = frozenset({"proxyquire", "esmock", "proxyquire.noCallThru", "rewiremock"})
_MAKES = frozenset({"jest.fn", "vi.fn", "sinon.stub", "sinon.fake", "mock.fn", "t.mock.fn",
                    "td.func"})

def mocks(file: File, where: Places) -> tuple[Mock, ...]:
    found = {mock for node, on in where for mock in _at(file, node, on)}
    return tuple(sorted(found, key=lambda one: (one.line, one.target, one.on)))


def _at(file: File, node: Node, on: str) -> Iterator[Mock]:
    if node.kind == "assignment_expression":
        targets = _assigned(file, node)
    elif node.kind == "call_expression":
        targets = _called(file, callee(node), arguments(node))
    else:
        return
    for target in targets:
        yield Mock(node.line, _clean(target), on)


def _assigned(file: File, node: Node) -> Iterator[str]:
    """`db.load = jest.fn()`; a plain function where it is put into a module of the project."""
    target, value = node.get("left"), node.get("right")
    if target is None or value is None or target.kind != "member_expression":
        return
    if value.kind == "call_expression" and _base(value) in _MAKES:
        yield from _targets(file, target)
    elif value.kind in FUNCTIONS:
        yield from filter(_is_own, _targets(file, target))


def _called(file: File, name: str, given: Sequence[Node]) -> Iterator[str]:
    if not given:
        return
    if name in _MOCKS:
        written = text_of(given[0]) or _imported(given[0])
        yield module_of(written) if written else "*"
    elif name in _REWIRES:
        table = file.bindings.value(given[1]) if len(given) > 1 else None
        for pair in table.children if table is not None and table.kind == "object" else ():
            key = pair.get("key")
            text = (text_of(key) or key.text) if key is not None else ""
            yield module_of(text) if text else "*"
    elif name in _SPIES or (name in _DEFINES and len(given) > 1):
        method = text_of(given[1]) if len(given) > 1 else None
        for target in _targets(file, given[0]):
            if name in _SPIES or _is_own(target):
                yield f"{target}.{method or '*'}"


def _is_own(target: str) -> bool:
    return target.startswith(".")


def _imported(node: Node) -> str:
    """`vi.mock(import("./x"))`."""
    given = arguments(node)
    return (text_of(given[0]) or "") if callee(node) == "import" and given else ""


def _base(call: Node) -> str:
    """`jest.fn` of `jest.fn().mockReturnValue(1)`."""
    for _ in range(6):
        name = callee(call)
        if name:
            return name
        called = call.get("function")
        inner = called.get("object") if called is not None else None
        if inner is None or inner.kind != "call_expression":
            break
        call = inner
    return ""


def _targets(file: File, node: Node) -> list[str]:
    """Dotted names whose first part is the module that it came from, or was made by."""
    root = node
    if root.kind == "new_expression":
        root = root.get("constructor") or root
    name = path(root)
    if not name:
        return ["*"]
    first, dot, rest = name.partition(".")
    origins = file.bindings.origins(first)[:_MOST_ORIGINS] or [first]
    return [f"{origin}{dot}{rest}" for origin in origins]


def _clean(text: str) -> str:
    return ascii(text)[1:-1][:200]
