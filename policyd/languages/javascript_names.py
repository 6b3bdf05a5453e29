"""What a callee is called, and the words by which runners and assertions are known."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.languages.javascript_tree import Node
from policyd.languages.javascript_values import text_of

_ROOTS = frozenset({"identifier", "this", "meta_property", "super", "import"})
_LONGEST_PATH = 8
_LONGEST = 40
"""Links of a chain that are looked at; a chain that its author made longer has no name."""

GROUPS = frozenset({"describe", "context", "suite", "fdescribe", "xdescribe", "xcontext",
                    "fcontext"})
TESTS = frozenset({"it", "test", "specify", "fit", "xit", "xtest", "xspecify", "ftest"})
HOOKS = frozenset({"before", "after", "beforeEach", "afterEach", "beforeAll", "afterAll",
                   "setup", "teardown", "suiteSetup", "suiteTeardown", "onTestFinished"})
FUNCTIONS = frozenset({"arrow_function", "function_expression", "function_declaration",
                       "method_definition", "generator_function",
                       "generator_function_declaration"})
MATCHING = frozenset({"toThrow", "toThrowError", "throw", "throws", "Throw", "toMatch", "match",
                      "matches", "rejectedWith", "rejects", "throwsAsync", "stringMatching",
                      "toThrowErrorMatchingInlineSnapshot", "matchesPattern"})
ASSERTERS = frozenset({"assert", "t", "strict", "chai", "tap", "QUnit"})
ASSERTING = frozenset({
    "equal", "equals", "strictEqual", "deepEqual", "deepStrictEqual", "notEqual", "is", "not",
    "notStrictEqual", "notDeepEqual", "notDeepStrictEqual", "partialDeepStrictEqual", "ok", "notOk",
    "throws", "rejects", "doesNotThrow", "doesNotReject", "notThrows", "notThrowsAsync",
    "throwsAsync", "match", "doesNotMatch", "regex", "notRegex", "true", "false", "truthy",
    "falsy", "like", "snapshot", "same", "notSame", "isTrue", "isFalse", "isOk", "isNull",
    "isUndefined", "isDefined", "isNotNull", "include", "includes", "deepInclude", "lengthOf",
    "property", "propertyVal", "approximately", "closeTo", "isAbove", "isBelow", "isAtLeast",
    "isAtMost", "instanceOf", "isArray", "isString", "isNumber", "isObject", "isFunction",
    "typeOf", "exists", "isEmpty", "notInclude", "isNotOk", "isNaN", "eql", "deepNestedInclude",
    "sameMembers", "sameDeepMembers", "oneOf", "hasAllKeys", "isRejected", "isFulfilled",
    "fileSnapshot", "strictSame", "type", "error", "ifError", "fail", "contains", "matchSnapshot",
    "equalIgnoreSpaces", "propEqual", "notPropEqual", "unreachable"})  # fmt: skip


def spine(node: Node) -> list[Node]:
    """From the outermost call or member to what the chain begins with."""
    found = [node]
    while len(found) < _LONGEST:
        inner = node.get("function") if node.kind == "call_expression" else (
            node.get("object") if node.kind in ("member_expression", "subscript_expression")
            else None)
        if inner is None:
            break
        found.append(inner)
        node = inner
    return found


def is_link(node: Node) -> bool:
    """Whether a node is the inside of a longer chain of calls and members."""
    above = node.parent
    return above is not None and node.field in ("function", "object") and above.kind in (
        "call_expression", "member_expression", "subscript_expression")


def member(node: Node) -> str:
    """The name that a member expression ends in, `a["b"]` like `a.b`; empty where there is none."""
    if node.kind == "member_expression":
        name = node.get("property")
        return name.text if name is not None else ""
    if node.kind == "subscript_expression":
        index = node.get("index")
        return (text_of(index) or "") if index is not None else ""
    return ""


def path(node: Node | None) -> str:
    """`a.b.c` of members only, `import.meta` included; empty for what holds a call."""
    names: list[str] = []
    while node is not None and len(names) < _LONGEST_PATH:
        name = member(node)
        if not name:
            is_root = node.kind in _ROOTS
            return ".".join([node.text or node.kind, *reversed(names)]) if is_root else ""
        names.append(name)
        node = node.get("object")
    return ""


def callee(node: Node) -> str:
    """The `path` of what a call calls, or a `new` makes."""
    return path(node.get("function") or node.get("constructor"))


def calls(node: Node) -> Iterator[Node]:
    """The calls of a chain, the outermost first."""
    return (link for link in spine(node) if link.kind == "call_expression")


def arguments(node: Node) -> list[Node]:
    given = node.get("arguments")
    return given.children if given is not None and given.kind == "arguments" else []


def expected_call(node: Node) -> Node | None:
    """The `expect(...)` that a chain begins with, or `expect.soft(...)`, where it does."""
    for link in calls(node):
        called = link.get("function")
        if path(called) in ("expect", "expect.soft", "expect.poll", "chai.expect", "should",
                            "expectAsync", "assertThat"):
            return link
    return None


def is_runner(node: Node) -> bool:
    """Whether a call declares a test or a group: `it(...)`, `test.each(...)(...)`."""
    name = path(spine(node)[-1])
    return name in GROUPS or name in TESTS


def asserts(node: Node) -> str:
    """The method of `assert.equal(...)`, `t.is(...)`, `assert(...)`; empty where it is none."""
    name = callee(node)
    if name in ("assert", "invariant.assert", "assert.strict", "console.assert"):
        return "ok"
    first, _, rest = name.partition(".")
    last = rest.rpartition(".")[2]
    return last if first in ASSERTERS and last in ASSERTING else ""


def function_body(node: Node) -> Node | None:
    return node.get("body") if node.kind in FUNCTIONS else None


def parameters(node: Node) -> Iterator[Node]:
    """The names and patterns that a function takes, in their order."""
    single = node.get("parameter")
    if single is not None:
        yield single
    given = node.get("parameters")
    for one in given.children if given is not None else ():
        while one.kind in ("required_parameter", "optional_parameter", "assignment_pattern",
                           "rest_pattern"):
            inner = one.get("pattern") or one.get("left") or (
                one.children[0] if one.kind == "rest_pattern" and one.children else None)
            if inner is None:
                break
            one = inner
        yield one
