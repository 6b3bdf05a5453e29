"""git's own daemon on loopback, which asks nobody who he is, and takes pushes.

    with serving(folder, root=folder_of_repositories) as port:
        subprocess.run(["git", "push", f"git://127.0.0.1:{port}/r.git", "main"])

Nothing here knows of a test runner.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from running import HOST, Absent, running

PROGRAM = Path("/usr/lib/git-core/git-daemon")


@contextmanager
def serving(folder: Path, *, root: Path) -> Iterator[int]:
    """The port that it answers on."""
    if not PROGRAM.exists():
        raise Absent("git has no daemon here")
    with running(lambda port: [str(PROGRAM), "--enable=receive-pack", "--export-all", "--reuseaddr",
                               f"--listen={HOST}", f"--port={port}", f"--base-path={root}",
                               str(root)],
                 log=folder / "git-daemon.log") as port:
        yield port
