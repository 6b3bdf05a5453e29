"""The assertions of one JavaScript expression, and how much each of them claims."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace

from policyd.core.sheet import Assertion, Kind
from policyd.core.values import dataclass
from policyd.languages import javascript_matchers as matchers
from policyd.languages.javascript_constants import Constants
from policyd.languages.javascript_forms import Forms, Part, Scope
from policyd.languages.javascript_names import (
    FUNCTIONS,
    arguments,
    asserts,
    callee,
    expected_call,
    is_link,
    member,
    parameters,
    path,
    spine,
)
from policyd.languages.javascript_tree import Node, walk
from policyd.languages.javascript_values import Display, is_number, recorded, signed
from policyd.languages.literal import bounded

_NOTHING_HELD = frozenset({"doesNotThrow", "doesNotReject", "notThrows", "notThrowsAsync", "fail",
                           "unreachable"})
_LOOSE = {"anything": Kind.TRUTH, "any": Kind.TRUTH, "objectContaining": Kind.MEMBER,
          "arrayContaining": Kind.MEMBER, "stringContaining": Kind.MEMBER,
          "stringMatching": Kind.MEMBER, "closeTo": Kind.CLOSE}
_READS = re.compile(r"readFile|readJson|loadFixture|\.json\b", re.IGNORECASE)
_SIGNS = {"===": Kind.EQUAL, "==": Kind.EQUAL, "!==": Kind.ORDER, "!=": Kind.ORDER,
          "<": Kind.ORDER, ">": Kind.ORDER, "<=": Kind.ORDER, ">=": Kind.ORDER,
          "instanceof": Kind.TRUTH, "in": Kind.MEMBER}
_HAS_TYPE = re.compile(r"[A-Z]\w*|\w+\.[A-Z]\w*")
_MOST_TERMS = 50


@dataclass(frozen=True, slots=True)
class Claims:
    """Reads assertions in the light of what a test's names are."""

    forms: Forms
    constants: Constants
    scope: Scope
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Names that a file imports from an assertion library, as `assert.equal`."""

    def of(self, node: Node) -> list[Assertion] | None:
        """Those that an expression makes; None where it is no assertion at all."""
        is_whole = not is_link(node)
        opened = expected_call(node) if is_whole else None
        if opened is not None:
            return list(self._chain(node, opened))
        if node.kind == "member_expression":
            return (list(self._should(node)) or None) if is_whole else None
        if node.kind != "call_expression":
            return None
        method = asserts(node) or self.renamed.get(callee(node), "")
        if method:
            return list(self._asserted(node, method))
        if member(node.get("function") or node) == "expect" and arguments(node):
            return list(self._requested(node))
        if callee(node).startswith("sinon.assert."):
            return [self._made(node, Kind.CALLED, "".join(callee(node).split(".")[2:]),
                               arguments(node)[0] if arguments(node) else None, [])]
        return (list(self._should(node)) or None) if is_whole else None

    def _chain(self, node: Node, opened: Node) -> Iterator[Assertion]:
        """`expect(x).not.toBe(y)`, and chai's sentences with several claims."""
        given = arguments(opened)
        if not given:
            return
        yield from self._linked(list(reversed(spine(node))), opened, given[0])

    def _should(self, node: Node) -> Iterator[Assertion]:
        links = list(reversed(spine(node)))
        for link in links:
            if member(link) == "should" and link.kind == "member_expression":
                subject = link.get("object")
                if subject is not None:
                    yield from self._linked(links, link, subject)
                return

    def _linked(self, links: Sequence[Node], opened: Node, subject: Node) -> Iterator[Assertion]:
        behind = links[links.index(opened) + 1 :]
        words: list[str] = []
        made: list[Assertion] = []
        for index, link in enumerate(behind):
            name = member(link)
            if link.kind != "call_expression":
                follows = behind[index + 1] if index + 1 < len(behind) else None
                called = follows is not None and follows.kind == "call_expression"
                if name in matchers.AFTER and called:
                    made = _swallowed(made, name, follows)
                    break
                if not called and name in matchers.STANDING:
                    made.append(self._matched(link, name, words, subject, []))
                words.append(name)
            elif words:
                made.append(self._matched(link, words[-1], words[:-1], subject, arguments(link)))
        if not made:
            made = [Assertion(opened.line, Kind.NOTHING, self._spelled(subject), "")]
        yield from made

    def _matched(self, node: Node, name: str, words: Sequence[str], subject: Node,
                 given: Sequence[Node]) -> Assertion:
        made = self._made(node, matchers.kind_of(name, bool(given)), name, subject, given)
        if made.kind is not Kind.NOTHING and not words and subject.op in _SIGNS and (
                made.answer == "True" or name == "toBeTruthy"):
            made = replace(self._truth(subject), line=node.line)
        waits = "rejects" if "rejects" in words else "resolves" if "resolves" in words else ""
        if waits and made.kind is not Kind.RAISES:
            marked = f"{'await' if waits == 'resolves' else 'rejected'} {made.subject}"
            waited = bounded(made.form.replace(made.subject, marked, 1))
            made = replace(made, form=waited, subject=bounded(marked))
        if waits and not _is_awaited(node):
            made = replace(made, kind=Kind.NOTHING)
        if "not" in words and made.kind is not Kind.NOTHING:
            kind = matchers.negated(made.kind)
            made = replace(made, kind=kind, form=_denied(made.form, made.subject), types=())
        return made

    def _asserted(self, node: Node, method: str) -> Iterator[Assertion]:
        given = arguments(node)
        if method in ("ok", "truthy", "true", "isTrue", "isOk") and given:
            yield from self.truths(given[0])
        elif method in _NOTHING_HELD:
            if method not in ("fail", "unreachable"):
                yield self._made(node, Kind.TRUTH, method, given[0] if given else None, [])
        elif given:
            wanted = [] if method in matchers.CONSTANT else given[1:]
            if method in matchers.CONSTANT or _is_message(method, wanted):
                wanted = []
            kind = matchers.kind_of(method, len(given) > 1)
            yield self._made(node, kind, method, given[0], wanted[: 2 if kind is Kind.CLOSE else 1])

    def bound(self, function: Node, given: Sequence[Node]) -> Scope:
        """What the parameters of a helper are where it is called."""
        known: dict[str, Part | None] = {}
        for name, one in zip(parameters(function), given, strict=False):
            if name.kind == "identifier" and one.kind != "spread_element":
                meant = self.meant(one)
                known[name.text] = meant if self._is_fixed(meant) else self._spelled(one)
        return Scope(known)

    def truths(self, node: Node) -> Iterator[Assertion]:
        """What is claimed by saying that an expression is true: each term of an `and`."""
        terms = [node]
        for _ in range(_MOST_TERMS):
            if terms[0].kind != "binary_expression" or terms[0].op != "&&":
                break
            terms[:1] = [each for name in ("left", "right") for each in terms[0].each(name)]
        for term in terms:
            yield self._truth(term)

    def _truth(self, node: Node) -> Assertion:
        left, right = node.get("left"), node.get("right")
        if node.kind == "binary_expression" and left is not None and right is not None:
            if node.op == "||" and (self._is_fixed(left) or self._is_fixed(right)):
                return Assertion(node.line, Kind.NOTHING, self._spelled(node))
            if node.op in _SIGNS:
                if self.constants.of(left) and not self.constants.of(right):
                    left, right = right, left
                name = {"===": "toBe", "==": "toBe", "!==": "not", "!=": "not"}.get(node.op)
                return self._made(node, _SIGNS[node.op], name or node.op, left, [right])
        if node.kind == "call_expression" and member(node.get("function") or node) in (
                "includes", "startsWith", "endsWith", "test", "some", "every", "has"):
            return self._made(node, Kind.MEMBER, "ok", node, [])
        return self._made(node, Kind.TRUTH, "ok", node, [])

    def _requested(self, node: Node) -> Iterator[Assertion]:
        """supertest: `.expect(200, body)` of the answer to what was asked before."""
        subject = node
        while callee(subject) == "" and member(subject.get("function") or subject) in (
                "expect", "set", "end"):
            inner = (subject.get("function") or subject).get("object")
            if inner is None or inner.kind != "call_expression":
                break
            subject = inner
        given = [each for each in arguments(node) if each.kind not in FUNCTIONS
                 and each.kind != "identifier"]
        for each in given:
            kind = Kind.MEMBER if each.kind == "regex" else Kind.EQUAL
            yield self._made(node, kind, "toBe" if kind is Kind.EQUAL else "match", subject, [each])

    def _made(self, node: Node, kind: Kind, name: str, subject: Node | None,
              given: Sequence[Node]) -> Assertion:
        numbers: dict[str, str] = {}
        spelled = self._spelled(subject, numbers) if subject is not None else ""
        wanted = self.wanted(name, given)
        fixed = matchers.CONSTANT.get(name, "")
        answer = self.answer(name, wanted) if wanted is not None else fixed
        kind = self._kind(kind, subject, wanted, fixed=bool(fixed))
        said = [self._spelled(each, numbers) for each in given] or [fixed]
        claim = f"{spelled} {matchers.spelled(name)} {', '.join(said)}".strip()
        against = "snapshot" if matchers.is_snapshot(name) else (
            self._against(wanted, said[0]) if wanted is not None else "literal" if fixed else "")
        return Assertion(
            node.line, kind, bounded(claim), spelled, against, answer,
            self._tolerance(name, given) if kind is Kind.CLOSE else None,
            _types(wanted, self._spelled(wanted) if wanted is not None else "")
            if name in matchers.RAISING else ())

    def _kind(self, kind: Kind, subject: Node | None, wanted: Node | None, *,
              fixed: bool) -> Kind:
        if subject is not None and self._cannot_fail(kind, subject, wanted, fixed):
            return Kind.NOTHING
        if kind is Kind.RAISES and wanted is not None and _names_message(wanted):
            return Kind.EQUAL
        if wanted is not None and kind is Kind.EQUAL and wanted.kind == "call_expression":
            first, _, last = callee(wanted).rpartition(".")
            if first in ("expect", "jasmine", "sinon.match", "match"):
                return _LOOSE.get(last, kind)
        return kind

    def _cannot_fail(self, kind: Kind, subject: Node, wanted: Node | None, fixed: bool) -> bool:
        if self._is_fixed(subject):
            return wanted is None or self._is_fixed(wanted)
        if wanted is None:
            return kind is Kind.TRUTH and not fixed and (
                subject.kind in ("object", "array", "class", "regex") or subject.kind in FUNCTIONS)
        return kind is Kind.EQUAL and path(subject) != "" and path(subject) == path(wanted)

    def _is_fixed(self, node: Node) -> bool:
        return self.constants.of(node) is not None

    def meant(self, node: Node) -> Node:
        """What a local or a constant of the file stands for."""
        for _ in range(5):
            held = self.scope.known.get(node.text) if node.kind == "identifier" else None
            if not isinstance(held, Node):
                break
            node = held
        return node

    def wanted(self, name: str, given: Sequence[Node]) -> Node | None:
        """What a matcher is given to hold against; not what only names a snapshot."""
        if matchers.is_snapshot(name):
            return self.meant(given[-1]) if given and matchers.is_inline(name) else None
        return self.meant(given[0]) if given else None

    def answer(self, name: str, wanted: Node) -> str:
        """That as `Assertion.answer`; a text or number that is recorded, without its quotes."""
        part = self.constants.of(wanted)
        if part is not None and matchers.is_snapshot(name) and isinstance(part.value, str):
            return signed(recorded(part.value))
        return self._answer(wanted)

    def _answer(self, node: Node) -> str:
        if node.kind == "new_expression" and arguments(node):
            node = arguments(node)[0]
        if node.kind == "object" and self.constants.of(node) is None:
            message = next((pair.get("value") for pair in node.children
                            if (key := pair.get("key")) and key.text == "message"), None)
            return self._answer(message) if message is not None else ""
        part = self.constants.kept.get(node) if node.kind == "regex" else None
        return self.constants.form(node) if part is None else signed(part.value)

    def _against(self, node: Node, spelled: str) -> str:
        if self._is_fixed(node) or node.kind in ("regex", "object", "array", "template_string"):
            return "literal" if not _READS.search(spelled) or self._is_fixed(node) else "file"
        if _READS.search(spelled):
            return "file"
        return "call" if node.kind in ("call_expression", "await_expression",
                                       "new_expression") else "name"

    def _tolerance(self, name: str, given: Sequence[Node]) -> float | None:
        part = self.constants.of(self.meant(given[1])) if len(given) > 1 else None
        value = part.value if part else 2 if name == "toBeCloseTo" and len(given) < 2 else None
        if value is None or isinstance(value, Display) or not is_number(value):
            return None
        if name == "toBeCloseTo":
            return 10.0 ** -min(max(value, -300), 300) / 2
        return float(min(abs(value), 1e300))

    def _spelled(self, node: Node, numbers: dict[str, str] | None = None) -> str:
        return self.forms.of(node, self.scope, numbers)


