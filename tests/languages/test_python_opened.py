"""Which files Python source opens, and where their paths lead as far as they can be read."""

from __future__ import annotations

import pytest

from policyd.languages.python import sheet

HEAD = ("import glob, io, os, shutil, subprocess, sys, tempfile\nimport numpy as np\n"
        "import pandas as pd\nfrom pathlib import Path\nimport importlib.resources\n")


def opened(source: str) -> list[str]:
    """`BASE:PATH`, with `!` where it is written to."""
    return [f"{one.base}:{one.path}{'!' * one.writes}"
            for one in sheet((HEAD + source).encode(), 6).opened]


CALLS = [
    ("open('a/b.txt')", [":a/b.txt"]),
    ("open('a.txt', 'w')", [":a.txt!"]),
    ("open('a.txt', mode='r+')", [":a.txt!"]),
    ("open(file='a.txt')", [":a.txt"]),
    ("io.open('a.txt', 'rb')", [":a.txt"]),
    ("os.open('a.txt', os.O_WRONLY | os.O_CREAT)", [":a.txt!"]),
    ("with open('a.txt') as f: json.load(f)", [":a.txt"]),
    ("Path('a.txt').open()", [":a.txt"]),
    ("Path('a.txt').open('wb')", [":a.txt!"]),
    ("Path('a').joinpath('b.txt').read_text()", [":a/b.txt"]),
    ("Path('a.txt').write_text('x')", [":a.txt!"]),
    ("Path('a').exists()", [":a"]),
    ("Path('a').iterdir()", [":a"]),
    ("Path('a').glob('*.json')", [":a/*.json"]),
    ("Path('a').rglob('*.json')", [":a/**/*.json"]),
    ("Path('a').mkdir()", [":a!"]),
    ("os.listdir('a')", [":a"]),
    ("os.walk('a')", [":a"]),
    ("glob.glob('a/*.json')", [":a/*.json"]),
    ("np.load('a.npy')", [":a.npy"]),
    ("pd.read_csv('a.csv')", [":a.csv"]),
    ("frame.to_csv('a.csv')", [":a.csv!"]),
    ("shutil.copy('a', 'b')", [":a", ":b!"]),
    ("os.remove('a')", [":a!"]),
    ("Path('a').symlink_to('b/c')", [":a!", ":b/c"]),
    ("subprocess.run(['cat', 'a.txt'])", [":a.txt"]),
    ("subprocess.run(['tool', '--x', 'a/b'])", [":a/b"]),
    ("os.system('cat a.txt > b')", [":a.txt", ":b"]),
    ("importlib.resources.read_text('pkg.data', 'a.txt')", ["unknown:**/pkg/data/a.txt"]),
    ("(importlib.resources.files('pkg') / 'a.txt').read_text()", ["unknown:**/pkg/a.txt"]),
    ("importlib.util.spec_from_file_location('m', 'a/m.py')", [":a/m.py"]),
    ("open(0)", []),
    ("webbrowser.open('http://example.org')", []),
    ("archive.exists('a')", []),
    ("text.replace('a/b', 'c/d')", []),
]

PATHS = [
    ("open(Path(__file__).parent / 'a.json')", ["file:a.json"]),
    ("open(Path(__file__).parents[2] / 'oracle' / 'a.json')", ["file:../../oracle/a.json"]),
    ("open(Path(__file__).resolve().parent.parent / 'a.json')", ["file:../a.json"]),
    ("open(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'a'))", ["file:../a"]),
    ("open(Path(__file__).with_name('a.json'))", ["file:a.json"]),
    ("open(os.path.dirname(__file__) + '/a.json')", ["file:a.json"]),
    ("open(f'{os.path.dirname(__file__)}/a.json')", ["file:a.json"]),
    ("open(str(Path.cwd() / 'a.json'))", [":a.json"]),
    ("open('a/./b/../c.json')", [":a/c.json"]),
    ("open('../c.json')", [":../c.json"]),
    ("open('/etc/passwd')", [":/etc/passwd"]),
    ("open('or' + 'acle/' + 'a.json')", [":oracle/a.json"]),
    ("open('oracle/%s.json' % name)", [":oracle/**/*.json"]),
    ("open('oracle/{}.json'.format(name))", [":oracle/**/*.json"]),
    ("open(f'oracle/{name}.json')", [":oracle/**/*.json"]),
    ("open(f'oracle/case_{n:03d}.json')", [":oracle/case_*.json"]),
    ("open(Path('oracle') / name)", [":oracle/**"]),
    ("open(root / 'oracle' / 'a.json')", ["unknown:**/oracle/a.json"]),
    ("open(name)", ["unknown:**"]),
    ("open(sys.argv[1])", ["unknown:**"]),
    ("open('a' if x else 'b')", [":a", ":b"]),
    ("open(request.config.rootpath / 'a')", [":a"]),
    ("HERE = Path(__file__).parent\nDATA = HERE / 'data'\nopen(DATA / 'a')", ["file:data/a"]),
    ("for n in ('a', 'b'): open(f'x/{n}')", [":x/a", ":x/b"]),
    ("for p in Path('a').glob('*.json'): p.read_text()", [":a/*.json"]),
    ("for n in os.listdir('a'): open('a/' + n)", [":a", ":a/*"]),
    ("FILES = {'x': 'a', 'y': 'b'}\nopen(FILES[key])", [":a", ":b"]),
    ("p = Path('a')\np = p / 'b'\np.read_text()", [":a", ":a/b"]),
    ("class C:\n root = Path('a')\n def f(self): return open(self.root / 'b')", [":a/b"]),
    ("class C:\n def __init__(self): self.p = 'a'\n def f(self): return open(self.p)", [":a"]),
]

