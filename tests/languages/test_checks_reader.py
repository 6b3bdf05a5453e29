"""What of a definition of the checks runs tests, and what of a change of it is none."""

from __future__ import annotations

import pytest

from policyd.core.checks import touched
from policyd.core.content import Changed
from policyd.core.sheet import Sheet
from policyd.languages import CHECKS, language_of
from policyd.languages.checks import sheet

PATHS = {
    ".github/workflows/test.yml": "workflow", ".github/workflows/a.yaml": "workflow",
    ".github/dependabot.yml": None, ".circleci/config.yml": "workflow",
    ".gitlab-ci.yml": "workflow", "web/.gitlab-ci.yml": None, "Makefile": "makefile",
    "justfile": "makefile", "sub/Makefile": None, ".ci/run": "commands", ".ci/run.sh": "commands",
    ".ci/image.png": None, "Jenkinsfile": "commands", ".ci/check.py": "python",
    "noxfile.py": "python"}


@pytest.mark.parametrize(("path", "language"), PATHS.items())
def test_a_definition_is_known_by_its_path(path: str, language: str | None) -> None:
    assert language_of(path) == language
    assert (language in CHECKS) is (language not in (None, "python"))


WORKFLOW = """\
name: Checks
on: [push]
jobs:
  lint:
    steps:
      - uses: actions/checkout@v3
      - run: ruff .
  test:
    strategy:
      matrix:
        python-version: ["3.8", "3.9"]
        exclude:
          - "3.8"
    container:
      image: python:3.9@sha256:SHA
    steps:
      - uses: actions/checkout@v3
      - uses: actions/setup-python@COMMIT # v4
      # all of them
      - run: |
          pip install -r requirements.txt
          python -m pytest
""".replace("SHA", "0a" * 32).replace("COMMIT", "0b" * 20)
MAKEFILE = """\
OPTIONS = -q
test: stubs
\tpython -m pytest $(OPTIONS)
stubs:
\tpython stubs.py
docs:
\tsphinx-build docs out
.PHONY: test stubs docs
"""
SCRIPT = "#!/bin/sh\nset -e\npython -m pytest\n"


def told(form: str, before: str | None, after: str | None) -> int | None:
    was, now = (None if text is None else sheet(text.encode(), 6, form=form)
                for text in (before, after))
    return touched(Changed("x", (), now, () if was is None else (was,), is_new=was is None))


def text_of(form: str) -> str:
    return {"workflow": WORKFLOW, "makefile": MAKEFILE, "commands": SCRIPT}[form]


PASSES = [
    # form, old, new
    ("workflow", "ruff .", "ruff src"),
    ("workflow", WORKFLOW[WORKFLOW.index("  lint:"):WORKFLOW.index("  test:")], ""),
    ("workflow", "checkout@v3", "checkout@v4.1.2"),
    ("workflow", "0b" * 20 + " # v4", "0c" * 20 + " # v5"),
    ("workflow", "0a" * 32, "0c" * 32),
    ("workflow", '"3.8", "3.9"]', '"3.9", "3.10", "3.12-dev"]'),
    ("workflow", "      # all of them\n", "\n"),
    ("workflow", "name: Checks\n", "name: All checks\n"),
    ("workflow", "  test:\n", "  docs:\n    steps:\n      - run: mkdocs build\n  test:\n"),
    ("makefile", "sphinx-build docs", "sphinx-build manual"),
    ("makefile", "docs:\n\tsphinx-build docs out\n", ""),
    ("makefile", ".PHONY: test stubs docs", ".PHONY: test stubs"),
    ("makefile", ".PHONY", "bench:\n\t./support/bench\n.PHONY"),
    ("commands", "set -e\n", "\n# fail early\nset -e\n"),
]


@pytest.mark.parametrize(("form", "old", "new"), PASSES)
def test_what_leaves_alone_what_runs_tests(form: str, old: str, new: str) -> None:
    assert old in text_of(form)
    assert told(form, text_of(form), text_of(form).replace(old, new)) is None


