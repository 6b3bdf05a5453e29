"""install.sh of this folder: what it installs and how, and what it says where it cannot."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PROGRAMS = ("nginx", "fcgiwrap", "spawn-fcgi", "htpasswd", "gitolite")
RULE = "/usr/sbin/policy-rc.d"
APT = """#!/bin/sh
printf '[%s]' "$@" >>"{log}"
"{rule}"
echo " answers $?" >>"{log}"
case $* in *" update"*) exit "${{UPDATE-0}}" ;; esac
[ "${{APT-0}}" -eq 0 ] || echo "E: the network is away"
exit "${{APT-0}}"
"""


class Machine:
    """The script with sshd absent, another place for policy-rc.d, and stand-ins for the rest."""

    def __init__(self, folder: Path) -> None:
        self.bin, self.rule, self.log = folder / "bin", folder / "policy-rc.d", folder / "log"
        self.script = folder / "install.sh"
        text = (HERE / "install.sh").read_text()
        assert RULE in text
        assert "\tsshd openssh-server" in text
        self.script.write_text(text.replace(RULE, str(self.rule)).replace(
            "\tsshd openssh-server", "\tno-such-program openssh-server"))
        self.bin.mkdir()
        for name in PROGRAMS:
            self.stand_in(name, "")
        self.stand_in("id", "echo ${WHO-0}\n")
        self.apt = self.stand_in("apt-get", "")
        self.apt.write_text(APT.format(log=self.log, rule=self.rule))
        self.python = folder / "venv/bin/python"
        self.python.parent.mkdir(parents=True)
        shutil.copy(self.stand_in("python", 'exit "${PIP-0}"\n'), self.python)

    def stand_in(self, name: str, text: str) -> Path:
        file = self.bin / name
        file.write_text("#!/bin/sh\n" + text)
        file.chmod(0o755)
        return file

    def run(self, **environment: str) -> str:
        """The reasons; the script never fails."""
        self.log.write_text("")
        done = subprocess.run(["/bin/sh", self.script, self.python], capture_output=True, text=True,
                              env={"PATH": f"{self.bin}:/usr/bin:/bin", **environment}, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def asked(self) -> list[str]:
        return self.log.read_text().splitlines()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_only_what_is_absent_is_installed_while_no_service_may_start(machine: Machine) -> None:
    assert machine.run() == ""
    (asked,) = machine.asked()
    assert "[DPkg::Lock::Timeout=300]" in asked
    assert asked.endswith("[--no-install-recommends][openssh-server] answers 101")
    assert not machine.rule.exists()
    machine.stand_in("no-such-program", "")
    assert (machine.run(), machine.asked()) == ("", [])


@pytest.mark.parametrize("answer", [0, 101])
def test_the_machine_s_own_word_on_services_comes_back(machine: Machine, answer: int) -> None:
    machine.rule.write_text(f"#!/bin/sh\nexit {answer}\n")
    machine.rule.chmod(0o755)
    before = machine.rule.read_bytes()
    machine.run()
    assert machine.asked()[0].endswith(" answers 101")
    assert machine.rule.read_bytes() == before
    assert [path.name for path in machine.rule.parent.glob("policy*")] == ["policy-rc.d"]


def test_without_a_network_the_lists_are_fetched_once_and_the_reason_is_said(
        machine: Machine) -> None:
    assert machine.run(APT="100", PIP="1") == (
        "apt-get cannot install openssh-server: E: the network is away; "
        "pip cannot install dulwich")
    assert ["update" in line for line in machine.asked()] == [False, True, False]
    assert not machine.rule.exists()


def test_whoever_is_not_root_reads_so(machine: Machine) -> None:
    assert machine.run(WHO="1000") == "only root can install openssh-server"
    assert machine.asked() == []


def test_the_end_of_a_run_says_what_did_not_run(tmp_path: Path) -> None:
    shutil.copy(HERE.parent / "conftest.py", tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = servers: x\n")
    (tmp_path / "test_it.py").write_text(
        "import pytest\n\n\n@pytest.mark.servers\n@pytest.mark.parametrize('n', [1, 2])\n"
        "def test_it(n):\n    pytest.skip('ssh: openssh-server is not installed')\n\n\n"
        "def test_other():\n    pytest.skip('no reason')\n")
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "."],
                          cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(HERE.parent),
                                             "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
                          capture_output=True, text=True, check=False)
    *_, said, last = done.stdout.splitlines()
    assert said == "did not run: ssh: openssh-server is not installed; tests left out: 2"
    assert last.startswith("3 skipped in ")
