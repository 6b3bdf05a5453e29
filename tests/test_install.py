"""install.sh and the locks: what is made, when it is made again, what is refused."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
CANDIDATES = ("python3.13", "python3.12", "python3.11", "python3")
LOCKS = ("requirements.lock", "requirements-test.lock")

# Answers as a Python does as far as install.sh asks, and writes down what it was asked.
STAND_IN = """#!/bin/sh
printf '[%s]' "${{PYTHONPATH-}}${{PYTHONHOME-}}" "$@" >>"{log}"
echo >>"{log}"
case $* in
*version_info*) echo {version} "$0" ;;
*ensurepip*) exit {venv} ;;
"-m venv .venv") mkdir -p .venv/bin && cp "$0" .venv/bin/python ;;
"-m pip install"*) exit "${{PIP_EXIT-0}}" ;;
"-m pytest"*) echo "3 passed"; exit "${{PYTEST_EXIT-0}}" ;;
esac
"""


class Checkout:
    """The files that install.sh works on, and stand-ins for every Python that it looks for."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "the checkout"
        self.root.mkdir()
        for name in ("install.sh", "pyproject.toml", *LOCKS):
            shutil.copy(ROOT / name, self.root)
        shutil.copytree(ROOT / ".ci", self.root / ".ci")
        (self.root / "tests/servers").mkdir(parents=True)
        self.servers = self.root / "tests/servers/install.sh"
        self.servers.write_text(f'echo "[servers $*]" >>"{folder}/log"\n')
        self.bin = folder / "bin"
        self.bin.mkdir()
        self.log = folder / "log"
        for name in CANDIDATES:
            self.stand_in(name, "3 12")

    def stand_in(self, name: str, version: str, *, venv: bool = True) -> None:
        text = STAND_IN.format(log=self.log, version=version, venv=0 if venv else 1)
        (self.bin / name).write_text(text)
        (self.bin / name).chmod(0o755)

    def run(self, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
        self.log.write_text("")
        path = f"{self.bin}:/usr/bin:/bin"
        return subprocess.run(
            command or ("./install.sh", "test"),
            cwd=self.root,
            env={"PATH": path, "HOME": str(self.root.parent), **environment},
            capture_output=True,
            text=True,
        )

    def made_anew(self) -> bool:
        return "[-m][venv][.venv]" in self.log.read_text()


@pytest.fixture
def checkout(tmp_path):
    return Checkout(tmp_path)


@pytest.mark.parametrize("command", [(), ("tset",), ("--help",)])
def test_an_unknown_subcommand_is_answered_with_the_usage(checkout, command):
    done = checkout.run("./install.sh", *command)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("usage: ./install.sh demo")
    assert not (checkout.root / ".venv").exists()


def test_the_first_run_makes_installs_and_tests(checkout):
    done = checkout.run()
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        f"install.sh: making .venv with {checkout.bin}/python3.13",
        "install.sh: installing what requirements-test.lock names",
        "install.sh: installing this checkout",
        "install.sh: running the tests",
        "3 passed",
    ]
    assert "[--require-hashes][-r][requirements-test.lock]" in checkout.log.read_text()


def test_the_second_run_only_tests(checkout):
    checkout.run()
    assert checkout.run().stdout.splitlines() == ["install.sh: running the tests", "3 passed"]


@pytest.mark.parametrize("name", ["requirements-test.lock", "pyproject.toml"])
def test_a_changed_lock_or_project_is_installed_anew(checkout, name):
    checkout.run()
    with (checkout.root / name).open("a") as file:
        file.write("# changed\n")
    checkout.run()
    assert checkout.made_anew()
    checkout.run()
    assert not checkout.made_anew()


def test_an_interrupted_environment_is_made_anew(checkout):
    assert checkout.run(PIP_EXIT="1").returncode == 1
    stale = checkout.root / ".venv/half-installed"
    stale.touch()
    assert checkout.run().returncode == 0
    assert checkout.made_anew()
    assert not stale.exists()


def test_an_environment_whose_python_is_gone_is_made_anew(checkout):
    checkout.run()
    (checkout.root / ".venv/bin/python").unlink()
    assert checkout.run().returncode == 0


def test_a_copied_environment_is_made_anew(checkout):
    checkout.run()
    moved = checkout.root.rename(checkout.root.parent / "moved")
    checkout.root = moved
    checkout.run()
    assert checkout.made_anew()


