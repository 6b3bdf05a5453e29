"""The pytest plugin: the one consumer of the flake ledger and the quarantine in a test run.

Enabled by `-p policyd.pytest`, on the command line or in a project's own addopts. There is no
entry point: installing policyd must not change anybody's test runs. It needs no server; what it
does, reports and refuses stands in docs/pytest.md.

Nothing in here asserts, and so there is nothing for pytest to rewrite: PYTEST_DONT_REWRITE.
"""

from __future__ import annotations

import pytest

from policyd.pytest import options
from policyd.pytest.run import Run


def pytest_addoption(parser: pytest.Parser) -> None:
    options.add(parser)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "relation: a rule between two executions; never rerun, "
                                       "never in the flake ledger or the quarantine")
    config.pluginmanager.register(Run(config), "policyd-run")
