"""What settings files say of tests, in which words, and on which line."""

from __future__ import annotations

import time
from contextlib import suppress

import pytest

from policyd.languages import SETTINGS, language_of
from policyd.languages.literal import Unparseable
from policyd.languages.settings import sheet


def said(form: str, text: str | bytes) -> list[str]:
    """`LINE KEY = VALUE` of each setting."""
    source = text if isinstance(text, bytes) else text.encode()
    return [f"{one.line} {one.key} = {one.value}" for one in sheet(source, 6, form=form).settings]


NAMES = {
    "pyproject.toml": "toml", "sub/pyproject.toml": "toml", "pytest.toml": "toml",
    "tox.toml": "toml", "pytest.ini": "ini", ".pytest.ini": "ini", "tox.ini": "ini",
    "setup.cfg": "ini", ".coveragerc": "ini", "package.json": "json", "web/package.json": "json",
    "jest.config.json": "jest", ".mocharc.json": "mocha", "data/rates.json": "data",
    "poetry.toml": None, "mypy.ini": None, "package-lock.json": "data", "settings.py": "python"}


@pytest.mark.parametrize(("path", "language"), NAMES.items())
def test_a_file_is_read_by_its_name(path: str, language: str | None) -> None:
    assert language_of(path) == language
    assert (language in SETTINGS) is (language not in (None, "python", "data"))


TOML = {
    "options of pytest": ("""
[project]
name = "x"

[tool.pytest.ini_options]
addopts = "-ra --deselect tests/a.py::b"
testpaths = ["tests", "more"]
xfail_strict = true
timeout = 60
log_level = "DEBUG"
""", ['6 pytest.addopts = -ra --deselect tests/a.py::b', '7 pytest.testpaths = ["tests", "more"]',
      "8 pytest.xfail_strict = true", "9 pytest.timeout = 60"]),
    "the newer table of pytest": ("""[tool.pytest]
addopts = ["-k", "not slow"]
""", ['2 pytest.addopts = ["-k", "not slow"]']),
    "a file of pytest's own": ("""[pytest]
python_files = "check_*.py"
""", ["2 pytest.python_files = check_*.py"]),
    "a value over several lines": ('''[tool.pytest.ini_options]
# how
addopts = """
  -ra
  -x
"""
testpaths = [
  "a",  # first
]
''', ["3 pytest.addopts = -ra -x", '7 pytest.testpaths = ["a"]']),
    "dotted keys and inline tables": ("""tool.coverage.report.fail_under = 90
tool.pytest = {ini_options = {timeout = 5}}
""", ["1 coverage.fail_under = 90", "2 pytest.timeout = 5"]),
    "a key that another text seems to hold": ('''[tool.x]
text = """
[tool.pytest.ini_options]
timeout = 1
"""
[tool.pytest.ini_options]
timeout = 2
''', ["7 pytest.timeout = 2"]),
    "coverage": ("""[tool.coverage.report]
fail_under = 80
show_missing = true
""", ["2 coverage.fail_under = 80"]),
    "tox in its own words": ("""env_list = ["py311"]
[env_run_base]
commands = [["pytest", "-x"]]
[env.lint]
commands = [["ruff"]]
""", ['1 tox.env_list = ["py311"]', '3 tox.testenv.commands = [["pytest", "-x"]]',
      '5 tox.lint.commands = [["ruff"]]']),
    "tox in an older file's words": ('''[tool.tox]
legacy_tox_ini = """
[testenv]
commands = pytest
"""
''', ['4 tox.testenv.commands = ["pytest"]']),
    "scripts": ("""[tool.hatch.envs.default.scripts]
test = "pytest {args}"
docs = "mkdocs build"
[tool.poe.tasks]
all = {cmd = "pytest -x"}
""", ["2 scripts.test = pytest {args}", '5 scripts.all = {"cmd": "pytest -x"}']),
    "no tables where tables should be": ("tool = 1\n", []),
    "nothing": ("", []),
}

INI = {
    "options of pytest": ("""[pytest]
addopts = -ra
  --ignore=a
# remark
  -x
testpaths =
    tests
    more
markers =
    slow: takes long
    net: needs a net
junit_family = xunit2
""", ["2 pytest.addopts = -ra --ignore=a -x", "6 pytest.testpaths = tests more",
      '9 pytest.markers = ["slow: takes long", "net: needs a net"]']),
    "in setup.cfg": ("""[metadata]
name = x
[tool:pytest]
timeout: 30
[coverage:report]
fail_under = 70
""", ["4 pytest.timeout = 30", "6 coverage.fail_under = 70"]),
    "a file of coverage's own": ("[report]\nfail_under = 70\n", ["2 coverage.fail_under = 70"]),
    "tox": ("""[tox]
envlist = py311, lint
[testenv]
commands =
    pytest {posargs}
    true
deps = pytest
[testenv:lint]
ignore_outcome = true
""", ['2 tox.envlist = ["py311, lint"]', '4 tox.testenv.commands = ["pytest {posargs}", "true"]',
      "9 tox.lint.ignore_outcome = true"]),
    "CRLF and a byte order mark": (b"\xef\xbb\xbf[pytest]\r\ntimeout = 5\r\n",
                                   ["2 pytest.timeout = 5"]),
    "an option that is empty": ("[pytest]\ntestpaths =\n", ["2 pytest.testpaths = "]),
}

