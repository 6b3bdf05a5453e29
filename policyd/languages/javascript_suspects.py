"""What JavaScript source does that only its judge can be the reason for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from policyd.core.sheet import Opened, Suspect, Trick
from policyd.languages.javascript_bindings import module_of
from policyd.languages.javascript_names import TESTS, arguments, callee, function_body, member, path
from policyd.languages.javascript_tests import File
from policyd.languages.javascript_tree import Node
from policyd.languages.javascript_values import text_of

_ENV = re.compile(r"(?:process\.env|import\.meta\.env|Deno\.env|Bun\.env|env)\.(\w+)$")
_RUNNERS = frozenset({"JEST_WORKER_ID", "VITEST", "VITEST_WORKER_ID", "VITEST_POOL_ID", "CI",
                      "NODE_TEST_CONTEXT", "MOCHA_COLORS", "AVA_PATH", "CYPRESS", "TEST",
                      "PLAYWRIGHT_TEST", "TEST_WORKER_INDEX", "npm_lifecycle_event", "TAP",
                      "NODE_V8_COVERAGE", "GITHUB_ACTIONS", "VITEST_MODE"})
_MODES = frozenset({"NODE_ENV", "MODE", "BABEL_ENV"})
_GLOBALS = frozenset({"jest", "vi", "vitest", "describe", "it", "expect", "jasmine", "mocha",
                      "beforeEach", "__coverage__", "cy", "Cypress"})
_GLOBAL_RUNNERS = frozenset(f"{world}.{name}" for world in ("globalThis", "global", "window")
                            for name in ("jest", "vi", "expect", "it", "describe", "mocha"))
_EXITS = frozenset({"process.exit", "process.abort", "process.reallyExit", "process._kill",
                    "Deno.exit", "process.kill", "Bun.exit"})
_PLEASING = frozenset({"valueOf", "toString", "toJSON", "asymmetricMatch", "equals", "isEqual",
                       "Symbol.toPrimitive", "Symbol.hasInstance", "inspect", "$$typeof"})
_BUILT_IN = re.compile(r"(?:globalThis\.|global\.|window\.)?(?:Object|Array|String|Number|Boolean"
                       r"|Function|Promise|Map|Set|Error|Date|RegExp|Symbol|Math|JSON|Reflect"
                       r"|console|assert|expect|chai|process\.stdout|process\.stderr"
                       r"|Module|require\.cache|require\.extensions|jest|vi)"
                       r"(?:\.prototype)?\.[\w$]+")
_WORLD = frozenset({"globalThis", "global", "window", "self"})
_PATCHED = frozenset({"expect", "describe", "it", "test", "assert", "jest", "vi", "Date", "console",
                      "Promise", "Error", "Object", "beforeEach", "afterEach", "setTimeout"})
_DEFINES = frozenset({"Object.defineProperty", "Reflect.defineProperty", "Object.assign",
                      "Reflect.set", "Object.defineProperties", "Object.setPrototypeOf"})
_PATH = re.compile(r"(?:\.{0,2}/)?[\w@.-]+(?:/[\w@.*-]+)+/?")
_MOST = 2_000


def suspects(file: File, opened: Sequence[Opened]) -> tuple[Suspect, ...]:
    found: set[Suspect] = {Suspect(Trick.READS, one.line, one.path) for one in opened}
    for node in file.nodes:
        if len(found) > _MOST:
            break
        found.update(_of(file, node))
    return tuple(sorted(found, key=lambda one: (one.line, one.trick.value, one.what)))


def _of(file: File, node: Node) -> Iterator[Suspect]:
    match node.kind:
        case "member_expression" | "subscript_expression":
            yield from _sensed(node)
        case "shorthand_property_identifier_pattern" | "pair_pattern":
            yield from _unpacked(node)
        case "unary_expression" if node.op == "typeof":
            name = path(node.get("argument"))
            if name in _GLOBALS:
                yield Suspect(Trick.SENSES, node.line, f"typeof {name}")
        case "call_expression":
            yield from _called(node)
        case "assignment_expression":
            yield from _patched(node)
        case "method_definition" | "pair" | "field_definition" | "public_field_definition":
            yield from _pleases(file, node)
        case "string":
            text = text_of(node) or ""
            if len(text) < 300 and _PATH.fullmatch(text) and text.isascii() and (
                    module_of(text) not in file.bindings.imports):
                yield Suspect(Trick.READS, node.line, text.removeprefix("./"))


def _sensed(node: Node) -> Iterator[Suspect]:
    name = path(node)
    if found := _ENV.fullmatch(name):
        if found[1] in _RUNNERS or (found[1] in _MODES and _is_held_against_test(node)):
            yield Suspect(Trick.SENSES, node.line, found[1])
    elif name == "import.meta.vitest" or name.startswith("process.env.npm_lifecycle"):
        yield Suspect(Trick.SENSES, node.line, name)
    elif member(node) == "stack":
        inner = node.get("object")
        if inner is not None and inner.kind == "new_expression" and callee(inner).endswith("Error"):
            yield Suspect(Trick.SENSES, node.line, "new Error().stack")
    elif name in _GLOBAL_RUNNERS and not (
            node.field == "left" and node.parent is not None
            and node.parent.kind == "assignment_expression"):
        yield Suspect(Trick.SENSES, node.line, name)


def _is_held_against_test(node: Node) -> bool:
    above = node.parent
    if above is None:
        return False
    beside = arguments(above) if above.kind == "call_expression" else above.children
    return above.kind == "switch_statement" or any(text_of(one) == "test" for one in beside)


def _unpacked(node: Node) -> Iterator[Suspect]:
    """`const {CI} = process.env`."""
    key = node.get("key") if node.kind == "pair_pattern" else node
    pattern = node.parent
    holder = pattern.parent if pattern is not None else None
    if key is not None and key.text in _RUNNERS and holder is not None and path(
            holder.get("value") or holder.get("right")).endswith("env"):
        yield Suspect(Trick.SENSES, node.line, key.text)


def _called(node: Node) -> Iterator[Suspect]:
    name, given = callee(node), arguments(node)
    if name in _EXITS:
        yield Suspect(Trick.EXITS, node.line, name)
    elif name == "Error.captureStackTrace" or name.endswith("getCallSites"):
        yield Suspect(Trick.SENSES, node.line, name)
    elif name in _DEFINES and given:
        target = path(given[0])
        key = text_of(given[1]) if len(given) > 1 else None
        whole = f"{target}.{key or '*'}"
        if (_BUILT_IN.match(f"{target}.x") and target != "module.exports") or (
                target in _WORLD and key in _PATCHED):
            yield Suspect(Trick.PATCHES, node.line, whole[:200])
    elif name in ("expect.extend", "expect.addEqualityTesters", "expect.addSnapshotSerializer",
                  "chai.use", "Module._load", "jasmine.addCustomEqualityTester",
                  "process.binding"):
        yield Suspect(Trick.PATCHES, node.line, name)


def _patched(node: Node) -> Iterator[Suspect]:
    target = path(node.get("left"))
    first, _, rest = target.partition(".")
    if _BUILT_IN.fullmatch(target) or (first in _WORLD and rest in _PATCHED) or (
            target in TESTS | {"expect", "describe"}):
        yield Suspect(Trick.PATCHES, node.line, target[:200])


def _pleases(file: File, node: Node) -> Iterator[Suspect]:
    """A method that says the same whatever it is asked."""
    name = node.get("name") or node.get("key") or node.get("property")
    called = (path(name) or name.text or text_of(name) or "") if name is not None else ""
    if called not in _PLEASING:
        return
    value = node if node.kind == "method_definition" else node.get("value")
    body = function_body(value) if value is not None else None
    if body is None:
        return
    result = body
    if body.kind == "statement_block":
        if len(body.children) != 1 or body.children[0].kind != "return_statement":
            return
        result = body.children[0].children[0] if body.children[0].children else body
    if file.constants.of(result) is not None and called not in ("toString", "inspect"):
        yield Suspect(Trick.PLEASES, node.line, called)
