"""Pairs of one relation: drawn, run, and held against each other. Broken is what does not hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any

from policyd.core.errors import CannotJudge
from policyd.core.values import dataclass
from policyd.replay import wire
from policyd.replay.candidate import Script, script
from policyd.replay.compare import Number, compare
from policyd.replay.oracle import Answer, Asked, Failed, Made, Oracle, Rejected, described
from policyd.replay.outcome import Broken, Outcome, Raised, Value
from policyd.replay.table import Function, Row

Run = Callable[[Sequence[Script]], list[Outcome]]

_LARGEST_INPUT = 256 << 10
_OUTPUT_BYTES = 2 << 20
_NO_REFUSAL = frozenset({"SystemExit", "KeyboardInterrupt", "GeneratorExit"})
"""Errors that no caller expects where a relation says that one must be raised."""


class State(Enum):
    """What a pair came to."""

    HOLDS = "holds"
    BREAKS = "breaks"
    VACUOUS = "vacuous"
    """It proves nothing: both sides raise alike, or both are the same call."""
    REJECTED = "rejected"
    """The relation does not apply to it."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A source input with the choices that it is a function of."""

    asked: Asked
    input: Any
    """A list of arguments, or of steps."""
    choices: tuple[int, ...]
    script: Script


@dataclass(frozen=True, slots=True)
class Pair:
    """One draw with its runs. `why` is one line without any value of an output."""

    drawn: Drawn
    state: State
    why: str = ""
    scripts: tuple[Script, ...] = ()
    """The source run, then the follow-up runs, as far as there were any."""
    trace: tuple[str, ...] = field(default=(), compare=False)


