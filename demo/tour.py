"""A tour of real pushes to a real repository that policyd guards; run by `./install.sh demo`.

Everything happens in a temporary folder. The tour stops with exit code 1 as soon as a push ends
otherwise than it says.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import midnight
import relations

START = {
    "README": "A small shop.\n",
    "src/tax.py": "def total(amount):\n    return amount * 119 // 100\n",
    "tests/test_tax.py": "from tax import total\n\n\ndef test_zero():\n    assert total(0) == 0\n",
    "tests/ledger/flake_ledger.json": '{"schema": "flake_ledger.v1", "entries": []}\n',
}
HALF = "def total(amount):\n    return amount * 107 // 100\n"
RECEIPT = ('{"baseline": "BASELINE", "entry_point": "tax:total", "input": {"amount": 100},\n'
           ' "constraints": {"currency": "EUR"}}\n')


class TourFailed(Exception):
    """A push ended otherwise than the tour says."""


@dataclass(frozen=True, slots=True)
class Stage:
    """The folders of the tour: a home, a bare repository and a clone."""

    folder: Path

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def server(self) -> Path:
        return self.folder / "shop.git"

    @property
    def clone(self) -> Path:
        return self.folder / "shop"

    def run(self, *command: str, who: str = "", cwd: Path | None = None,
            ok: bool = True) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(command, cwd=cwd or self.clone, env=_environment(who), text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if ok and done.returncode:
            raise TourFailed(f"{' '.join(command)}:\n{done.stdout}")
        return done

    def git(self, *arguments: str) -> str:
        return self.run("git", *arguments).stdout.strip()

    def policyd(self, *arguments: str) -> str:
        return self.run(sys.executable, "-I", "-m", "policyd", "--home", str(self.home),
                        *arguments, cwd=self.folder).stdout

    def commit(self, subject: str, files: Mapping[str, str]) -> None:
        for name, text in files.items():
            path = self.clone / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        self.git("add", "-A")
        self.git("commit", "-qm", subject)

    def receipt(self, currency: str) -> str:
        """A receipt, recorded from what the server's main holds."""
        text = RECEIPT.replace("BASELINE", self.git("rev-parse", "origin/main"))
        return text.replace("EUR", currency)

    def start_over(self) -> None:
        """Back to what the server's main holds."""
        self.git("fetch", "-q", "origin")
        self.git("checkout", "-q", "-B", "work", "origin/main")

    def push(self, who: str, refspec: str, *, accepted: bool) -> str:
        """A real push; what the pusher reads goes to the screen. Returns policyd's own lines."""
        say(f"$ git push origin {refspec}      # as {who}")
        done = self.run("git", "push", "-q", "origin", refspec, who=who, ok=False)
        for line in done.stdout.splitlines():
            say(f"  {line.rstrip()}")
        say(f"  => {'accepted' if done.returncode == 0 else 'refused'}")
        if (done.returncode == 0) is not accepted:
            raise TourFailed(f"expected {'accepted' if accepted else 'refused'}")
        lines = (line.removeprefix("remote: ") for line in done.stdout.splitlines()
                 if line.startswith("remote: "))
        return "\n".join(line.rstrip() for line in lines)


def say(text: str = "") -> None:
    print(text, flush=True)


def chapter(title: str) -> None:
    say(f"\n=== {title}")


def prepare(stage: Stage) -> None:
    """A repository with a past, then a home, a policy in force and the hook."""
    bare = ("git", "init", "-q", "--bare", "-b", "main", str(stage.server))
    stage.run(*bare, cwd=stage.folder)
    stage.run("git", "clone", "-q", str(stage.server), str(stage.clone), cwd=stage.folder)
    stage.git("checkout", "-q", "-b", "main")
    stage.commit("Start", START)
    stage.git("push", "-q", "origin", "main")
    stage.commit("Record a receipt", {"oracle/receipts/tax.json": stage.receipt("EUR")})
    stage.git("push", "-q", "origin", "main")
    say(f"a home in {stage.home}, the shipped policy in force, the hook in {stage.server}:")
    stage.policyd("init", str(stage.home))
    stage.policyd("policy", "apply")
    say(stage.policyd("enroll", str(stage.server)).rstrip())


def source_alone(stage: Stage) -> None:
    chapter("An agent changes code alone: accepted")
    stage.commit("Round down", {"src/tax.py": "def total(amount):\n    return amount * 119 // 100"
                                              "\n\n\ndef net(gross):\n    return gross - 1\n"})
    stage.push("agent-7", "HEAD:main", accepted=True)


