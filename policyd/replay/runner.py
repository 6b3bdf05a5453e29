"""The only code beside the candidate: reads requests, calls one function, writes one frame each.

A script of its own, run by a bare Python; policyd never imports it and believes nothing of
what it writes. It imports what it needs before the candidate, and holds one input at a time.
"""

from __future__ import annotations

import os
import resource
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing typing would cost as much as a call
    from collections.abc import Callable
    from typing import Any, NoReturn

MOST_READ = 4 << 20
"""Bytes of one request; more is no request of ours."""
_HIGH = 58
"""Where the pipes are kept, out of the way of programs that close or reuse low descriptors."""
_TRACE_LINES = 12

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
wire: Any = __import__("wire")
json: Any = __import__("json")
del sys.path[0], sys.modules["wire"]


def serve(source: int, sink: int, confined: Callable[[], None] | None = None) -> NoReturn:
    """Answer requests until one says that it is the last. Never returns.

    `confined` is called when the runner has given up what it can, before the candidate is there.
    """
    leave, write, read = os._exit, os.write, os.read  # the candidate may replace them
    try:
        request, data = _request(source, read)
        source, sink = _confine(request["setup"], source, sink)
        if confined is not None:
            confined()
        _send(sink, request["nonce"], b"", write)
        while True:
            answer = _answer(request["entry"], data, request["most"])
            _send(sink, request["nonce"], answer, write)
            if request["last"]:
                leave(0)
            request, data = _request(source, read)
    finally:
        leave(70)


def _request(source: int, read: Callable[[int, int], bytes]) -> tuple[Any, bytes]:
    """The header, and the encoded input: each behind its length."""
    header = json.loads(_block(source, read))
    return header, _block(source, read)


def _block(source: int, read: Callable[[int, int], bytes]) -> bytes:
    size = int.from_bytes(_exactly(source, 4, read), "big")
    if size > MOST_READ:
        raise ValueError("no request")
    return _exactly(source, size, read)


def _exactly(source: int, size: int, read: Callable[[int, int], bytes]) -> bytes:
    parts = []
    while size:
        part = read(source, size)
        if not part:
            raise EOFError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _send(sink: int, nonce: str, payload: bytes, write: Callable[[int, Any], int]) -> None:
    rest = memoryview(len(payload).to_bytes(4, "big") + bytes.fromhex(nonce) + payload)
    while rest:
        rest = rest[write(sink, rest) :]


def _confine(setup: dict[str, Any], source: int, sink: int) -> tuple[int, int]:
    """Keep nothing open but the two pipes, and give up what could be given up."""
    nothing = os.open("/dev/null", os.O_RDWR)
    source, sink = os.dup2(source, _HIGH, False), os.dup2(sink, _HIGH + 1, False)
    for standard in range(3):
        os.dup2(nothing, standard)
    os.closerange(3, _HIGH)
    os.closerange(_HIGH + 2, 1 << 16)
    score = os.open("/proc/self/oom_score_adj", os.O_WRONLY)  # open() costs five times as much
    os.write(score, b"1000")  # when memory is short, this goes first
    os.close(score)
    for name, value in setup["limits"].items():
        kind = getattr(resource, name)
        hard = resource.getrlimit(kind)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (value, value))
    if setup["user"] is not None:
        os.setgroups([])
        os.setresgid(setup["user"], setup["user"], setup["user"])
        os.setresuid(setup["user"], setup["user"], setup["user"])
    sys.path[:] = [*setup["roots"], *sys.path, *setup["site"]]
    sys.argv[:] = [""]
    return source, sink


def _answer(entry: str, data: bytes, most: int) -> bytes:
    """`V` and a value, `R` and an error, `U` or `O` and why a value cannot be sent."""
    encode: Callable[..., bytes] = wire.encode
    unsendable, too_large = wire.Unsendable, wire.TooLarge
    arguments = wire.decode(data, MOST_READ, trusted=True)
    at_import = True
    try:
        function = _found(entry)
        at_import = False
        result = function(*arguments)
    except BaseException as error:
        return b"R" + encode(_described(error, at_import))
    try:
        return b"V" + encode(result, most)
    except too_large as error:
        return b"O" + encode(str(error))
    except unsendable as error:
        return b"U" + encode(str(error))
    except BaseException as error:
        return b"U" + encode(_named(error) + " while it was read")


def _found(entry: str) -> Any:
    module, _, name = entry.partition(":")
    __import__(module)
    found: Any = sys.modules[module]
    for part in name.split("."):
        found = getattr(found, part)
    return found


def _described(error: BaseException, at_import: bool) -> list[Any]:
    try:
        message = ascii(str(error))[1:-1][:500]
    except BaseException:
        message = ""
    return [_named(error), at_import, message, _trace(error)]


def _named(error: BaseException) -> str:
    try:
        kind = type(error)
        module = kind.__module__
        name = kind.__qualname__ if module == "builtins" else module + "." + kind.__qualname__
        return ascii(name)[1:-1][:200]
    except BaseException:
        return "an error without a name"


def _trace(error: BaseException) -> list[str]:
    """Where it happened, the innermost last. Not `traceback`: that costs as much as a call."""
    lines: list[str] = []
    try:
        step = error.__traceback__
        while step is not None:
            code = step.tb_frame.f_code
            place = code.co_filename
            if place == __file__:
                step = step.tb_next
                continue
            for root in sys.path:
                place = place.removeprefix(root + "/")
            line = f"{place}:{step.tb_lineno} in {code.co_name}"
            lines = [*lines[1 - _TRACE_LINES :], ascii(line)[1:-1][:200]]
            step = step.tb_next
    except BaseException:
        pass
    return lines


if __name__ == "__main__":
    serve(int(sys.argv[1]), int(sys.argv[2]))
