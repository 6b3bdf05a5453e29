"""Which acts of Python source only its judge can be the reason for."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policyd.core.sheet import Trick
from policyd.languages.literal import Unparseable
from policyd.languages.python import sheet

EVERY = "import os, sys, inspect, atexit, builtins, json, pytest, unittest, signal\n"


def suspects(source: str, *tricks: Trick) -> list[str]:
    """`TRICK what` of each, in their order; of all tricks but READS unless some are named."""
    asked = tricks or tuple(set(Trick) - {Trick.READS})
    return [f"{one.trick.value} {one.what}" for one in sheet(source.encode(), 6).suspects
            if one.trick in asked]


SENSES = [
    ("a module", "'pytest' in sys.modules", "sys.modules:pytest"),
    ("a module by get", "sys.modules.get('_pytest.config')", "sys.modules:_pytest.config"),
    ("modules in a loop", "any(m.startswith('unittest') for m in sys.modules)",
     "sys.modules:unittest"),
    ("modules in a for", "for m in sys.modules:\n if m == 'nose': x = 1", "sys.modules:nose"),
    ("modules under another name", "import sys as s\nm = s.modules\nx = 'pytest' in m",
     "sys.modules:pytest"),
    ("modules by getattr", "x = 'pytest' in getattr(sys, 'modules')", "sys.modules:pytest"),
    ("a variable", "os.environ.get('PYTEST_CURRENT_TEST')", "environ:PYTEST_CURRENT_TEST"),
    ("a variable by getenv", "os.getenv('CI')", "environ:CI"),
    ("a variable by in", "if 'GITHUB_ACTIONS' in os.environ: x = 1", "environ:GITHUB_ACTIONS"),
    ("a variable by subscript", "os.environ['TOX_ENV_NAME']", "environ:TOX_ENV_NAME"),
    ("variables in a loop", "any(k.startswith('PYTEST_') for k in os.environ)", "environ:PYTEST_"),
    ("a variable by from", "from os import environ as e\ne.get('COVERAGE_RUN')",
     "environ:COVERAGE_RUN"),
    ("a variable with a name", "V = 'PYTEST_VERSION'\nos.getenv(V)", "environ:PYTEST_VERSION"),
    ("a variable in parts", "os.getenv('PY' + 'TEST_VERSION')", "environ:PYTEST_VERSION"),
    ("the stack", "def f():\n return 'test_' in inspect.stack()[1].function",
     "inspect.stack:test_"),
    ("a frame", "def f():\n g = sys._getframe(1)\n return g.f_code.co_name.startswith('test')",
     "sys._getframe:test"),
    ("arguments", "x = 'pytest' in sys.argv[0]", "sys.argv:pytest"),
    ("its own place", "if '/tests/' in __file__: x = 1", "__file__:/tests/"),
    ("where its input's type stands", "def f(x):\n if type(x).__module__.startswith('test'): pass",
     "__module__:test"),
    ("where its input's class stands", "y = x.__class__.__module__.split('.')[0] == 'tests'",
     "__module__:tests"),
    ("where a function stands", "y = 'conftest' in x.__code__.co_filename", "co_filename:conftest"),
    ("where a type is from", "y = 'tests' in inspect.getfile(type(x))", "inspect.getfile:tests"),
    ("an import that may fail", "try:\n import pytest\nexcept ImportError: pass", "import:pytest"),
    ("an import by name", "importlib.import_module('pytest')", "import:pytest"),
    ("a search", "from importlib.util import find_spec\nfind_spec('_pytest')", "import:_pytest"),
    ("a tracer", "sys.gettrace()", "sys.gettrace"),
    ("a stand-in", "hasattr(x, '_mock_name')", "_mock_name"),
    ("a flag of old", "getattr(sys, '_called_from_test', False)", "_called_from_test"),
]

EXITS = [
    ("_exit", "os._exit(0)", "os._exit"),
    ("_exit under another name", "from os import _exit as bye\nbye(0)", "os._exit"),
    ("abort", "os.abort()", "os.abort"),
    ("kill", "os.kill(os.getpid(), signal.SIGKILL)", "os.kill"),
    ("at the end", "atexit.register(os._exit, 0)", "os._exit"),
    ("another program", "os.execv('/bin/true', ['true'])", "os.execv"),
    ("success", "def total(x):\n sys.exit(0)", "sys.exit"),
    ("success by name", "OK = 0\ndef total(x):\n sys.exit(OK)", "sys.exit"),
    ("success at import", "sys.exit()", "sys.exit"),
    ("success raised", "def total(x):\n raise SystemExit", "SystemExit"),
    ("success raised with a number", "def total(x):\n raise SystemExit(0)", "SystemExit"),
]

PLEASES = [
    ("equal", "class C:\n def __eq__(self, other): return True", "C.__eq__"),
    ("a child of text", "class C(str):\n def __eq__(self, o): return not False", "C.__eq__"),
    ("never different", "class C:\n def __ne__(self, other): return False", "C.__ne__"),
    ("in disguise", "class C:\n def __eq__(self, other): return other == 1 or True", "C.__eq__"),
    ("isinstance of object", "class C:\n def __eq__(self, o): return isinstance(o, object)",
     "C.__eq__"),
    ("itself", "class C:\n def __eq__(self, o): return o == o", "C.__eq__"),
    ("without a look", "class C:\n def __eq__(self, o): return self.n > 0", "C.__eq__"),
    ("a lambda", "class C:\n __eq__ = lambda self, o: True", "C.__eq__"),
    ("made by type", "C = type('C', (), {'__eq__': lambda s, o: True})", "C.__eq__"),
    ("put on later", "C.__eq__ = lambda s, o: True", "__eq__"),
    ("above all", "class C:\n def __ge__(self, o): return True", "C.__ge__"),
    ("holds all", "class C:\n def __contains__(self, o): return True", "C.__contains__"),
    ("one hash", "class C:\n def __eq__(self, o): return self.x == o.x\n def __hash__(self):"
     " return 1", "C.__hash__"),
    ("ANY", "from unittest.mock import ANY\nx = ANY", "unittest.mock.ANY"),
]

PATCHES = [
    ("the streams", "sys.stdout = x", "sys.stdout"),
    ("both at once", "a, sys.stderr = x, y", "sys.stderr"),
    ("exit", "sys.exit = print", "sys.exit"),
    ("a built-in", "builtins.isinstance = x", "builtins.isinstance"),
    ("a built-in by key", "__builtins__['len'] = x", "builtins.len"),
    ("the runner", "import _pytest.runner as r\nr.call_runtest_hook = x",
     "_pytest.runner.call_runtest_hook"),
    ("an assertion", "unittest.TestCase.assertEqual = x", "unittest.TestCase.assertEqual"),
    ("an assertion by from", "from unittest import TestCase as T\nT.assertEqual = x",
     "unittest.TestCase.assertEqual"),
    ("by setattr", "setattr(json, 'dumps', x)", "json.dumps"),
    ("the standard library", "import math\nmath.isclose = x", "math.isclose"),
    ("AssertionError", "class AssertionError(Exception): pass", "AssertionError"),
    ("AssertionError assigned", "AssertionError = ValueError", "AssertionError"),
    ("a tracer", "sys.settrace(None)", "sys.settrace"),
    ("a hook", "def pytest_runtest_makereport(item): pass", "pytest_runtest_makereport"),
    ("a module", "sys.modules['pytest'] = x", "sys.modules:pytest"),
    ("a finder", "sys.meta_path.insert(0, x)", "sys.meta_path.insert"),
    ("a variable", "os.environ['PYTEST_ADDOPTS'] = '-x'", "environ:PYTEST_ADDOPTS"),
    ("a mock", "from unittest.mock import patch\npatch('a.b')", "unittest.mock.patch"),
]

TABLE = [pytest.param(trick, source, what, id=f"{trick.value}: {name}")
         for trick, rows in ((Trick.SENSES, SENSES), (Trick.EXITS, EXITS),
                             (Trick.PLEASES, PLEASES), (Trick.PATCHES, PATCHES))
         for name, source, what in rows]


@pytest.mark.parametrize(("trick", "source", "what"), TABLE)
def test_a_trick_is_found(trick: Trick, source: str, what: str) -> None:
    assert f"{trick.value} {what}" in suspects(EVERY + source)


HONEST = {
    "modules of its own": "sys.modules[__name__]\n'numpy' in sys.modules",
    "a variable of its own": "os.environ.get('HOME')\nos.getenv('DATABASE_URL', 'test')",
    "the caller's module": "def f():\n return sys._getframe(1).f_globals['__name__']",
    "a walk up the stack": "def f():\n g = inspect.currentframe()\n while g: g = g.f_back",
    "an optional library": "try:\n import numpy\nexcept ImportError: numpy = None",
    "an import of the runner": "import pytest",
    "arguments": "if sys.argv[1] == 'test': x = 1",
    "a program's end": "if __name__ == '__main__':\n sys.exit(0)",
    "a command's end": "import argparse\ndef main():\n sys.exit(0)",
    "failure": "def total(x):\n sys.exit(1)\n raise SystemExit('no such order')",
    "another process": "os.kill(pid, signal.SIGTERM)",
    "equal fields": "class C:\n def __eq__(self, o):\n  if not isinstance(o, C):\n   return"
                    " NotImplemented\n  return self.x == o.x\n def __hash__(self): return"
                    " hash(self.x)",
    "one of a kind": "class C:\n def __eq__(self, o): return isinstance(o, C)",
    "itself only": "class C:\n def __eq__(self, o): return self is o",
    "no hash": "class C:\n def __eq__(self, o): return self.x == o.x\n __hash__ = None",
    "not said": "class C:\n def __eq__(self, o): raise NotImplementedError\n"
                " def __lt__(self, o): return NotImplemented",
    "above all but itself": "class C:\n def __lt__(self, o): return False\n def __gt__(self, o):"
                            " return True\n def __eq__(self, o): return isinstance(o, C)",
    "always true": "class C:\n def __bool__(self): return True",
    "holds nothing": "class C:\n def __contains__(self, o): return False",
    "an answer on the way": "class C:\n def __subclasscheck__(self, c):\n  for x in self.a:\n"
                            "   if issubclass(c, x): return True",
    "an attribute": "class C:\n def f(self): self.stdout = 1; self.time.max = 2",
    "a local with the name of a module": "def f(time): time.max = 1",
    "a variable that is set": "os.environ['TZ'] = 'UTC'",
    "print": "print('x', file=sys.stderr)\nsys.stdout.write('x')",
}


@pytest.mark.parametrize("source", HONEST.values(), ids=HONEST)
def test_honest_code_is_above_suspicion(source: str) -> None:
    assert suspects("import os, sys, inspect, signal\n" + source) == []


READS = [
    ("x = 'tests/data/a.json'", "tests/data/a.json"),
    ("x = 'oracle/'", "oracle/**"),
    ("x = Path('oracle') / name", "oracle/**"),
    ("x = os.path.join(root, 'oracle', 'a.json')", "**/oracle/a.json"),
    ("x = f'oracle/{name}.json'", "oracle/**"),
    ("open('rates.json')", "rates.json"),
]


@pytest.mark.parametrize(("source", "path"), READS)
def test_a_path_that_is_named_is_told(source: str, path: str) -> None:
    assert f"reads {path}" in suspects(source, Trick.READS)


@pytest.mark.parametrize("source", [
    "'''See tests/data/a.json.'''", "x = 'one or the other'", "x = a / b / 2",
    "x = 'https://example.org/a'", "x = 'a, b/c, d'", "def f(a): return open(a)"])
def test_what_is_no_path_is_not_told(source: str) -> None:
    assert suspects(source, Trick.READS) == []


def test_texts_are_printable_and_bounded() -> None:
    source = f"import os\nos.environ.get('TEST_{'X' * 999}')\nx = 'tests/é/{'y' * 200}'\n"
    found = suspects(source, *Trick)
    assert len(found) == 2
    assert all(one.isascii() and one.isprintable() and len(one) < 300 for one in found)


def test_loops_in_loops_over_the_environment_are_refused_and_not_cut(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("policyd.languages.python_names._MOST_AGAIN", 1_000)
    loops = "".join(f"{' ' * n}for k in os.environ:\n" for n in range(50))
    with pytest.raises(Unparseable, match="hangs together"):
        suspects(f"import os\n{loops}{' ' * 50}x = [{'1, ' * 500}]")


LINES = [row[1] for rows in (SENSES, EXITS, PLEASES, PATCHES) for row in rows]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from([*LINES, *HONEST.values()]), max_size=8))
def test_what_stands_together_is_read(lines: list[str]) -> None:
    assert all(one.count(" ") for one in suspects("\n".join([EVERY, *lines]), *Trick))
