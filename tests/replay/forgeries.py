"""Candidates that would rather own their exam: each with what a judge may take from it.

`f(3)` is called. An outcome is written as `value 7`, `raised NAME`, `import NAME` or
`broken KIND`. What a candidate could also have returned is an honest outcome: whoever writes the
runner's frame by hand has only computed another value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from textwrap import dedent

from policyd.replay.outcome import Broken, Outcome, Raised, Value


@dataclass(frozen=True)
class Forgery:
    """`calls` executions in a row, each in a process of its own, must all come to `allowed`."""

    source: str
    allowed: tuple[str, ...]
    calls: int = 1


def told(outcome: Outcome) -> str:
    match outcome:
        case Value(data):
            return f"value {data.decode('ascii')}"
        case Raised(name, at_import):
            return f"{'import' if at_import else 'raised'} {name}"
        case Broken(kind):
            return f"broken {kind.value}"


def files(outside: str) -> Mapping[str, str]:
    """The modules by file name. `outside` is a file of the judge that some would like to change."""
    return {f"{name.replace('-', '_')}.py": dedent(forgery.source).replace("OUTSIDE", repr(outside))
            for name, forgery in ALL.items()}


# How to write a frame of one's own: the nonce lies in a frame of the runner above.
_FORGE = """
    import os, sys
    def nonce():
        frame = sys._getframe()
        while "request" not in frame.f_locals:
            frame = frame.f_back
        return bytes.fromhex(frame.f_locals["request"]["nonce"])
    def write(payload):
        os.write(59, len(payload).to_bytes(4, "big") + nonce() + payload)