TOLD = [
    ("workflow", "python -m pytest", "python -m pytest || true"),
    ("workflow", "python -m pytest", "python -m pytest -k slides"),
    ("workflow", "          python -m pytest\n", ""),
    ("workflow", "  test:\n", "  test:\n    continue-on-error: true\n"),
    ("workflow", "  test:\n", "  test:\n    if: false\n"),
    ("workflow", "on: [push]", "on: workflow_dispatch"),
    ("workflow", "jobs:", "env:\n  PYTEST_ADDOPTS: -x\njobs:"),
    ("workflow", '["3.8", "3.9"]', "[]"),
    ("workflow", "actions/setup-python", "others/setup-python"),
    ("workflow", '          - "3.8"\n', '          - "3.8"\n          - ubuntu\n'),
    ("workflow", "  test:\n", "  tests:\n    steps:\n      - run: pytest --version\n  test:\n"),
    ("makefile", "pytest $", "pytest -x $"),
    ("makefile", "\tpython -m pytest", "\t-python -m pytest"),
    ("makefile", "OPTIONS = -q", "OPTIONS = -k slides"),
    ("makefile", "python stubs.py", "rm -r tests"),
    ("makefile", "test: stubs\n", "docs: stubs\ntest: stubs\n"),
    ("makefile", ".PHONY", "test:\n\ttrue\n.PHONY"),
    ("commands", "set -e\n", ""),
    ("commands", "python", "exit 0\npython"),
]


@pytest.mark.parametrize(("form", "old", "new"), TOLD)
def test_what_changes_what_runs_tests(form: str, old: str, new: str) -> None:
    assert old in text_of(form)
    assert told(form, text_of(form), text_of(form).replace(old, new)) is not None


@pytest.mark.parametrize("form", sorted(CHECKS))
def test_a_definition_that_comes_or_goes(form: str) -> None:
    assert told(form, None, text_of(form)) is not None
    assert told(form, text_of(form), None) is not None


def test_a_definition_that_runs_no_tests_may_come_and_go() -> None:
    publish = "on: [push]\njobs:\n  publish:\n    steps:\n      - run: scripts/publish\n"
    assert told("workflow", None, publish) is None
    assert told("workflow", publish, None) is None
    assert told("workflow", publish, publish.replace("[push]", "[release]")) is None


def test_a_job_that_another_one_waits_for_is_part_of_it() -> None:
    waits = WORKFLOW.replace("  test:\n", "  test:\n    needs: [lint]\n")
    assert told("workflow", waits, waits.replace("ruff .", "exit 1")) is not None


def test_jobs_of_gitlab_stand_at_the_top() -> None:
    jobs = "stages: [a]\nlint:\n  script: [ruff .]\ntest:\n  script: [python -m pytest]\n"
    assert told("workflow", jobs, jobs.replace("ruff .", "ruff src")) is None
    assert told("workflow", jobs, jobs.replace("pytest", "pytest -k a")) == 4
    assert told("workflow", jobs, jobs.replace("stages: [a]", "stages: []")) is not None


def test_what_nobody_read_is_another_one() -> None:
    assert touched(None) == 1
    assert touched(Changed("noxfile.py", (), Sheet(), (Sheet(),))) == 1
    assert touched(Changed(".ci/run", (), Sheet(), (sheet(b"make\n", 6, form="commands"),))) == 1


def test_where_sides_conflict_one_of_them_is_enough() -> None:
    mine, theirs = (sheet(text.encode(), 6, form="commands") for text in (SCRIPT, "make test\n"))
    assert touched(Changed("x", (), mine, (theirs, mine))) is None
    assert touched(Changed("x", (), sheet(b"true\n", 6, form="commands"), (theirs, mine))) == 1


@pytest.mark.parametrize("form", sorted(CHECKS))
def test_any_bytes_are_read(form: str) -> None:
    for source in (b"", b"\xff\xfe\x00", b"jobs:\n\tx: \xe9\n", b":" * 5000, b"- " * 5000):
        assert sheet(source, 6, form=form).settings[0].line == 1
