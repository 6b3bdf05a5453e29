"""The base's relation functions, run in a sandbox of their own: the judge imports none of them.

A server keeps many repositories, and who writes the oracle of one is not to run code in the
judge of all. What comes back is plain values.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import zip_longest
from pathlib import Path
from types import TracebackType
from typing import Any

from policyd.core.errors import CannotJudge
from policyd.core.values import dataclass
from policyd.replay import wire
from policyd.replay.budget import Budget
from policyd.replay.execute import Call, Executor, Limits, Mode
from policyd.replay.interpreter import Interpreter
from policyd.replay.outcome import Broken, Outcome, Raised, Value
from policyd.replay.table import Function, Row

FOLDER = "_policyd"
"""Where the driver lies beside the oracle."""
DRIVERS = tuple(Path(__file__).with_name(f"{name}.py") for name in ("asking", "draws", "harvest"))

_LIMITS = Limits(wall_seconds=20.0, cpu_seconds=10, output_bytes=8 << 20)
_LANES = 2
_LEAST_TOGETHER = 12
"""Draws of a request, where there are more: to load the functions costs as much as some draws."""
_MOST_ASKED = 512 << 10
"""Bytes of one request, where a single draw is not longer."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One draw, before it is made. `follow` are choices to take instead of the stream's."""

    index: int
    kind: str = "domain"
    words: tuple[Any, ...] = ()
    follow: tuple[int, ...] | None = None
    seed: bytes = b""
    """Of a draw that is kept from an earlier job; else the job's own counts."""
    told: int | None = None
    """The index that the oracle's functions are told, where it is another: that of the earlier
    job."""

    @property
    def told_index(self) -> int:
        return self.index if self.told is None else self.told


@dataclass(frozen=True, slots=True)
class Made:
    """What a function gave: an input with its choices, the inputs of follow-up runs, a value."""

    value: Any
    choices: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Rejected:
    """The draw is none that the relation applies to."""

    why: str


@dataclass(frozen=True, slots=True)
class Failed:
    """A function of the oracle raised. `on_output`: the candidate's output may be the reason."""

    why: str
    on_output: bool = False


Answer = Made | Rejected | Failed


def lay(tree: Path) -> None:
    """Put the driver into a materialised oracle."""
    folder = tree / FOLDER
    folder.mkdir()
    folder.chmod(0o755)
    for driver in (*DRIVERS, Path(__file__).with_name("wire.py")):
        shutil.copyfile(driver, folder / driver.name)
        (folder / driver.name).chmod(0o644)


