"""What an oracle's functions draw from: one seeded draw, which can be made alone and made again.

Stands alone beside asking.py in the oracle's tree, inside the sandbox; policyd only reads the
choices. Nothing here is of `random`, whose state one draw leaves to the next, nor of hash().

A number is made of sha256(seed, relation, index, stream, place). The place of a primitive is
how many its function had asked for before; inside a list it is the list's, the item's, and how
many before in that item. So a draw depends on no other draw, and a list's length on no item.
"""

from __future__ import annotations

import re  # the runner has loaded it
from hashlib import sha256
from math import gcd

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing typing costs as much as a row's draws
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, NoReturn

KINDS = ("domain", "boundary", "corpus", "documented", "dictionary")
_MOST_STRATA, _STRATA = 32, 16
"""A range of at most so many values has a stratum for each; a larger one has the second."""
_REDRAWS = 64
_DEPTH = 4  # to which words are taken apart
_NUMBER = re.compile(r"(-?)([0-9]{1,99})(?:\.(?=[0-9])([0-9]{0,99}?)0*)?\Z")


class Rejected(BaseException):
    """This draw is none of the relation's. No Exception: a function's own handlers let it pass."""


class Runs:
    """Several follow-up runs: the inputs of each."""

    def __init__(self, inputs: Iterable[list[Any]]) -> None:
        self.inputs = list(inputs)


