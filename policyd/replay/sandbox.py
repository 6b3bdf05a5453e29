"""The sandbox: which bubblewrap command a candidate runs under, and whether one can be had."""

from __future__ import annotations

import os
import shutil
import subprocess
from enum import Enum
from pathlib import Path

from policyd.core.values import dataclass
from policyd.replay.frames import Setup
from policyd.replay.interpreter import Interpreter

HARNESS = tuple(Path(__file__).with_name(f"{name}.py")
                for name in ("runner", "wire", "zygote", "compiler"))
"""What lies beside the candidate; each runs or is loaded by its path."""

_LIBRARIES = ("/usr/lib", "/usr/lib32", "/usr/lib64", "/lib", "/lib32", "/lib64")
_DATA = ("/etc/ld.so.cache", "/usr/share/zoneinfo")
_FIRST_USER = 0x80000000
"""Nobody's: above what distributions, containers and directories of people hand out."""
_LANES = 16
_BARE = ("-s", "-P", "-S", "-B")
"""As -I, which would ignore PYTHONHASHSEED too: the environment holds nothing but what is ours."""


class Mode(Enum):
    """How executions are kept apart."""

    STRICT = "strict"
    """A sandbox for each."""
    WARM = "warm"
    """One sandbox; in it namespaces of its own for each, forked before the candidate is there."""
    NONE = "none"
    """A process for each, with limits and without any sandbox."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Of one execution. `processes` counts threads; nothing counts them without a sandbox."""

    wall_seconds: float = 5.0
    cpu_seconds: int = 2
    memory_bytes: int = 1 << 30
    """Address space of each process."""
    open_files: int = 64
    processes: int = 16
    file_bytes: int = 16 << 20
    tmp_bytes: int = 32 << 20
    output_bytes: int = 1 << 20
    """Of the encoded value."""


@dataclass(frozen=True, slots=True)
class Ground:
    """What all executions share: a tree, its import roots, a Python, perhaps a site folder."""

    tree: Path
    roots: tuple[str, ...]
    python: Interpreter
    site: Path | None
    limits: Limits
    hash_seed: int = 0

    def environment(self) -> dict[str, str]:
        return {"PYTHONHASHSEED": str(self.hash_seed), "TZ": "UTC", "LC_ALL": "C.UTF-8"}

    def setup(self, mode: Mode, *, lane: int = 0, executions: int = 1) -> Setup:
        """What the runner does to itself; `executions` share one process."""
        bare = mode is Mode.NONE
        tree = self.tree if bare else Path("/tree")
        site = () if self.site is None else (str(self.site) if bare else "/site",)
        limits = {
            "RLIMIT_CPU": self.limits.cpu_seconds * executions, "RLIMIT_CORE": 0,
            "RLIMIT_AS": self.limits.memory_bytes, "RLIMIT_FSIZE": self.limits.file_bytes,
            "RLIMIT_NOFILE": max(self.limits.open_files, 64), "RLIMIT_MEMLOCK": 0,
            "RLIMIT_MSGQUEUE": 0}
        if not bare:
            limits["RLIMIT_NPROC"] = self.limits.processes
        roots = tuple(str(tree / root) for root in self.roots)
        return Setup(roots, site, tuple(limits.items()), None if bare else sandbox_user(lane))


def sandbox_user(lane: int) -> int | None:
    """Whom a candidate runs as when policyd is root: another for each lane of each judge.

    The kernel counts processes by user, and does not count those of root.
    """
    return _FIRST_USER + os.getpid() * _LANES + lane % _LANES if os.geteuid() == 0 else None


def command(ground: Ground, mode: Mode, arguments: list[str],
            call_filter: int | None = None) -> list[str]:
    """The command that runs the harness with `arguments`; the last words are Python's own.

    `call_filter` is a descriptor to read a program of policyd.replay.seccomp from.
    """
    script = "zygote.py" if mode is Mode.WARM else "runner.py"
    python = [str(ground.python.program), *_BARE]
    if mode is Mode.NONE:
        return [*python, str(HARNESS[0]), *arguments]
    guard = [] if call_filter is None else ["--seccomp", str(call_filter)]
    return [*bubblewrap(ground, mode), *guard, *python, f"/replay/{script}", *arguments]


