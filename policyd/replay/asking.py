"""Asks the functions of an oracle: for inputs, for the changes of inputs, for values of outputs.

Stands alone beside draws.py in the oracle's tree; the runner calls it there, as if it were a
candidate, with plain values. Each answer is a list: what kind of answer, and what there is to it.

A function is loaded anew for each thing that is asked, with all the modules that lie beside it,
and what it returned is copied at once. So what one draw leaves behind, no other finds.

A `setup` says whom to ask; paths are relative to the tree:

    {"path": [folder, ...], "module": name, "function": name,     the module is in a folder
     "seed": bytes, "relation": id, "files": [[lease or "", path], ...]}

`asked` is a list of [index, kind, words, more].
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing typing costs as much as a row's draws
    from collections.abc import Callable
    from typing import Any

    from policyd.replay import draws
else:
    draws = __import__("draws")
    del sys.modules["draws"]  # the oracle may have one

MAX_DEPTH = 180
"""Of a value: the answer goes around it, and policyd.replay.wire takes 200."""
MAX_SIZE = 1 << 20
"""Of a value, in bytes of its encoding, roughly."""

_HERE = os.path.dirname(os.path.abspath(__file__))
_TREE = os.path.dirname(_HERE)
_LONGEST_LINE = 300
_SAME_HASH = 64
_importing: Any = sys.modules["_frozen_importlib"]
_importing_files: Any = sys.modules["_frozen_importlib_external"]


def inputs(setup: dict[str, Any], asked: list[list[Any]]) -> list[list[Any]]:
    """What the generator makes; `more` is the choices that it is to follow, or None.

    ["input", arguments, choices made], ["rejected", why] or ["failed", text] for each.
    """
    row = _Row(setup)
    return [row.answer(row.draw(one, stream="input", follow=one[3]), _made) for one in asked]


def changes(setup: dict[str, Any], asked: list[list[Any]]) -> list[list[Any]]:
    """What the transform makes; `more` is [input, output or None, whether there is an output].

    ["runs", [arguments, ...]], ["rejected", why] or ["failed", text, whether it read the output]
    for each. Without an output, whatever comes of reading it is a failure.
    """
    row = _Row(setup)
    found = []
    for one in asked:
        given, output, has_output = one[3]
        draw = row.draw(one, known=[_copied(given), output] if has_output else [_copied(given)])
        answer = row.answer(draw, _changed, given)
        if draw.used_output and not has_output:
            answer = ["failed", "there is no output yet"]
        found.append([*answer, draw.used_output] if answer[0] == "failed" else answer)
    return found


def values(setup: dict[str, Any], asked: list[list[Any]]) -> list[list[Any]]:
    """What a function of the output returns; `more` is [input, output, argument, ...].

    ["value", what it returned], ["rejected", why] or ["failed", text] for each.
    """
    row = _Row(setup)
    return [row.answer(row.draw(one, known=one[3][:2]), _valued, one[3][2:]) for one in asked]


def _made(name: str, function: Callable[..., Any], draw: draws.Draw) -> list[Any]:
    made = function(draw)
    if type(made) is not list:
        raise _Unfit(f"{name} returned {_kind(made)}; a generator returns the list of the "
                     "arguments, such as [100, [1, 2]]")
    return ["input", _kept(name, made), draw.choices]


def _changed(name: str, function: Callable[..., Any], draw: draws.Draw,
             given: list[Any]) -> list[Any]:
    made = function(draw, *given)
    runs = made.inputs if type(made) is draws.Runs else [made]
    for one in runs:
        if type(one) is not list:
            raise _Unfit(f"{name} returned {_kind(one)}; a transform returns the list of the "
                         "arguments of the follow-up run, or draw.runs([...], [...])")
    if not runs:
        raise _Unfit(f"{name} returned draw.runs() of no run")
    return ["runs", _kept(name, runs)]


def _valued(name: str, function: Callable[..., Any], draw: draws.Draw,
            given: list[Any]) -> list[Any]:
    return ["value", _kept(name, function(draw, *given))]


def _kept(name: str, value: Any) -> Any:
    try:
        return _copied(value)
    except _Unfit as error:
        raise _Unfit(f"{name} returned {error}, which cannot be sent") from None


class _Row:
    """One function of an oracle, and what its draws have in common."""

    def __init__(self, setup: dict[str, Any]) -> None:
        self._folders = [os.path.normpath(os.path.join(_TREE, folder)) for folder in setup["path"]]
        self._module, self._function = setup["module"], setup["function"]
        self._seed, self._relation = setup["seed"], setup["relation"]
        self._files = [(lease, path, _reader(path)) for lease, path in setup["files"]]
        self._code: Any = None

    def draw(self, one: list[Any], *, stream: str = "change", follow: list[int] | None = None,
             known: list[Any] | None = None) -> draws.Draw:
        index, kind, words, _ = one
        return draws.Draw(self._seed, self._relation, index=index, kind=kind, words=words,
                          files=self._files, stream=stream, follow=follow, known=known or ())

    def answer(self, draw: draws.Draw, ask: Callable[..., list[Any]], *more: Any) -> list[Any]:
        """What the function says to one draw, whatever it does."""
        path, modules = list(sys.path), set(sys.modules)
        sys.path[:] = [*(folder for folder in path if folder != _HERE), *self._folders]
        try:
            function = self._loaded()
            _settle(draw)
            return ask(self._function, function, draw, *more)
        except draws.Rejected as error:
            return ["rejected", _line(_text(error))]
        except _Unfit as error:
            return ["failed", _line(str(error))]
        except BaseException as error:
            return ["failed", _told(error)]
        finally:
            sys.path[:] = path
            for name in sys.modules.keys() - modules:
                if self._is_ours(sys.modules[name]):
                    del sys.modules[name]

    def _loaded(self) -> Any:
        """The function, of a module that nobody has touched."""
        if self._code is None:
            self._code = self._found()
        path, code = self._code
        name = self._module
        if name in sys.modules or name in sys.stdlib_module_names:
            name = f"_oracle_{name}"
        spec = _importing_files.spec_from_file_location(name, path)
        module = _importing.module_from_spec(spec)
        sys.modules[name] = module
        exec(code, module.__dict__)
        if not hasattr(module, self._function):
            raise _Unfit(f"there is no function {self._function} in {_place(path)}")
        return getattr(module, self._function)

    def _found(self) -> tuple[str, Any]:
        for folder in self._folders:
            path = os.path.join(folder, self._module + ".py")
            if os.path.isfile(path):
                loader = _importing_files.SourceFileLoader(self._module, path)
                return path, loader.get_code(self._module)
        folders = ", ".join(map(_place, self._folders))
        raise _Unfit(f"there is no {self._module}.py in {folders or 'no folder'}")

    def _is_ours(self, module: Any) -> bool:
        places = [getattr(module, "__file__", None), *getattr(module, "__path__", ())]
        return any(type(place) is str and place.startswith(folder + os.sep)
                   for place in places for folder in self._folders)


def _reader(path: str) -> Callable[[], bytes]:
    def read() -> bytes:
        with open(os.path.join(_TREE, path), "rb") as file:
            return file.read()

    return read


def _settle(draw: draws.Draw) -> None:
    """What the standard library would keep from one draw to the next."""
    if "decimal" in sys.modules:
        sys.modules["decimal"].setcontext(sys.modules["decimal"].Context())
    if "random" in sys.modules:  # an oracle should not, but then at least the same again
        sys.modules["random"].seed(draw.integer(0, 2**128, stream="random"))


class _Unfit(Exception):
    """An answer that cannot be given; `str()` says why."""


class _Copy:
    """A copy of what policyd.replay.wire takes, and of nothing else."""

    def __init__(self) -> None:
        self._left = MAX_SIZE

    def of(self, value: Any, depth: int, in_key: bool = False) -> Any:
        kind = type(value)
        self._left -= _size(value, kind)
        if self._left < 0:
            raise _Unfit(f"more than {MAX_SIZE} bytes")
        if depth > MAX_DEPTH:
            raise _Unfit(f"what is nested more than {MAX_DEPTH} deep")
        if in_key and value != value:
            raise _Unfit("a key or member that is no number")
        if kind is bytearray:
            return bytearray(value)
        if kind in (list, tuple):
            return kind([self.of(item, depth + 1, in_key) for item in value])
        if kind in (set, frozenset):
            return kind([self.of(item, depth + 1, True) for item in _spread(value)])
        if kind is dict:
            return {self.of(key, depth + 1, True): self.of(item, depth + 1)
                    for key, item in zip(_spread(value), value.values(), strict=True)}
        if value is not None and kind not in (bool, int, float, str, bytes):
            _refuse_odd(value, kind)
        return value


def _size(value: Any, kind: type) -> int:
    """Of the encoding, roughly and without what is inside."""
    if kind is str:
        return 2 + len(value) * (1 if value.isascii() else 6)
    if kind is bytes or kind is bytearray:
        return 12 + 2 * len(value)
    return 2 + value.bit_length() // 4 if kind is int else 20 if kind is float else 4


def _copied(value: Any) -> Any:
    return _Copy().of(value, 0)


def _spread(keys: Any) -> list[Any]:
    """Keys, of which no more than the judge takes have the same hash."""
    if len(keys) > _SAME_HASH:
        hashes = sorted(map(hash, keys))
        if any(one == two for one, two in zip(hashes, hashes[_SAME_HASH:], strict=False)):
            raise _Unfit(f"more than {_SAME_HASH} keys of one hash")
    return list(keys)


_ODD = {"Decimal": "decimal", "Fraction": "fractions", "date": "datetime", "time": "datetime",
        "datetime": "datetime", "timedelta": "datetime"}


def _refuse_odd(value: Any, kind: type) -> None:
    """Let through what the standard library defines, if it is loaded."""
    name = kind.__name__
    if getattr(sys.modules.get(_ODD.get(name, "")), name, None) is not kind:
        raise _Unfit(_kind(value))
    zone = getattr(value, "tzinfo", None)
    if zone is not None and type(zone) is not sys.modules["datetime"].timezone:
        raise _Unfit("a time zone that is no fixed offset")


def _kind(value: Any) -> str:
    kind = type(value)
    module = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    return "None" if value is None else f"a {module}{kind.__qualname__}"


def _told(error: BaseException) -> str:
    """`ValueError: why (path:line)`: one line; the line is the innermost of the oracle's."""
    where = ""
    step = error.__traceback__
    while step is not None:
        path = step.tb_frame.f_code.co_filename
        if path.startswith(_TREE + os.sep) and not path.startswith(_HERE + os.sep):
            where = f" ({_place(path)}:{step.tb_lineno})"
        step = step.tb_next
    if isinstance(error, SyntaxError) and error.filename:
        where = f" ({_place(error.filename)}:{error.lineno})"
    what = f"{type(error).__name__}: {_text(error)}".removesuffix(": ")
    where = _line(where)
    return _line(what, _LONGEST_LINE - len(where)) + where


def _text(error: BaseException) -> str:
    try:
        return error.msg if isinstance(error, SyntaxError) else str(error)
    except BaseException:
        return "an error that does not say which"


def _place(path: str) -> str:
    return path.removeprefix(_TREE + os.sep)


def _line(text: str, most: int = _LONGEST_LINE) -> str:
    """Printable ASCII; what is too long ends in dots."""
    line = ascii(text[:most])[1:-1]
    return line if len(line) <= most else line[: most - 3] + "..."
