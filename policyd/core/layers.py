"""Policy files on top of one another: `extends: FILE` takes a base over. Pure.

Files are laid on one another before anything is understood, so that what is wrong afterwards
still stands where it was written, in whichever file that is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress

from policyd.core import decoding, nodes
from policyd.core.errors import Fault
from policyd.core.nodes import Node, Scalar

FOLDER = "policies/"


def file_name(text: str) -> str:
    """What `extends` may name. Raises ValueError."""
    if "/" in text or not text.endswith(".yaml") or text.endswith(".cases.yaml"):
        raise ValueError(f"{nodes.shown(text)} is no policy file beside this one, such as "
                         "base.yaml")
    return text


def counts(node: Node) -> bool:
    """Whether a file is a policy; one that names no repositories is a base."""
    return not isinstance(node, nodes.Mapping) or node.get("repositories") is not None


def laid(parsed: Mapping[str, Node], known: Collection[str],
         faults: list[Fault]) -> dict[str, Node]:
    """Each file on top of those that it extends, by its path.

    `known` are the paths of all files, those that could not be parsed among them: what stands on
    one of these, on an absent file or on itself is left out.
    """
    found: dict[str, Node] = {}
    for source in parsed:
        chain = _chain(source, parsed, known, faults)
        if not chain:
            continue
        whole = nodes.without(chain[-1], "extends")
        for node in reversed(chain[:-1]):
            whole = nodes.laid_on(whole, nodes.without(node, "extends"))
        found[source] = whole
    return found


def unused(parsed: Mapping[str, Node]) -> Iterator[Fault]:
    """Warnings of bases that no file extends."""
    extended = set(map(_base, parsed.values()))
    for source, node in parsed.items():
        if not counts(node) and source not in extended:
            yield node.fault("without `repositories` this is a base, and no policy extends it: "
                             "nothing of it is in force")


def _chain(source: str, parsed: Mapping[str, Node], known: Collection[str],
           faults: list[Fault]) -> list[Node]:
    """A file and its bases, the nearest first; empty where they lead nowhere."""
    chain = [source]
    while (place := nodes.get(parsed[chain[-1]], "extends")) is not None:
        base = _base(parsed[chain[-1]])
        if base == source:
            faults.append((nodes.get(parsed[source], "extends") or place).fault(
                f"it extends itself: {_shown((*chain, base))}"))
        elif base is not None and base not in known:
            faults.append(place.fault(decoding.unknown(
                "file", base.removeprefix(FOLDER), [one.removeprefix(FOLDER) for one in known])))
        if base is None or base in chain or base not in parsed:
            return []
        chain.append(base)
    return [parsed[one] for one in chain]


def _base(node: Node) -> str | None:
    """The path of what a file extends; what cannot be a name is a fault of form, told there."""
    place = nodes.get(node, "extends")
    if isinstance(place, Scalar) and isinstance(place.value, str):
        with suppress(ValueError):
            return FOLDER + file_name(place.value)
    return None


def _shown(chain: tuple[str, ...]) -> str:
    return " -> ".join(source.removeprefix(FOLDER) for source in chain)
