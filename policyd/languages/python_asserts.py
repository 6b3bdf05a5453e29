"""Walks through a Python test and collects what it claims; runs nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import field
from typing import Any, NamedTuple

from policyd.core.sheet import Assertion, Kind, Sample
from policyd.core.values import dataclass
from policyd.languages.literal import Unparseable, bounded
from policyd.languages.python_cases import Table, looped
from policyd.languages.python_claims import NEVER, Claim, claims
from policyd.languages.python_dead import (
    MAY_END,
    ends,
    is_quiet,
    is_suppressing,
    swallows,
)
from policyd.languages.python_dotted import last_name
from policyd.languages.python_expecting import FAILING, RAISING, expected, is_muting, raising
from policyd.languages.python_guards import Guard, Guards, decided, depends, is_nothing, left_by
from policyd.languages.python_helpers import DEEPEST, Helpers, is_fixture
from policyd.languages.python_outline import Outline, Scope
from policyd.languages.python_spelling import finished, held, spelled
from policyd.languages.python_worth import Ground, Names, starts_empty, truth

_MOST_STEPS = 100_000
"""Statements of one file, those of helpers as often as they are called."""
_SIMPLE = frozenset([ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return, ast.Pass])


class _Place(NamedTuple):
    """Where the walk is."""

    names: Names
    scope: Scope
    owner: Scope | None
    """The class that `self` is of."""
    changed: Set[str] = frozenset()
    """Names that cannot be followed."""
    hollow: bool = False
    """What is claimed here cannot fail."""
    mute: bool = False
    """What is claimed here should fail."""
    line: int = 0
    """Where a helper was called; 0 in the test itself."""
    level: int = 0
    """How many blocks deep."""
    chain: tuple[int, ...] = ()
    """The functions that are being walked through."""
    guards: tuple[Guard, ...] = ()
    """What is claimed here is claimed only where they hold."""
    told: tuple[str, ...] = ()
    """Such of what is around this function."""
    free: frozenset[str] = frozenset()
    """Names that only rows which are written out give a value."""

    def under(self, *guards: Guard) -> _Place:
        return self._replace(guards=(*self.guards, *guards))


@dataclass(frozen=True, slots=True)
class Said:
    """What one test says."""

    assertions: list[Assertion] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    wanted: set[str] = field(default_factory=set)
    """Names of parameters that something is held against."""
    tables: list[Table] = field(default_factory=list)
    """Loops over rows that are written out."""


class Walker:
    """One for a file."""

    def __init__(self, outline: Outline, helpers: Helpers, ground: Ground, guards: Guards
                 ) -> None:
        self._outline = outline
        self._guards = guards
        self._helpers = helpers
        self._ground = ground
        self._left = _MOST_STEPS
        self._ends: dict[int, bool] = {}

    def said(self, scope: Scope, owner: Scope | None, free: Iterable[str]) -> Said:
        """What a test claims. `free`: its parameters that only its own table knows."""
        names = self._names(scope)
        own = frozenset(free)
        for name in own:
            names.drop(name)
        said = Said()
        place = _Place(names, scope, owner, scope.all_changed(), chain=(id(scope),), free=own)
        stack: list[tuple[Any, _Place]] = []
        self._push(stack, scope.node.body, place)
        self._fixtures(stack, scope, place)
        while stack:
            self._left -= 1
            if self._left < 0:
                raise Unparseable(scope.node.lineno, "calls its helpers too often to be read")
            statement, place = stack.pop()
            self._take(statement, place, stack, said)
        return said

    def _names(self, scope: Scope) -> Names:
        names = Names(self._ground, scope)
        names.know(scope.names)
        if scope.self_name:
            names.texts[scope.self_name] = "self"
        for name in scope.params:
            known = self._ground.known(name) if name in self._ground.returned else None
            if known is not None and name not in scope.stored and name not in scope.changed:
                names.put(name, known)
        return names

    def _fixtures(self, stack: list[tuple[Any, _Place]], scope: Scope, place: _Place) -> None:
        """Claims of the fixtures that a test asks for count in its first line."""
        for name in scope.params:
            fixture = self._helpers.functions.get(name)
            if fixture is None and place.owner is not None:
                fixture = self._helpers.methods(place.owner).get(name)
            if fixture is not None and id(fixture) not in place.chain and is_fixture(
                    fixture) and self._helpers.asserts(fixture, place.owner):
                inside = _Place(self._names(fixture), fixture, place.owner,
                                fixture.all_changed(), line=scope.node.lineno,
                                chain=(*place.chain, id(fixture)))
                self._push(stack, fixture.node.body, inside)

    def _push(self, stack: list[tuple[Any, _Place]], block: Sequence[ast.AST],
              place: _Place) -> None:
        """What stands behind a return is never reached."""
        pairs: list[tuple[Any, _Place]] = []
        for statement in block:
            pairs.append((statement, place))
            if type(statement) in MAY_END and not place.hollow and self._is_end(statement):
                place = place._replace(hollow=True)
            elif type(statement) is ast.If and not place.hollow:
                place = place.under(*left_by(statement))
        stack += reversed(pairs)

    def _is_end(self, statement: ast.AST) -> bool:
        known = self._ends.get(id(statement))
        if known is None:
            known = self._ends[id(statement)] = ends(statement, self._ground.dotted)
        return known

    def _take(self, statement: ast.AST, place: _Place, stack: list[tuple[Any, _Place]],
              said: Said) -> None:
        if type(statement) not in _SIMPLE:
            self._walk_in(statement, place, stack, said)
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                return
        self._calls(statement, place, stack, said)
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            _assign(statement, place)
        elif isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            place.names.drop(statement.target.id)

    def _walk_in(self, statement: ast.AST, place: _Place, stack: list[tuple[Any, _Place]],
                 said: Said) -> None:
        """What is no simple statement, and `assert`."""
        match statement:
            case ast.Assert(test=test):
                self._note(claims(test, place.names), statement, place, said)
            case ast.With() | ast.AsyncWith():
                self._with(statement, place, stack, said)
            case ast.If() | ast.While():
                self._if(statement, place, stack, said)
            case ast.For() | ast.AsyncFor():
                self._for(statement, place, stack, said)
            case ast.Try() | ast.TryStar():
                self._try(statement, place, stack)
            case ast.Match():
                self._match(statement, place, stack)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._nested(statement, place, stack)

    def _told(self, place: _Place) -> tuple[str, ...] | None:
        """Under what a claim is made here; None where it never is."""
        if not place.guards:
            return place.told
        told = self._guards.told(place.guards, place.names, place.free)
        return None if told is None else (*place.told, *told)

    def _settled(self, place: _Place) -> _Place:
        """The same for another function, with names of its own."""
        told = self._told(place)
        return place._replace(guards=(), told=told or (), hollow=place.hollow or told is None)

    def _note(self, found: Iterable[Claim], node: Any, place: _Place, said: Said) -> None:
        for claim in found:
            told = self._told(place)
            hollow = place.hollow or told is None
            if place.mute or (place.line and (claim.kind is Kind.NOTHING or told is None)) or (
                    hollow and claim is NEVER):
                continue
            line = place.line or node.lineno
            kind = Kind.NOTHING if hollow else claim.kind
            form = claim.form
            if told and claim is not NEVER:
                form = bounded(f"if {' and '.join(dict.fromkeys(told))}: {form}")
            said.assertions.append(Assertion(
                line, kind, form, claim.subject, claim.against, claim.answer,
                claim.tolerance, claim.types))
            if kind in (Kind.EQUAL, Kind.CLOSE):
                self._sample(claim, line, place, said)

    def _sample(self, claim: Claim, line: int, place: _Place, said: Said) -> None:
        if isinstance(claim.wanted, ast.Name):
            said.wanted.add(claim.wanted.id)
        tested = claim.tested
        while isinstance(tested, ast.Await | ast.Attribute | ast.Subscript):
            tested = tested.value
        if claim.answer and isinstance(tested, ast.Call) and tested is claim.tested:
            args = [*tested.args, *(keyword.value for keyword in tested.keywords)]
            given = tuple(place.names.answer(arg) for arg in args)
            if given and all(given):
                said.samples.append(Sample(line, given, claim.answer))

    def _calls(self, statement: ast.AST, place: _Place, stack: list[tuple[Any, _Place]],
               said: Said) -> None:
        for call in self._outline.calls.get(id(statement), ()):
            helper = self._helpers.called(call, place.scope, place.owner)
            if helper is None:
                self._note(expected(call, place.names, self._ground.dotted), call, place, said)
            elif len(place.chain) <= DEEPEST and id(helper) not in place.chain and (
                    self._helpers.asserts(helper, place.owner)):
                inside = self._settled(place)._replace(
                    names=self._given(helper, call, place), scope=helper, level=0,
                    changed=helper.all_changed(),
                    line=place.line or call.lineno, chain=(*place.chain, id(helper)))
                self._push(stack, helper.node.body, inside)

    def _given(self, helper: Scope, call: ast.Call, place: _Place) -> Names:
        """The names of a helper, with what a call gives it."""
        names = self._names(helper)
        args = helper.node.args
        params = [one.arg for one in (*args.posonlyargs, *args.args)]
        for name, default in zip(reversed(params), reversed(args.defaults), strict=False):
            names.put(name, place.names.worth(default))
        is_method = isinstance(call.func, ast.Attribute) and bool(helper.self_name) and not any(
            last_name(node) == "staticmethod" for node in helper.node.decorator_list)
        for name, given in zip(params[is_method:], call.args, strict=False):
            names.put(name, place.names.worth(given))
        for keyword in call.keywords:
            if keyword.arg in helper.params and keyword.arg:
                names.put(keyword.arg, place.names.worth(keyword.value))
        for name in helper.stored.keys() & helper.params:
            names.drop(name)
        return names

    def _with(self, statement: ast.With | ast.AsyncWith, place: _Place,
              stack: list[tuple[Any, _Place]], said: Said) -> None:
        inside = place._replace(level=place.level)
        for item in statement.items:
            call = _made(item.context_expr, place.names)
            if call is not None and last_name(call.func) in RAISING:
                body = held("; ".join(spelled(one, place.names.texts) for one in statement.body))
                self._note([raising(call, body, place.names)], statement, place, said)
                inside = inside._replace(mute=inside.mute or is_muting(call, place.names))
            elif call is not None and is_suppressing(call):
                inside = inside._replace(hollow=True)
            if isinstance(item.optional_vars, ast.Name):
                _bind(item.optional_vars.id, item.context_expr, place)
        self._push(stack, statement.body, inside)

    def _if(self, statement: ast.If | ast.While, place: _Place,
            stack: list[tuple[Any, _Place]], said: Said) -> None:
        """A branch that is never taken. In a helper, other calls may take it."""
        inside = place._replace(level=place.level + 1)
        never = inside._replace(mute=True) if place.line else inside._replace(hollow=True)
        sure = decided(statement.test, place.names)
        is_if = isinstance(statement, ast.If)
        guards = [Guard(statement.test)] if sure is None else []
        otherwise = [Guard(statement.test, False)] if sure is None and is_if else []
        self._push(stack, statement.orelse, never if sure is True and is_if else inside.under(
            *([] if self._refuses(statement.body) else otherwise)))
        body: Sequence[ast.stmt] = statement.body
        if is_if and self._fails(body[0]):
            self._note(claims(statement.test, place.names, holds=False), statement, place, said)
            body = body[1:]
        self._push(stack, body, never if sure is False else inside.under(
            *([] if self._refuses(statement.orelse) else guards)))

    def _for(self, statement: ast.For | ast.AsyncFor, place: _Place,
             stack: list[tuple[Any, _Place]], said: Said) -> None:
        inside = place._replace(level=place.level + 1)
        said.tables.extend(looped(statement, self._ground.dotted))
        self._push(stack, statement.orelse, inside)
        if not depends(statement.iter, place.names, place.free):
            inside = inside._replace(free=place.free.union(
                node.id for node in ast.walk(statement.target) if isinstance(node, ast.Name)))
        self._push(stack, statement.body, inside._replace(
            hollow=place.hollow or is_nothing(statement.iter, place.names)))

    def _match(self, statement: ast.Match, place: _Place, stack: list[tuple[Any, _Place]]) -> None:
        inside = place._replace(level=place.level + 1)
        last = statement.cases[-1]
        is_sure = last.guard is None and isinstance(last.pattern, ast.MatchAs) and (
            last.pattern.pattern is None and self._refuses(last.body))
        subject = finished(place.names.spelled(statement.subject))
        for case in reversed(statement.cases):
            guard = Guard(f"{subject} is {finished(spelled(case.pattern))}")
            self._push(stack, case.body, inside if is_sure else inside.under(guard))

    def _refuses(self, block: Sequence[ast.stmt]) -> bool:
        """Whether a test fails wherever it comes to a block."""
        return any(isinstance(one, ast.Raise) or self._fails(one) for one in block)

    def _fails(self, statement: ast.stmt) -> bool:
        """`raise AssertionError(...)`, `pytest.fail(...)`, `assert False`."""
        match statement:
            case ast.Raise(exc=ast.Call(func=ast.Name(id="AssertionError"))
                           | ast.Name(id="AssertionError")):
                return True
            case ast.Expr(value=ast.Call(func=func)):
                return last_name(func) == "fail" and self._ground.dotted.of(func) in FAILING
            case ast.Assert(test=test):
                return truth(test) is False
        return False

    def _try(self, statement: ast.Try | ast.TryStar, place: _Place,
             stack: list[tuple[Any, _Place]]) -> None:
        inside = place._replace(level=place.level + 1)
        self._push(stack, statement.finalbody, inside)
        fails = all(self._refuses(handler.body) for handler in statement.handlers)
        self._push(stack, statement.orelse, inside if fails else inside.under(Guard("no error")))
        fails = self._refuses([*statement.body[1:], *statement.orelse])
        for handler in reversed(statement.handlers):
            type_ = finished(spelled(handler.type)) if handler.type is not None else "*"
            self._push(stack, handler.body, inside if fails else inside.under(
                Guard(f"raises {type_}")))
        quiet = swallows(statement) or is_quiet(statement.finalbody, leaving=True)
        self._push(stack, statement.body, inside._replace(hollow=place.hollow or quiet))

    def _nested(self, statement: ast.FunctionDef | ast.AsyncFunctionDef, place: _Place,
                stack: list[tuple[Any, _Place]]) -> None:
        """A function within a test is taken to be called by whatever it is given to."""
        scope = self._outline.scope_of[id(statement)]
        names = place.names.within(scope, place.scope)
        self._push(stack, statement.body, self._settled(place)._replace(
            names=names, scope=scope, level=0))


def _made(node: ast.expr, names: Names) -> ast.Call | None:
    """The call that makes a context, if need be through a name."""
    if isinstance(node, ast.Name) and (worth := names.held(node.id)) is not None:
        return worth.node if isinstance(worth.node, ast.Call) else None
    return node if isinstance(node, ast.Call) else None


def _assign(statement: ast.Assign | ast.AnnAssign, place: _Place) -> None:
    if statement.value is None:
        return
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    for target in targets:
        if isinstance(target, ast.Name):
            _bind(target.id, statement.value, place)
        elif isinstance(target, ast.Tuple | ast.List):
            for name, node in _unpacked(target, statement.value):
                _bind(name, node, place)


def _unpacked(target: ast.Tuple | ast.List, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """`a, b = 1, f()` sets each; of another value they are its items."""
    made = value.elts if isinstance(value, ast.Tuple | ast.List) else []
    for index, node in enumerate(target.elts):
        if isinstance(node, ast.Name):
            yield node.id, made[index] if len(made) == len(target.elts) else ast.Subscript(
                value, ast.Constant(index), ast.Load())


def _bind(name: str, node: ast.expr, place: _Place) -> None:
    """A name that is set more than once is followed only where no branch is around it."""
    names = place.names
    if name in place.changed or starts_empty(node):
        names.drop(name)
    elif place.scope.stored.get(name, 0) <= 1 and name not in place.scope.params:
        names.put_later(name, node)
    elif place.level == 0:
        names.again(name, node)
    else:
        names.drop(name)