def _swallowed(made: Sequence[Assertion], name: str, call: Node | None) -> list[Assertion]:
    """A promise whose failure nobody hears of."""
    if name != "catch" or call is None or any(can_fail(each) for each in arguments(call)):
        return list(made)
    return [replace(one, kind=Kind.NOTHING) for one in made]


def can_fail(handler: Node) -> bool:
    """Whether what is done with an error may tell it on."""
    for node in walk(handler):
        if node.kind == "throw_statement" or (node.kind == "identifier" and node.text in _TELLING):
            return True
        if node.kind == "call_expression" and (asserts(node) or member(
                node.get("function") or node) in ("fail", "reject", "exit", "should")):
            return True
    return handler.kind == "identifier" and handler.text in ("done", "reject", "next")


_TELLING = frozenset({"expect", "assert", "done", "reject", "fail", "next", "cb", "callback",
                      "should"})


def _is_awaited(node: Node) -> bool:
    """Whether anybody waits for a promise: not where it is a statement of its own."""
    above = node.parent
    while above is not None and above.kind in ("member_expression", "call_expression"):
        above = above.parent
    return above is None or above.kind != "expression_statement"


def _denied(claim: str, subject: str) -> str:
    rest = claim.removeprefix(subject).lstrip()
    if rest.startswith("== "):
        return bounded(f"{subject} != {rest[3:]}")
    return bounded(f"{subject} not {rest}")


def _is_message(method: str, wanted: Sequence[Node]) -> bool:
    """`assert.isTrue(x, "why")`: what such methods are given second is only said."""
    return matchers.kind_of(method, True) is Kind.TRUTH and method not in (
        "instanceOf", "typeOf", "type") and bool(wanted)


def _names_message(wanted: Node) -> bool:
    return wanted.kind in ("string", "template_string", "regex", "new_expression", "object") or (
        wanted.kind == "binary_expression")


def _types(wanted: Node | None, spelled: str) -> tuple[str, ...]:
    if wanted is None or (_names_message(wanted) and wanted.kind != "new_expression"):
        return ("*",)
    if wanted.kind == "new_expression":
        spelled = callee(wanted)
    return (spelled,) if _HAS_TYPE.fullmatch(spelled) and spelled != "Error" else ("*",)