def test_exit_code_and_arguments_are_those_of_pytest(checkout):
    done = checkout.run("./install.sh", "test", "-k", "two words", PYTEST_EXIT="5")
    assert done.returncode == 5
    assert done.stdout.endswith("3 passed\n")
    assert checkout.log.read_text().endswith("[-q][-k][two words]\n")


def test_servers_are_installed_where_that_is_asked_for(checkout):
    checkout.run("./install.sh", "test", "--servers", "-x")
    *_, installed, tested = checkout.log.read_text().splitlines()
    assert installed == f"[servers {checkout.root}/.venv/bin/python]"
    assert tested.endswith("[-q][-x]")
    checkout.run()
    assert "servers" not in checkout.log.read_text()


def test_why_a_server_is_not_here_is_said_and_stops_nothing(checkout):
    checkout.servers.write_text("echo only root can install it\n")
    done = checkout.run(".ci/run")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-3:] == [
        "install.sh: not all servers are here: only root can install it",
        "install.sh: running the tests", "3 passed"]


def test_modules_from_the_outside_are_shut_out(checkout):
    checkout.run(PYTHONPATH="/somewhere", PYTHONHOME="/elsewhere")
    assert "\n[][-m][pytest]" in checkout.log.read_text()
    assert "where" not in checkout.log.read_text()


@pytest.mark.parametrize("command", ["install.sh test", ".ci/run"])
def test_it_runs_from_any_folder(checkout, command):
    done = checkout.run("/bin/sh", "-c", f'cd / && "$0"/{command}', str(checkout.root))
    assert (done.returncode, done.stderr) == (0, "")
    assert (checkout.root / ".venv/.stamp").is_file()


def test_an_old_python_is_refused_in_one_sentence(checkout):
    for name in CANDIDATES:
        checkout.stand_in(name, "3 9")
    done = checkout.run()
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "install.sh: needs Python 3.11 or later with venv, "
        "and found none on PATH; python3 is 3.9.\n"
    )
    assert not (checkout.root / ".venv").exists()


def test_a_python_without_venv_is_refused_with_the_package_to_install(checkout):
    for name in CANDIDATES:
        checkout.stand_in(name, "3 11", venv=False)
    done = checkout.run()
    assert done.returncode == 1
    assert "python3 is 3.11 without venv (on Debian and Ubuntu: the package python3-venv)" in (
        done.stderr
    )


def test_an_unusable_newer_python_does_not_hide_an_older_one(checkout):
    checkout.stand_in("python3.13", "3 13", venv=False)
    (checkout.bin / "python3.12").write_text("#!/bin/sh\necho 'not active' >&2\nexit 127\n")
    assert f"with {checkout.bin}/python3.11\n" in checkout.run().stdout


def test_behind_a_shim_the_real_interpreter_is_taken(checkout):
    (checkout.bin / "real").mkdir()
    checkout.stand_in("real/python", "3 13")
    shim = f'#!/bin/sh\nexec "{checkout.bin}/real/python" "$@"\n'
    (checkout.bin / "python3.13").write_text(shim)
    assert f"making .venv with {checkout.bin}/real/python\n" in checkout.run().stdout


def pins(lock: str) -> dict[str, str]:
    text = (ROOT / lock).read_text()
    return dict(re.findall(r"^([a-z0-9-]+)==(\S+) \\$", text, re.MULTILINE))


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_names_versions_and_hashes_and_no_place(lock):
    entries = re.split(r"\n(?=[a-z])", (ROOT / lock).read_text())[1:]
    assert len(entries) == len(pins(lock))
    assert all("--hash=sha256:" in entry for entry in entries)
    assert not re.search(r"://|^-|\s/", "\n".join(entries), re.MULTILINE)


def test_the_locks_hold_what_the_project_asks_for():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    runtime = project["project"]["dependencies"]
    tests = project["project"]["optional-dependencies"]["test"]
    build = project["build-system"]["requires"]
    for lock, wanted in zip(LOCKS, (runtime, runtime + tests + build), strict=True):
        held = pins(lock)
        for requirement in map(Requirement, wanted):
            version = held.get(canonicalize_name(requirement.name))
            assert version in requirement.specifier, f"{lock}: {requirement} is held at {version}"
    assert pins(LOCKS[0]).items() <= pins(LOCKS[1]).items()
