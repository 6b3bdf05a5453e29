"""Files that come with policyd beside the package: in the checkout, or under share/policyd."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path

from policyd.core.errors import PolicydError


def read(name: str) -> bytes:
    """A shipped file by its path in the checkout. Raises PolicydError where it is absent."""
    checkout = Path(__file__).parents[2] / name
    try:
        listed = importlib.metadata.files("policyd") or []
    except importlib.metadata.PackageNotFoundError:
        listed = []
    wanted = ("share", "policyd", *Path(name).parts)
    installed = [Path(str(file.locate())) for file in listed if file.parts[-len(wanted):] == wanted]
    for path in (*installed, checkout):
        if path.is_file():
            return path.read_bytes()
    raise PolicydError(f"the shipped {name} is absent; install policyd again")
