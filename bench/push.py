"""What the hook adds to a push of one commit, next to hooks that do less, and where it goes."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import histories

PYTHON = sys.executable
COMMITS = 300
"""Of the history that each repository holds already."""

NOTHING = "no hook"
SHELL_HOOKS = {
    "exit 0": "exit 0\n",
    "rev-list | diff-tree": """\
while read -r old new ref; do
    git rev-list "$new" "^$old" | git diff-tree --stdin --name-only -r >/dev/null
done
""",
}
POLICYD = "policyd"
ROW = "{:<24} {:>10} {:>10} {:>10}"

STAGES = """\
import time
started = time.perf_counter()
from policyd import hook
imported = time.perf_counter()
import os, sys
from pathlib import Path
from policyd.adapters import activepolicy, decisionlog
spent = {}
def watch(owner, name, label):
    inner = getattr(owner, name)
    def outer(*given, **named):
        start = time.perf_counter()
        try:
            return inner(*given, **named)
        finally:
            spent[label] = spent.get(label, 0.0) + time.perf_counter() - start
    setattr(owner, name, outer)
watch(activepolicy, "load", "policy in force")
watch(hook, "PushedRepo", "open repository")
watch(decisionlog, "settled", "settle index")
watch(hook, "judge", "judge")
watch(decisionlog, "record", "write log and index")
begun = time.perf_counter()
code = hook.main(Path(sys.argv[1]))
whole = time.perf_counter() - begun
with open(sys.argv[2], "a") as out:
    spent["rest of the hook"] = whole - sum(spent.values())
    spent["import policyd.hook"] = imported - started
    print(*(f"{label}={1000 * value:.3f}" for label, value in spent.items()), sep=",", file=out)
sys.exit(code)
"""


@dataclass(frozen=True, slots=True)
class Site:
    """A client's work tree, and the bare repositories that it pushes to, by the hook's name."""

    work: Path
    remotes: Mapping[str, Path]
    home: Path


def main() -> None:
    """Push commit by commit to all repositories in turns; print medians and stages."""
    asked = _arguments()
    with tempfile.TemporaryDirectory() as folder:
        site = _site(Path(folder))
        taken = _pushes(site, asked.rounds)
        stages = _stages(site, Path(folder) / "stages", asked.rounds)
    print(ROW.format("hook", "median", "lowest", "added"))
    for name, times in taken.items():
        added = [one - none for one, none in zip(times, taken[NOTHING], strict=True)]
        print(ROW.format(name, *map(_ms, (median(times), min(times), median(added)))))
    print(f"\n{'inside policyd':<24} {'median':>10}")
    for label, times in stages.items():
        print(f"{label:<24} {_ms(median(times)):>10}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="5 rounds")
    parser.add_argument("--rounds", type=int, help="pushes to each repository (40)")
    asked = parser.parse_args()
    asked.rounds = asked.rounds or (5 if asked.quick else 40)
    return asked


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms"


def _site(folder: Path) -> Site:
    origin = histories.make(folder / "origin.git", COMMITS)
    remotes = {name: folder / "served" / f"{number}.git"
               for number, name in enumerate((NOTHING, *SHELL_HOOKS, POLICYD))}
    for remote in remotes.values():
        _run("git", "clone", "-q", "--bare", str(origin), str(remote))
    for name, body in SHELL_HOOKS.items():
        _put_hook(remotes[name], body)
    home = folder / "home"
    _policyd("init", str(home))
    _policyd("--home", str(home), "policy", "apply")
    _policyd("--home", str(home), "enroll", str(remotes[POLICYD]))
    _run("git", "clone", "-q", str(origin), str(folder / "work"))
    return Site(folder / "work", remotes, home)


def _put_hook(remote: Path, body: str) -> None:
    hook = remote / "hooks/pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\n{body}")
    hook.chmod(0o755)


def _policyd(*command: str) -> None:
    _run(PYTHON, "-I", "-m", "policyd", *command)


def _run(*command: str, folder: Path | None = None) -> str:
    env = histories.environment() | {
        "REMOTE_USER": "agent-7", "GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.org",
        "GIT_COMMITTER_NAME": "Ada", "GIT_COMMITTER_EMAIL": "ada@example.org"}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stdout}{done.stderr}")
    return done.stdout


def _pushes(site: Site, rounds: int) -> dict[str, list[float]]:
    """Seconds of each push; every commit goes to all repositories, one after the other."""
    taken: dict[str, list[float]] = {name: [] for name in site.remotes}
    for number in range(-2, rounds):  # the first two warm the caches
        _commit(site.work, number)
        for name, remote in site.remotes.items():
            start = time.perf_counter()
            _run("git", "push", "-q", f"file://{remote}", "HEAD:main", folder=site.work)
            if number >= 0:
                taken[name].append(time.perf_counter() - start)
    return taken


def _commit(work: Path, number: int) -> None:
    file = work / "src/app/core/f1.py"
    file.write_text(f"VALUE = {number}\n")
    _run("git", "commit", "-qam", f"commit {number}", folder=work)


def _stages(site: Site, told: Path, rounds: int) -> dict[str, list[float]]:
    """Seconds of each stage of the hook, told by a hook that times itself, and of the start."""
    remote = site.remotes[POLICYD]
    script = site.home / "stages.py"
    script.write_text(STAGES)
    _put_hook(remote, f'exec "{PYTHON}" -I "{script}" "{site.home}" "{told}"\n')
    start: list[float] = []
    for number in range(rounds):
        _commit(site.work, 1_000_000 + number)
        _run("git", "push", "-q", f"file://{remote}", "HEAD:main", folder=site.work)
        begun = time.perf_counter()
        _run(PYTHON, "-I", "-c", "")
        start.append(time.perf_counter() - begun)
    return {"start Python": start} | _by_stage(told.read_text().splitlines())


def _by_stage(lines: Sequence[str]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for line in lines:
        for label, spent in re.findall(r"([^,=]+)=([\d.]+)", line):
            found.setdefault(label, []).append(float(spent) / 1000)
    return dict(sorted(found.items(), key=lambda item: -median(item[1])))


if __name__ == "__main__":
    os.umask(0o022)
    main()
