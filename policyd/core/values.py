"""Frozen dataclasses that are made quickly: a push imports over a hundred of them, and uses few.

The standard decorator works through the fields of a class and compiles six functions, 0.8 ms a
class here. What is made here has slots at once, and is completed by the standard decorator when
its first value is made or somebody asks for its fields; most classes never are. Equality, hash and
repr are functions that all classes share.
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


_FIELDS, _PARAMS = "__dataclass_fields__", "__dataclass_params__"
_NO_FIELDS = ("ClassVar", "typing.ClassVar")


def _value(cls: type) -> type:
    """The class with slots for its fields; the rest is done when it is needed."""
    given = {name: value for name, value in vars(cls).items()
             if name not in ("__dict__", "__weakref__")}
    names = tuple(name for name, hint in given.get("__annotations__", {}).items()
                  if not str(hint).startswith(_NO_FIELDS))
    body = {name: value for name, value in given.items() if name not in names}
    inherited = tuple(name for base in reversed(cls.__mro__[1:])
                      for name in vars(base).get("__slots__", ()))
    body["__slots__"] = tuple(name for name in names if name not in inherited)
    body = {"__eq__": _eq, "__hash__": _hash, "__repr__": _repr, **body}
    body["__match_args__"] = tuple(dict.fromkeys((*inherited, *names)))
    made: Any = type(cls)(cls.__name__, cls.__bases__, body)
    made.__qualname__ = cls.__qualname__
    completion = _Completion(made, given)
    setattr(made, _FIELDS, completion)
    made.__init__ = completion.first
    made.__setattr__, made.__delattr__ = _set_once, _never_deleted
    kind: type = made
    return kind


def _eq(self: Any, other: Any) -> Any:
    """Of a value that was read and not made: asking for its fields completes its class."""
    dataclasses.fields(self)
    kind: Any = type(self)
    return kind.__eq__(self, other)


def _hash(self: Any) -> int:
    dataclasses.fields(self)
    return hash(self)


def _repr(self: Any) -> str:
    dataclasses.fields(self)
    return repr(self)


class _Completion:
    """Stands for the fields of a class until somebody asks for them."""

    def __init__(self, made: type, given: dict[str, Any]) -> None:
        self._made, self._given = made, given

        def first(value: Any, *arguments: Any, **named: Any) -> None:
            self.done()
            made.__init__(value, *arguments, **named)  # type: ignore[misc]

        self.first = first

    def __get__(self, value: Any, owner: type | None = None) -> Any:
        self.done()
        return getattr(self._made, _FIELDS)

    def done(self) -> None:
        """Once; what the standard decorator makes of a class without slots goes to this one."""
        made: Any = self._made
        if vars(made).get(_FIELDS) is not self:
            return
        body = {name: value for name, value in self._given.items() if name != "__init__"}
        twin: Any = dataclasses.dataclass(
            type(made.__name__, made.__bases__, body), repr=False, eq=False)
        fields = dataclasses.fields(twin)
        for name in ("__match_args__", _PARAMS):
            setattr(made, name, getattr(twin, name))
        for function in _functions(fields):
            if function.__name__ not in self._given:
                setattr(made, function.__name__, function)
        made.__init__ = twin.__init__
        setattr(made, _FIELDS, getattr(twin, _FIELDS))


def _functions(fields: tuple[dataclasses.Field[Any], ...]) -> tuple[Callable[..., Any], ...]:
    shown = tuple(field.name for field in fields if field.repr)
    key = _key(tuple(field.name for field in fields if field.compare))

    def __eq__(self: Any, other: Any) -> Any:
        return key(self) == key(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: Any) -> int:
        return hash(key(self))

    def __repr__(self: Any) -> str:
        told = ", ".join(f"{name}={getattr(self, name)!r}" for name in shown)
        return f"{self.__class__.__qualname__}({told})"

    return __eq__, __hash__, __repr__


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
