"""The tests of a JavaScript file, what each of them asserts, and which modules it needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace

from policyd.core.sheet import Assertion, Kind, Sample, Test
from policyd.core.values import dataclass
from policyd.languages.javascript_bindings import Bindings, constants_of, names_in
from policyd.languages.javascript_claims import Claims, can_fail
from policyd.languages.javascript_constants import Constants
from policyd.languages.javascript_dead import Dead
from policyd.languages.javascript_defined import names_of
from policyd.languages.javascript_forms import Forms, Part, Scope, scope_of
from policyd.languages.javascript_names import (
    FUNCTIONS,
    HOOKS,
    arguments,
    callee,
    function_body,
    is_link,
    parameters,
)
from policyd.languages.javascript_runners import Declared, declared
from policyd.languages.javascript_samples import rows, sampled
from policyd.languages.javascript_tree import Node
from policyd.languages.literal import Unparseable

_MOST_ASSERTIONS = 20_000
_MOST_CASES = 100_000
_DEEPEST = 30
"""Groups within groups."""
_HELPERS_DEEP = 4
_PLAIN = frozenset({"string", "number", "true", "false", "null", "undefined", "template_string",
                    "unary_expression", "regex"})
_LEAVES = frozenset({"return_statement", "throw_statement", "break_statement",
                     "continue_statement"})


@dataclass(frozen=True, slots=True)
class Known:
    """A declared test or group with its full name; both where they stand and what they run."""

    declared: Declared
    name: str
    is_group: bool
    cases: int
    body: Node | None


@dataclass(frozen=True, slots=True)
class File:
    """What is known of a file while its tests are read."""

    nodes: Sequence[Node]
    constants: Constants
    forms: Forms
    bindings: Bindings
    dead: Dead
    fixed: Mapping[str, Part | None] = field(default_factory=dict)
    """Constants of the file by name."""

    @classmethod
    def of(cls, nodes: Sequence[Node], constants: Constants, bindings: Bindings) -> File:
        return cls(nodes, constants, Forms(constants), bindings, Dead(constants, bindings),
                   {**constants_of(bindings, _PLAIN)})


@dataclass(frozen=True, slots=True)
class _Stand:
    """Where the walk is: in which group, how often over, and in a test or not."""

    name: str = ""
    times: int = 1
    depth: int = 0
    in_test: bool = False


def found(file: File) -> list[Known]:
    """Tests and groups in the order of the file. Raises Unparseable."""
    result: list[Known] = []
    stack: list[tuple[Node, _Stand]] = [(file.nodes[0], _Stand())]
    while stack:
        node, stand = stack.pop()
        made = declared(node, file.bindings, in_test=stand.in_test) \
            if node.kind == "call_expression" else None
        if made is None:
            times = _times(node, file)
            inner = replace(stand, times=min(stand.times * times, _MOST_CASES)) \
                if times != 1 else stand
            stack.extend((child, inner) for child in reversed(node.children))
            continue
        known = _known(made, stand, file)
        result.append(known)
        if stand.depth > _DEEPEST:
            raise Unparseable(node.line, "its tests are nested too deeply")
        if known.body is not None:
            times = known.cases if known.is_group else 1
            stack.append((known.body, _Stand(known.name, times, stand.depth + 1,
                                             not known.is_group)))
    return result


def tests(
    file: File, known: Sequence[Known]
) -> tuple[tuple[Test, ...], tuple[Sample, ...]]:
    """And the inputs that they give. Raises Unparseable where there are far too many."""
    hooks = frozenset(name for node in file.nodes if _is_hook(node)
                      for each in arguments(node) for name in names_in(each))
    reader = _Reader(file)
    result = []
    for one in known:
        if one.is_group:
            continue
        names = hooks | names_in(one.body) if one.body is not None else frozenset[str]()
        uses = {*file.bindings.modules_of(names), *file.bindings.bare} - {""}
        call = one.declared.call
        result.append(Test(one.name, call.line, reader.body(one), reader.assertions(one),
                           tuple(sorted(uses)), one.cases, names_of(one.body)))
    tables = [call for one in known for _, call in one.declared.asked]
    samples = {*reader.samples, *rows(file.constants, file.bindings, tables)}
    return tuple(result), tuple(sorted(samples, key=lambda one: (one.line, one.given, one.result)))


def _is_hook(node: Node) -> bool:
    return node.kind == "call_expression" and callee(node).rpartition(".")[2] in HOOKS


def _known(made: Declared, stand: _Stand, file: File) -> Known:
    title = file.constants.of(made.title)
    if title is not None and isinstance(title.value, str):
        name = title.value
    else:
        name = file.forms.of(made.title, Scope()) if made.title is not None else ""
    name = ascii(" ".join(name.split()))[1:-1][:200]
    whole = f"{stand.name}::{name}" if stand.name else name
    function = file.bindings.function(made.runs)
    return Known(made, whole[-1000:], made.is_group,
                 min(stand.times * made.cases(file.bindings), _MOST_CASES),
                 function_body(function) if function is not None else None)


def _times(node: Node, file: File) -> int:
    """How often a loop over a literal list goes round."""
    over = None
    if node.kind == "for_in_statement":
        over = node.get("right")
    elif node.kind == "call_expression" and callee(node).endswith(".forEach"):
        called = node.get("function")
        over = called.get("object") if called is not None else None
    elif node.kind == "call_expression":
        called = node.get("function")
        inner = called.get("object") if called is not None else None
        over = inner if inner is not None and inner.kind == "array" else None
    held = file.bindings.value(over) if over is not None else None
    if held is None or held.kind not in ("array", "object"):
        return 1
    return len(held.children) if held is over else max(len(held.children), 1)


@dataclass(frozen=True, slots=True)
class _Place:
    """A node of a test's body, and whether a failure there is seen."""

    node: Node
    unseen: bool


