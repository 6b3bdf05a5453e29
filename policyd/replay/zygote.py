"""Waits in a sandbox and forks a runner for each job, in namespaces of its own.

A script of its own beside runner.py. It never imports a candidate. Each child is the first
process of a new pid namespace: it sees and signals nobody else, and when it ends the kernel has
ended everything that it started. It gets its own mounts, an empty /tmp and no privilege.
"""

from __future__ import annotations

import ctypes
import gc
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
runner = __import__("runner")
_socket = __import__("_socket")
del sys.path[0], sys.modules["runner"]

_NEWNS, _NEWIPC, _NEWPID = 0x00020000, 0x08000000, 0x20000000
_NOSUID_NODEV, _NOEXEC = 2 | 4, 8
_PR_SET_DUMPABLE = 4
_CAPABILITIES_3 = 0x20080522
_libc = ctypes.CDLL(None, use_errno=True)
_THIS_PROCESS = (ctypes.c_uint32 * 2)(_CAPABILITIES_3, 0)
_NO_CAPABILITIES = (ctypes.c_uint32 * 6)()


def wait_for_jobs(control: int, tmp_bytes: int) -> None:
    """One job a message: two descriptors in; out goes `status processor-seconds` when it ended."""
    jobs = _socket.socket(fileno=control)
    own = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
    _done(_libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0))
    _ = _libc.unshare, _libc.setns, _libc.mount, _libc.capset  # looked up once, not in each child
    gc.collect()
    gc.freeze()
    jobs.send(b"ready")
    while True:
        message, extra, _, _ = jobs.recvmsg(16, _socket.CMSG_SPACE(8), _socket.MSG_CMSG_CLOEXEC)
        if not message:
            return
        descriptors = [int.from_bytes(extra[0][2][at : at + 4], sys.byteorder) for at in (0, 4)]
        _done(_libc.unshare(_NEWPID))
        child = os.fork()
        if child == 0:
            _enter(jobs, own, tmp_bytes)
            runner.serve(*descriptors, confined=_drop_privileges)
        _done(_libc.setns(own, _NEWPID))
        for descriptor in descriptors:
            os.close(descriptor)
        _, status, used = os.wait4(child, 0)
        seconds = used.ru_utime + used.ru_stime
        jobs.send(b"%d %.2f" % (os.waitstatus_to_exitcode(status), seconds))


def _enter(jobs: object, own: int, tmp_bytes: int) -> None:
    """Become the first process of a place of its own; all else of the zygote is left behind."""
    try:
        os.close(own)
        jobs.close()  # type: ignore[attr-defined]
        os.setsid()
        _done(_libc.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0))  # or /proc/self would belong to root
        _done(_libc.unshare(_NEWNS | _NEWIPC))
        _mount(b"tmpfs", b"/tmp", _NOSUID_NODEV, b"mode=1777,size=%d" % tmp_bytes)
        _mount(b"proc", b"/proc", _NOSUID_NODEV | _NOEXEC, None)
        os.chdir("/tmp")
    except BaseException:
        os._exit(71)


def _mount(kind: bytes, place: bytes, flags: int, options: bytes | None) -> None:
    _done(_libc.mount(kind, place, kind, flags, options))


def _drop_privileges() -> None:
    """Nothing that the zygote may do; under no_new_privs, which bubblewrap set, for good."""
    _done(_libc.capset(_THIS_PROCESS, _NO_CAPABILITIES))


def _done(result: int) -> None:
    if result:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


if __name__ == "__main__":
    wait_for_jobs(int(sys.argv[1]), int(sys.argv[2]))