class Oracle:
    """Functions of rows, asked for many draws at once: one process a row and phase."""

    def __init__(self, tree: Path, seed: bytes, *, python: Interpreter | None = None,
                 mode: Mode = Mode.WARM, budget: Budget | None = None) -> None:
        """`tree` is one that `lay` completed. Behind the budget's deadline, OutOfTime is raised."""
        self._seed, self._budget = seed, budget
        self._executor = Executor(tree, roots=[FOLDER], python=python, limits=_LIMITS, mode=mode,
                                  jobs=_LANES)

    def inputs(self, row: Row, asked: Sequence[Asked]) -> list[Answer]:
        """The source inputs of draws, each a list of arguments or of steps."""
        items = [(one, [*_head(one), None if one.follow is None else list(one.follow)])
                 for one in asked]
        return self._answers("inputs", row, row.generator, items)

    def changes(self, row: Row, transform: Function,
                asked: Sequence[tuple[Asked, Any, bool, Any]]) -> list[Answer]:
        """The inputs of follow-up runs, from (draw, input, whether there is an output, output)."""
        items = [(one, [*_head(one), [given, output, has]]) for one, given, has, output in asked]
        return self._answers("changes", row, transform, items)

    def values(self, row: Row, function: Function,
               asked: Sequence[tuple[Asked, Any, Any, Sequence[Any]]]) -> list[Answer]:
        """What a function says, from (draw, input, output, arguments).

        Of what cannot be asked at all, because a process breaks on it, each is Failed.
        """
        items = [(one, [*_head(one), [given, output, *arguments]])
                 for one, given, output, arguments in asked]
        return self._answers("values", row, function, items, patient=True)

    def harvested(self, sources: Sequence[str], calls: Sequence[str], *,
                  needed: bool = True) -> tuple[list[Any], list[Any]]:
        """Words of some texts, documented and found: see policyd.replay.harvest.

        Raises CannotJudge where they are `needed`: a source that hides its literals is not let
        through.
        """
        documented: list[list[Any]] = []
        found: list[list[Any]] = []
        for source in sources:
            try:
                call = Call("harvest:harvest", wire.encode([[source], list(calls)]))
            except (ValueError, wire.Unsendable) as error:
                raise CannotJudge(f"a changed source is too large to replay: {error}") from error
            outcome = self._executor.run(call)
            if isinstance(outcome, Raised) and outcome.name in _NO_SOURCE:
                continue  # what no parser takes is never imported
            if not isinstance(outcome, Value) and not needed:
                continue
            if not isinstance(outcome, Value):
                raise CannotJudge("the literals of a changed source cannot be read: "
                                  f"{described(outcome)}")
            one, two = wire.decode(outcome.data, _LIMITS.output_bytes, trusted=True)
            documented.append(one)
            found.append(two)
        return _in_turn(documented), _in_turn(found)

    def _answers(self, phase: str, row: Row, function: Function,
                 items: Iterable[tuple[Asked, list[Any]]], *, patient: bool = False
                 ) -> list[Answer]:
        ask = partial(self._ask, phase, row, function, patient=patient)
        found: dict[int, Answer] = {}
        sendable: list[_Item] = []
        for at, (asked, item) in enumerate(items):
            try:
                size = len(wire.encode([[item]]))  # as deep as it will lie
                sendable.append(_Item(at, asked.seed, size, item))
            except wire.Unsendable as error:
                found[at] = Failed(f"it is {error}", on_output=True)
        batches = list(_batches(sendable))
        for batch, answers in zip(batches, ask(batches), strict=True):
            found.update(zip((one.at for one in batch), answers, strict=True))
        return [found[at] for at in range(len(found))]

    def _ask(self, phase: str, row: Row, function: Function, batches: Sequence[Sequence[_Item]],
             *, patient: bool) -> list[list[Answer]]:
        """The answers of each batch; as many batches at a time as there are lanes."""
        if self._budget is not None:
            self._budget.did(0)
        calls = [self._call(phase, row, function, batch) for batch in batches]
        outcomes = iter(self._executor.run_many(
            [call for call in calls if isinstance(call, Call)]))
        return [self._read(next(outcomes) if isinstance(call, Call) else call,
                           (phase, row, function), batch, patient=patient)
                for call, batch in zip(calls, batches, strict=True)]

    def _call(self, phase: str, row: Row, function: Function,
              batch: Sequence[_Item]) -> Call | Raised:
        setup = {"path": [function.folder], "module": function.module, "function": function.name,
                 "seed": batch[0].seed or self._seed, "relation": row.id,
                 "files": [[file.lease, file.path] for file in row.files]}
        try:
            return Call(f"asking:{phase}", wire.encode([setup, [one.item for one in batch]]))
        except (ValueError, wire.Unsendable) as error:
            return Raised(type(error).__name__, message=str(error))

    def _read(self, outcome: Outcome, of: tuple[str, Row, Function], batch: Sequence[_Item], *,
              patient: bool) -> list[Answer]:
        if isinstance(outcome, Value):
            found = wire.decode(outcome.data, _LIMITS.output_bytes, trusted=True)
            return [_answer(one) for one in found]
        phase, row, function = of
        if not patient:
            raise CannotJudge(f"{function.name} of {row.id} does not run: {described(outcome)}; "
                              "a maintainer repairs the relation")
        if len(batch) == 1:
            return [Failed(described(outcome), on_output=True)]
        each = self._ask(phase, row, function, [[one] for one in batch], patient=True)
        return [answer for answers in each for answer in answers]

    def close(self) -> None:
        self._executor.close()

    def __enter__(self) -> Oracle:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()


_NO_SOURCE = frozenset({"SyntaxError", "IndentationError", "TabError"})


def _in_turn(lists: Sequence[Sequence[Any]]) -> list[Any]:
    """The first of each, then the second of each: no large source crowds out the others."""
    return [one for turn in zip_longest(*lists, fillvalue=_NOTHING) for one in turn
            if one is not _NOTHING]


_NOTHING = object()


def _head(asked: Asked) -> list[Any]:
    return [asked.told_index, asked.kind, list(asked.words)]


@dataclass(frozen=True, slots=True)
class _Item:
    """What is asked of one draw; `at` is its place among all."""

    at: int
    seed: bytes
    size: int
    item: list[Any]


def _batches(items: Sequence[_Item]) -> Iterator[list[_Item]]:
    """Draws that travel together: of one seed, not too much at once, and a share for each lane."""
    batch: list[_Item] = []
    size = 0
    most = max(_LEAST_TOGETHER, -(-len(items) // _LANES))
    for one in items:
        if batch and (one.seed != batch[0].seed or size + one.size > _MOST_ASKED
                      or len(batch) == most):
            yield batch
            batch, size = [], 0
        batch.append(one)
        size += one.size
    if batch:
        yield batch


def _answer(told: Sequence[Any]) -> Answer:
    match told:
        case ["input", list(given), list(choices)]:
            return Made(given, tuple(choices))
        case ["runs", list(given)] | ["value", given]:
            return Made(given)
        case ["rejected", str(why)]:
            return Rejected(why)
        case ["failed", str(why), bool(on_output)]:
            return Failed(why, on_output)
        case ["failed", str(why)]:
            return Failed(why)
    raise CannotJudge("the oracle's driver answers out of order")


def described(outcome: Outcome) -> str:
    """What an execution came to where it gave no value, in one line of ASCII."""
    match outcome:
        case Raised(name, at_import, message):
            where = "its import raises" if at_import else "it raises"
            return f"{where} {name}" + (f": {message}" if message else "")
        case Broken(kind, detail):
            return _KINDS[kind.value] + (f" ({detail})" if detail else "")
    return "it returns"


_KINDS: Mapping[str, str] = {
    "missing": "it ends without an answer", "double": "it answers twice",
    "malformed": "what it answers is no value", "signal": "a signal ends it",
    "exit": "it ends the process", "timeout": "its time runs out",
    "oversize": "it returns too much", "unsendable": "it returns what is no plain value",
    "unreached": "an execution before it breaks the process"}
