"""Fixtures for the tests of the pytest plugin; what they give is described in `plugged`."""

from __future__ import annotations

import pytest
from plugged import Project


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    return Project(pytester)
