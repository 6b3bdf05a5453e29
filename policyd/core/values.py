"""Frozen dataclasses that are made quickly: a push imports a hundred of them.

The standard decorator compiles six functions for each class, 0.8 ms a class here, and that was
half of what a push waited for. What is made here has the same fields, equality, hash and repr,
from functions that all classes share; only `__init__` is compiled.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    def dataclass(cls: type | None = None, /, *, frozen: bool = False, slots: bool = False,
                  **more: Any) -> Any:
        """`dataclasses.dataclass`; quicker where a class is frozen and slotted, and no more."""
        def made(one: type) -> type:
            if frozen and slots and not more:
                return _value(one)
            return dataclasses.dataclass(one, frozen=frozen, slots=slots, **more)

        return made if cls is None else made(cls)


def _value(cls: type) -> type:
    own = set(vars(cls))
    made: Any = dataclasses.dataclass(cls, repr=False, eq=False, slots=True)
    fields = dataclasses.fields(made)
    shown = tuple(field.name for field in fields if field.repr)
    key = _key(tuple(field.name for field in fields if field.compare))

    def __eq__(self: Any, other: Any) -> Any:
        return key(self) == key(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: Any) -> int:
        return hash(key(self))

    def __repr__(self: Any) -> str:
        told = ", ".join(f"{name}={getattr(self, name)!r}" for name in shown)
        return f"{self.__class__.__qualname__}({told})"

    for function in (__eq__, __hash__, __repr__):
        if function.__name__ not in own:
            setattr(made, function.__name__, function)
    made.__setattr__, made.__delattr__ = _set_once, _never_deleted
    kind: type = made
    return kind


def _key(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    """A value's fields as one tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    if names:
        first = attrgetter(*names)
        return lambda value: (first(value),)
    return lambda _: ()


def _set_once(self: Any, name: str, value: Any) -> None:
    """`__init__` sets each field; after it, none is to be set."""
    if hasattr(self, name):
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
    object.__setattr__(self, name, value)


def _never_deleted(self: Any, name: str) -> None:  # noqa: ARG001
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