@dataclass(slots=True)
class _Open:
    """A pair that is on its way."""

    drawn: Drawn
    source: Outcome
    done: Pair | None = None
    follow_ups: tuple[Script, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    expected: bytes = b""
    found: bytes = b""
    within: Number | None = None

    def ends(self, state: State, why: str = "", of: Outcome | None = None) -> None:
        self.done = Pair(self.drawn, state, why, (self.drawn.script, *self.follow_ups),
                         of.trace if isinstance(of, Raised) else ())

    @property
    def output(self) -> Any:
        return wire.decode(self.source.data, _OUTPUT_BYTES, trusted=True) \
            if isinstance(self.source, Value) else None

    @property
    def told(self) -> tuple[Asked, Any, Any]:
        """What the oracle's functions are told of it."""
        return self.drawn.asked, self.drawn.input, self.output


def draw(row: Row, asked: Sequence[Asked], oracle: Oracle) -> list[Drawn | Rejected]:
    """Source inputs. Raises CannotJudge where the generator fails."""
    found: list[Drawn | Rejected] = []
    for one, answer in zip(asked, oracle.inputs(row, asked), strict=True):
        if isinstance(answer, Made):
            found.append(Drawn(one, answer.value, answer.choices,
                               _script(row, row.entry, answer.value, row.generator)))
        elif isinstance(answer, Rejected):
            found.append(answer)
        else:
            raise _wrong(row, row.generator, answer.why)
    return found


def tried(row: Row, drawn: Sequence[Drawn], oracle: Oracle, run: Run) -> list[Pair]:
    """The pairs of some draws, run by `run`. Raises CannotJudge where the relation fails."""
    outcomes = run([one.script for one in drawn])
    pairs = [_Open(one, outcome) for one, outcome in zip(drawn, outcomes, strict=True)]
    for pair in pairs:
        if isinstance(pair.source, Broken) or _at_import(pair.source):
            pair.ends(State.BREAKS, described(pair.source), pair.source)
    if row.is_property:
        _look_at_one(row, pairs, oracle)
    else:
        _follow(row, _open(pairs), oracle, run)
        _weigh(row, _open(pairs))
        _hold_against(row, _open(pairs), oracle)
    return [pair.done for pair in pairs if pair.done is not None]


def _open(pairs: Sequence[_Open]) -> list[_Open]:
    return [pair for pair in pairs if pair.done is None]


def _at_import(outcome: Outcome) -> bool:
    return isinstance(outcome, Raised) and outcome.at_import


def _script(row: Row, entry: str, given: Any, function: Function) -> Script:
    try:
        data = wire.encode(given, _LARGEST_INPUT)
        return script(entry, row.steps, given, data)
    except (ValueError, wire.Unsendable) as error:
        raise _wrong(row, function, f"its input cannot be used: {error}") from error


def _wrong(row: Row, function: Function, why: str) -> CannotJudge:
    return CannotJudge(f"{function.folder}/{function.module}.py: {function.name} of {row.id}: "
                       f"{why}; a maintainer repairs the relation")


# A property of one output.


def _look_at_one(row: Row, pairs: Sequence[_Open], oracle: Oracle) -> None:
    for pair in _open(pairs):
        if row.compare == "raises":
            _refused(pair, pair.source)
        elif isinstance(pair.source, Raised):
            pair.ends(State.BREAKS, described(pair.source), pair.source)
    rest = _open(pairs)
    if row.holds is None or not rest:
        return
    for pair, answer in _asked(row, row.holds, rest, oracle, lambda pair: [pair.output]):
        if not isinstance(answer, bool):
            raise _wrong(row, row.holds, f"a {type(answer).__name__} is neither True nor False")
        pair.ends(State.HOLDS if answer else State.BREAKS,
                  "" if answer else "its output does not have the property")


def _refused(pair: _Open, outcome: Outcome) -> None:
    if not isinstance(outcome, Raised):
        pair.ends(State.BREAKS, "it returns where it must raise")
    elif outcome.name in _NO_REFUSAL:
        pair.ends(State.BREAKS, f"it raises {outcome.name} where it must refuse", outcome)
    else:
        pair.ends(State.HOLDS)


def _asked(row: Row, function: Function, pairs: Sequence[_Open], oracle: Oracle,
           arguments: Callable[[_Open], Sequence[Any]]) -> list[tuple[_Open, Any]]:
    """What a function says of each pair; those that it rejects or fails on are done."""
    answers = oracle.values(row, function, [(*pair.told, arguments(pair)) for pair in pairs])
    found = []
    for pair, answer in zip(pairs, answers, strict=True):
        if isinstance(answer, Made):
            found.append((pair, answer.value))
        else:
            _without(pair, answer, f"{function.name} fails on its output")
    return found


def _without(pair: _Open, answer: Answer, what: str) -> None:
    if isinstance(answer, Rejected):
        pair.ends(State.REJECTED, answer.why)
    elif isinstance(answer, Failed):
        pair.ends(State.BREAKS, f"{what}: {answer.why.partition(':')[0]}")


# Two runs.


def _follow(row: Row, pairs: Sequence[_Open], oracle: Oracle, run: Run) -> None:
    """Make the follow-up inputs and run them."""
    if row.transform is None or not pairs:
        return
    answers = oracle.changes(row, row.transform, [
        (asked, given, isinstance(pair.source, Value), output)
        for pair in pairs for asked, given, output in (pair.told,)])
    for pair, answer in zip(pairs, answers, strict=True):
        if isinstance(answer, Made):
            pair.follow_ups = tuple(_script(row, row.follow_up, one, row.transform)
                                    for one in answer.value)
        elif isinstance(answer, Failed) and not answer.on_output:
            raise _wrong(row, row.transform, answer.why)
        elif isinstance(answer, Failed) and isinstance(pair.source, Raised):
            pair.ends(State.BREAKS, described(pair.source), pair.source)
        else:
            _without(pair, answer, f"{row.transform.name} fails on its output")
    going = _open(pairs)
    outcomes = iter(run([one for pair in going for one in pair.follow_ups]))
    for pair in going:
        pair.outcomes = tuple(next(outcomes) for _ in pair.follow_ups)


def _weigh(row: Row, pairs: Sequence[_Open]) -> None:
    """What can be told without looking at values."""
    for pair in pairs:
        both = (pair.source, *pair.outcomes)
        broken = next((o for o in both if isinstance(o, Broken) or _at_import(o)), None)
        raised = [one for one in both if isinstance(one, Raised)]
        alike = len(raised) == len(both) and len({one.name for one in raised}) == 1
        is_same_call = set(pair.follow_ups) == {pair.drawn.script}
        if broken is not None:
            pair.ends(State.BREAKS, described(broken), broken)
        elif row.compare == "raises" and not alike:
            pair.ends(State.BREAKS, "both runs must raise, and raise the same")
        elif is_same_call:
            pair.ends(State.VACUOUS, "both runs are the same call")
        elif row.compare == "raises":
            _refused(pair, pair.source)
        elif alike:
            pair.ends(State.VACUOUS, f"both runs raise {raised[0].name}", raised[0])
        elif raised:
            where = "the source run" if isinstance(pair.source, Raised) else "the follow-up run"
            which = "both runs, not alike" if len(raised) == len(both) else f"{where} alone"
            pair.ends(State.BREAKS, f"{which}: {described(raised[0])}", raised[0])


def _hold_against(row: Row, pairs: Sequence[_Open], oracle: Oracle) -> None:
    """Compare the outputs, after the row's own functions made them comparable."""
    for pair in pairs:
        if isinstance(pair.source, Value):
            pair.expected = pair.source.data
        if row.merge is None and len(pair.outcomes) != 1:
            raise _wrong(row, row.transform or row.generator,
                         "it makes several follow-up runs, and the row has no merge")
        if isinstance(pair.outcomes[0], Value):
            pair.found = pair.outcomes[0].data
    if row.merge is not None:
        for pair, value in _asked(row, row.merge, pairs, oracle, _outputs):
            pair.found = _encoded(row, row.merge, value)
    if row.map is not None:
        for pair, value in _asked(row, row.map, _open(pairs), oracle, lambda pair: [pair.output]):
            pair.expected = _encoded(row, row.map, value)
    if isinstance(row.within, Function):
        for pair, value in _asked(row, row.within, _open(pairs), oracle, lambda _: []):
            pair.within = _bound(row, row.within, value)
    for pair in _open(pairs):
        bound = row.within if isinstance(row.within, Fraction) else pair.within
        why = compare(row.compare, pair.expected, pair.found, bound)
        pair.ends(State.HOLDS if why is None else State.BREAKS, why or "")


def _outputs(pair: _Open) -> Sequence[Any]:
    return [[wire.decode(one.data, _OUTPUT_BYTES, trusted=True)
             for one in pair.outcomes if isinstance(one, Value)]]


def _encoded(row: Row, function: Function, value: Any) -> bytes:
    try:
        return wire.encode(value, _OUTPUT_BYTES)
    except wire.Unsendable as error:
        raise _wrong(row, function, str(error)) from error


def _bound(row: Row, function: Function, value: Any) -> Number:
    """Never made a Fraction: 10 ** 10 ** 9 of an output would be written out."""
    if isinstance(value, Decimal):
        is_bound = value.is_finite() and value >= 0
    else:
        is_bound = type(value) in (int, float, Fraction) and value >= 0 and value != float("inf")
    if is_bound:
        bound: Number = value
        return bound
    raise _wrong(row, function, f"a {type(value).__name__} is no bound: a finite number, 0 or more")


def shown(row: Row, given: Any) -> str:
    """An input as people read it: `(1, [1, 2])`, or its steps; printable ASCII, 160 characters."""
    try:
        if row.steps:
            text = "; ".join(f"{step[0]}({', '.join(map(repr, step[1:]))})" for step in given)
        else:
            text = f"({', '.join(map(repr, given))})"
    except ValueError:  # Python writes no integer of more than 4,300 digits
        text = "(a number of thousands of digits)"
    text = ascii(text)[1:-1].replace("\\'", "'").replace("\\\\", "\\")
    return text if len(text) <= 160 else f"{text[:157]}..."


def renamed(pair: Pair, why: str) -> Pair:
    """The same pair, broken for another reason."""
    return replace(pair, state=State.BREAKS, why=why)