def bubblewrap(ground: Ground, mode: Mode) -> list[str]:
    """bubblewrap with all its arguments, up to the program that is to run."""
    words = [shutil.which("bwrap") or "bwrap", "--unshare-ipc", "--unshare-pid",
             "--unshare-net", "--unshare-uts", "--unshare-cgroup-try", "--die-with-parent",
             "--new-session", "--as-pid-1",
             "--clearenv", "--hostname", "sandbox", *_privileges(mode)]
    for name, value in ground.environment().items():
        words += ["--setenv", name, value]
    shown = _shown(ground)
    for folder in dict.fromkeys(above for _, place in shown for above in _above(place)):
        words += ["--perms", "0755", "--dir", folder]
    for source, place in shown:
        words += ["--ro-bind", source, place]
    for link in filter(os.path.islink, _LIBRARIES):
        words += ["--symlink", os.readlink(link), link]
    for hidden in ground.python.hides():
        words += ["--tmpfs", str(hidden), "--remount-ro", str(hidden)]
    return [*words, "--proc", "/proc", "--dev-bind", "/dev/null", "/dev/null",
            "--perms", "1777", "--size", str(ground.limits.tmp_bytes), "--tmpfs", "/tmp",
            "--remount-ro", "/", "--chdir", "/tmp"]


def _privileges(mode: Mode) -> list[str]:
    """What the harness may do inside until it lets a candidate in.

    Root needs no user namespace, and would stay root in it: instead the runner becomes somebody
    else. Anybody else gets one. A zygote makes namespaces, so it may not be forbidden to.
    """
    words = ["--cap-drop", "ALL"]
    if os.geteuid() == 0:
        words += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        words.append("--unshare-user")
        if mode is Mode.STRICT:
            words.append("--disable-userns")
    return [*words, "--cap-add", "CAP_SYS_ADMIN"] if mode is Mode.WARM else words


def _shown(ground: Ground) -> list[tuple[str, str]]:
    """What there is to read, and where it lies inside."""
    libraries = [path for path in _LIBRARIES if os.path.isdir(path) and not os.path.islink(path)]
    python = [str(path) for path in ground.python.shows()]
    same = dict.fromkeys([*libraries, *filter(os.path.exists, _DATA), *python])
    shown = [(path, path) for path in same]
    if ground.site is not None:
        shown.append((str(ground.site), "/site"))
    return [*shown, (str(ground.tree), "/tree"),
            *((str(file), f"/replay/{file.name}") for file in HARNESS)]


def _above(place: str) -> list[str]:
    """The folders that lead to a place, which bubblewrap would make for its own user alone."""
    return [str(folder) for folder in [*Path(place).parents][-2::-1]] + ["/dev"]


def missing() -> str | None:
    """Why no sandbox can be tried at all; None if one can."""
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed; install the package `bubblewrap`"
    return None


def available(python: Interpreter | None = None) -> str | None:
    """None where a sandbox can be had; else one sentence: why not, and what to do.

    It makes one of each kind.
    """
    if why := missing():
        return why
    ground = Ground(Path("/usr/lib"), ("",), python or Interpreter.own(), None, Limits())
    for mode in (Mode.STRICT, Mode.WARM):
        try:
            done = subprocess.run(
                [*bubblewrap(ground, mode), str(ground.python.program), "-I", "-S", "-c", ""],
                stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20, check=False)
        except (OSError, subprocess.SubprocessError) as error:
            return f"bubblewrap does not run: {error}"
        if done.returncode:
            return explained(done.stderr.strip().rpartition("\n")[2])
    return None


def explained(complaint: str) -> str:
    """What bubblewrap's last line means for an operator."""
    if "nknown option" in complaint:
        return f"bubblewrap is older than 0.8 ({complaint}); install a newer package `bubblewrap`"
    if "namespace" in complaint or "not permitted" in complaint or "ermission" in complaint:
        return (f"bubblewrap may not make a sandbox here ({complaint}); allow unprivileged user "
                "namespaces (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone, "
                "kernel.apparmor_restrict_unprivileged_userns)")
    return f"bubblewrap cannot make a sandbox here: {complaint or 'it gives no reason'}"
