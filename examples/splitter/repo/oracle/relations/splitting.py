"""Draws amounts with weights, changes them, and says what the change does to the parts."""

from __future__ import annotations

_AMOUNTS = (0, 1, 2, 99, 100, 101, 10**6)
_FACTORS = (2, 3, 4)


def nothing_for_nobody(_draw):
    return [0, []]


def owed_to_nobody(draw):
    return [draw.integer(1, 10**6, often=_AMOUNTS[1:]), []]


def zeros(draw):
    return [draw.integer(0, 10**6, often=_AMOUNTS), draw.items(lambda: 0, 1, 8)]


def one_below_zero(draw):
    amount, weights = splits(draw)
    at = draw.integer(0, len(weights) - 1)
    weights[at] = -draw.integer(1, 1_000, often=(1, 2, 9))
    return [amount, weights]


def splits(draw):
    """An amount, and at least one weight to give it to."""
    return [draw.integer(0, 10**6, often=_AMOUNTS), _weights(draw)]


def divisible(draw):
    """An amount of which every share is whole."""
    weights = _weights(draw)
    return [sum(weights) * draw.integer(1, 1_000, often=(1, 2, 99, 100, 101)), weights]


def _weights(draw):
    """In every third draw somebody gets nothing; in every fourth everybody has an equal.

    By index, so that it never depends on luck; not in the first, which is told most often.
    """
    weights = draw.items(lambda: draw.integer(0, 1_000, often=tuple(range(10))), 1, 8)
    if draw.kind == "domain" and draw.index % 3 == 2:
        weights.insert(draw.integer(0, len(weights)), 0)
    if draw.kind == "domain" and draw.index % 4 == 3:
        weights += weights
    if not any(weights):
        draw.reject("nobody to give to: a row of its own")
    return weights


def is_empty(_draw, out):
    return out == []


def conserved(draw, out):
    amount, weights = draw.input
    return _is_split(out, weights) and min(out) >= 0 and sum(out) == amount


def permuted(draw, amount, weights):
    other = draw.shuffled(weights, "order")
    if other == weights:
        draw.reject("equal weights changed places")
    return draw.runs([amount, other])


def extras(draw, out):
    amount, weights = draw.input
    return _extras(amount, weights, out)


def extras_of_permuted(draw, outs):
    amount, weights = draw.input
    return _extras(amount, draw.shuffled(weights, "order"), outs[0])


def _extras(amount, weights, parts):
    """For each weight and fraction cut off, what the parts have beyond the share rounded down.

    Weights whose fractions are equal have an equal claim to a cent that is left, so it does not
    count which of them has it, only how many do.
    """
    if not _is_split(parts, weights):
        return parts
    total = sum(weights)
    found = {}
    for weight, part in zip(weights, parts, strict=True):
        share, fraction = divmod(amount * weight, total)
        found.setdefault(fraction, []).append(part - share)
    return {fraction: sorted(beyond) for fraction, beyond in found.items()}


def zero_inserted(draw, amount, weights):
    at = _place(draw)
    return [amount, [*weights[:at], 0, *weights[at:]]]


def nothing_inserted(draw, out):
    at = _place(draw)
    return [*out[:at], 0, *out[at:]]


def _place(draw):
    return draw.integer(0, len(draw.input[1]), stream="place")


def scaled(draw, amount, weights):
    if not amount:
        draw.reject("nothing scaled is nothing")
    return [amount * as_often(draw), weights]


def parts_scaled(draw, out):
    factor = as_often(draw)
    return [factor * part for part in out]


def as_often(draw):
    return draw.choice(_FACTORS, stream="factor")


def duplicated(_draw, amount, weights):
    return [2 * amount, weights + weights]


def parts_twice(_draw, out):
    return out + out


def _is_split(parts, weights):
    return isinstance(parts, list) and len(parts) == len(weights) \
        and all(type(part) is int for part in parts)
