"""All that a JavaScript file defines and others can say, and which names a test says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from policyd.core.sheet import Defined
from policyd.languages.javascript_names import arguments, callee, parameters
from policyd.languages.javascript_tree import Node, walk
from policyd.languages.javascript_values import text_of

_MOST = 1500
_MOST_WORDS = 80
_MOST_NODES = 1200
"""Of one definition: what is longer is told by how it begins."""
_LONGEST = 40
_NAMES = frozenset({"identifier", "property_identifier", "shorthand_property_identifier",
                    "shorthand_property_identifier_pattern", "private_property_identifier"})
_PLAIN = frozenset({"string", "number", "regex"})
_DECLARED = frozenset({"function_declaration", "generator_function_declaration",
                       "class_declaration", "method_definition", "public_field_definition",
                       "field_definition", "variable_declarator", "pair"})
_DEFINING = re.compile(r"(?:^|\.)(?:__)?define(?:Getter|Setter|Property)(?:__)?$")


def defined(nodes: Sequence[Node]) -> tuple[Defined, ...]:
    """Sorted by name. Variables only of the file itself."""
    found: dict[Defined, None] = {}
    for node in nodes:
        if len(found) >= _MOST:
            break
        found.update(dict.fromkeys(one for one in _of(node) if one.name.isascii()))
    return tuple(sorted(found, key=lambda one: (one.name, one.words)))


def names_of(body: Node | None) -> tuple[str, ...]:
    """What a test says, sorted."""
    if body is None:
        return ()
    found = {node.text for node in walk(body) if node.kind in _NAMES}
    return tuple(sorted(name for name in found if name.isascii()))[:_MOST]


def _of(node: Node) -> Iterator[Defined]:
    match node.kind:
        case "variable_declarator" if not _is_at_top(node):
            return
        case kind if kind in _DECLARED:
            named = node.get("name") or node.get("key") or node.get("property")
            whole = node.get("value") if kind in ("variable_declarator", "pair") else node
        case "assignment_expression":
            left = node.get("left")
            named = left.get("property") if left is not None else None
            whole = node.get("right")
        case "call_expression" if _DEFINING.search(callee(node)):
            given = arguments(node)
            named = next((one for one in given if one.kind == "string"), None)
            whole = node
        case _:
            return
    if named is None or whole is None:
        return
    name = (text_of(named) or "") if named.kind == "string" else named.text
    words = _words(whole)
    yield Defined(name, words)
    yield from (Defined(one.text, words) for given in parameters(whole)
                for one in walk(given) if one.kind in _NAMES)


def _is_at_top(node: Node) -> bool:
    above = node.parent.parent if node.parent is not None else None
    return above is not None and above.kind in ("program", "export_statement")


def _words(node: Node) -> tuple[str, ...]:
    found: set[str] = set()
    for count, one in enumerate(walk(node)):
        if count > _MOST_NODES:
            break
        if one.kind in _NAMES or one.kind in _PLAIN:
            found.add(one.text[:_LONGEST])
    return tuple(sorted(name for name in found if name.isascii()))[:_MOST_WORDS]
