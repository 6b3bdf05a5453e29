"""The command line: argv to a command, and what failed to one sentence and an exit code."""

from __future__ import annotations

import importlib
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

import click

from policyd.core.errors import FileInvalid, PolicydError

OK, FAULTS, CANNOT = 0, 1, 2
DEFAULT_HOME = Path("/etc/policyd")

COMMANDS = {
    "adopt": "policyd.cli.adopt",
    "calendar": "policyd.cli.calendar",
    "check": "policyd.cli.check",
    "clock": "policyd.cli.clock",
    "doctor": "policyd.cli.doctor",
    "enroll": "policyd.cli.enroll",
    "gate": "policyd.cli.gate",
    "init": "policyd.cli.init",
    "lease": "policyd.cli.lease",
    "log": "policyd.cli.log",
    "movement": "policyd.cli.movement",
    "pause": "policyd.cli.pause",
    "permit": "policyd.cli.permit",
    "policy": "policyd.cli.policy",
    "record": "policyd.cli.record",
    "replay": "policyd.cli.replay",
    "retire": "policyd.cli.retire",
    "serve": "policyd.cli.serve",
    "status": "policyd.cli.status",
    "unenroll": "policyd.cli.unenroll",
}
"""Command to the module whose `command` it is; only the chosen one is imported.

A command returns its exit code, or None for 0, and raises PolicydError where it cannot go on.
It finds HOME as a Path in `click.Context.obj`: decorate it with `click.pass_obj`.
"""


class _Lazy(click.Group):
    """A group that imports the command that was asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        command = importlib.import_module(COMMANDS[cmd_name]).command
        return command if isinstance(command, click.Command) else None


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--home", type=click.Path(path_type=Path), default=DEFAULT_HOME, show_default=True,
              metavar="DIR", help="The folder with policyd.yaml, policies/ and active/.")
@click.pass_context
def group(context: click.Context, home: Path) -> None:
    """Keep a patch from owning its own exam."""
    context.obj = Path.cwd() / home


def run(argv: Sequence[str]) -> int:
    """Runs one command and gives the exit code: 0, 1 for faults or refusals, 2 for cannot."""
    try:
        code = group.main(args=list(argv), prog_name="policyd", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else OK
    except FileInvalid as error:
        print(error)
        return FAULTS
    except click.ClickException as error:
        error.show()
        return CANNOT
    except click.Abort:
        return _told("stopped")
    except PolicydError as error:
        return _told(str(error))
    except BrokenPipeError:
        sys.stdout = None  # the reader went away; nothing is left to flush at exit
        return CANNOT
    except OSError as error:
        return _told(f"{error.filename or 'a file'}: {error.strerror or error}")
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        return _told(f"a fault of policyd itself, {type(error).__name__} "
                     f"at {Path(where.filename).name}:{where.lineno}: {error}")


def _told(sentence: str) -> int:
    print(f"policyd: {sentence}", file=sys.stderr)
    return CANNOT
