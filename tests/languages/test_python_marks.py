"""What takes the edge off a Python test, on which test it is, and what it depends on."""

from __future__ import annotations

import textwrap

import pytest

from policyd.core.sheet import Mark, Marker
from policyd.languages.python import sheet

HEAD = """
import os, sys, platform, unittest, asyncio, subprocess
from unittest import skipIf
import pytest
import pytest as pt
from pytest import mark as m
from tests.helpers import needs_db, skip_on_windows, known_flaky, plain_decorator
from tests.helpers import skip_if_offline, skipping
try:
    import numpy
    HAS_NUMPY = True
except ImportError:
    HAS_NUMPY = False
LIMIT = 30
"""


def markers(source: str) -> tuple[Marker, ...]:
    return sheet((HEAD + textwrap.dedent(source)).encode(), 6).markers


def told(source: str) -> list[str]:
    """`MARK on: says [condition]` of each."""
    return [f"{one.mark.value} {one.on or '-'}: {one.says}"
            + (f" [{one.condition}]" if one.condition else "") for one in markers(source)]


DECORATORS = [
    ("@pytest.mark.skip", ["skip test_it: @pytest.mark.skip"]),
    ("@pytest.mark.skip(reason='later')", ["skip test_it: @pytest.mark.skip"]),
    ("@pt.mark.skip", ["skip test_it: @pytest.mark.skip"]),
    ("@m.skip('later')", ["skip test_it: @pytest.mark.skip"]),
    ("@getattr(pytest, 'mark').skip", []),
    ("@pytest.mark.skipif(sys.platform == 'win32', reason='x')",
     ['skip test_it: @pytest.mark.skipif(sys.platform == "win32") [platform]']),
    ("@pytest.mark.skipif(os.name == 'nt' or sys.version_info < (3, 9), reason='x')",
     ['skip test_it: @pytest.mark.skipif((os.name == "nt") or (sys.version_info < [3, 9]))'
      " [other]"]),
    ("@pytest.mark.skipif('sys.version_info < (3, 12)', reason='x')",
     ['skip test_it: @pytest.mark.skipif("sys.version_info < (3, 12)") [version]']),
    ("@pytest.mark.skipif(not HAS_NUMPY, reason='x')",
     ["skip test_it: @pytest.mark.skipif(not HAS_NUMPY) [package:numpy]"]),
    ("@pytest.mark.skipif(True, reason='x')", ["skip test_it: @pytest.mark.skipif(True)"]),
    ("@pytest.mark.skipif(sys.version_info >= (3, 0), reason='x')",
     ["skip test_it: @pytest.mark.skipif(sys.version_info >= [3, 0])"]),
    ("@pytest.mark.skipif(os.name == 'nt' or True, reason='x')",
     ['skip test_it: @pytest.mark.skipif((os.name == "nt") or True)']),
    ("@pytest.mark.skipif(False, reason='x')", []),
    ("@pytest.mark.skipif(sys.platform != 'aix', reason='x')",
     ['skip test_it: @pytest.mark.skipif(sys.platform != "aix")']),
    ("@pytest.mark.skipif(os.name in ('posix', 'nt'), reason='x')",
     ['skip test_it: @pytest.mark.skipif(os.name in ["posix", "nt"])']),
    ("@pytest.mark.skipif(sys.version_info[:1] == (3,), reason='x')",
     ['skip test_it: @pytest.mark.skipif(sys.version_info[:1] == [3])']),
    ("@pytest.mark.skipif(sys.version_info < (99,), reason='x')",
     ['skip test_it: @pytest.mark.skipif(sys.version_info < [99])']),
    ("@pytest.mark.skipif(not sys.platform.startswith('sun'), reason='x')",
     ['skip test_it: @pytest.mark.skipif(not sys.platform.startswith("sun"))']),
    ("@pytest.mark.skipif(platform.system() in ('Linux', 'Darwin', 'Windows'), reason='x')",
     ['skip test_it: @pytest.mark.skipif(platform.system() in ["Linux", "Darwin", "Windows"])']),
    ("@pytest.mark.skipif(sys.platform == 'aix', reason='x')", []),
    ("@pytest.mark.skipif(platform.system() == 'Windows', reason='x')",
     ['skip test_it: @pytest.mark.skipif(platform.system() == "Windows") [platform]']),
    ("@pytest.mark.skipif(sys.platform != 'linux' and f(), reason='x')",
     ['skip test_it: @pytest.mark.skipif((sys.platform != "linux") and f()) [platform]']),
    ("@pytest.mark.skipif(hasattr(sys, 'pypy_version_info'), reason='x')",
     ['skip test_it: @pytest.mark.skipif(hasattr(sys, "pypy_version_info")) [version]']),
    ("@pytest.mark.xfail", ["xfail test_it: @pytest.mark.xfail"]),
    ("@pytest.mark.xfail(strict=False)", ["xfail test_it: @pytest.mark.xfail"]),
    ("@pytest.mark.xfail(strict=True, reason='x')",
     ["xfail test_it: @pytest.mark.xfail(strict=True)"]),
    ("@pytest.mark.xfail(raises=ValueError, run=False)",
     ["xfail test_it: @pytest.mark.xfail(raises=ValueError, run=False)"]),
    ("@skipIf(sys.platform == 'darwin', 'x')",
     ['skip test_it: @unittest.skipIf(sys.platform == "darwin") [platform]']),
    ("@unittest.skip('x')", ["skip test_it: @unittest.skip"]),
    ("@unittest.skipUnless(HAS_NUMPY, 'x')",
     ["skip test_it: @unittest.skipUnless(HAS_NUMPY) [package:numpy]"]),
    ("@unittest.expectedFailure", ["xfail test_it: @unittest.expectedFailure"]),
    ("@needs_db", ["skip test_it: @needs_db [other]"]),
    ("@skip_on_windows()", ["skip test_it: @skip_on_windows [other]"]),
    ("@known_flaky", ["rerun test_it: @known_flaky()"]),
    ("@plain_decorator", []),
    ("@pytest.mark.slow", []),
    ("@pytest.mark.parametrize('x', [1])", []),
    ("@pytest.mark.parametrize('x', [])", ["skip test_it: @pytest.mark.parametrize over nothing"]),
    ("@pytest.mark.parametrize('x', [pytest.param(1, marks=pytest.mark.skip)])",
     ["skip test_it: @pytest.mark.skip"]),
    ("@pytest.mark.flaky(reruns=3)", ["rerun test_it: @pytest.mark.flaky(reruns=3)"]),
    ("@pytest.mark.timeout(60)", ["timeout test_it: @pytest.mark.timeout(60)"]),
]


