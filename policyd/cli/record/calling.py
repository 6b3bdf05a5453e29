"""A receipt's entry point called once, in the sandbox, on the source of a commit.

An input that is a mapping goes in as keyword arguments, a list as positional ones, anything else
as one argument. These constraints are checked here, whatever else a receipt says is left to the
repository's own properties:

| constraint | holds when |
|---|---|
| `type: NAME` | the output is of this Python type, by name: list, dict, str, int, ... |
| `length: N` | the output has so many items or characters |
| `sum-equals-input: KEY` | the items of the output add up to what the input has under KEY |
| `raises: NAME` | the call ends with this error; without it, an error is a fault |
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from contextlib import closing
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from policyd.adapters.gitrepo import PushedRepo
from policyd.adapters.worktree import WorkTree
from policyd.core.errors import PolicydError
from policyd.core.values import dataclass
from policyd.replay import tree as trees
from policyd.replay import wire
from policyd.replay.execute import Call, Executor, Mode
from policyd.replay.interpreter import Interpreter
from policyd.replay.oracle import described
from policyd.replay.outcome import Broken, Outcome, Raised

KNOWN = ("type", "length", "sum-equals-input", "raises")
_PLACE, _MODULE = "policyd_calling", "policyd_called_once"
_DRIVER = """\
from importlib import import_module
from inspect import signature


def call(entry, positional, named):
    module, _, name = entry.partition(":")
    try:
        function = getattr(import_module(module), name)
    except Exception as error:
        return [False, f"{type(error).__name__}: {error}"]
    try:
        asked = signature(function)
    except (TypeError, ValueError):
        asked = None
    try:
        asked and asked.bind(*positional, **named)
    except TypeError as error:
        return [False, f"it takes other arguments: {error}"]
    return [True, function(*positional, **named)]
"""
_NUMBERS = (int, float, Decimal, Fraction)


@dataclass(frozen=True, slots=True)
class Source:
    """What is called: the source of a commit, and what runs it."""

    tree: WorkTree
    commit: str
    roots: tuple[str, ...] = ("src",)
    site: Path | None = None
    python: Path | None = None
    sandbox: str = "bubblewrap"


def wrong(source: Source, entry: str, given: Any, constraints: Mapping[str, Any]) -> list[str]:
    """What does not hold when the entry point is called once; nothing where all that is checked
    here holds. Raises CannotJudge without a sandbox, and PolicydError for an input that cannot
    travel.
    """
    outcome = _called(source, entry, given)
    if isinstance(outcome, Raised):
        wanted = constraints.get("raises")
        if wanted is None:
            return [f"{entry} refuses this input: {described(outcome)}; where it has to, say "
                    f"--constraint raises={outcome.name}"]
        return [] if f".{outcome.name}".endswith(f".{wanted}") else [
            f"raises: {wanted} is wanted, it raised {outcome.name}"]
    if isinstance(outcome, Broken):
        return [f"{entry} gives no answer: {described(outcome)}"]
    called, found = wire.decode(outcome.data)
    if not called:
        return [f"{entry} cannot be called: {found}"]
    return [f"{name}: {problem}" for name in KNOWN if name in constraints
            and (problem := _problem(name, constraints[name], given, found)) is not None]


def left(constraints: Mapping[str, Any]) -> list[str]:
    """The constraints that are not checked here."""
    return [name for name in constraints if name not in KNOWN]


def _called(source: Source, entry: str, given: Any) -> Outcome:
    named = given if isinstance(given, dict) else {}
    positional = given if isinstance(given, list) else [] if isinstance(given, dict) else [given]
    repo = PushedRepo(os.path.realpath(source.tree.git("rev-parse", "--git-common-dir")))
    tree = repo.header(bytes.fromhex(source.commit))[0]
    mode = Mode.NONE if source.sandbox == "none" else Mode.STRICT
    python = None if source.python is None else Interpreter.asked(source.python)
    try:
        data = wire.encode([entry, positional, named])
    except wire.Unsendable as error:
        raise PolicydError(f"the input cannot be handed over: {error}") from None
    with tempfile.TemporaryDirectory(prefix="policyd-receipt-") as folder:
        place = Path(folder, "tree")
        Path(folder).chmod(0o755)
        refused = trees.candidate(repo, tree, source.roots, place)
        if refused:
            raise PolicydError(f"{refused[0].path} {refused[0].why}; such source is not run")
        (place / _PLACE).mkdir()
        (place / _PLACE).chmod(0o755)
        (place / _PLACE / f"{_MODULE}.py").write_text(_DRIVER, encoding="utf-8")
        (place / _PLACE / f"{_MODULE}.py").chmod(0o644)
        with closing(Executor(place, roots=[_PLACE, *source.roots], python=python, mode=mode,
                              site=source.site, jobs=1)) as executor:
            return executor.run(Call(f"{_MODULE}:call", data))


def _problem(name: str, wanted: Any, given: Any, found: Any) -> str | None:
    """Why a constraint does not hold; None where it does."""
    if name == "raises":
        return f"{wanted} is wanted, it returned"
    if name == "type":
        kind = type(found).__name__
        return None if wanted in (kind, {"NoneType": "null"}.get(kind)) \
            else f"{wanted} is wanted, it is {kind}"
    if name == "length":
        if not hasattr(found, "__len__"):
            return f"{type(found).__name__} has none"
        return None if len(found) == wanted else f"{wanted} is wanted, it is {len(found)}"
    if not isinstance(given, dict) or not _is_number(given.get(wanted)):
        return f"the input has no number under {wanted!r}"
    if not isinstance(found, list | tuple) or not all(map(_is_number, found)):
        return "the output is no list of numbers"
    return None if sum(map(Fraction, found)) == Fraction(given[wanted]) \
        else f"the items of the output do not add up to {wanted}"


def _is_number(value: Any) -> bool:
    return isinstance(value, _NUMBERS) and not isinstance(value, bool) \
        and value == value and abs(value) != float("inf")
