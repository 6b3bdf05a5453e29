"""Loads what `gitrepo` needs of pygit2, without the two thirds of its import that go to the rest.

pygit2's package imports ssl, tarfile and all that writes, merges and talks to remotes: 30 ms of
every push. Its C module does the reading. Where that cannot be loaded alone, for example because
another pygit2 is laid out otherwise, the whole package is imported.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any

from policyd.core.values import dataclass

if not os.path.isdir(os.environ.get("SSL_CERT_DIR", "")):
    os.environ["SSL_CERT_DIR"] = "/"  # importing all of pygit2 fails on a host without CA files

_OUTSIDE = (1, 2, 3, 4)
"""Levels of configuration that are not the repository's: programdata, system, xdg, global."""


@dataclass(frozen=True, slots=True)
class Libgit2:
    """pygit2's C module, and libgit2 itself through cffi."""

    native: ModuleType
    lib: Any
    ffi: Any

    def open(self, git_dir: str) -> Any:
        """A repository's C object, whoever owns it. Raises GitError, ValueError."""
        # git has decided already who may come in
        self.lib.git_libgit2_opts(self.lib.GIT_OPT_SET_OWNER_VALIDATION, self.ffi.cast("int", 0))
        for level in _OUTSIDE:  # and nobody's own configuration, nor a HOME that cannot be entered
            self.lib.git_libgit2_opts(self.lib.GIT_OPT_SET_SEARCH_PATH,
                                      self.ffi.cast("int", level), self.ffi.new("char[]", b""))
        return self.native.Repository(self.native.init_file_backend(git_dir, 0))


def load() -> Libgit2:
    """The C parts alone where that works."""
    if "pygit2" not in sys.modules:
        try:
            return _alone()
        except (ImportError, AttributeError, TypeError):
            pass
    import_module("pygit2")
    return _parts()


def _alone() -> Libgit2:
    """Import submodules below an empty stand-in; a later `import pygit2` imports it all."""
    spec = find_spec("pygit2")
    if spec is None:
        raise ImportError("pygit2 is not installed")
    sys.modules["pygit2"] = module_from_spec(spec)
    try:
        found = _parts()
        found.native._cache_enums()
        return found
    finally:
        del sys.modules["pygit2"]


def _parts() -> Libgit2:
    outside = import_module("pygit2.ffi")
    native = import_module("pygit2._pygit2")
    import_module("pygit2.enums")
    _ = native.init_file_backend, outside.C.GIT_OPT_SET_OWNER_VALIDATION
    return Libgit2(native, outside.C, outside.ffi)