HELPERS = [
    ("def load(n): return open(n)\nload('a')\nload('b')", [":a", ":b"]),
    ("def load(n): return open(Path('x') / n)\nload(n='a')", [":x/a"]),
    ("def load(n): return open(n)\nload(name)", ["unknown:**"]),
    ("def load(n): return open(n)", ["unknown:**"]),
    ("def load(n='a'): return open(n)\nload()", [":a"]),
    ("def inner(n): return open(n)\ndef outer(m): return inner(m)\nouter('a')", [":a"]),
    ("def where(n): return Path('x') / n\nopen(where('a'))\nopen(where('b'))", [":x/a", ":x/b"]),
    ("class T:\n def load(self, n): return open(n)\n def test(self): self.load('a')", [":a"]),
    ("@pytest.mark.parametrize('n', ['a', 'b'])\ndef test(n): open(n)", [":a", ":b"]),
    ("@pytest.mark.parametrize('n, m', [('a', 1)])\ndef test(n, m): open(n)", [":a"]),
    ("@pytest.fixture\ndef data(): return Path('x')\ndef test(data): open(data / 'a')", [":x/a"]),
    ("def f(n): return f(n)\nopen(f('a'))", ["unknown:**"]),
]

SCRATCH = [
    ("def test(tmp_path):\n p = tmp_path / 'a'\n p.write_text('x')\n open(p)", []),
    ("def test(tmpdir): open(tmpdir.join('a'), 'w')", []),
    ("with tempfile.TemporaryDirectory() as d: open(os.path.join(d, 'a'), 'w')", []),
    ("def test(tmp_path): open(tmp_path / '..' / 'a')", ["unknown:**/../a"]),
    ("def test(tmp_path): open(tmp_path / name)", ["unknown:**"]),
    ("def test(tmp_path): open(tmp_path / '/etc/passwd')", [":/etc/passwd"]),
    ("def test(tmp_path): (tmp_path / 'a').symlink_to('src/a.py')", [":src/a.py"]),
    ("@pytest.fixture\ndef tmp_path(): return Path('src')\ndef test(tmp_path): open(tmp_path)",
     [":src"]),
]


@pytest.mark.parametrize(("source", "expected"), [*CALLS, *PATHS, *HELPERS, *SCRATCH])
def test_these_files_are_opened_and_no_others(source: str, expected: list[str]) -> None:
    assert opened(source) == expected


def test_a_path_that_grows_in_a_loop_is_not_taken_for_one_step_of_it() -> None:
    source = "p = Path('oracle/receipts')\nfor n in ('..', 'a'): p = p / n\np.read_text()"
    assert "unknown:**/.." in opened(source)


def test_paths_are_printable_and_bounded() -> None:
    found = opened(f"open('é\\x1b')\nopen('{'a' * 5000}')\nopen('\\0')")
    assert found[0] == ":\\xe9\\x1b"
    assert all(one.isascii() and one.isprintable() and len(one) < 300 for one in found)


HOSTILE = {
    "functions that call each other": "".join(
        f"def f{n}(a, b): return f{n + 1}(a / 'x', b) / f{n + 1}(b, a)\n" for n in range(60))
    + "open(f0(c, d))",
    "many callers of many callers": "".join(
        f"def g{n}(p): return g{n + 1}(p)\n" + f"g{n}('a{n}')\n" * 40 for n in range(40))
    + "def g40(p): return open(p)",
    "a long sum": "open(" + " + ".join(["a"] * 900) + ")",
    "a deep attribute": "open(a" + ".parent" * 900 + ")",
    "many choices": "a = " + " + ".join(["('x' if c else 'y')"] * 90) + "\nopen(a)",
}


@pytest.mark.parametrize("source", HOSTILE.values(), ids=HOSTILE)
def test_what_costs_too_much_to_follow_is_unknown(source: str) -> None:
    assert opened(source)