class Draw:
    """One draw of a relation, as one of its functions sees it.

    Primitives of a function's own stream come down to choices among 0..n-1, 0 the simplest, kept
    in `choices`. `follow`: choices to take instead, each modulo n, 0 where there are no more. So
    an input is a function of its choices, and any choices make an input of the domain.

    A primitive with a stream of its own (`stream="k"`), a permutation and a split are the same in
    each function of a draw that asks for them by the same name; they are no choices.

    `words` belong together, and are the generator's alone: seed, relation, index, kind and choices
    say all of a draw. `files` are triples: the id of a lease or "", a name, what reads it.
    """

    def __init__(self, seed: bytes, relation: str, *, index: int, kind: str = "domain",
                 words: Sequence[Any] = (), files: Sequence[tuple[str, str, Callable[[], bytes]]]
                 = (), stream: str = "input", follow: Sequence[int] | None = None,
                 known: Sequence[Any] = ()) -> None:
        """`known`: the input of the source run, and its output, as far as there are any."""
        if kind not in KINDS:
            raise ValueError(f"{kind!r} is no kind of draw")
        self.index, self.kind = index, kind
        self.choices: list[int] = []
        self.used_output = False
        self._root = sha256(_fields(seed, relation.encode("utf-8", "surrogatepass")))
        self._stream = stream
        is_worded = stream == "input" and kind in ("documented", "dictionary")
        self._words = self._ordered(words) if is_worded else []
        self._files = files
        self._follow = None if follow is None else iter(follow)
        self._known = known
        self._prefix, self._count = "", 0
        self._certain = kind != "dictionary"
        self._named: dict[str, int] = {}
        self._read = 0

    # What functions use.

    @property
    def input(self) -> list[Any]:
        """The arguments of the source run. Raises LookupError in a generator."""
        if not self._known:
            raise LookupError("a generator has no input: it makes it")
        found: list[Any] = self._known[0]
        return found

    @property
    def output(self) -> Any:
        """What the source run returned. Raises LookupError where it has not been run."""
        self.used_output = True
        if len(self._known) < 2:
            raise LookupError("there is no output yet")
        return self._known[1]

    def reject(self, why: str) -> NoReturn:
        """Say that the relation does not speak of this draw; another takes its place."""
        raise Rejected(why)

    def runs(self, *inputs: list[Any]) -> Runs:
        """Several follow-up runs in place of one: the list of arguments of each."""
        return Runs(inputs)

    def every(self, n: int) -> bool:
        """Whether this is one of every n draws: by index, not by luck."""
        return self.index % n == 0

    def integer(self, low: int, high: int, often: Sequence[int] = (),
                stream: str | None = None) -> int:
        """From low to high, both included; in half of the draws one of `often` that is."""
        if low > high:
            raise ValueError(f"no integer lies from {low} to {high}")
        return self._number(low, high, lambda word: word if type(word) is int else None, often,
                            stream)

    def decimal(self, low: int | str, high: int | str, places: int) -> str:
        """A number as text, such as "12.50": `places` digits behind the point, bounds included.

        The bounds are integers or texts. Words may be written in fewer digits, or be numbers.
        """
        least, most = _units(low, places), _units(high, places)
        if least is None or most is None or least > most:
            raise ValueError(f"no decimal of {places} places lies from {low!r} to {high!r}")
        units = self._number(least, most, lambda word: _units(word, places))
        digits = str(abs(units)).rjust(places + 1, "0")
        point = len(digits) - places
        return "-" * (units < 0) + digits[:point] + ("." + digits[point:] if places else "")

    def boolean(self, stream: str | None = None) -> bool:
        return bool(self.choice((False, True), stream))

    def choice(self, options: Sequence[Any], stream: str | None = None) -> Any:
        """One of a list, a tuple, a text or a range; the first is the simplest."""
        if not options:
            raise ValueError("there is nothing to choose from")

        def rank(word: Any) -> int | None:
            return next((at for at, option in enumerate(options)
                         if type(option) is type(word) and option == word), None)

        return options[self._choose(len(options), rank, edges=(0, len(options) - 1),
                                    stream=stream)]

    def items(self, make: Callable[[], Any], low: int, high: int) -> list[Any]:
        """Low to high of what `make` returns, which is called for each."""
        def elements(word: Any) -> list[Any] | None:
            fits = type(word) in (list, tuple) and low <= len(word) <= high
            return list(word) if fits else None

        return self._sequence(make, low, high, elements)

    def text(self, alphabet: str, low: int, high: int) -> str:
        """Low to high characters, each of the alphabet, whose first is the simplest."""
        if not alphabet and high:
            raise ValueError("there is no character to choose from")

        def rank(word: Any) -> int | None:
            is_one = type(word) is str and len(word) == 1 and word in alphabet
            return alphabet.index(word) if is_one else None

        def characters(word: Any) -> list[str] | None:
            fits = type(word) is str and low <= len(word) <= high and set(word) <= set(alphabet)
            return list(word) if fits else None

        return "".join(self._sequence(
            lambda: alphabet[self._choose(len(alphabet), rank, edges=(0, len(alphabet) - 1))],
            low, high, characters))

    def permutation(self, n: int, name: str) -> list[int]:
        """An order of 0..n-1, never the given one where there is another."""
        order = list(range(n))
        for attempt in range(_REDRAWS if n > 1 else 0):
            drawn = self._bytes(8 * n, "order", name, f"{n}.{attempt}")
            for last in range(n - 1, 0, -1):
                other = int.from_bytes(drawn[8 * last : 8 * last + 8], "big") * (last + 1) >> 64
                order[last], order[other] = order[other], order[last]
            if order != list(range(n)):
                return order
        return order[1:] + order[:1]

    def shuffled(self, items: Any, name: str) -> Any:
        """A list, tuple or text in the order `permutation(len(items), name)`.

        Where equal items change places only, it is equal to what it was.
        """
        if type(items) not in (list, tuple, str):
            raise TypeError(f"a {type(items).__name__} has no order to change")
        moved = [items[at] for at in self.permutation(len(items), name)]
        return "".join(moved) if type(items) is str else type(items)(moved)

    def split(self, items: Any, name: str) -> tuple[Any, Any]:
        """A list, tuple, text or bytes in two, both nonempty where there are two items."""
        if type(items) not in (list, tuple, str, bytes):
            raise TypeError(f"a {type(items).__name__} cannot be split")
        size = len(items)
        cut = 1 + self._uniform(size - 1, "split", name, str(size)) if size > 1 else size
        return items[:cut], items[cut:]

    def file(self) -> tuple[str, bytes]:
        """Name and content of one of the row's files, by index; asked again, the next one."""
        if not self._files:
            raise LookupError("the row names no files: leases or seeds")
        count = len(self._files)
        at = self._choose(count, fixed=(self.index + self._read) % count)
        self._read += 1
        _, name, read = self._files[at]
        return name, read()

    def leased(self, lease: str) -> bytes:
        """The content of the file under a lease that the row names."""
        for known, _, read in self._files:
            if known == lease and lease:
                return read()
        raise LookupError(f"the row names no lease {lease!r}")

    # How choices are made.

    def _number(self, low: int, high: int, read: Callable[[Any], int | None],
                often: Sequence[int] = (), stream: str | None = None) -> int:
        """`read` says which number a word is, if any."""
        def rank(word: Any) -> int | None:
            number = read(word)
            return None if number is None else _rank(self._off(number), low, high)

        edges = _ranks((low, high, low + 1, high - 1, 0, 1, -1), low, high)
        return _unranked(self._choose(high - low + 1, rank, edges=edges, stream=stream,
                                      often=_ranks(often, low, high)), low, high)

    def _choose(self, count: int, fit: Callable[[Any], int | None] | None = None, *,
                edges: Sequence[int] = (), often: Sequence[int] = (),
                stream: str | None = None, fixed: int | None = None) -> int:
        """One of 0..count-1; `fit` says which one a word is, if any."""
        if stream is not None:
            place = self._named[stream] = self._named.get(stream, -1) + 1
            return self._made(count, edges, often, "=" + stream, str(place))
        here = self._here = f"{self._prefix}{self._count}"
        self._count += 1
        if self._follow is not None:
            chosen = next(self._follow, 0) % count
        elif fixed is not None:
            chosen = fixed
        else:
            word = self._taken(fit, here) if fit is not None else None
            chosen = self._made(count, edges, often, self._stream, here) if word is None else word
        self.choices.append(chosen)
        return chosen

    def _made(self, count: int, edges: Sequence[int], often: Sequence[int], *place: str) -> int:
        """Without a word: an edge, one of `often`, or by strata of the range."""
        if self.kind == "boundary" and edges:
            return edges[self._turn(len(edges), self.index, "edge", *place)]
        turn = self.index
        if often:
            turn //= 2
            if self._turn(2, self.index, "half", *place):
                return often[self._turn(len(often), turn, "often", *place)]
        strata = count if count <= _MOST_STRATA else _STRATA
        stratum = self._turn(strata, turn, "stratum", *place)
        bits = 128 + count.bit_length()
        return ((stratum << bits) + self._bits(bits, "value", *place)) * count // (strata << bits)

    def _turn(self, count: int, turn: int, *place: str) -> int:
        """One of 0..count-1: each once in `count` turns, which places order differently."""
        block, at = divmod(turn, count)
        number = int.from_bytes(self._digest("block", str(block), *place), "big")
        number, start = divmod(number, count)
        step = number % count or 1
        while gcd(step, count) != 1:
            step += 1
        return (start + step * at) % count

    def _uniform(self, count: int, *place: str) -> int:
        bits = 128 + count.bit_length()
        return self._bits(bits, *place) * count >> bits

    def _bits(self, bits: int, *place: str) -> int:
        return int.from_bytes(self._bytes(-(-bits // 8), *place), "big") >> (-bits % 8)

    def _bytes(self, size: int, *place: str) -> bytes:
        """What is random in this draw alone."""
        return b"".join(self._digest("draw", str(self.index), str(piece), *place)
                        for piece in range(-(-size // 32)))[:size]

    def _digest(self, *fields: str) -> bytes:
        state = self._root.copy()
        state.update(_fields(*(field.encode("utf-8", "surrogatepass") for field in fields)))
        return state.digest()

    def _sequence(self, make: Callable[[], Any], low: int, high: int,
                  fit: Callable[[Any], list[Any] | None]) -> list[Any]:
        """As `items`; where a word fits, its elements are offered to `make` one by one."""
        if not 0 <= low <= high:
            raise ValueError(f"no list has from {low} to {high} items")
        parts: list[Any] | None = None

        def extra(word: Any) -> int | None:
            nonlocal parts
            parts = fit(word)
            return None if parts is None else len(parts) - low

        count = high - low + 1
        length = low + self._choose(count, extra, edges=tuple(dict.fromkeys((0, count - 1))))
        here, words = self._here, self._words
        alike = self.kind == "boundary" and not self._turn(2, self.index, "alike", here)
        above = self._prefix, self._count, self._certain
        made = []
        try:
            for number in range(length):
                self._prefix, self._count = f"{here}.{0 if alike else number}.", 0
                if parts is not None:
                    self._words, self._certain = [parts[number]], True
                elif self._is_left(here):
                    self._words = []
                made.append(make())
        finally:
            self._words = words
            self._prefix, self._count, self._certain = above
        return made

    # Words.

    def _taken(self, fit: Callable[[Any], int | None], here: str) -> int | None:
        """The choice that the first unused word that fits is, and use that word up."""
        if not self._words or self._is_left(here):
            return None
        found, self._words[:] = _used(self._words, fit, _DEPTH) or (None, self._words)
        return found

    def _is_left(self, here: str) -> bool:
        """Whether a primitive stays random though a word may fit: one in four."""
        return not self._certain and self._uniform(4, "left", self._stream, here) == 0

    def _ordered(self, words: Sequence[Any]) -> list[Any]:
        """In half of the dictionary draws in another order: a condition has its own."""
        if self.kind == "dictionary" and self._turn(2, self.index, "words"):
            return [words[at] for at in self.permutation(len(words), "words")]
        return list(words)

    def _off(self, word: int) -> int:
        """A number, or in one of four dictionary draws its neighbour: for `>` and `<`."""
        off = (0, 0, 0, 1, 0, 0, 0, -1)[self._turn(8, self.index, "off")]
        return word + off if self.kind == "dictionary" else word


def _fields(*fields: bytes) -> bytes:
    """Each behind its length, so that no two lists of fields are the same bytes."""
    return b"".join(b"%d:%b" % (len(field), field) for field in fields)


def _used(words: list[Any], fit: Callable[[Any], int | None],
          depth: int) -> tuple[int, list[Any]] | None:
    """What `fit` makes of the first word that fits, or part of one, and the words without it."""
    for at, word in enumerate(words):
        if (found := fit(word)) is not None:
            return found, words[:at] + words[at + 1 :]
    for at, word in enumerate(words if depth else ()):
        if (inner := _used(_parts(word), fit, depth - 1)) is not None:
            return inner[0], words[:at] + inner[1] + words[at + 1 :]
    return None


def _parts(word: Any) -> list[Any]:
    """What a word is made of, for functions that build it of primitives."""
    if type(word) is dict:
        return [part for pair in word.items() for part in pair]
    return list(word) if type(word) in (list, tuple) else []


def _rank(value: int, low: int, high: int) -> int | None:
    """How many integers of the bounds are simpler: nearer to 0, or to the bound nearest 0."""
    if not low <= value <= high:
        return None
    origin = min(max(0, low), high)
    both = min(origin - low, high - origin)
    far = abs(value - origin)
    return 2 * far - (value > origin) if far <= both else both + far


def _unranked(rank: int, low: int, high: int) -> int:
    origin = min(max(0, low), high)
    both = min(origin - low, high - origin)
    if rank <= 2 * both:
        return origin + ((rank + 1) // 2 if rank % 2 else -(rank // 2))
    return origin + (rank - both if high - origin > both else both - rank)


def _ranks(values: Iterable[int], low: int, high: int) -> tuple[int, ...]:
    """Of those within the bounds, each once."""
    found = (_rank(value, low, high) for value in values)
    return tuple(dict.fromkeys(rank for rank in found if rank is not None))


def _units(number: Any, places: int) -> int | None:
    """A number in its last place; None where it is no number, or has more places."""
    if type(number) is int:
        return int(number * 10**places)
    found = _NUMBER.match(str(number)) if type(number) in (float, str) else None
    if found is None or len(rest := found[3] or "") > places:
        return None
    units = int(found[2] + rest.ljust(places, "0"))
    return -units if found[1] else units
