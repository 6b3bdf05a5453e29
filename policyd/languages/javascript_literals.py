"""The telling literals of a JavaScript tree: how each stands, and what it is there for.

What base64, String.fromCharCode(), slices or replace() hide, and what stands in types, remarks
and the names of modules, is not found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from policyd.core.sheet import Literal, Role
from policyd.languages.javascript_constants import Constants, telling_size
from policyd.languages.javascript_names import (
    HOOKS,
    MATCHING,
    arguments,
    asserts,
    callee,
    expected_call,
    is_link,
    is_runner,
    member,
    spine,
)
from policyd.languages.javascript_tree import Node
from policyd.languages.javascript_values import form, is_number, number_of, unescaped
from policyd.languages.javascript_wanted import NAMES, Wanted, is_table
from policyd.languages.literal import telling_number, telling_text

Standing = tuple[str, Role]

_COMPARING = frozenset({"==", "===", "!=", "!==", "<", ">", "<=", ">=", "in", "instanceof"})
_LIKE_PARENT = frozenset({
    "binary_expression", "await_expression", "spread_element", "unary_expression",
    "sequence_expression", "member_expression", "template_string", "call_expression",
    "ternary_expression", "subscript_expression", "else_clause"})  # fmt: skip
_CHAIN = frozenset({"call_expression", "member_expression", "subscript_expression"})
_BY_FIELD: Mapping[tuple[str, str], Standing] = {
    ("switch_case", "value"): ("compared", Role.ANSWER),
    ("arrow_function", "body"): ("returned", Role.PLAIN),
    ("variable_declarator", "value"): ("assigned", Role.PLAIN),
    ("assignment_expression", "right"): ("assigned", Role.PLAIN),
    ("augmented_assignment_expression", "right"): ("assigned", Role.PLAIN),
    ("field_definition", "value"): ("assigned", Role.PLAIN),
    ("public_field_definition", "value"): ("assigned", Role.PLAIN),
    ("enum_assignment", "value"): ("assigned", Role.PLAIN),
    ("assignment_pattern", "right"): ("default", Role.PLAIN),
    ("object_assignment_pattern", "right"): ("default", Role.PLAIN),
    ("required_parameter", "value"): ("default", Role.PLAIN),
    ("optional_parameter", "value"): ("default", Role.PLAIN),
    ("subscript_expression", "index"): ("used", Role.NAME),
    ("ternary_expression", "condition"): ("used", Role.PLAIN),
    ("pair", "key"): ("element", Role.NAME),
    ("field_definition", "property"): ("used", Role.NAME),
    ("public_field_definition", "name"): ("used", Role.NAME),
    ("method_definition", "name"): ("used", Role.NAME),
}
_BY_KIND: Mapping[str, Standing] = {
    "return_statement": ("returned", Role.PLAIN),
    "yield_expression": ("returned", Role.PLAIN),
    "throw_statement": ("raised", Role.PLAIN),
    "jsx_attribute": ("argument", Role.PLAIN),
}
_USED: Standing = ("used", Role.PLAIN)
_GIVEN: Standing = ("argument", Role.PLAIN)
_NAMED: Standing = ("argument", Role.NAME)
_ANSWER: Standing = ("compared", Role.ANSWER)
_MATCHED: Standing = ("matched", Role.ANSWER)
_GONE: Standing = ("", Role.NAME)

_MODULES = frozenset({
    "require", "import", "require.resolve", "import.meta.resolve", "jest.mock", "vi.mock",
    "jest.doMock", "vi.doMock", "jest.unmock", "vi.unmock", "jest.requireActual",
    "vi.importActual", "jest.requireMock", "vi.importMock", "proxyquire"})  # fmt: skip
_LOGS = frozenset({"log", "debug", "info", "warn", "error", "trace", "time", "timeEnd", "verbose"})
_LOGGERS = frozenset({"console", "logger", "log", "logging"})
_EVENTS = frozenset({"on", "once", "off", "emit", "addEventListener", "removeEventListener",
                     "getItem", "setHeader", "getAttribute", "querySelector"})
_SEEKS = frozenset({"includes", "startsWith", "endsWith", "indexOf", "localeCompare"})
_NAMING = frozenset({"className", "class", "id", "href", "src", "type", "role", "htmlFor", "name",
                     "key", "style", "rel", "target"})
_IN_SNAPSHOT = re.compile(r'"((?:[^"\\]|\\.)*)"|(?<![\w.])(\d[\d.]*(?:e[+-]?\d+)?)')
_WANTED = frozenset({"expected", "want", "wanted", "output", "out", "result", "expect",
                     "expectedResult", "answer", "returns"})


def literals(nodes: Sequence[Node], constants: Constants, min_length: int) -> tuple[Literal, ...]:
    """By line; a constant expression counts as its worth.

    Telling: text of `min_length` characters and more with a letter or digit in it, numbers of
    four significant digits and more, arrays and objects of three constants and more that are
    not all the same.
    """
    stands, found = _stands(nodes), set[Literal]()
    for node in nodes:
        use, role = stands[node]
        part = constants.kept.get(node)
        if part and stands[node] is not _GONE and _telling(part.value, min_length):
            found.add(Literal(form(part.value), node.line, use, role, _constant(node)))
        if node.kind == "template_string" and part and _is_snapshot(node):
            found.update(_recorded(str(part.value), node.line, min_length))
    return tuple(sorted(found, key=lambda each: (each.line, each.value, each.use, each.name)))


def _constant(node: Node) -> str:
    """The name that the file gives to a whole value, at its top: others can import it."""
    made = node.parent
    if made is None or made.kind != "variable_declarator" or node.field != "value":
        return ""
    name, above = made.get("name"), made.parent.parent if made.parent is not None else None
    is_top = above is not None and above.kind in ("program", "export_statement")
    return name.text if is_top and name is not None and name.kind == "identifier" else ""


def _stands(nodes: Sequence[Node]) -> dict[Node, Standing]:
    """How each node stands, what names stand for that are held against something included."""
    stands: dict[Node, Standing] = {nodes[0]: _USED}
    claims: dict[Node | None, bool] = {}
    wanted = Wanted(nodes)
    for node in nodes:
        stands_so = stands[node]
        below = _GONE if stands_so is _GONE else None
        for child in node.children:
            stands[child] = below or stands.get(child) or _standing(child, node, stands)
        if node.kind in _CHAIN:
            claims[node] = claims[node.parent] if node.parent in claims and is_link(node) \
                else _is_claim(node)
        if node.kind in ("call_expression", "new_expression") and below is None:
            _set_arguments(node, stands, is_claim=claims.get(node, False))
    for node in nodes:
        if node.kind == "call_expression" and is_table(node):
            for table in arguments(node):
                _set_rows(wanted.rows(table), stands)
    held = [node for node in nodes if node.kind in NAMES
            and stands[node][1] is Role.ANSWER]
    for node in wanted.answers(held):
        if stands[node] is not _GONE:
            stands[node] = (stands[node][0], Role.ANSWER)
    return stands


def _telling(value: object, min_length: int) -> bool:
    if isinstance(value, str):
        return telling_text(value, min_length)
    if is_number(value):
        return telling_number(value)
    return telling_size(value) >= 3  # type: ignore[arg-type]  # what is left is a display


def _is_snapshot(node: Node) -> bool:
    call = node.parent.parent if node.parent is not None else None
    return call is not None and member(call.get("function") or call).endswith("InlineSnapshot")


def _recorded(text: str, line: int, min_length: int) -> Iterator[Literal]:
    """What a snapshot that stands in the file spells out: its texts and numbers."""
    for number, row in enumerate(text.split("\n")):
        for found in _IN_SNAPSHOT.finditer(row):
            value = unescaped(found[1]) if found[1] is not None else number_of(found[2])
            if value is not None and _telling(value, min_length):
                yield Literal(form(value), line + number, *_ANSWER)


def _standing(child: Node, node: Node, stands: Mapping[Node, Standing]) -> Standing:
    """How a child stands by what is above it; calls say more of their arguments."""
    kind, above = node.kind, stands[node]
    if kind in ("import_statement", "import_require_clause") or (
            kind == "export_statement" and child.field == "source"):
        return _GONE
    if kind == "expression_statement":
        return _GONE if child.kind == "string" else _USED
    if kind == "binary_expression" and node.op in _COMPARING:
        return ("compared", Role.NAME if node.op == "in" else Role.ANSWER)
    if kind == "array":
        return ("element", above[1])
    if kind == "pair" and child.field == "value":
        return _of_value(node, above)
    known = _BY_FIELD.get((kind, child.field)) or _BY_KIND.get(kind)
    if kind == "jsx_attribute" and _attribute(node) in _NAMING:
        return _NAMED
    if kind in ("arrow_function", "return_statement") and known and child.kind == "object":
        return known
    return known or (above if kind in _LIKE_PARENT or kind == "object" else _USED)


def _of_value(pair: Node, above: Standing) -> Standing:
    key = pair.get("key")
    if above == _MATCHED and key is not None and key.text == "message":
        return _MATCHED
    wanted = key is not None and key.text in _WANTED
    return ("element", Role.ANSWER if wanted or above[1] is Role.ANSWER else Role.PLAIN)


def _attribute(node: Node) -> str:
    return node.children[0].text if node.children else ""


def _is_claim(node: Node) -> bool:
    return expected_call(node) is not None or ".should." in _members(node)


def _set_arguments(node: Node, stands: dict[Node, Standing], *, is_claim: bool) -> None:
    """Above all else that is known of what a call is given."""
    holder = node.get("arguments")
    if holder is None:
        return
    stands.setdefault(holder, _USED)
    if holder.kind == "template_string":
        return
    given, first, rest = arguments(node), *_of_call(node, stands[node], is_claim=is_claim)
    for index, one in enumerate(given):
        stands[one] = first if index == 0 else rest
    if len(given) > 2 and one.kind in ("string", "template_string") and asserts(node):
        stands[one] = _NAMED


def _of_call(node: Node, above: Standing, *, is_claim: bool) -> tuple[Standing, Standing]:
    """How the first argument stands, and how the others do."""
    name, last = callee(node), member(node.get("function") or node)
    if node.kind == "new_expression":
        raised = name.endswith(("Error", "Exception", "Exit"))
        kind = above if above == _MATCHED else ("raised", Role.PLAIN)
        return (kind, kind) if raised or above[0] == "raised" else (_GIVEN, _GIVEN)
    if name in _MODULES:
        return _GONE, _GIVEN
    if above[0] == "raised" and node.parent is not None and node.parent.kind == "throw_statement":
        return above, above
    if name.split(".")[0] in _LOGGERS and last in _LOGS:
        return _NAMED, _NAMED
    if method := asserts(node):
        kind = _MATCHED if method in MATCHING else _ANSWER
        return kind, kind
    if last == "expect" or name.startswith("expect") or is_claim:
        kind = _MATCHED if last in MATCHING else _ANSWER
        return kind, kind
    if is_runner(node) or last in HOOKS or last in _EVENTS:
        return _NAMED, _GIVEN
    return (_ANSWER, _GIVEN) if last in _SEEKS else (_GIVEN, _GIVEN)


def _members(node: Node) -> str:
    return "." + ".".join(filter(None, map(member, spine(node)))) + "."


def _set_rows(rows: Sequence[Node], stands: dict[Node, Standing]) -> None:
    """What stands last in a row of `it.each(rows)(name, test)` is what the others should give."""
    for row in rows:
        if row.kind == "array":
            for one in row.children:
                stands[one] = ("element", Role.PLAIN)
            if len(row.children) > 1:
                stands[row.children[-1]] = ("element", Role.ANSWER)
        else:
            stands[row] = ("element", Role.PLAIN)


