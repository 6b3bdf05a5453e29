"""Which calls of a JavaScript file declare tests and groups, in mocha's, jest's and node's ways."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.core.values import dataclass
from policyd.languages.javascript_bindings import Bindings
from policyd.languages.javascript_names import (
    FUNCTIONS,
    GROUPS,
    TESTS,
    arguments,
    member,
)
from policyd.languages.javascript_tree import Node

_WORDS = frozenset({
    "only", "skip", "each", "concurrent", "sequential", "failing", "fails", "todo", "skipIf",
    "runIf", "for", "serial", "shuffle", "fixme", "slow", "parallel", "describe", "test", "it",
    "suite", "configure", "macro", "cases", "context"})  # fmt: skip
_TABLES = frozenset({"each", "for", "cases"})
_ASKED_FIRST = _TABLES | {"skipIf", "runIf"}
_SUBTESTS = frozenset({"test", "it", "describe"})
_LONGEST = 12


@dataclass(frozen=True, slots=True)
class Declared:
    """A call that declares a test or a group."""

    call: Node
    root: str
    """`it`, `xdescribe`, ..."""
    words: tuple[str, ...]
    """What stands between: only, skip, each, ..."""
    asked: tuple[tuple[str, Node], ...]
    """The conditions and tables that are called for first."""
    choice: Node | None
    """The condition of `(c ? it : it.skip)`, where it is written so."""
    is_group: bool

    @property
    def title(self) -> Node | None:
        given = arguments(self.call)
        return given[0] if given and given[0].kind not in FUNCTIONS else None

    @property
    def runs(self) -> Node | None:
        """The function, or the name of one."""
        given = arguments(self.call)
        for one in given:
            if one.kind in FUNCTIONS:
                return one
        return next((one for one in reversed(given[1:]) if one.kind == "identifier"), None)

    @property
    def options(self) -> Iterator[Node]:
        """`{skip: true, timeout: 100}` and bare limits, wherever they stand."""
        return (one for one in arguments(self.call)[1:] if one.kind not in FUNCTIONS)

    def cases(self, bindings: Bindings) -> int:
        """How many rows its tables have, as far as they are literal."""
        count = 1
        for word, call in self.asked:
            if word in _TABLES:
                count *= _rows(call, bindings)
        return count


def declared(node: Node, bindings: Bindings, *, in_test: bool,
             aliases: int = 3) -> Declared | None:
    """The test or group that a call declares; None for any other call."""
    words: list[str] = []
    asked: list[tuple[str, Node]] = []
    choice: Node | None = None
    link = node.get("function")
    for _ in range(_LONGEST):
        if link is None:
            return None
        if link.kind == "call_expression":
            word = member(link.get("function") or link)
            if word not in _ASKED_FIRST:
                return None
            asked.append((word, link))
            link = link.get("function")
        elif link.kind in ("member_expression", "subscript_expression"):
            words.append(member(link))
            link = link.get("object")
        elif link.kind == "ternary_expression":
            choice = link.get("condition")
            link = _plainer(link)
        elif link.kind == "identifier":
            break
        else:
            return None
    if link is None or link.kind != "identifier" or not arguments(node):
        return None
    root = link.text
    if root not in GROUPS and root not in TESTS:
        if root in bindings.values and aliases:
            return _alias(node, bindings.values[root], (words, asked), bindings,
                          in_test=in_test, aliases=aliases - 1)
        if not _is_subtest(node, root, words, in_test):
            return None
    return _made(node, root, words, asked, choice, in_test)


def _made(node: Node, root: str, words: list[str], asked: list[tuple[str, Node]],
          choice: Node | None, in_test: bool) -> Declared | None:
    if not set(words) <= _WORDS or (words and words[0] in _ASKED_FIRST and (
            not asked or asked[0][0] != words[0])):
        return None
    if not _declares(node, words, in_test):
        return None
    is_group = root in GROUPS or not GROUPS.isdisjoint(words)
    return Declared(node, root, tuple(words), tuple(asked), choice, is_group)


def _declares(node: Node, words: list[str], in_test: bool) -> bool:
    """`test.skip(cond)` in a test is a wish, `it("...")` is a test to be written."""
    given = arguments(node)
    if any(one.kind in FUNCTIONS for one in given):
        return True
    named = given[0].kind in ("string", "template_string", "binary_expression")
    if in_test and words and not (named and len(given) > 1):
        return False
    return named


def _alias(node: Node, meant: Node, said: tuple[list[str], list[tuple[str, Node]]],
           bindings: Bindings, *, in_test: bool, aliases: int) -> Declared | None:
    """`const itOnLinux = isLinux ? it : it.skip`."""
    if meant.kind not in ("ternary_expression", "member_expression", "call_expression",
                          "identifier"):
        return None
    words, asked = said
    stand_in = Node("call_expression", "", node.line, node.parent)
    stand_in.children = [_at(meant, "function"), *node.each("arguments")]
    made = declared(stand_in, bindings, in_test=in_test, aliases=aliases)
    if made is None or not set(words) <= _WORDS:
        return None
    return Declared(node, made.root, (*words, *made.words), (*asked, *made.asked), made.choice,
                    made.is_group)


def _at(node: Node, name: str) -> Node:
    copy = Node(node.kind, name, node.line, node.parent)
    copy.children, copy.text, copy.op = node.children, node.text, node.op
    return copy


def _is_subtest(node: Node, root: str, words: list[str], in_test: bool) -> bool:
    """`t.test("part", ...)`, `QUnit.test(...)`."""
    last = words[-1] if words else ""
    return (in_test or root in ("QUnit", "vitest", "tap", "bdd")) and last in _SUBTESTS and any(
        one.kind in FUNCTIONS for one in arguments(node))


def _plainer(choice: Node) -> Node | None:
    """The branch that runs the test: the one without a word such as skip."""
    yes, no = choice.get("consequence"), choice.get("alternative")
    return no if yes is not None and member(yes) in ("skip", "todo") else yes


def _rows(call: Node, bindings: Bindings) -> int:
    given = call.get("arguments")
    if given is None:
        return 1
    if given.kind == "template_string":
        holes = [one for one in given.children if one.kind not in ("string_fragment",
                                                                   "escape_sequence")]
        head = given.children[0].text.strip().splitlines() if given.children else []
        columns = head[0].count("|") + 1 if head else 1
        return max(len(holes) // columns, 1)
    rows = bindings.value(given.children[0]) if given.children else None
    if rows is None or rows.kind != "array":
        return 1
    return len(rows.children) if rows is given.children[0] else max(len(rows.children), 1)