@pytest.mark.parametrize(("decorator", "expected"), DECORATORS, ids=[row[0] for row in DECORATORS])
def test_decorators(decorator, expected):
    assert told(f"{decorator}\ndef test_it(x): pass") == expected


BODIES = [
    ("pytest.skip('no')", ["skip test_it: pytest.skip()"]),
    ("if sys.platform == 'win32':\n    pytest.skip('no')",
     ['skip test_it: pytest.skip() if sys.platform == "win32" [platform]']),
    ("if x:\n    pass\nelse:\n    pytest.xfail('no')",
     ["xfail test_it: pytest.xfail() if not x [other]"]),
    ("try:\n    import redis\nexcept ImportError:\n    pytest.skip('no')",
     ["skip test_it: pytest.skip() [package:redis]"]),
    ("try:\n    f()\nexcept OSError:\n    pytest.skip('no')",
     ["skip test_it: pytest.skip() [other]"]),
    ("np = pytest.importorskip('numpy.linalg')",
     ['skip test_it: pytest.importorskip("numpy.linalg") [package:numpy]']),
    ("raise unittest.SkipTest('no')", ["skip test_it: raise SkipTest"]),
    ("raise pytest.skip.Exception('no')", ["skip test_it: raise Exception"]),
    ("if False:\n    pytest.skip('no')", []),
    ("skip_if_offline()", ["skip test_it: skip_if_offline() [other]"]),
    ("skipping()", []),
    ("x.skip_if_offline()", []),
    ("x = 'pytest.skip() and skip'  # pytest.skip()", []),
    ("f(skip=True)", []),
    ("request.node.add_marker(pytest.mark.xfail)", ["xfail test_it: pytest.mark.xfail"]),
]


