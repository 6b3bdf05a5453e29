"""System calls that no candidate needs, refused by the kernel. Pure: a program as bytes.

A sandbox shares one kernel with everybody. Key rings, and closed connections that linger on the
loopback, would be a memory between executions; nested user namespaces, bpf and io_uring are where
holes were found. What is left out here is stopped by namespaces and missing capabilities, or
harmless.
"""

from __future__ import annotations

import errno
import struct
from collections.abc import Sequence

_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_NUMBERS = {
    "x86_64": {
        "clone": 56, "socket": 41, "ptrace": 101, "add_key": 248, "request_key": 249,
        "keyctl": 250, "unshare": 272, "perf_event_open": 298, "process_vm_readv": 310,
        "process_vm_writev": 311, "bpf": 321, "userfaultfd": 323},
    "aarch64": {
        "clone": 220, "socket": 198, "ptrace": 117, "add_key": 217, "request_key": 218,
        "keyctl": 219, "unshare": 97, "perf_event_open": 241, "process_vm_readv": 270,
        "process_vm_writev": 271, "bpf": 280, "userfaultfd": 282},
}
_EVERYWHERE = {"io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427}
_CLONE3 = 435
_BY_FLAG = ("clone", "unshare")
_BY_WORD = (*_BY_FLAG, "socket")
_UNIX_SOCKETS = 1
_NEWUSER = 0x10000000
_X32 = 0x40000000

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER_AT, _ARCHITECTURE_AT, _WORD_AT = 0, 4, 16
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000

Step = tuple[int, int, int, int]
"""Code, jump if true, jump if false, operand: struct sock_filter."""


def program(machine: str) -> bytes | None:
    """The filter for `os.uname().machine`; None where the numbers are not known."""
    numbers = _NUMBERS.get(machine)
    if numbers is None:
        return None
    plain = [number for name, number in numbers.items() if name not in _BY_WORD]
    return _assembled(_ARCHITECTURE[machine], [*plain, *_EVERYWHERE.values()],
                      [numbers[name] for name in _BY_FLAG], numbers["socket"])


def _assembled(architecture: int, refused: Sequence[int], by_flag: Sequence[int],
               socket: int) -> bytes:
    """Another architecture's calls are refused too. clone3, whose flags no filter can read, is
    said not to exist: the C library then uses clone."""
    steps: list[Step] = [
        (_LOAD, 0, 0, _ARCHITECTURE_AT), (_EQUAL, 1, 0, architecture), _refusal(errno.EPERM),
        (_LOAD, 0, 0, _NUMBER_AT), (_AT_LEAST, 0, 1, _X32), _refusal(errno.EPERM)]
    for number in refused:
        steps += [(_EQUAL, 0, 1, number), _refusal(errno.EPERM)]
    steps += [(_EQUAL, 0, 1, _CLONE3), _refusal(errno.ENOSYS)]
    for number in by_flag:
        steps += [(_EQUAL, 0, 4, number), (_LOAD, 0, 0, _WORD_AT), (_ANY_BIT, 0, 1, _NEWUSER),
                  _refusal(errno.EPERM), (_RETURN, 0, 0, _ALLOW)]
    steps += [(_EQUAL, 0, 3, socket), (_LOAD, 0, 0, _WORD_AT), (_EQUAL, 1, 0, _UNIX_SOCKETS),
              _refusal(errno.EACCES), (_RETURN, 0, 0, _ALLOW)]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


def _refusal(number: int) -> Step:
    return (_RETURN, 0, 0, _ERROR | number)
