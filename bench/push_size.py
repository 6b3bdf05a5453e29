"""What the hook takes for pushes of more and more Python files, and for one hostile file.

Half of the files are source and half tests; each was there before and gains a function or a test.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import histories
import large

PYTHON = sys.executable
SIZES = (1, 10, 100, 1000)
HOSTILE = 250_000
"""Bytes."""
ROW = "{:<26} {:>9} {:>9} {:>10} {:>9} {:>11}  {}"
HEADINGS = ("push", "no hook", "hook", "processor", "peak", "child's", "outcome")

PART = '''\
def part_{n}(order, rate={n}):
    """What is due for part {n}."""
    if order.kind == "kind-{n}-{file}":
        raise ValueError("no rate for part {n}")
    due = [line.price * line.count for line in order.lines if line.part == {n}]
    return round(sum(due) * (1 + rate / 100), 2)


'''
CHECK = '''\
@pytest.mark.parametrize(("lines", "rate"), [((1, 2), 3), ((), {n}), ((4,), 0)])
def test_part_{n}(lines, rate):
    order = Order("plain", lines)
    assert part_{n}(order, rate) <= part_{n}(order, rate + 1)
    with pytest.raises(ValueError):
        part_{n}(Order("kind-{n}-{file}", lines), rate)


'''
PARTS = 8
"""Functions or tests of a file: some 60 lines."""

HOSTILES: Mapping[str, tuple[str, Callable[[int], str]]] = {
    "asserts": ("py", lambda size: "def test_it():\n" + "    assert f(1) == 2\n" * (size // 21)),
    "brackets": ("py", lambda size: "x = " + "(" * (size // 2) + ")" * (size // 2) + "\n"),
    "one sum": ("py", lambda size: "x = " + "+".join(["a"] * (size // 2)) + "\n"),
    "text sums": ("py", lambda size: "x = " + "+".join(["'ab'"] * (size // 5)) + "\n"),
    "nested calls": ("py", lambda size: "".join(
        f"y{n} = {'f(' * 80}{n}{')' * 80}\n" for n in range(size // 255))),
    "names of names": ("py", lambda size: "a0 = 'x' * 9\n" + "".join(
        f"a{n} = a{n - 1} + a{n - 1}\n" for n in range(1, size // 25))),
    "expects": ("js", lambda size: "it('is', () => {\n" + "expect(f(1)).toBe(2)\n" * (
        size // 21) + "})\n"),
    "brackets ": ("js", lambda size: "x = " + "[" * (size // 2) + "]" * (size // 2) + "\n"),
    "templates": ("js", lambda size: "x = " + "`${" * (size // 5) + "1" + "}`" * (size // 5)),
    "arrows": ("js", lambda size: "x = " + "a=>" * (size // 3) + "1\n"),
    "open regex": ("js", lambda size: "x = a / b / " + "(/[" * (size // 3)),
    "chain": ("js", lambda size: "x" + ".a(b)" * (size // 5) + "\n"),
}


@dataclass(frozen=True, slots=True)
class Site:
    """A client's repository, the bare ones that it pushes to, the home, what the hook tells."""

    work: Path
    plain: Path
    served: Path
    home: Path
    told: Path


def main() -> None:
    """One row a push."""
    asked = _arguments()
    print(ROW.format(*HEADINGS), flush=True)
    if not asked.hostile:
        for count in asked.sizes:
            _row(f"{count} files", _files(count, PARTS), _files(count, PARTS + 1), asked)
    for title, (suffix, make) in HOSTILES.items() if not asked.sizes_only else ():
        path = "tests/test_hostile.py" if suffix == "py" else "tests/hostile.test.js"
        _row(f"{suffix}: {title}", {"src/a.py": "A = 1\n"}, {path: make(HOSTILE)}, asked)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), help="(1 to 1000)")
    parser.add_argument("--sizes-only", action="store_true", help="no hostile files")
    parser.add_argument("--hostile", action="store_true", help="hostile files only")
    parser.add_argument("--seconds", type=float, help="the policy's bound, where not the shipped")
    return parser.parse_args()