JSON = {
    "a package": ("""{
  "name": "x",
  "scripts": {
    "build": "tsc",
    "test": "jest --bail",
    "posttest": "true",
    "all": "vitest run"
  },
  "jest": {
    "testMatch": ["**/*.test.js"],
    "testTimeout": 5000
  },
  "mocha": {"spec": "test", "retries": 2}
}
""", ["5 scripts.test = jest --bail", "6 scripts.posttest = true", "7 scripts.all = vitest run",
      '10 jest.testMatch = ["**/*.test.js"]', "11 jest.testTimeout = 5000",
      "13 mocha.retries = 2", "13 mocha.spec = test"]),
    "an inner key of the same name": ("""{
  "config": {"scripts": {"test": "no"}},
  "scripts": {"test": "yes"}
}
""", ["3 scripts.test = yes"]),
    "a key that stands twice": ("""{
  "scripts": {"test": "one",
    "test": "two"}
}
""", ["3 scripts.test = two"]),
    "checks of types, which are no tests": ('''{"scripts": {
  "typecheck": "tsc --noEmit", "check:types": "tsc", "build-check-types": "tsc -b", "check": "x"}}
''', ["2 scripts.check = x"]),
    "an inspector and a tag, which are no tests": ('''{"scripts": {
  "debug": "node --inspect-brk bin/app",
  "publish": "npm publish --tag latest",
  "spec": "run"}}''', ["4 scripts.spec = run"]),
    "no objects where objects should be": ('{"scripts": [], "jest": "config.js"}', []),
}

OTHERS = [
    ("jest", '{"bail": true,\n "testPathIgnorePatterns": ["/a/"]}',
     ["1 jest.bail = true", '2 jest.testPathIgnorePatterns = ["/a/"]']),
    ("mocha", '{ // how\n "timeout": "5s", /* and\n */ "spec": ["a//b"]}',
     ["2 mocha.timeout = 5s", '3 mocha.spec = ["a//b"]']),
]

TABLE = [pytest.param(form, *row, id=f"{form}: {name}")
         for form, rows in (("toml", TOML), ("ini", INI), ("json", JSON))
         for name, row in rows.items()]


@pytest.mark.parametrize(("form", "text", "expected"), [*TABLE, *OTHERS])
def test_a_file_says_this_of_tests(form: str, text: str | bytes, expected: list[str]) -> None:
    assert said(form, text) == expected


BROKEN = [
    ("toml", "a = 1\nb = ]\n", 2, "invalid TOML"),
    ("toml", "a = 1\na = 2\n", 2, "invalid TOML"),
    ("toml", "[a\n", 1, "invalid TOML"),
    ("toml", "a = " + "[" * 100_000, 1, "nested too deeply"),
    ("toml", b"a = '\xff'", 1, "not in UTF-8"),
    ("ini", "[pytest]\nno sign\n", 2, "neither a section nor a key"),
    ("ini", "x = 1\n", 1, "neither a section nor a key"),
    ("ini", " x\n", 1, "did not begin"),
    ("ini", "[pytest\n", 1, "has no end"),
    ("ini", "[pytest]\na = 1\na = 2\n", 3, "twice"),
    ("json", "{\n\"a\": }", 2, "invalid JSON"),
    ("json", "[1]", 1, "holds no object"),
    ("json", "[" * 100_000, 1, "nested too deeply"),
    ("json", '{"scripts": {"test": ' + "9" * 5_000 + "}}", 1, "cannot be read"),
    ("json", '{// remark\n}', 1, "invalid JSON"),
]


@pytest.mark.parametrize(("form", "text", "line", "reason"), BROKEN)
def test_a_broken_file_says_where_and_why(
    form: str, text: str | bytes, line: int, reason: str
) -> None:
    with pytest.raises(Unparseable, match=reason) as refused:
        said(form, text)
    assert refused.value.line == line


def test_values_are_printable_and_bounded() -> None:
    [one] = said("json", '{"scripts": {"test": "caf\\u00e9 \\u001b[31m %s"}}' % ("x" * 9_000))
    assert one.isascii()
    assert one.isprintable()
    assert len(one) < 500
    assert said("ini", "[pytest]\naddopts = \x1b[31m é\n") == ["2 pytest.addopts = ?[31m \\xe9"]


HOSTILE = [
    ("ini", "[pytest]\na =\n" + " x\n" * 200_000),
    ("ini", "[pytest]\n" + "".join(f"k{n} = 1\n" for n in range(20_000))),
    ("toml", "".join(f"[a{n}]\n" for n in range(20_000))),
    ("mocha", "/*" * 200_000),
    ("json", '{"a": "' + "\\u0000" * 50_000 + '"}'),
]


@pytest.mark.parametrize(("form", "text"), HOSTILE)
def test_a_large_file_takes_no_longer_than_it_is_large(form: str, text: str) -> None:
    begun = time.process_time()
    with suppress(Unparseable):
        said(form, text)
    assert time.process_time() - begun < 2
