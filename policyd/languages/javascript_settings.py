"""What a configuration of jest, vitest or mocha that is written in JavaScript says of tests.

Known by what is exported: an object with a key of such a runner, or a `test` of vitest's with
one. What is worked out, or comes from elsewhere, stands as it is written.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from policyd.core.sheet import Setting
from policyd.languages.javascript_forms import Scope
from policyd.languages.javascript_names import FUNCTIONS, arguments, callee, function_body
from policyd.languages.javascript_tests import File
from policyd.languages.javascript_tree import Node
from policyd.languages.javascript_values import is_number
from policyd.languages.literal import bounded

_LONGEST = 4096
_DEEPEST = 5
_MOST = 20_000
"""Values that are looked at in one file."""
_STEPS = 8
_JOINS = frozenset({"path.join", "path.resolve", "resolve", "join"})
_KEYS: Mapping[str, frozenset[str]] = {
    "jest": frozenset({
        "testMatch", "testRegex", "testPathIgnorePatterns", "modulePathIgnorePatterns", "roots",
        "testTimeout", "bail", "passWithNoTests", "testNamePattern", "testEnvironment", "preset",
        "testRunner", "coverageThreshold", "collectCoverage", "collectCoverageFrom",
        "setupFilesAfterEnv", "setupFiles", "globalSetup", "transform", "rootDir", "projects"}),
    "vitest": frozenset({
        "include", "exclude", "testTimeout", "hookTimeout", "retry", "bail", "passWithNoTests",
        "testNamePattern", "globals", "environment", "coverage", "setupFiles", "dir", "projects",
        "allowOnly", "dangerouslyIgnoreUnhandledErrors", "root", "pool", "reporters"}),
    "mocha": frozenset({"spec", "ignore", "retries", "timeout", "grep", "forbidOnly"}),
    "playwright": frozenset({"testDir", "testMatch", "testIgnore", "retries", "timeout"}),
}


def settings(file: File) -> tuple[Setting, ...]:
    """As the reader of JSON has them: `RUNNER.KEY`, a list as `["a"]`."""
    found: set[Setting] = set()
    values = _Values(file)
    for node in file.nodes[0].children:
        exported = _exported(node)
        held = _object(file, exported) if exported is not None else None
        if held is not None:
            found.update(_said(file, values, held))
    return tuple(sorted(found, key=lambda one: (one.line, one.key)))


def _exported(node: Node) -> Node | None:
    """Of `export default ...`, `export = ...` and `module.exports = ...`."""
    if node.kind == "export_statement":
        declared = node.get("declaration")
        if node.get("source") is not None or declared is not None:
            is_function = declared is not None and declared.kind in FUNCTIONS
            return declared if is_function and node.op == "default" else None
        plain = [one for one in node.children if one.kind != "export_clause"]
        return node.get("value") or (plain[0] if plain else None)
    if node.kind == "expression_statement" and node.children:
        inner = node.children[0]
        left = inner.get("left") if inner.kind == "assignment_expression" else None
        if left is not None and left.kind == "member_expression" and [
                one.text for one in left.children] == ["module", "exports"]:
            return inner.get("right")
    return None


def _object(file: File, node: Node) -> Node | None:
    """The object that is exported, by name, by a function or through `defineConfig`."""
    left = [node]
    for _ in range(_STEPS):
        if not left:
            break
        one = file.bindings.value(left.pop())
        if one.kind == "object":
            return one
        if one.kind in FUNCTIONS:
            body = function_body(one)
            left += _results(body) if body is not None else []
        elif one.kind == "call_expression":
            left += arguments(one) or _functions(file, one)
        elif one.kind == "await_expression":
            left += one.children
    return None


def _functions(file: File, call: Node) -> list[Node]:
    called = file.bindings.function(call.get("function"))
    return [called] if called is not None else []


def _results(body: Node) -> list[Node]:
    if body.kind != "statement_block":
        return [body]
    return [one.children[0] for one in body.children
            if one.kind == "return_statement" and one.children]


def _said(file: File, values: _Values, held: Node) -> Iterator[Setting]:
    pairs = values.pairs(held)
    inner = pairs.get("test")
    inner = file.bindings.value(inner) if inner is not None else None
    within = values.pairs(inner) if inner is not None and inner.kind == "object" else {}
    if not _KEYS["vitest"].isdisjoint(within):
        pairs, runner = within, "vitest"
    else:
        runner = _runner(file, pairs)
    for key, value in pairs.items() if runner else ():
        yield Setting(f"{runner}.{ascii(key)[1:-1][:100]}", values.shown(value), value.line)


def _runner(file: File, pairs: Mapping[str, Node]) -> str:
    if any(module.startswith("@playwright/") for module in file.bindings.imports):
        return "playwright"
    return next((name for name in ("jest", "mocha")
                 if not _KEYS[name].isdisjoint(pairs)), "")


class _Values:
    """Spells what keys are set to; bounded in all, since names may stand for names."""

    def __init__(self, file: File) -> None:
        self._file = file
        self._left = _MOST

    def shown(self, node: Node) -> str:
        """As JSON has it; a text without quotes, as a person writes it."""
        value = self._value(node, 0)
        text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
        text = ascii(" ".join(text.split()))[1:-1].replace("\\'", "'").replace("\\\\", "\\")
        return text if len(text) <= _LONGEST else bounded(text)

    def pairs(self, held: Node) -> dict[str, Node]:
        """The last of each key counts; what is spread from an object of the file too."""
        found: dict[str, Node] = {}
        for one in held.children:
            spread = self._file.bindings.value(one.children[0]) \
                if one.kind == "spread_element" and one.children else None
            if spread is None:
                found.update(self._pair(one))
            elif spread.kind == "object":
                for each in spread.children[:self._left]:
                    self._left -= 1
                    found.update(self._pair(each))
        return found

    def _pair(self, one: Node) -> Iterator[tuple[str, Node]]:
        key, value = one.get("key"), one.get("value")
        if one.kind == "pair" and key is not None and value is not None:
            part = self._file.constants.of(key)
            yield str(part.value) if part is not None else key.text, value
        elif one.kind == "shorthand_property_identifier":
            yield one.text, self._file.bindings.values.get(one.text, one)

    def _value(self, node: Node, depth: int) -> object:
        self._left -= 1
        node = self._file.bindings.value(node)
        part = self._file.constants.of(node)
        if part is not None and (part.value is None or isinstance(part.value, str | bool)
                                 or is_number(part.value)):
            return part.value
        if node.kind == "regex":
            pattern = node.get("pattern")
            return pattern.text if pattern is not None else ""
        if depth < _DEEPEST and self._left > 0 and node.kind == "array":
            return [one for each in node.children for one in self._items(each, depth)]
        if depth < _DEEPEST and self._left > 0 and node.kind == "object":
            return {key: self._value(value, depth + 1)
                    for key, value in self.pairs(node).items()}
        if callee(node) in _JOINS and depth <= _DEEPEST:
            told = [self._value(one, _DEEPEST + 1) for one in arguments(node)]
            return "/".join(str(one) for one in told if one != "__dirname")
        return self._file.forms.of(node, Scope())

    def _items(self, node: Node, depth: int) -> Iterator[object]:
        """One value, or those of a list that is spread."""
        spread = self._file.bindings.value(node.children[0]) \
            if node.kind == "spread_element" and node.children else None
        if self._left <= 0:
            return
        if spread is not None and spread.kind == "array":
            yield from (self._value(one, depth + 1) for one in spread.children[:self._left])
        else:
            yield self._value(spread if spread is not None else node, depth + 1)