def _files(count: int, parts: int) -> dict[str, str]:
    found = {}
    for file in range(count):
        is_test = file % 2
        head = "import pytest\nfrom app.orders import Order\n\n\n" if is_test else "\n"
        text = head + "".join((CHECK if is_test else PART).format(n=n, file=file)
                              for n in range(parts))
        found[f"tests/test_m{file}.py" if is_test else f"src/app/m{file}.py"] = text
    return found


def _row(title: str, before: Mapping[str, str], after: Mapping[str, str],
         asked: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        site = _site(Path(folder), before, asked.seconds)
        _import(site.work, after, "main^0")
        none, _ = _push(site, site.plain)
        script, hook = site.home / "hook.py", site.served / "hooks/pre-receive"
        script.write_text(large.HOOK)
        hook.write_text(f"#!/bin/sh\nexec '{PYTHON}' -I '{script}' '{site.home}' "
                        f"'{site.told}' 0\n")
        _, said = _push(site, site.served)
        told = json.loads(site.told.read_text())
    print(ROW.format(title, f"{none:.2f} s", f"{told['seconds']:.2f} s", f"{told['used']:.2f} s",
                     f"{told['peak'] >> 10} MiB", f"{told['child'] >> 10} MiB",
                     "accepted" if told["code"] == 0 else said), flush=True)


def _site(folder: Path, files: Mapping[str, str], seconds: float | None) -> Site:
    site = Site(folder / "work.git", folder / "plain.git", folder / "served.git",
                folder / "home", folder / "told.json")
    _run("git", "init", "-q", "--bare", "-b", "main", str(site.work))
    _import(site.work, files, None)
    for remote in (site.plain, site.served):
        _run("git", "clone", "-q", "--bare", str(site.work), str(remote))
    _policyd("init", str(site.home))
    if seconds is not None:
        policy = site.home / "policies/default.yaml"
        policy.write_text(policy.read_text().replace("seconds: 5}", f"seconds: {seconds:g}}}"))
    _policyd("--home", str(site.home), "policy", "apply")
    _policyd("--home", str(site.home), "enroll", str(site.served))
    return site


def _policyd(*command: str) -> None:
    _run(PYTHON, "-I", "-m", "policyd", *command)


def _run(*command: str) -> None:
    done = subprocess.run(command, env=_environment(), capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command[:6])}: {done.stdout[-2000:]}{done.stderr[-2000:]}")


def _environment() -> dict[str, str]:
    return histories.environment() | {"REMOTE_USER": "agent-7"}


def _import(folder: Path, files: Mapping[str, str], parent: str | None) -> None:
    """One commit on main with the files, as they are or on top."""
    with subprocess.Popen(["git", "fast-import", "--quiet", "--force"], cwd=folder, text=True,
                          stdin=subprocess.PIPE, env=_environment()) as importer:
        assert importer.stdin is not None
        importer.stdin.writelines(_stream(files, parent))
        importer.stdin.close()
        if importer.wait():
            sys.exit("git fast-import failed")


def _stream(files: Mapping[str, str], parent: str | None) -> Iterator[str]:
    yield ("commit refs/heads/main\ncommitter Ada <ada@example.org> "
           f"{int(time.time()) - (0 if parent else 9)} +0000\ndata 4\nmore\n")
    if parent is not None:
        yield f"from refs/heads/{parent}\n"
    for path, text in files.items():
        yield f"M 100644 inline {path}\ndata {len(text)}\n{text}\n"


def _push(site: Site, remote: Path) -> tuple[float, str]:
    """Seconds, and the first line of a rejection."""
    start = time.perf_counter()
    done = subprocess.run(["git", "push", "-q", f"file://{remote}", "main"],
                          cwd=site.work, env=_environment(), capture_output=True, text=True)
    spent = time.perf_counter() - start
    lines = [line.removeprefix("remote: ").strip() for line in done.stderr.splitlines()]
    return spent, next((line for line in lines if line), "")[:70]


if __name__ == "__main__":
    os.umask(0o022)
    main()