class _Reader:
    """Reads the bodies of tests, and of the file's own functions that they call."""

    def __init__(self, file: File) -> None:
        self._file = file
        self.samples: set[Sample] = set()
        self._count = 0
        self._mute: set[Node] = set()
        """Functions that assert nothing, and those that are being read."""

    def body(self, one: Known) -> str:
        if one.body is None:
            return ""
        return self._file.forms.of(one.body, self._scope(one.body), spells_out=False)

    def assertions(self, one: Known) -> tuple[Assertion, ...]:
        if one.body is None:
            return ()
        return self._of_body(one.body, 0, Scope())

    def _scope(self, body: Node) -> Scope:
        function = body.parent
        own = list(parameters(function)) if function is not None else []
        return scope_of(body, own).wider(Scope(self._file.fixed))

    def _of_body(self, body: Node, depth: int, bound: Scope) -> tuple[Assertion, ...]:
        claims = Claims(self._file.forms, self._file.constants, bound.wider(self._scope(body)),
                        self._file.bindings.renamed)
        result: list[Assertion] = []
        stack = [_Place(body, False)]
        while stack:
            place = stack.pop()
            node = place.node
            made = claims.of(node) if _may_claim(node) else None
            if made is not None:
                result += [_as_seen(each, place) for each in made]
                self._tally(node, len(made))
                self.samples.update(sampled(node, claims))
                stack.extend(_Place(each, place.unseen) for each in reversed(_inside(node)))
                continue
            if node.kind == "call_expression":
                if declared(node, self._file.bindings, in_test=True) is not None:
                    continue
                seen = replace(place, unseen=place.unseen or bool(self._file.dead.never(node)))
                result += [_as_seen(replace(each, line=node.line), seen)
                           for each in self._called(node, claims, depth)]
            stack.extend(reversed(list(_below(place, self._file))))
        return tuple(result)

    def _called(self, node: Node, claims: Claims, depth: int) -> tuple[Assertion, ...]:
        """What a helper asserts; one that calls helpers in turn is followed a few times."""
        called, given = node.get("function"), arguments(node)
        found: tuple[Assertion, ...] = ()
        for name in (called, *given):
            if name is None or name.kind != "identifier" or depth >= _HELPERS_DEEP:
                continue
            function = self._file.bindings.function(name)
            body = function_body(function) if function is not None else None
            if function is None or body is None or body in self._mute:
                continue
            self._mute.add(body)
            scope = claims.bound(function, given) if name is called else Scope()
            made = self._of_body(body, depth + 1, scope)
            if made:
                self._mute.discard(body)
            found += made
        self._tally(node, len(found))
        return found

    def _tally(self, node: Node, count: int) -> None:
        self._count += count
        if self._count > _MOST_ASSERTIONS:
            raise Unparseable(node.line, "it asserts too many things to be looked at")


