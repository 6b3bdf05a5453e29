"""What takes the edge off the tests of a JavaScript file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from policyd.core.sheet import Mark, Marker
from policyd.languages.javascript_forms import Scope
from policyd.languages.javascript_names import GROUPS, TESTS, arguments, callee, member
from policyd.languages.javascript_runners import Declared
from policyd.languages.javascript_tests import File, Known
from policyd.languages.javascript_tree import Node, walk
from policyd.languages.javascript_values import is_number

_BY_WORD = {"skip": Mark.SKIP, "todo": Mark.SKIP, "fixme": Mark.SKIP, "skipIf": Mark.SKIP,
            "runIf": Mark.SKIP, "failing": Mark.XFAIL, "fails": Mark.XFAIL, "fail": Mark.XFAIL,
            "only": Mark.UNCOLLECTED}
_LOOKED_AT = frozenset({"call_expression", "variable_declarator", "assignment_expression"})
_BY_ROOT = {"x": Mark.SKIP, "f": Mark.UNCOLLECTED}
_CONTEXTS = frozenset({"this", "t", "ctx", "context", "test", "it", "suite", "task", "describe"})
_FAILING = frozenset({"t.fail", "ctx.fail", "context.fail", "this.fail"})
"""Ends a test as failed; `test.fail()` is what expects that."""
_CALLED = {"skip": Mark.SKIP, "todo": Mark.SKIP, "fixme": Mark.SKIP, "fail": Mark.XFAIL,
           "retries": Mark.RERUN, "timeout": Mark.TIMEOUT, "setTimeout": Mark.TIMEOUT,
           "slow": Mark.TIMEOUT, "pending": Mark.SKIP}
_OF_FILE = {"jest.retryTimes": Mark.RERUN, "jest.setTimeout": Mark.TIMEOUT,
            "jasmine.DEFAULT_TIMEOUT_INTERVAL": Mark.TIMEOUT}
_OPTIONS = {"skip": Mark.SKIP, "todo": Mark.SKIP, "only": Mark.UNCOLLECTED,
            "timeout": Mark.TIMEOUT, "retry": Mark.RERUN, "retries": Mark.RERUN,
            "repeats": Mark.RERUN, "fails": Mark.XFAIL, "testTimeout": Mark.TIMEOUT,
            "hookTimeout": Mark.TIMEOUT}
_TOLERANCES = re.compile(r"(?:^|_)(?:EPS|EPSILON|TOL|TOLERANCE|DELTA|PRECISION)(?:_|$)"
                         r"|[eE]psilon$|[tT]olerance$")
_PLATFORM = re.compile(r"platform|\bos\b|arch\b|win32|darwin|isWindows|isWin|isMac|isLinux", re.I)
_VERSION = re.compile(r"version|semver|\bnode(?:Major)?\b", re.IGNORECASE)
_PACKAGE = re.compile(r"require\.resolve\(\"([\w@/.-]{1,80})\"\)")


Places = Sequence[tuple[Node, str]]
"""Calls, variables and assignments with the name of the innermost test or group around them."""


def places(file: File, known: Sequence[Known]) -> Places:
    bodies = {one.body: one.name for one in known if one.body is not None}
    if not bodies:
        return [(node, "") for node in file.nodes if node.kind in _LOOKED_AT]
    found: list[tuple[Node, str]] = []
    stack = [(file.nodes[0], "")]
    while stack:
        node, on = stack.pop()
        if node.kind in _LOOKED_AT:
            found.append((node, on))
        stack.extend((child, bodies.get(child, on)) for child in reversed(node.children))
    return found


def markers(file: File, known: Sequence[Known], where: Places) -> tuple[Marker, ...]:
    found = [marker for one in known for marker in _declared(file, one)]
    names: dict[Node | None, str] = {one.declared.call: one.name for one in known}
    for node, on in where:
        found += _at(file, node, on, names)
    return tuple(sorted(set(found), key=lambda one: (one.line, one.mark.value, one.on, one.says)))


def _declared(file: File, one: Known) -> Iterator[Marker]:
    made = one.declared
    line, says = made.call.line, _says(made)
    if made.root in GROUPS | TESTS and made.root[0] in _BY_ROOT:
        yield Marker(_BY_ROOT[made.root[0]], line, one.name, says)
    test = _test_around(made.call)
    if test is not None:
        never = file.constants.of(test) is not None
        yield Marker(Mark.UNCOLLECTED if never else Mark.SKIP, line, one.name, "if (...)",
                     _condition(file, test), asks=_asked(file, test))
    asked = dict(made.asked)
    for word in made.words:
        mark = _BY_WORD.get(word)
        if mark is None:
            continue
        choice = made.choice
        if word in ("skipIf", "runIf") and word in asked:
            choice = _first(asked[word])
        condition = _condition(file, choice) if choice is not None else ""
        yield Marker(mark, line, one.name, says, condition, asks=_asked(file, choice))
    if made.choice is not None and not set(made.words) & set(_BY_WORD):
        yield Marker(Mark.SKIP, line, one.name, says, _condition(file, made.choice))
    if made.runs is None and "todo" not in made.words and not one.is_group:
        yield Marker(Mark.SKIP, line, one.name, says)
    for option in made.options:
        yield from _option(file, option, one.name, says)


def _says(made: Declared) -> str:
    words = ".".join([made.root, *reversed(made.words)])
    return f"{words}(...)"[:100]


def _option(file: File, node: Node, on: str, says: str) -> Iterator[Marker]:
    part = file.constants.of(file.bindings.value(node))
    if part is not None and is_number(part.value):
        yield Marker(Mark.TIMEOUT, node.line, on, f"{says}, {file.constants.form(node)}",
                     amount=_amount(Mark.TIMEOUT, part.value))
    held = file.bindings.value(node)
    for pair in held.children if held.kind == "object" else ():
        key, value = pair.get("key"), pair.get("value")
        mark = _OPTIONS.get(key.text) if key is not None else None
        if mark is None or key is None or value is None:
            continue
        worth = file.constants.of(value)
        if worth is None:
            yield Marker(mark, pair.line, on, f"{key.text}: ...", _condition(file, value))
        elif worth.value is not False and worth.value is not None:
            number = worth.value if is_number(worth.value) else None
            yield Marker(mark, pair.line, on, f"{key.text}: {file.constants.form(value)}"[:100],
                         amount=_amount(mark, number))


def _at(file: File, node: Node, on: str,
        names: Mapping[Node | None, str]) -> Iterator[Marker]:
    """Marks that are statements of their own: `this.skip()`, `jest.setTimeout(1)`."""
    if node.kind == "variable_declarator":
        yield from _tolerance(file, node)
    if node.kind != "call_expression":
        return
    name, called = callee(node), node.get("function")
    given = arguments(node)
    first = file.constants.of(file.bindings.value(given[0])) if given else None
    number = first.value if first is not None and is_number(first.value) else None
    root, _, last = name.rpartition(".")
    mark = _OF_FILE.get(name)
    if mark is not None:
        yield Marker(mark, node.line, on, f"{name}(...)",
                     _condition(file, _test_around(node)), _amount(mark, number))
    elif name in ("vi.setConfig", "test.use", "test.describe.configure") and given:
        yield from _option(file, given[0], on, f"{name}(...)")
    elif (root in _CONTEXTS and last in _CALLED and name not in _FAILING) or name == "pending":
        yield from _wished(file, node, on, _CALLED[last or name], number)
    elif called is not None and member(called) in ("timeout", "retries") and _on_a_test(called):
        mark, on = _CALLED[member(called)], names.get(called.get("object"), on)
        yield Marker(mark, node.line, on, f".{member(called)}(...)", amount=_amount(mark, number))


def _wished(file: File, node: Node, on: str, mark: Mark, number: float | None) -> Iterator[Marker]:
    """`this.skip()` in a test; with a condition of its own in playwright's way."""
    given = arguments(node)
    if any(one.kind in ("arrow_function", "function_expression") for one in given) or (
            callee(node).startswith(("test.", "it.")) and not on):
        return
    if mark in (Mark.TIMEOUT, Mark.RERUN) and not given and member(
            node.get("function") or node) != "slow":
        return
    condition = _condition(file, _test_around(node))
    if mark is Mark.SKIP and given and file.constants.of(given[0]) is None:
        condition = condition or _condition(file, given[0])
    says = f"{callee(node)}({'...' if given else ''})"
    yield Marker(mark, node.line, on, says, condition, _amount(mark, number))