@pytest.mark.parametrize(("body", "expected"), BODIES, ids=[row[0] for row in BODIES])
def test_what_a_running_test_does_to_itself(body, expected):
    assert told(f"def test_it(x, request):\n{textwrap.indent(body, '    ')}") == expected


FILES = [
    ("pytestmark = pytest.mark.skip", ["skip -: pytest.mark.skip"]),
    ("pytestmark = [m.xfail, pytest.mark.usefixtures('x')]", ["xfail -: pytest.mark.xfail"]),
    ("pytest.importorskip('numpy')", ['skip -: pytest.importorskip("numpy") [package:numpy]']),
    ("skip = pytest.mark.skip\n@skip\ndef test_it(): pass", ["skip test_it: @pytest.mark.skip"]),
    ("skip = pytest.mark.skip\n@skip('x')\ndef test_it(): pass",
     ["skip test_it: @pytest.mark.skip"]),
    ("off = pytest.mark.skipif(os.name == 'nt', reason='x')\npytestmark = [off]",
     ['skip -: @pytest.mark.skipif(os.name == "nt") [platform]']),
    ("off = pytest.mark.skip", ["skip -: pytest.mark.skip"]),
    ("def off(f):\n    return pytest.mark.skip(f)\n@off\ndef test_it(): pass",
     ["skip test_it: @off: pytest.mark.skip"]),
    ("def off():\n    if os.name == 'nt':\n        pytest.skip('x')\ndef test_it():\n    off()",
     ['skip test_it: off(): pytest.skip() if os.name == "nt" [platform]']),
    ("def deep():\n    pytest.skip('x')\ndef off():\n    deep()\ndef test_it():\n    off()",
     ["skip test_it: off(): pytest.skip()"]),
    ("@pytest.fixture\ndef db():\n    pytest.skip('x')\ndef test_it(db): pass\ndef test_b(): pass",
     ["skip test_it: db: pytest.skip()"]),
    ("@pytest.fixture\ndef db():\n    pytest.skip('x')\n@m.usefixtures('db')\n"
     "class TestA:\n    def test_it(self): pass", ["skip TestA::test_it: db: pytest.skip()"]),
    ("@pytest.fixture\ndef db():\n    pytest.skip('x')", ["skip -: pytest.skip()"]),
    ("class TestA:\n    pytestmark = pytest.mark.skip\n    def test_it(self): pass",
     ["skip TestA: pytest.mark.skip"]),
    ("@m.skip\nclass TestA:\n    def test_it(self): pass", ["skip TestA: @pytest.mark.skip"]),
    ("class A(unittest.TestCase):\n    def setUp(self):\n        self.skipTest('x')",
     ["skip A: self.skipTest()"]),
    ("class A(unittest.TestCase):\n    def test_it(this):\n        this.skipTest('x')",
     ["skip A::test_it: this.skipTest()"]),
    ("def test_it(): pass\ntest_it = pytest.mark.skip(test_it)",
     ["skip test_it: pytest.mark.skip"]),
    ("if sys.platform == 'linux':\n    def test_it(): pass",
     ['skip test_it: if sys.platform == "linux" [platform]']),
    ("ROWS = [pytest.param(1, marks=pytest.mark.skip)]", ["skip -: pytest.mark.skip"]),
]


@pytest.mark.parametrize(("source", "expected"), FILES, ids=[row[0] for row in FILES])
def test_what_stands_around_tests(source, expected):
    assert told(source) == expected


