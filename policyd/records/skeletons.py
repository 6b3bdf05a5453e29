"""Relations to be written: a row that loads, and functions that say what is to be filled in."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date

from policyd.core.values import dataclass

FILL_IN = "FILL IN"


@dataclass(frozen=True, slots=True)
class Skeleton:
    """The row's keys with their values, a comment on it, and the functions' text."""

    row: Mapping[str, object]
    above: tuple[str, ...]
    functions: tuple[str, ...]
    """Names, in the order of the text."""
    text: str


@dataclass(frozen=True, slots=True)
class _Function:
    """A function to be written: its arguments, what it gives, and lines that might do."""

    arguments: str
    gives: str
    such_as: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Class:
    """What is particular about a class of relations."""

    says: str
    functions: Mapping[str, _Function]
    keys: Mapping[str, object]
    hint: str = ""


_DRAWN = _Function("draw", "the list of arguments for one draw",
                   ("return [draw.items(lambda: draw.integer(0, 1_000), 1, 12)]",))
_CHANGED = _Function("draw, *given", "the arguments of the follow-up run",
                     ("[items] = given", 'return [draw.shuffled(items, "items")]'))
_AGAIN = _Function("draw, *given", "the arguments of the follow-up run: what the first one gave",
                   ("return [draw.output]",))
_MAPPED = _Function("draw, out", "what the follow-up run must give, made of what the first gave",
                    ("return out",))
_SCALED = _Function("draw, *given", "the arguments of the follow-up run: more of the same",
                    ("[items] = given", "return [[2 * item for item in items]]"))
_PAIR = {"generator": _DRAWN, "transform": _CHANGED}
_REMAINDER = ("it can block only when `rounding` says what becomes of a remainder, or of what is "
              "rounded")

CLASSES: Mapping[str, _Class] = {
    "": _Class("a changed input changes the output in a stated way", _PAIR, {}),
    "order": _Class("the items in another order give the same", _PAIR, {}),
    "store": _Class("what is stored twice is stored once", {
        "generator": _Function("draw", "a list of steps, each a name of `steps` and its arguments",
                               ('return [["reset"], ["put", draw.integer(0, 9)], ["all"]]',)),
        "transform": _Function("draw, *steps", "the steps of the follow-up run",
                               ("return [*steps, *steps[1:]]",))}, {},
        "`steps` names what a step calls: reset the store, put into it, read it"),
    "split-merge": _Class("two halves together give what the whole gives", {
        "generator": _DRAWN,
        "transform": _Function("draw, *given", "the arguments of several follow-up runs", (
            "[items] = given", "if len(items) < 2:", '    draw.reject("no halves")',
            'left, right = draw.split(items, "halves")', "return draw.runs([left], [right])")),
        "merge": _Function("draw, outs", "one output made of those of the follow-up runs",
                           ("return [part for out in outs for part in out]",))}, {}),
    "idempotence": _Class("what was done once is not changed by doing it again",
                          {"generator": _DRAWN, "transform": _AGAIN}, {}),
    "round-trip": _Class("what is read back is what was written",
                         {"generator": _DRAWN, "transform": _AGAIN,
                          "map": _Function("draw, out", "what must be read back: what was written",
                                           ("return draw.input[0]",))}, {"follow_up": ""},
                         "`follow_up` is what reads back what `entry` writes"),
    "commuting": _Class("changed before or changed after, it is the same",
                        {**_PAIR, "map": _MAPPED}, {}),
    "scale": _Class("so many times the input give so many times the output",
                    {"generator": _DRAWN, "transform": _SCALED, "map": _MAPPED}, {}, _REMAINDER),
    "duplication": _Class("the input twice gives the output twice",
                          {"generator": _DRAWN, "transform": _SCALED, "map": _MAPPED}, {},
                          _REMAINDER),
    "property": _Class("the output has a property, whatever the input", {
        "generator": _DRAWN,
        "holds": _Function("draw, out", "whether the output has the property",
                           ("return sum(out) == draw.input[0]",))},
        {"arity": 1, "compare": "holds"}),
}
"""By the value of `class`; nothing for a row without one."""

_SUFFIX = {"generator": "drawn", "transform": "changed", "map": "expected_of", "merge": "merged",
           "holds": "holds"}


def made(name: str, entry: str, kind: str, *, owner: str, last: date, says: str | None,
         beside: str) -> Skeleton:
    """A policy row of a class for an entry point; `beside` is the Python file of its functions."""
    found = CLASSES[kind]
    named = {key: f"{_identifier(name)}_{_SUFFIX[key]}" for key in found.functions}
    row = {"id": name, "relation": says or f"{FILL_IN}: {found.says}",
           **({"class": kind} if kind else {}), "entry": entry,
           **{key: value or entry for key, value in found.keys.items()},
           **({"steps": {"reset": entry, "put": entry, "all": entry}} if kind == "store" else {}),
           "roots": ["src"], **named, "compare": found.keys.get("compare", "exact"),
           "status": "policy", "owner": owner, "expires": last}
    above = (f"{FILL_IN}: what pushers read under `relation`, and the functions in {beside}.",
             *([f"{FILL_IN}: {found.hint}."] if found.hint else []),
             "A policy row is listed and refuses nothing. When it holds of the source (`policyd",
             "replay admit`), write `status: blocking` and take owner and expires out.")
    text = "\n\n".join(_text(named[key], function, entry)
                       for key, function in found.functions.items())
    return Skeleton(row, above, tuple(named.values()), text)


def _text(name: str, function: _Function, entry: str) -> str:
    return unwritten(name, function.arguments, f"{function.gives}; of {entry}", function.such_as)


def unwritten(name: str, arguments: str, gives: str, such_as: Sequence[str] = ()) -> str:
    """The text of a function of a relation that a maintainer fills in; until then it raises."""
    comments = "".join(f"    #     {line}\n" for line in such_as)
    return (f"def {name}({arguments}):\n"
            f'    """{FILL_IN}: {gives}."""\n'
            f"{'    # such as' + chr(10) if such_as else ''}{comments}"
            f'    raise NotImplementedError("{name} is not written yet")\n')


def _identifier(name: str) -> str:
    plain = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    return plain if plain[:1].isalpha() else f"r_{plain}"
