"""Good syntax that the grammars do not know yet, put so that they can read it.

Every change keeps the length, so that lines and places stay; texts are taken from the source as
it was. What is changed stands in types, or is punctuation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node as Raw
from tree_sitter import Tree

_TYPE_STAR = re.compile(rb"(?<=\bexport\s)type(?=\s*\*)")
_TYPE_OF_MODULE = re.compile(rb"(?<=<)\s*typeof\s+import\(\s*(?:'[^'\n]*'|\"[^\"\n]*\")\s*\)")
_CALL_SIGNATURE = re.compile(rb"(?<=[\w>\])}/;,])(\s*\n[ \t]*)[ \t](?=<[ \t\n]*[A-Z])")
_LOOSE_TEXT = frozenset({"string", "jsx_element", "jsx_attribute", "jsx_opening_element",
                         "jsx_text", "jsx_self_closing_element"})
_MOST_ERRORS = 400


def mended(source: bytes) -> Iterator[bytes]:
    """Versions that may read better, the least changed first."""
    plain = _TYPE_STAR.sub(b"    ", source)
    plain = _TYPE_OF_MODULE.sub(lambda found: b"T".ljust(len(found[0])), plain)
    yield plain
    signed = _CALL_SIGNATURE.sub(rb"\1;", plain)
    if signed != plain:
        yield signed


def without_ampersands(source: bytes, parsed: Tree) -> bytes:
    """`&` in the text and the attributes of JSX, where the grammar wants `&amp;`."""
    changed = bytearray(source)
    for node, above in errors(parsed):
        if above in _LOOSE_TEXT and source[node.start_byte : node.start_byte + 1] == b"&":
            changed[node.start_byte] = ord("+")
    return bytes(changed)


def is_hopeless(parsed: Tree) -> bool:
    """Whether there is so much wrong that it is no matter of a few places."""
    return sum(1 for _ in errors(parsed)) >= _MOST_ERRORS


def errors(parsed: Tree) -> Iterator[tuple[Raw, str]]:
    """The first of them, each with the kind of node that it stands in."""
    stack: list[tuple[Raw, str]] = [(parsed.root_node, "")]
    count = 0
    while stack and count < _MOST_ERRORS:
        node, above = stack.pop()
        if node.is_error:
            count += 1
            yield node, above
        kind = node.type
        stack.extend((child, kind) for child in node.children if child.has_error)
