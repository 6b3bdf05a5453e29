"""Bundles: policies in force without anything of their server, for `policyd check` in clones."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from policyd.core.errors import CannotJudge, PolicydError
from policyd.core.frozen import from_json, put_together, to_json
from policyd.core.policy import Active, Settings

NOWHERE = Settings("/nonexistent")
"""No state and no roots: who reads a bundle has neither."""


def write(path: Path, active: Active) -> None:
    """The policies for everybody to read, at once or not at all. Raises PolicydError."""
    draft = ""
    try:
        handle, draft = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with open(handle, "wb") as file:
            file.write(to_json(put_together(NOWHERE, active.policies)))
            os.fchmod(handle, 0o644)
        os.replace(draft, path)
    except OSError as error:
        with suppress(OSError):
            os.unlink(draft)
        raise PolicydError(f"{path} cannot be written: {error.strerror}") from error


def load(path: Path, options: Mapping[str, type]) -> Active:
    """The policies of a bundle; `options` as for what is in force. Raises CannotJudge."""
    try:
        return from_json(path.read_bytes(), options)
    except OSError as error:
        raise CannotJudge(f"{path} cannot be read: {error.strerror}") from error
    except CannotJudge as error:
        raise CannotJudge(f"{path} is no bundle of this policyd; whoever keeps the policy makes "
                          f"one with `policyd policy export` ({error})") from error
