"""Executions of a replay measured: candidates that attack, what an execution costs, repeats.

    python bench/replay.py forgery              # what each attack comes to, strictly and warm
    python bench/replay.py speed [--count 576]  # against one `python -c` for each pair
    python bench/replay.py repeats [--count 100]
    python bench/replay.py job [--count 5]      # 6 relations of the splitter, 48 draws each
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parent.parent / "tests/replay"))

import forgeries
from test_forgery import children, fingerprint

from policyd.adapters.gitrepo import PushedRepo
from policyd.core.policy import Places, Replaying
from policyd.core.trees import Trees
from policyd.replay import job, prepare, wire
from policyd.replay.budget import Budget
from policyd.replay.execute import Call, Executor, Limits, Mode
from policyd.replay.outcome import digest
from policyd.replay.precompile import precompile
from policyd.replay.prepare import Sides
from policyd.replay.tree import candidate

EXAMPLES = Path(__file__).parent.parent / "examples"
ALLOCATE = """
def allocate(total, weights):
    whole = sum(weights)
    if whole <= 0:
        raise ValueError("nothing to share by")
    shares = [total * weight // whole for weight in weights]
    rest = sorted(range(len(weights)), key=lambda i: (-(total * weights[i] % whole), i))
    for i in rest[: total - sum(shares)]:
        shares[i] += 1
    return shares

def leave(x):
    import os
    os._exit(x)

def words():
    return list({"one", "two", "three", "four", "five", "six", "seven", "eight"})
"""
PAIR = """
import json, sys
sys.path.insert(0, sys.argv[1])
from allocation import allocate
total, weights = json.loads(sys.argv[2])
one, two = allocate(total, weights), allocate(total, weights[::-1])
sys.exit(one != two[::-1])
"""
LINKS: Mapping[str, Callable[[Path], None]] = {
    "symlinked source": lambda at: at.joinpath("m.py").symlink_to("/etc/passwd"),
    "*.pth": lambda at: at.joinpath("m.pth").write_text("import os"),
    "sitecustomize.py": lambda at: at.joinpath("sitecustomize.py").write_text(""),
    "usercustomize as a folder": lambda at: _package(at / "usercustomize"),
    "names that differ by case": lambda at: [at.joinpath(n).write_text("") for n in ("m", "M")],
    "names that differ by NFC": lambda at: [at.joinpath(n).write_text("")
                                            for n in ("\u00e9.py", "e\u0301.py")],
}


def _package(folder: Path) -> None:
    folder.mkdir()
    (folder / "__init__.py").write_text("")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["forgery", "speed", "repeats", "job"])
    parser.add_argument("--count", type=int)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="replay-bench-") as folder:
        tree = Path(folder) / "tree"
        (tree / "src").mkdir(parents=True)
        tree.chmod(0o755)
        if asked.what == "forgery":
            forgery(tree)
        elif asked.what == "speed":
            speed(tree, asked.count or 576)
        elif asked.what == "job":
            jobs(Path(folder), asked.count or 5)
        else:
            repeats(tree, asked.count or 100)


def forgery(tree: Path) -> None:
    outside = tree.parent / "outside"
    outside.write_text("mine")
    for name, text in forgeries.files(str(outside)).items():
        (tree / "src" / name).write_text(text)
    before, harness = fingerprint(tree), fingerprint(Path(wire.__file__).parent)
    were_there = children()
    limits = Limits(wall_seconds=1.5, cpu_seconds=1)
    wrong = 0
    print("| candidate | strict | warm | as it may |\n|---|---|---|---|")
    with Executor(tree, mode=Mode.STRICT, limits=limits) as strict, \
            Executor(tree, mode=Mode.WARM, limits=limits) as warm:
        for name, one in forgeries.ALL.items():
            calls = [Call(f"{name.replace('-', '_')}:f", wire.encode([3]))] * one.calls
            told = [", ".join(sorted({forgeries.told(outcome) for outcome in by.run_many(calls)}))
                    for by in (strict, warm)]
            fine = all(set(text.split(", ")) <= set(one.allowed) or text in one.allowed
                       for text in told)
            wrong += not fine
            print(f"| {name} | {told[0]} | {told[1]} | {'yes' if fine else '**NO**'} |")
    for name, make in LINKS.items():
        refused = _refused(tree.parent / "repo", make)
        wrong += not refused
        print(f"| {name} | {refused} | the same | {'yes' if refused else '**NO**'} |")
    unchanged = (fingerprint(tree), fingerprint(Path(wire.__file__).parent)) == (before, harness)
    print(f"\n{len(forgeries.ALL) - 1 + len(LINKS)} attacks, {wrong} taken for more than they are; "
          f"tree, harness and a file outside "
          f"{'unchanged' if unchanged and outside.read_text() == 'mine' else 'CHANGED'}; "
          f"{len(children() - were_there)} processes left")


def _refused(repo: Path, make: Callable[[Path], None]) -> str:
    """Commit what `make` makes in a new repository, and try to write its tree."""
    subprocess.run(["rm", "-rf", repo, repo.with_name("into")], check=True)
    (repo / "src").mkdir(parents=True)
    make(repo / "src")
    git = ["git", "-C", str(repo), "-c", "user.name=a", "-c", "user.email=a"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "x"]):
        subprocess.run([*git, *words], check=True)
    tree = subprocess.run([*git, "rev-parse", "HEAD^{tree}"], check=True, capture_output=True)
    told = candidate(PushedRepo(str(repo / ".git")), bytes.fromhex(tree.stdout.decode().strip()),
                     ["src"], repo.with_name("into"))
    return f"refused: {told[0].path} {told[0].why}" if told else ""


def speed(tree: Path, count: int) -> None:
    (tree / "src/allocation.py").write_text(ALLOCATE)
    precompile(tree, roots=["src"])
    pairs = [[7 * n, [n % 5 + 1, n % 3 + 1, n % 7 + 1]] for n in range(count // 2)]
    calls = [Call("allocation:allocate", wire.encode([total, weights[::step]]))
             for total, weights in pairs for step in (1, -1)]
    base = _seconds(lambda: [_sketched(tree, pair) for pair in pairs[:60]]) / 60
    rows: list[tuple[str, float, float]] = [("`python -c` for each pair, one at a time", base, 0)]
    for mode, share in ((Mode.NONE, 120), (Mode.STRICT, 120), (Mode.WARM, len(calls))):
        for jobs in (1, 2):
            with Executor(tree, mode=mode, jobs=jobs) as executor:
                executor.run_many(calls[:jobs])
                judge = time.process_time()
                act = partial(executor.run_many, calls[:share])
                seconds = median(_seconds(act) for _ in range(3)) / share
                judge = (time.process_time() - judge) / share / 3
            rows.append((f"{mode.value}, {jobs} at a time", 2 * seconds, judge))
    with Executor(tree, mode=Mode.WARM, jobs=1) as executor:
        seconds = _seconds(lambda: executor.run_sequence(calls)) / len(calls)
    rows.append(("warm, all in one process", 2 * seconds, 0))
    print("| how | ms an execution | ms a pair | to the first | judge's ms an execution |")
    print("|---|---|---|---|---|")
    for name, pair, judge in rows:
        print(f"| {name} | {pair * 500:.2f} | {pair * 1000:.2f} | {base / pair:.1f} | "
              f"{judge * 1000:.2f} |")
    with Executor(tree, mode=Mode.WARM) as executor:
        job = _seconds(lambda: executor.run_many(calls))
    print(f"\n{len(calls)} executions, warm, 2 at a time, from nothing: {job:.2f} s")


def _sketched(tree: Path, pair: Sequence[object]) -> None:
    import json

    subprocess.run([sys.executable, "-c", PAIR, str(tree / "src"), json.dumps(pair)],
                   check=False, capture_output=True)


def _seconds(act: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def repeats(tree: Path, count: int) -> None:
    (tree / "src/allocation.py").write_text(ALLOCATE)
    plain = [Call("allocation:allocate", wire.encode([n, [n % 4, n % 3, 2]])) for n in range(12)]
    plain += [Call("allocation:allocate", wire.encode([1, [0]])), Call("allocation:leave", b"[0]"),
              Call("allocation:leave", b"[3]"), Call("allocation:absent", b"[]")]
    hashed = [Call("allocation:words", b"[]")]
    print("| seed | mode | repeats | digests | and of a set's order |\n|---|---|---|---|---|")
    for mode, times in ((Mode.WARM, count), (Mode.STRICT, max(count // 10, 2))):
        for seed in (0, 1):
            with Executor(tree, mode=mode, hash_seed=seed) as executor:
                found = [Counter(digest(executor.run_many(calls))[:12] for _ in range(times))
                         for calls in (plain, hashed)]
            told = [", ".join(sorted(one)) for one in found]
            print(f"| {seed} | {mode.value} | {times} | {told[0]} | {told[1]} |")


SIX = ("MR01", "MR02", "MR03", "MR04", "MR04-quota", "MR05")


def jobs(folder: Path, count: int) -> None:
    """Whole jobs of the shipped splitter: drawing, running, comparing, all in one process."""
    laid = folder / "splitter"
    subprocess.run([sys.executable, str(EXAMPLES / "lay.py"), "splitter", str(laid)], check=True)
    repo = PushedRepo(str(laid / ".git"))
    trees = Trees(repo.tree)
    print("| candidate | seconds, median (least to most) | refuses | digests |\n|---|---|---|---|")
    for branch in ("honest-heap", "gamed-hard-coded", "gamed-remembers"):
        ids = [str(repo.resolve(f"refs/heads/{name}")[1]) for name in ("main", branch)]
        base, tip = (repo.header(bytes.fromhex(one))[0] for one in ids)
        found = prepare.trial(repo, trees, Sides(ids[0], base, ids[1], tip), Replaying(), Places(),
                              date.today(), lambda: b"bench")
        assert found is not None
        six = replace(found[0], rows=tuple(row for row in found[0].rows if row.id in SIX))
        took, digests, refuses = [], set(), ""
        for number in range(count):
            place = folder / f"{branch}-{number}"
            place.mkdir(mode=0o755)
            given = replace(prepare.written(repo, trees, six, found[1], place, {}), sources=())
            came = job.run(given, Budget(600.0))
            took.append(came.seconds)
            digests.add(came.digest)
            refuses = ", ".join(row.id for row in came.refusing) or "-"
        print(f"| {branch} | {median(took):.2f} ({min(took):.2f} to {max(took):.2f}) | {refuses} | "
              f"{len(digests)} |")


if __name__ == "__main__":
    os.environ.pop("GIT_DIR", None)
    main()