def _on_a_test(called: Node) -> bool:
    inner = called.get("object")
    return inner is not None and inner.kind == "call_expression" and (
        callee(inner).split(".")[0] in GROUPS | TESTS)


def _tolerance(file: File, node: Node) -> Iterator[Marker]:
    name, part = node.get("name"), file.constants.of(node.get("value"))
    if name is None or part is None or not is_number(part.value):
        return
    if name.kind == "identifier" and _TOLERANCES.search(name.text):
        yield Marker(Mark.TOLERANCE, node.line, "", ascii(name.text)[1:-1][:100],
                     amount=_amount(Mark.TOLERANCE, part.value))


def _amount(mark: Mark, value: float | int | None) -> float | None:
    """Limits of time are written in milliseconds; none at all is no amount."""
    if value is None or abs(value) > 1e300:
        return None
    if mark is Mark.TIMEOUT:
        return value / 1000 if value > 0 else None
    return float(value)


def _condition(file: File, node: Node | None) -> str:
    """What an expression depends on; empty where it always holds."""
    if node is None or file.constants.of(node) is not None:
        return ""
    said = [file.forms.of(node, Scope())]
    said += [file.forms.of(file.bindings.values[one.text], Scope()) for one in walk(node)
             if one.kind == "identifier" and one.text in file.bindings.values][:10]
    whole = " ".join(said)
    if found := _PACKAGE.search(whole):
        return f"package:{found[1]}"
    if _PLATFORM.search(whole):
        return "platform"
    return "version" if _VERSION.search(whole) else "other"


def _asked(file: File, node: Node | None) -> str:
    """The name, if a condition is one that is imported, or that it does not hold."""
    if node is not None and node.kind == "unary_expression" and node.op == "!":
        node = node.get("argument")
    if node is None or node.kind != "identifier" or not any(
            file.bindings.modules_of(frozenset({node.text}))):
        return ""
    return ascii(node.text)[1:-1][:100]


def _test_around(node: Node) -> Node | None:
    """The condition of the `if` that a statement stands in; a few steps up are looked at."""
    below, above = node, node.parent
    for _ in range(4):
        if above is None or above.kind == "arguments":
            break
        if above.kind == "if_statement" and below.field in ("consequence", "alternative"):
            return above.get("condition")
        if above.kind == "binary_expression" and above.op in ("&&", "||"):
            return above.get("left")
        below, above = above, above.parent
    return None


def _first(call: Node) -> Node | None:
    given = arguments(call)
    return given[0] if given else None
