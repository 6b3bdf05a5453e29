"""What settings of test runners take away."""

from __future__ import annotations

import pytest

from policyd.core.sheet import Setting, Sheet
from policyd.core.testsettings import loosened, narrowed


def sheet(settings: dict[str, str]) -> Sheet:
    return Sheet(settings=tuple(Setting(key, value, 3) for key, value in settings.items()))


LOOSENED = [
    # before, after, what is said
    ({"timeout": "2"}, {"timeout": "2"}, []),
    ({"timeout": "10"}, {"timeout": "2"}, []),
    ({}, {"timeout": "2"}, []),
    ({"timeout": "2"}, {"timeout": "10"}, ["timeout 10, was 2"]),
    ({"timeout": "2"}, {"timeout": "0"}, ["timeout 0, was 2"]),
    ({"timeout": "2"}, {}, ["timeout none, was 2"]),
    ({}, {"timeout": "0"}, ["timeout 0, was none"]),
    ({"timeout": "0"}, {"timeout": "9"}, []),
    ({"addopts": "--timeout=2"}, {"addopts": "--timeout 20"}, ["timeout 20, was 2"]),
    ({}, {"addopts": "-q --reruns 5"}, ["reruns 5, was none"]),
    ({}, {"addopts": "--retries=2"}, ["retries 2, was none"]),
    ({"addopts": "--reruns=5"}, {"addopts": "--reruns=2"}, []),
    ({}, {"addopts": "--force-flaky"}, ["force_flaky 1, was none"]),
    ({}, {"addopts": "-p no:timeout"}, ["plugin timeout is off"]),
    ({}, {"addopts": "-o timeout=0"}, ["timeout 0, was none"]),
    ({"xfail_strict": "true"}, {"addopts": "-o xfail_strict=false"}, ["xfail_strict is off"]),
    ({"xfail_strict": "true"}, {"xfail_strict": "true"}, []),
    ({}, {"xfail_strict": "true"}, []),
    ({}, {"timeout_func_only": "true"}, ["timeout_func_only is on"]),
    ({"timeout_func_only": "true"}, {}, []),
    ({}, {"retries": "0"}, []),
    ({}, {"retries": "process.env.CI ? 2 : 0"}, ["retries process.env.CI ? 2 :, was none"]),
    ({"scripts.test": "vitest run"}, {"scripts.test": "vitest run --retry=3"},
     ["retry 3, was none"]),
]


@pytest.mark.parametrize(("before", "after", "says"), LOOSENED)
def test_what_is_loosened(before, after, says):
    assert [one.says for one in loosened(sheet(before), sheet(after))] == says


IGNORED = "--ignore=tests/test_a.py"
NARROWED = [
    ({"addopts": "-q"}, {"addopts": "-q -ra --strict-markers --cov=src"}, []),
    ({"tox.testenv.commands": "pytest"},
     {"tox.testenv.commands": "python -c 'import sys, pip'\npytest"}, []),
    ({"tox.docs.commands": "make clean html"}, {"tox.docs.commands": "sphinx-build"}, []),
    ({"tox.release-pr.commands": "python release.py {posargs}"}, {}, []),
    ({"tox.docs.commands": "pytest docs"}, {"tox.docs.commands": "sphinx-build"},
     ["tox.docs.commands runs something else"]),
    ({"tox.py312.commands": "python run.py"}, {"tox.py312.commands": "python stop.py"},
     ["tox.py312.commands runs something else"]),
    ({"addopts": f"-q {IGNORED}"}, {"addopts": "-q"}, []),
    ({"addopts": "-q"}, {"addopts": "--deselect tests/test_a.py::test_b"},
     ["gains --deselect tests/test_a.py::test_b"]),
    ({}, {"addopts": f'["-q", "{IGNORED}"]'}, ["gains --ignore tests/test_a.py"]),
    ({}, {"addopts": "-k 'not slow'"}, ["gains -k not slow"]),
    ({}, {"addopts": "-k=fast"}, ["gains -k fast"]),
    ({}, {"addopts": "-mfast"}, ["gains -m fast"]),
    ({"addopts": "-m 'not slow'"}, {"addopts": "-m 'not slow and not db'"},
     ["gains -m not slow and not db"]),
    ({}, {"addopts": "--collect-only -q"}, ["gains --collect-only"]),
    ({"addopts": "--doctest-modules"}, {"addopts": ""}, ["loses --doctest-modules"]),
    ({}, {"testpaths": "tests"}, []),
    ({}, {"testpaths": "tests/unit"}, ["testpaths is narrower"]),
    ({"testpaths": "tests docs"}, {"testpaths": "docs\ntests\nmore"}, []),
    ({"testpaths": '["tests", "docs"]'}, {"testpaths": '["tests"]'}, ["testpaths is narrower"]),
    ({"testpaths": "tests/unit"}, {"testpaths": "./tests/"}, []),
    ({"testpaths": "docs"}, {}, ["testpaths is narrower"]),
    ({}, {"python_files": "check_*.py"}, ["python_files is narrower"]),
    ({}, {"python_files": "*.py"}, []),
    ({}, {"python_functions": "test check"}, []),
    ({}, {"python_functions": "test_total"}, ["python_functions is narrower"]),
    ({"python_functions": "check"}, {}, ["python_functions is narrower"]),
    ({}, {"python_classes": ""}, ["python_classes is narrower"]),
    ({}, {"norecursedirs": ".* build"}, []),
    ({}, {"norecursedirs": ".* unit"}, ["norecursedirs gains unit"]),
    ({"norecursedirs": "unit"}, {"norecursedirs": ".*"}, []),
    ({}, {"testMatch": '["**/*.test.ts"]'}, []),
    ({"testMatch": '["**/*.test.ts"]'}, {"testMatch": '["src/one.test.ts"]'},
     ["testmatch is narrower"]),
    ({}, {"testPathIgnorePatterns": '["/node_modules/", "cart"]'},
     ["testpathignorepatterns gains cart"]),
    ({"scripts.test": "jest"}, {"scripts.test": "jest || true"},
     ["scripts.test runs something else"]),
    ({"scripts.test": "jest"}, {"scripts.test": "echo ok"}, ["scripts.test runs something else"]),
    ({"scripts.test": "jest"}, {}, ["scripts.test runs something else"]),
    ({"scripts.test": "jest"}, {"scripts.test": "jest --ci"}, []),
    ({"scripts.test": "jest"}, {"scripts.test": "jest --passWithNoTests"},
     ["gains --passWithNoTests"]),
]


@pytest.mark.parametrize(("before", "after", "says"), NARROWED)
def test_what_is_narrowed(before, after, says):
    assert [one.says for one in narrowed(sheet(before), sheet(after))] == says
