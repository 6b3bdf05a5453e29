"""Verdicts to the lines that a pusher reads. 72 columns, ASCII, no colour, no pushed control."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from textwrap import wrap

from policyd.core.evaluate import Violation
from policyd.core.facts import Pusher
from policyd.core.repair import Block
from policyd.core.rule import Place
from policyd.core.values import dataclass

WIDTH = 72
"""80 columns less the client's `remote: `."""

SHOWN = 3
"""Places that are shown of a rule; the rest are a number."""

LINES = 12
"""Of a rule. A long block of commands leaves fewer lines for places, but always one."""

LONGEST = 3 * WIDTH
"""Of what is broken over lines."""

SHORTEST = 12
"""Of a word that has lost its middle."""

_UNSAFE = re.compile(r"[^ -\[\]-~]")
"""All but visible ASCII and the space, and the backslash."""


def printable(text: str) -> str:
    """Pushed text made safe: one line of ASCII in which no byte steers a terminal.

    A byte that is no UTF-8 or no visible ASCII is `\\xNN`, any other character `\\uNNNN`, a
    backslash that was pushed is doubled: different texts stay different.
    """
    return _UNSAFE.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    if found[0] == "\\":
        return r"\\"
    if code < 0x80 or 0xDC80 <= code <= 0xDCFF:  # surrogateescape put bytes there
        return f"\\x{code & 0xFF:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


@dataclass(frozen=True, slots=True)
class Told:
    """A rejection, ready to be rendered."""

    push_id: str
    pusher: Pusher
    violations: Sequence[Violation]
    blocks: Mapping[int, Block]
    """By position in `violations`; the first finding of a rule has one."""


def rejection(told: Told) -> str:
    """All that a refused pusher reads; ends in one line for programs and a newline."""
    lines: list[str] = []
    done: list[Block] = []
    grouped = _by_rule(told.violations)
    for hits in grouped.values():
        chosen = told.blocks[told.violations.index(hits[0])]
        lines += _rule(hits, chosen, told.pusher, repeated=chosen in done)
        done.append(chosen)
    lines.append(for_programs(told.push_id, list(grouped), done[0].next.value))
    return "\n".join(lines) + "\n"


def warning(violations: Sequence[Violation], pusher: Pusher) -> str:
    """What an accepted pusher reads of rules that only warn."""
    lines: list[str] = []
    for hits in _by_rule(violations).values():
        lines += [*_head(hits, "warning: "), *_scene(hits[0], pusher), *_places(hits),
                  _why(hits[0])]
    lines.append("accepted; on a ref where these rules enforce it would be refused")
    return "\n".join(lines) + "\n"


def unjudged(reason: str, incident: str, word: str) -> str:
    """What a pusher reads when the push could not be judged. `reason` is one sentence."""
    lines = wrapped(f"policyd: could not be judged: {printable(reason)}", "  ")
    lines += wrapped(f"nothing was stored, and nothing is wrong with your commits; incident "
                      f"{printable(incident)}, for the operator", "  ")
    lines.append(for_programs(incident, [], word))
    return "\n".join(lines) + "\n"


def for_programs(push_id: str, rules: Sequence[str], word: str) -> str:
    """The last line: one JSON object behind a fixed prefix. `more` only where it fits."""
    told: dict[str, object] = {"id": push_id}
    if rules:
        told["rule"] = rules[0]
    if len(rules) > 1:
        told["more"] = len(rules) - 1
    line = _as_json({**told, "next": word})
    if len(line) <= WIDTH:
        return line
    told.pop("more", None)
    return _as_json({**told, "next": word})


def _as_json(told: Mapping[str, object]) -> str:
    return "policyd " + json.dumps(told, separators=(",", ":"))


def _by_rule(violations: Sequence[Violation]) -> dict[str, list[Violation]]:
    """Several policies may have found the same rule broken; it is told once."""
    grouped: dict[str, list[Violation]] = {}
    for violation in violations:
        grouped.setdefault(violation.rule.id, []).append(violation)
    return grouped