def code_with_its_oracle(stage: Stage) -> str:
    chapter("Code together with what judges it: refused")
    stage.start_over()
    stage.commit("New rate", {"src/tax.py": HALF, "oracle/receipts/tax.json": stage.receipt("USD")})
    return stage.push("agent-7", "HEAD:main", accepted=False)


def split_over_commits(stage: Stage) -> None:
    chapter("The same, split over two commits of one push: refused")
    stage.start_over()
    stage.commit("New rate", {"src/tax.py": HALF})
    stage.commit("New receipt", {"oracle/receipts/tax.json": stage.receipt("USD")})
    stage.push("agent-7", "HEAD:main", accepted=False)


def parked_first(stage: Stage) -> None:
    chapter("The same, one half parked on a branch first: still refused")
    stage.start_over()
    stage.commit("New rate", {"src/tax.py": HALF})
    stage.push("agent-7", "HEAD:parked", accepted=True)
    stage.commit("New receipt", {"oracle/receipts/tax.json": stage.receipt("USD")})
    stage.push("agent-7", "HEAD:main", accepted=False)


def oracle_alone(stage: Stage) -> None:
    chapter("The oracle alone: refused for an agent, accepted from a maintainer")
    stage.start_over()
    stage.commit("New receipt", {"oracle/receipts/eur.json": stage.receipt("USD")})
    stage.push("agent-7", "HEAD:main", accepted=False)
    stage.push("alice", "HEAD:main", accepted=True)


def pasted_literal(stage: Stage) -> None:
    chapter("A test that pastes the patch's own constant: refused")
    stage.start_over()
    stage.commit("Label", {
        "src/label.py": 'def label(amount):\n    return "EUR 19.25 incl."\n',
        "tests/test_label.py": "from label import label\n\n\ndef test_label():\n"
                               '    assert label(1925) == "EUR 19" + ".25 incl."\n'})
    stage.push("agent-7", "HEAD:main", accepted=False)


def repair(stage: Stage) -> None:
    told = code_with_its_oracle(stage)
    chapter("Repaired by running the commands that were printed, as printed")
    commands = re.search(r"^do:  [^\n]*\n((?:  [^\n]*\n)+)", told + "\n", re.MULTILINE)
    if commands is None:
        raise TourFailed("the rejection printed no commands")
    script = "set -e\n" + "\n".join(line[2:] for line in commands[1].splitlines())
    say("\n".join(f"$ {line}" for line in script.splitlines()[1:]))
    done = stage.run("sh", "-c", script, who="agent-7", ok=False)
    say(f"  => {'accepted' if done.returncode == 0 else done.stdout}")
    if done.returncode:
        raise TourFailed("the printed commands did not lead to an accepted push")


def witness(stage: Stage) -> None:
    relations.show(stage, say, chapter)


def calendar(stage: Stage) -> None:
    """From here on hook and daemon live at a pretended time."""
    settings = stage.home / "policyd.yaml"
    settings.write_text(settings.read_text(encoding="utf-8") + "pretended_clock: true\n",
                        encoding="utf-8")
    stage.policyd("policy", "apply")
    try:
        midnight.show(stage, say, chapter)
    except TimeoutError as error:
        raise TourFailed(str(error)) from error


def verify(stage: Stage) -> None:
    chapter("Every decision is in a log that shows tampering")
    say(stage.policyd("log", "verify").rstrip())


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="policyd-demo-") as folder:
        stage = Stage(Path(folder))
        try:
            prepare(stage)
            for step in (source_alone, code_with_its_oracle, split_over_commits, parked_first,
                         oracle_alone, pasted_literal, repair, witness, calendar, verify):
                step(stage)
        except TourFailed as failed:
            say(f"\nthe tour stops here: {failed}")
            return 1
    say("\nthat was the tour; README.md says how to go on")
    return 0


def _environment(who: str) -> dict[str, str]:
    """git's own variables out, a fixed author in, and the name that a server would tell."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    people = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER")
              for what, value in (("NAME", "Ada"), ("EMAIL", "ada@example.org"))}
    return {**kept, **people, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull,
            "LC_ALL": "C", "REMOTE_USER": who}


if __name__ == "__main__":
    sys.exit(main())
