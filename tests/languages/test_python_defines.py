"""What others can import from a Python module."""

from __future__ import annotations

import ast

from policyd.languages.python_defines import defines

SOURCE = """
import os
from .near import passed_on as known_as
from far import not_ours
try:
    import fast
except ImportError:
    def slow(): inside = 1
if os.name == "nt":
    LIMIT: int = 1
else:
    LIMIT, MOST = 2, 3
class Tax:
    rate = 1
async def fetch(): ...
"""


def test_names_at_the_top():
    assert defines(ast.parse(SOURCE)) == ("LIMIT", "MOST", "Tax", "fetch", "known_as", "slow")