def _rule(hits: Sequence[Violation], chosen: Block, pusher: Pusher, *,
          repeated: bool) -> list[str]:
    first = hits[0]
    above = [*_head(hits, ""), *_scene(first, pusher)]
    below = [_why(first)]
    if repeated:
        below.append("do:  as above")
    else:
        below += _labelled("do:  ", chosen.says)
        below += ["  " + _command(line) for line in chosen.commands]
    return [*above, *_places(hits, LINES - len(above) - len(below)), *below]


def _head(hits: Sequence[Violation], what: str) -> list[str]:
    start = f"policyd: {what}{hits[0].rule.id}: "
    return [start + shortened(printable(hits[0].finding.says), WIDTH - len(start))]


def _scene(hit: Violation, pusher: Pusher) -> list[str]:
    name = pusher.name if pusher.name is not None else "(no name)"
    scene = f", {hit.finding.scene}" if hit.finding.scene else ""
    text = f"  {printable(f'{name} to {hit.finding.ref}{scene}')}"
    return wrapped(shortened(text, LONGEST), "    ")


def _further(hit: Violation, first: Violation) -> str:
    """A further finding, with its ref where that is another one."""
    ref = "" if hit.finding.ref == first.finding.ref else f" to {hit.finding.ref}"
    return printable(hit.finding.says + ref)


def _why(hit: Violation) -> str:
    return shortened(f"why: {printable(hit.finding.why or hit.rule.why)}", WIDTH)


def _places(hits: Sequence[Violation], room: int = SHOWN + 1) -> list[str]:
    """The first finding's places; of the further findings, what they say."""
    first = [text for place in hits[0].finding.places if (text := _place(place))]
    rest = [_further(hit, hits[0]) for hit in hits[1:]]
    shown = list(dict.fromkeys(first + rest))
    if room < 2 and len(shown) > 1:
        return [f"  {shown[0]} and {len(shown) - 1} more"]
    most = min(SHOWN, max(room - 1, 1)) if len(shown) > room else min(SHOWN, len(shown))
    lines = ["  " + line for line in shown[:most]]
    if len(shown) > most:
        lines.append(f"  and {len(shown) - most} more")
    return lines


def _place(place: Place) -> str:
    """`9d8e11c src/tax.py:31 note`; a place that only repeats the tip says nothing."""
    if place.path is None and not place.note:
        return ""
    line = f":{place.line}" if place.line else ""
    parts = (place.commit[:7] if place.commit else "",
             "" if place.path is None else printable(place.path) + line, printable(place.note))
    return " ".join(part for part in parts if part)


def _command(line: str) -> str:
    """Commands are made of checked names; the sanitiser is here for what slipped through."""
    return line if line.isascii() and line.isprintable() else printable(line)


def _labelled(label: str, text: str) -> list[str]:
    return wrapped(shortened(label + printable(text), LONGEST), " " * len(label))


def wrapped(text: str, indent: str) -> list[str]:
    """Lines that fit. Only the first starts at the left: what goes on can pass for no line of
    ours."""
    return wrap(text, WIDTH, subsequent_indent=indent, break_long_words=True,
                break_on_hyphens=False)


def shortened(text: str, room: int) -> str:
    """Text that fits. The longest words, which are paths, give up their middle; then the end goes.

    Both ends of a path say more than its middle.
    """
    if len(text) <= room:
        return text
    words = text.split(" ")
    for width in range(room, SHORTEST - 1, -1):
        fitting = " ".join(_without_middle(word, width) for word in words)
        if len(fitting) <= room:
            return fitting
    return f"{fitting[:room - 3]}..."


def _without_middle(word: str, width: int) -> str:
    if len(word) <= width:
        return word
    head = (width - 3) // 2
    return f"{word[:head]}...{word[len(word) - (width - 3 - head):]}"