UNCOLLECTED = [
    ("class TestA:\n    __test__ = False", ["uncollected TestA: __test__ = False"]),
    ("class TestA:\n    __test__ = True", []),
    ("__test__ = False", ["uncollected -: __test__ = False"]),
    ("def test_it(): pass\ntest_it.__test__ = False", ["uncollected test_it: __test__ = False"]),
    ("def test_it(): pass\ntest_it = None", ["uncollected test_it: test_it = None"]),
    ("def test_it(): pass\ntest_it = wrapped(test_it)", []),
    ("def test_it(): pass\ndel test_it", ["uncollected test_it: del test_it"]),
    ("def test_it(): pass\ndef test_it(): pass", ["uncollected test_it: defined again"]),
    ("if x:\n    def test_it(): pass\nelse:\n    def test_it(): pass",
     ["skip test_it: if not x [other]"]),
    ("class TestA:\n    def __init__(self): pass", ["uncollected TestA: def __init__"]),
    ("collect_ignore = ['a.py']", ['uncollected -: collect_ignore = ["a.py"]']),
    ("collect_ignore_glob = ['*_b.py']", ['uncollected -: collect_ignore_glob = ["*_b.py"]']),
    ("collect_ignore.append('a.py')", ['uncollected -: collect_ignore = "a.py"']),
    ("def pytest_collection_modifyitems(items):\n    items[:] = items[:3]",
     ["uncollected -: pytest_collection_modifyitems: $0[:] = $0[:3]"]),
    ("def pytest_collection_modifyitems(items):\n    items.sort(key=str)", []),
    ("def pytest_ignore_collect(path):\n    return 'slow' in str(path)",
     ['uncollected -: pytest_ignore_collect: Return ("slow" in str($0))']),
    ("def pytest_ignore_collect(path):\n    return False", []),
    ("def pytest_runtest_makereport(item, call):\n    report = (yield).get_result()\n"
     "    report.outcome = 'passed'",
     ['uncollected -: pytest_runtest_makereport: $0.outcome = "passed"']),
    ("def pytest_sessionfinish(session):\n    session.exitstatus = 0",
     ["uncollected -: pytest_sessionfinish: $0.exitstatus = 0"]),
    ("def pytest_configure(config):\n    config.x = 1", []),
    ("class TestA:\n    def test_it(self): pass\ndel TestA.test_it",
     ["uncollected TestA::test_it: del TestA.test_it"]),
    ("class TestA:\n    def test_it(self): pass\nTestA.test_it = None",
     ["uncollected TestA::test_it: TestA.test_it = None"]),
    ("class TestA:\n    def test_it(self): pass\nTestA.test_it = wrapped(TestA.test_it)", []),
    ("class TestA:\n    def test_it(self): pass\ndelattr(TestA, 'test_it')",
     ["uncollected TestA::test_it: delattr TestA.test_it"]),
    ("class TestA:\n    def test_it(self): pass\nsetattr(TestA, 'test_it', None)",
     ["uncollected TestA::test_it: setattr TestA.test_it"]),
    ("class TestA:\n    def test_it(self): pass\ndel TestA.helper", []),
    ("def test_it(): pass\nglobals().pop('test_it')",
     ["uncollected test_it: globals().pop test_it"]),
    ("def test_it(): pass\ndel globals()['test_it']", ["uncollected test_it: del test_it"]),
    ("def test_it():\n    assert f(1)\n    yield", ["uncollected test_it: yield"]),
    ("@m.parametrize('x', [1])\ndef test_it(x):\n    yield from f(x)",
     ["uncollected test_it: yield"]),
    ("@gen_test\ndef test_it(x):\n    yield f(x)", []),
    ("def test_it():\n    def made():\n        yield\n    assert f(made)", []),
    ("async def test_it(): pass\ndef test_b(): pass", []),
]
ASYNC = [
    ("def test_b(): pass\nasync def test_it():\n    assert f(1)",
     ["uncollected test_it: async def"]),
    ("def test_b(): pass\nasync def test_it():\n    await f(1)", []),
    ("async def test_it():\n    assert f(1)", []),
    ("import anyio\ndef test_b(): pass\nasync def test_it():\n    assert f(1)", []),
    ("import pytest\ndef test_b(): pass\n@pytest.mark.asyncio\nasync def test_it():\n    f(1)", []),
    ("def test_b(): pass\nasync def made(): pass\nasync def test_it():\n    f(1)", []),
    ("import pytest\npytestmark = pytest.mark.trio\ndef test_b(): pass\nasync def test_it(): f(1)",
     []),
]