def _as_seen(one: Assertion, place: _Place) -> Assertion:
    return replace(one, kind=Kind.NOTHING) if place.unseen else one


def _inside(node: Node) -> list[Node]:
    """What the calls of an assertion are given: functions in there may assert too."""
    given: list[Node] = []
    link: Node | None = node
    for _ in range(40):
        if link is None:
            break
        if link.kind == "call_expression":
            given += arguments(link)
        link = link.get("function") or link.get("object")
    return given


def _below(place: _Place, file: File) -> Iterator[_Place]:
    """The parts of a statement; what stands behind a return is never reached."""
    node, unseen = place.node, place.unseen
    match node.kind:
        case "statement_block" | "program" | "switch_case" | "switch_default":
            for child in node.children:
                yield _Place(child, unseen)
                unseen = unseen or _ends(child, file)
        case "try_statement":
            handler = node.get("handler")
            body = handler.get("body") if handler is not None else None
            finalizer = node.get("finalizer")
            lost = (body is not None and not can_fail(body)) or (
                finalizer is not None and _returns(finalizer.get("body")))
            for child in node.children:
                yield _Place(child, unseen or (lost and child.field == "body"))
        case "function_declaration" | "class_declaration" | "generator_function_declaration":
            return
        case "variable_declarator" if _is_function(node.get("value")):
            return
        case "call_expression" if _is_swallowing(node):
            for child in node.children:
                yield _Place(child, unseen or child.field == "function")
        case _:
            dead = file.dead.never(node)
            for child in node.children if node.kind != "call_expression" else _parts(node):
                yield _Place(child, unseen or child in dead)


def _parts(call: Node) -> Iterator[Node]:
    """What is called, and each argument by itself."""
    for child in call.children:
        yield from child.children if child.kind == "arguments" else (child,)


def _may_claim(node: Node) -> bool:
    return node.kind == "call_expression" or (
        node.kind == "member_expression" and not is_link(node))


def _is_function(node: Node | None) -> bool:
    return node is not None and node.kind in FUNCTIONS


def _is_swallowing(node: Node) -> bool:
    """`.catch(() => {})` at the end of what may fail."""
    called = node.get("function")
    name = called.get("property") if called is not None else None
    return name is not None and name.text == "catch" and bool(arguments(node)) and not any(
        map(can_fail, arguments(node)))


def _ends(node: Node, file: File) -> bool:
    """Whether nothing behind a statement is reached, whatever happens."""
    if node.kind == "if_statement" and file.dead.truth(node.get("condition")) is True:
        inner = node.get("consequence")
        return inner is not None and (inner.kind in _LEAVES or _returns(inner))
    return node.kind in _LEAVES or (node.kind == "statement_block" and _returns(node))


def _returns(block: Node | None) -> bool:
    return block is not None and any(
        child.kind in _LEAVES or (child.kind == "statement_block" and _returns_plainly(child))
        for child in block.children)


def _returns_plainly(block: Node) -> bool:
    return any(child.kind in _LEAVES for child in block.children)
