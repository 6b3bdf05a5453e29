"""What a sandbox shows, what its filter refuses, and how its absence is explained."""

from __future__ import annotations

import errno
import os
import struct
from pathlib import Path

import pytest

from policyd.replay import seccomp, wire
from policyd.replay.execute import Call, Executor, Mode
from policyd.replay.interpreter import Interpreter
from policyd.replay.sandbox import Ground, Limits, available, bubblewrap, explained, sandbox_user

WHY_NOT = available()

LOOK = """
import os
def shown():
    found = []
    for folder, folders, files in os.walk("/"):
        folders[:] = [name for name in folders
                      if os.path.join(folder, name) not in ("/proc", "/usr/lib", "/usr/lib64")]
        found += [os.path.join(folder, name) for name in files]
    return sorted(found)
def sizes():
    tmp = os.statvfs("/tmp")
    return tmp.f_blocks * tmp.f_frsize
def writable():
    found = []
    for folder, folders, _ in os.walk("/"):
        folders[:] = [name for name in folders if os.path.join(folder, name) != "/proc"]
        try:
            os.close(os.open(folder, os.O_TMPFILE | os.O_WRONLY))
            found.append(folder)
        except OSError:
            pass
    return found
"""


@pytest.fixture(scope="module", params=[Mode.STRICT, Mode.WARM], ids=lambda mode: mode.value)
def inside(request, tmp_path_factory):
    """Calls a function of LOOK inside a sandbox."""
    if WHY_NOT is not None:
        pytest.skip(f"no sandbox: {WHY_NOT}")
    tree = tmp_path_factory.mktemp("looked")
    (tree / "src").mkdir()
    (tree / "src/look.py").write_text(LOOK)
    tree.chmod(0o755)
    with Executor(tree, mode=request.param, jobs=1, limits=Limits(tmp_bytes=1 << 20)) as executor:
        yield lambda name: wire.decode(executor.run(Call(f"look:{name}", b"[]")).data)


def test_nothing_is_shown_but_python_the_tree_and_the_harness(inside):
    python = Interpreter.own()
    rest = [path for path in inside("shown")
            if not path.startswith((f"{python.prefix}/lib/", "/usr/share/zoneinfo/", "/usr/lib"))]
    assert set(rest) - {"/etc/ld.so.cache"} == {
        "/dev/null", str(python.program), "/replay/compiler.py", "/replay/runner.py",
        "/replay/wire.py", "/replay/zygote.py", "/tree/src/look.py"}


def test_packages_beside_the_standard_library_are_hidden(inside):
    assert not [path for path in inside("shown") if "-packages/" in path]


def test_only_a_small_folder_can_be_written(inside):
    assert inside("writable") == ["/tmp"]
    assert inside("sizes") == 1 << 20


def test_this_python_is_what_the_same_path_asked_says():
    assert Interpreter.asked(Interpreter.own().program) == Interpreter.own()


@pytest.mark.parametrize("mode", [Mode.STRICT, Mode.WARM], ids=lambda mode: mode.value)
def test_no_privilege_is_kept_that_is_not_needed(mode):
    ground = Ground(Path("/x"), ("",), Interpreter.own(), None, Limits())
    words = bubblewrap(ground, mode)
    kept = [words[at + 1] for at, word in enumerate(words) if word == "--cap-add"]
    root = {"CAP_SETUID", "CAP_SETGID"} if os.geteuid() == 0 else set()
    assert set(kept) == root | ({"CAP_SYS_ADMIN"} if mode is Mode.WARM else set())
    assert {"--unshare-net", "--unshare-pid", "--unshare-ipc", "--die-with-parent",
            "--new-session", "--clearenv"} <= set(words)
    assert not {"--bind", "--dev", "--share-net"} & set(words)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes somebody else")
def test_lanes_of_root_are_different_users():
    users = {sandbox_user(lane) for lane in range(16)}
    assert len(users) == 16
    assert all(user is not None and 1 << 31 <= user < (1 << 32) - 1 for user in users)


@pytest.mark.parametrize(("complaint", "said"), [
    ("bwrap: Unknown option --size", "older than 0.8"),
    ("bwrap: No permissions to create new namespace, likely because the kernel does not allow "
     "non-privileged user namespaces.", "user.max_user_namespaces"),
    ("bwrap: setting up uid map: Permission denied", "apparmor_restrict_unprivileged_userns"),
    ("bwrap: Can't find source path /x: No such file or directory", "/x"),
    ("", "no reason")])
def test_what_bubblewrap_complains_of_is_explained(complaint, said):
    assert said in explained(complaint)


X86, ARM = 0xC000003E, 0xC00000B7
CALLS = [
    # machine, architecture, number, first argument, error (0: allowed)
    ("x86_64", X86, 0, 0, 0),  # read
    ("x86_64", X86, 59, 0, 0),  # execve
    ("x86_64", X86, 56, 0x11, 0),  # clone, as fork does
    ("x86_64", X86, 56, 0x10000011, errno.EPERM),
    ("x86_64", X86, 272, 0x20000000, 0),  # unshare(NEWPID), as the zygote does
    ("x86_64", X86, 272, 0x30000000, errno.EPERM),
    ("x86_64", X86, 435, 0, errno.ENOSYS),  # clone3
    ("x86_64", X86, 41, 1, 0),  # socket(AF_UNIX)
    ("x86_64", X86, 41, 2, errno.EACCES),
    ("x86_64", X86, 41, 16, errno.EACCES),
    ("x86_64", X86, 53, 1, 0),  # socketpair
    ("x86_64", X86, 248, 0, errno.EPERM),  # add_key
    ("x86_64", X86, 101, 0, errno.EPERM),  # ptrace
    ("x86_64", X86, 426, 0, errno.EPERM),  # io_uring_enter
    ("x86_64", X86, 0x40000000 | 59, 0, errno.EPERM),  # x32
    ("x86_64", 0x40000003, 11, 0, errno.EPERM),  # i386
    ("aarch64", ARM, 220, 0x11, 0),
    ("aarch64", ARM, 220, 0x10000011, errno.EPERM),
    ("aarch64", ARM, 198, 10, errno.EACCES),
    ("aarch64", ARM, 217, 0, errno.EPERM),
    ("aarch64", X86, 0, 0, errno.EPERM),
]


@pytest.mark.parametrize(("machine", "architecture", "number", "word", "error"), CALLS)
def test_the_filter_refuses_what_no_candidate_needs(machine, architecture, number, word, error):
    program = seccomp.program(machine)
    assert program is not None
    data = struct.pack("=iIQ6Q", number, architecture, 0, word, 0, 0, 0, 0, 0)
    assert run_filter(program, data) == (0x00050000 | error if error else 0x7FFF0000)


def test_there_is_no_filter_for_a_machine_whose_numbers_are_not_known():
    assert seccomp.program("riscv64") is None


def run_filter(program: bytes, data: bytes) -> int:
    """What the kernel's machine returns for one call."""
    steps = list(struct.iter_unpack("=HBBI", program))
    at = accumulator = 0
    while True:
        code, if_true, if_false, operand = steps[at]
        at += 1
        match code:
            case 0x20:
                accumulator = struct.unpack_from("=I", data, operand)[0]
            case 0x06:
                return operand
            case 0x15:
                at += if_true if accumulator == operand else if_false
            case 0x35:
                at += if_true if accumulator >= operand else if_false
            case 0x45:
                at += if_true if accumulator & operand else if_false
            case _:
                raise AssertionError(code)