"""
_LIBC = """
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
"""

ALL: Mapping[str, Forgery] = {
    "honest": Forgery("def f(x): return 2 * x + 1", ("value 7",)),
    # leaving
    "exit-at-import": Forgery("import os; os._exit(0)", ("broken missing",)),
    "exit-in-call": Forgery("import os\ndef f(x): os._exit(0)", ("broken missing",)),
    "exit-with-status": Forgery("import os\ndef f(x): os._exit(3)", ("broken exit",)),
    "system-exit-at-import": Forgery("import sys; sys.exit(0)", ("import SystemExit",)),
    "system-exit-in-call": Forgery("def f(x): raise SystemExit(0)", ("raised SystemExit",)),
    "keyboard-interrupt": Forgery("def f(x): raise KeyboardInterrupt", (
        "raised KeyboardInterrupt",)),
    "exec": Forgery("""
        import os, sys
        def f(x): os.execv(sys.executable, ["python", "-c", "print(7)"])
    """, ("broken missing",)),
    # signals
    "signal-to-self": Forgery("""
        import os
        def f(x):
            os.kill(os.getpid(), 9)
            return 7
    """, ("value 7", "broken signal")),
    "signal-to-all": Forgery("import os\ndef f(x): os.kill(-1, 9)", ("raised ProcessLookupError",)),
    "signal-to-the-zygote": Forgery("""
        import os
        def f(x):
            os.kill(os.getppid(), 9)
            os.killpg(0, 9)
            return os.getppid()
    """, ("value 0",), calls=3),
    "crash": Forgery("import ctypes\ndef f(x): ctypes.string_at(0)", ("broken signal",)),
    "abort": Forgery("import os\ndef f(x): os.abort()", ("broken signal",)),
    # the pipes
    "garbage-on-all-descriptors": Forgery("""
        import os
        def f(x):
            for fd in range(3, 1024):
                try: os.write(fd, b"x" * 64)
                except OSError: pass
            return 7
    """, ("broken malformed",)),
    "frame-of-its-own": Forgery(_FORGE + """
    def f(x):
        write(b"V6")
        os._exit(0)
    """, ("value 6",)),
    "second-frame": Forgery(_FORGE + """
    def f(x):
        write(b"V6")
        return 7
    """, ("broken double",)),
    "second-frame-of-a-child": Forgery("""
        import os, time
        def f(x):
            if os.fork(): time.sleep(0.2)
            return 7
    """, ("broken double", "value 7")),
    "half-a-frame": Forgery(_FORGE + """
    def f(x):
        os.write(59, b"\\0\\0\\1\\0" + nonce() + b"V")
        os._exit(0)
    """, ("broken malformed",)),
    "endless-frame": Forgery(_FORGE + """
    def f(x):
        os.write(59, b"\\xff\\xff\\xff\\xff" + nonce())
        while True: os.write(59, b"7" * 65536)
    """, ("broken oversize",)),
    "guessed-nonce": Forgery("""
        import os
        def f(x):
            os.write(59, b"\\0\\0\\0\\2" + bytes(16) + b"V6")
            os._exit(0)
    """, ("broken malformed",)),
    "reading-the-request-pipe": Forgery("""
        import os
        def f(x): return os.read(58, 100)
    """, ('value {"bytes":""}',)),
    "closed-descriptors": Forgery("""
        import os
        def f(x):
            os.closerange(0, 1024)
            return 7
    """, ("broken exit",)),
    "grandchild-that-holds-the-pipe": Forgery("""
        import os, time
        def f(x):
            if os.fork() == 0:
                os.setsid()
                time.sleep(600)
            return 7
    """, ("value 7",), calls=2),
    "deep-frame": Forgery(_FORGE + """
    def f(x):
        write(b"V" + b"[" * 100000 + b"]" * 100000)
        os._exit(0)
    """, ("broken malformed",)),
    "frame-of-hostile-json": Forgery(_FORGE + """
    def f(x):
        write(b'V{"dict":["a",1,"a",2]}')
        os._exit(0)
    """, ("broken malformed",)),
    "colliding-keys": Forgery(_FORGE + """
    def f(x):
        keys = sorted(str(i * (2**61 - 1)) for i in range(20000))
        write(b'V{"set":[' + ",".join(keys).encode() + b"]}")
        os._exit(0)
    """, ("broken malformed",)),
    "endless-output": Forgery("""
        import os, sys
        def f(x):
            for _ in range(10240):
                os.write(1, bytes(1 << 20)), os.write(2, bytes(1 << 20))
            return 7
    """, ("value 7", "broken timeout")),
    # values that lie
    "large-value": Forgery("def f(x): return 'x' * (2 << 20)", ("broken oversize",)),
    "large-by-sharing": Forgery("""
        def f(x):
            for _ in range(60): x = [x, x]
            return x
    """, ("broken oversize",)),
    "huge-int": Forgery("def f(x): return 1 << (1 << 25)", ("broken oversize",)),
    "deep-value": Forgery("""
        def f(x):
            for _ in range(100000): x = [x]
            return x
    """, ("broken unsendable",)),
    "equal-to-all": Forgery("""
        class L(list):
            def __eq__(self, other): return True
            __hash__ = None
        def f(x): return L([x])
    """, ("broken unsendable",)),
    "lying-class": Forgery("""
        class I:
            __class__ = int
            def __eq__(self, other): return True
            def __repr__(self): return "7"
        def f(x): return I()
    """, ("broken unsendable",)),
    "lying-module": Forgery("""
        class Decimal:
            def __str__(self): return "7"
        Decimal.__module__ = "decimal"
        def f(x): return Decimal()
    """, ("broken unsendable",)),
    "bool-for-int": Forgery("def f(x): return x == 3", ("value true",)),
    "error-that-fights": Forgery("""
        class E(BaseException):
            def __str__(self): raise E
            __repr__ = __str__
        def f(x): raise E
    """, ("raised error_that_fights.E",)),
    "unreadable-value": Forgery("""
        class M(type):
            def __getattribute__(cls, name): raise SystemExit(0)
        class V(metaclass=M): pass
        def f(x): return V()
    """, ("broken unsendable",)),
    # the interpreter turned over
    "patched-json": Forgery("""
        import json, struct
        json.dumps = json.encoder.encode_basestring_ascii = lambda *_: '"y"'
        json.JSONEncoder.encode = json.JSONDecoder.decode = lambda *_: '"y"'
        struct.pack = lambda *_: b""
        def f(x): return "x"
    """, ('value "x"',)),
    "patched-os": Forgery("""
        import os
        os.write = lambda *_: 1 / 0
        os._exit = lambda *_: 1 / 0
        def f(x): return 7
    """, ("value 7",)),
    "patched-runner": Forgery("""
        import sys
        runner = sys.modules["__main__"]
        for name in list(vars(runner)):
            if name.startswith("_") and not name.startswith("__"): setattr(runner, name, None)
        def f(x): return 7
    """, ("value 7", "broken exit")),
    "import-hooks": Forgery("""
        import builtins, sys
        sys.meta_path.insert(0, None)
        builtins.__import__ = None
        sys.modules.clear()
        def f(x): return 7
    """, ("value 7", "import KeyError")),
    "exit-handlers": Forgery(_FORGE + """
    import atexit
    atexit.register(os._exit, 3)
    def f(x): return 7
    """, ("value 7",)),
    "threads": Forgery("""
        import threading, time
        threading.Thread(target=time.sleep, args=(600,)).start()
        def f(x): return 7
    """, ("value 7",)),
    "garbage-collector": Forgery("""
        import gc, os
        class D:
            def __del__(self): os._exit(3)
        gc.callbacks.append(lambda *_: os._exit(3))
        def f(x):
            x = D()
            return 7
    """, ("broken exit",)),
    "tracing": Forgery("""
        import os, sys
        def spy(frame, event, arg): os._exit(0)
        def f(x):
            sys.setprofile(spy)
            return 7
    """, ("broken missing",)),
    # taking it all
    "recursion": Forgery("def f(x): return f(x)", ("raised RecursionError",)),
    "recursion-that-nobody-counts": Forgery("""
        import gc
        def f(x):
            gc.disable()
            for _ in range(3 * 10**5): x = (x,)
            return hash(x)
    """, ("broken signal", "raised RecursionError")),
    "fork-bomb": Forgery("""
        import os, time
        def f(x):
            while True:
                if os.fork() == 0: time.sleep(600)
    """, ("raised BlockingIOError",), calls=2),
    "memory": Forgery("def f(x): return len(bytearray(1 << 40))", ("raised MemoryError",)),
    "sleep": Forgery("import time\ndef f(x): time.sleep(600)", ("broken timeout",)),
    "spin": Forgery("while True: pass", ("broken timeout",)),
    "raised-limits": Forgery("""
        import resource
        def f(x): resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
    """, ("raised ValueError",)),
    "large-file": Forgery("""
        def f(x):
            with open("/tmp/big", "wb") as file:
                while True: file.write(bytes(1 << 20))
    """, ("raised OSError",)),
    "large-file-without-a-name": Forgery("""
        import os
        def f(x):
            file = os.memfd_create("m")
            while True: os.write(file, bytes(1 << 20))
    """, ("raised OSError",)),
    # reaching out
    "look-around": Forgery("""
        import os
        def f(x): return [pid for pid in os.listdir("/proc") if pid.isdigit()], os.getppid()
    """, ('value {"tuple":[["1"],0]}',)),
    "memory-of-others": Forgery(_LIBC + """
    def f(x): return [libc.ptrace(16, pid, 0, 0) for pid in (1, 2)] + [ctypes.get_errno()]
    """, ("value [-1,-1,1]",)),
    "network": Forgery("""
        import socket
        def f(x): socket.create_connection(("1.1.1.1", 80), 5)
    """, ("raised PermissionError",)),
    "loopback": Forgery("""
        import socket
        def f(x): socket.create_connection(("127.0.0.1", 22), 5)
    """, ("raised PermissionError",)),
    "writing-outside": Forgery("""
        import os
        PLACES = ["/x", "/tree/x", "/tree/src/honest.py", "/replay/wire.py", "/usr/lib/x", "/etc/x",
                  "/dev/x", "/proc/sys/kernel/core_pattern", os.__file__, OUTSIDE]
        def f(x):
            done = []
            for place in PLACES:
                try: open(place, "a").close()
                except OSError: continue
                done.append(place)
            return done
    """, ("value []",)),
    "reading-outside": Forgery("""
        import os
        PLACES = ["/root/.ssh", "/home", "/etc/passwd", "/var", "/work", "/usr/bin/git", OUTSIDE]
        def f(x): return [place for place in PLACES if os.path.exists(place)]
    """, ("value []",)),
    "user-namespace": Forgery(_LIBC + """
    def f(x): return [libc.unshare(0x10000000), ctypes.get_errno()]
    """, ("value [-1,1]",)),
    "mounts": Forgery(_LIBC + """
    def f(x): return [libc.mount(b"tmpfs", b"/tmp", b"tmpfs", 0, None), ctypes.get_errno()]
    """, ("value [-1,1]",)),
    # remembering
    "poisoned-tmp": Forgery("""
        import os
        def f(x):
            found = os.listdir("/tmp")
            open("/tmp/mark", "w").close()
            return found
    """, ("value []",), calls=3),
    "poisoned-ipc": Forgery(_LIBC + """
    def f(x): return [libc.shmget(77, 4096, 0o3600) >= 0, libc.semget(77, 1, 0o3600) >= 0]
    """, ("value [true,true]",), calls=3),
    "poisoned-key-ring": Forgery(_LIBC + """
    def f(x): return [libc.syscall(248, b"user", b"mark", b"1", 1, -4), ctypes.get_errno()]
    """, ("value [-1,1]",), calls=2),
    "poisoned-source": Forgery("""
        import os
        def f(x):
            try: os.utime(__file__, (1, 1))
            except OSError: return os.stat(__file__).st_atime > 100
    """, ("value true",), calls=2),
}