@pytest.mark.parametrize(("source", "expected"), ASYNC, ids=[row[0] for row in ASYNC])
def test_a_coroutine_that_awaits_nothing_among_plain_tests_is_never_run(source, expected):
    found = sheet(source.encode(), 6).markers
    assert [f"{one.mark.value} {one.on}: {one.says}" for one in found] == expected


@pytest.mark.parametrize(("source", "expected"), UNCOLLECTED, ids=[row[0] for row in UNCOLLECTED])
def test_what_keeps_tests_from_being_found(source, expected):
    assert told(source) == expected


LIMITS = [
    ("@pytest.mark.timeout(60)\ndef test_it(): pass", Mark.TIMEOUT, 60.0),
    ("@pytest.mark.timeout(LIMIT)\ndef test_it(): pass", Mark.TIMEOUT, 30.0),
    ("def test_it():\n    subprocess.run(x, timeout=5)", Mark.TIMEOUT, 5.0),
    ("def test_it():\n    subprocess.run(x, timeout=LIMIT)", Mark.TIMEOUT, 30.0),
    ("def test_it():\n    wait = 7\n    subprocess.run(x, timeout=wait)", Mark.TIMEOUT, 7.0),
    ("def test_it():\n    subprocess.run(x, timeout=None)", Mark.TIMEOUT, 0.0),
    ("def test_it():\n    subprocess.run(x, timeout=f())", Mark.TIMEOUT, None),
    ("def test_it():\n    page.wait(timeout_ms=1500)", Mark.TIMEOUT, 1.5),
    ("def test_it():\n    get(timeout=http.Timeout(5, read=7))", Mark.TIMEOUT, 7.0),
    ("def test_it():\n    get(timeout=TimeoutConfig(timeout=None))", Mark.TIMEOUT, 0.0),
    ("def test_it():\n    get(timeout=Timeout(given))", Mark.TIMEOUT, None),
    ("async def test_it():\n    await asyncio.wait_for(x, 5)", Mark.TIMEOUT, 5.0),
    ("READ_TIMEOUT = 2 * 60", Mark.TIMEOUT, 120.0),
    ("EPS = 1e-6", Mark.TOLERANCE, 1e-6),
    ("class TestA:\n    TOLERANCE = 0.1", Mark.TOLERANCE, 0.1),
    ("@settings(deadline=500)\ndef test_it(): pass", Mark.TIMEOUT, 0.5),
    ("@settings(deadline=None)\ndef test_it(): pass", Mark.TIMEOUT, 0.0),
    ("@pytest.mark.flaky(reruns=4)\ndef test_it(): pass", Mark.RERUN, 4.0),
]


@pytest.mark.parametrize(("source", "mark", "amount"), LIMITS, ids=[row[0] for row in LIMITS])
def test_limits_have_an_amount_where_it_is_known(source, mark, amount):
    (one,) = markers(source)
    assert (one.mark, one.amount) == (mark, amount)


def test_limits_of_code_that_is_no_test_are_its_own():
    assert markers("def test_it():\n    assert Timeout(timeout=None) == Timeout(timeout=3)") == ()
    assert markers("def fetch(url, timeout=3):\n    return get(url, timeout=timeout)") == ()


def test_a_condition_that_is_one_imported_name():
    told = markers("from .near import SLOW\nHERE = f()\n" + "".join(
        f"@pytest.mark.skipif({one})\ndef test_{number}(): pass\n" for number, one in enumerate(
            ("SLOW", "not SLOW", "SLOW or HERE", "HERE"))))
    assert [one.asks for one in told] == ["SLOW", "SLOW", "", ""]
