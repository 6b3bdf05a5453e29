"""The inputs that JavaScript tests give, and the results that they want."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policyd.core.sheet import Sample
from policyd.languages.javascript_bindings import Bindings
from policyd.languages.javascript_claims import Claims
from policyd.languages.javascript_constants import Constants
from policyd.languages.javascript_names import arguments, asserts, expected_call, member, spine
from policyd.languages.javascript_tree import Node, walk
from policyd.languages.javascript_values import text_of

_TRIVIAL = frozenset({"None", "True", "False", '""', ""})


def sampled(node: Node, claims: Claims) -> Iterator[Sample]:
    """The constants that an assertion hands in, and the one that it wants back."""
    opened = expected_call(node)
    given = arguments(node)
    if opened is not None:
        subject = arguments(opened)[0] if arguments(opened) else None
        name, told = member(node.get("function") or node), given if node is not opened else []
    elif asserts(node) and given:
        subject, name, told = given[0], asserts(node), given[1:]
    else:
        return
    if subject is None:
        return
    inputs = tuple(_handed(claims, subject))[:20]
    wanted = claims.wanted(name, told)
    if inputs:
        yield Sample(node.line, inputs, _result(claims, name, wanted) if wanted else "")


def _result(claims: Claims, name: str, wanted: Node) -> str:
    if claims.constants.of(wanted) is None:
        return ""
    return claims.answer(name, wanted)


def _handed(claims: Claims, node: Node, depth: int = 0) -> Iterator[str]:
    """The constant arguments of the calls that a value comes from, through locals."""
    node = claims.meant(node)
    if depth > 6:
        return
    value = claims.constants.form(node)
    if value:
        if depth and value not in _TRIVIAL:
            yield value
        return
    if node.kind in ("arrow_function", "function_expression", "await_expression",
                     "return_statement", "statement_block", "expression_statement"):
        for one in node.children[-1:]:
            yield from _handed(claims, one, depth)
        return
    for link in spine(node):
        if link.kind in ("call_expression", "new_expression"):
            for one in arguments(link)[:20]:
                yield from _handed(claims, one, depth + 1)
        elif link.kind == "identifier" and claims.meant(link) is not link:
            yield from _handed(claims, link, depth + 1)
    if node.kind in ("array", "object") and depth:
        yield from (form for one in list(walk(node))[:60]
                    if text_of(one) is not None and (form := claims.constants.form(one)))


def rows(constants: Constants, bindings: Bindings,
         tables: Sequence[Node]) -> Iterator[Sample]:
    """Of `it.each(table)`: what stands last in a row is what the others should give."""
    for call in tables:
        held = bindings.value(arguments(call)[0]) if arguments(call) else None
        for row in held.children[:5_000] if held is not None and held.kind == "array" else ():
            forms = [constants.form(one) for one in row.children] \
                if row.kind == "array" else [constants.form(row)]
            if len(forms) > 1:
                yield Sample(row.line, tuple(filter(None, forms[:-1])), forms[-1])
            elif any(forms):
                yield Sample(row.line, tuple(forms))
