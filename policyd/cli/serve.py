"""`policyd serve`: the daemon that keeps the calendar."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import click

from policyd.adapters import activepolicy, asowner, moment
from policyd.cli import OK
from policyd.core.errors import PolicydError
from policyd.rules import OPTIONS


@click.command("serve")
@click.option("--once", is_flag=True, help="Look once at everything, write it down, and end.")
@click.option("--clock", metavar="MOMENT",
              help="Pretend that it is MOMENT, such as 2026-09-22T23:59:50Z; `real` ends that. "
                   "Only in a home for tests whose policyd.yaml says `pretended_clock: true`.")
@click.pass_obj
def command(home: Path, *, once: bool, clock: str | None) -> int:
    """Watch all enrolled repositories and keep their gates, until SIGTERM.

    Gates hold without it: each push works its own out. The daemon notes them for people and
    machines, and tells when one closes, opens, or will close. SIGHUP: look at everything again.
    """
    from policyd.daemon.service import Start, serve

    home = Path.cwd() / home
    settings = activepolicy.load(home, OPTIONS).settings
    owner = asowner.owner_of(Path(settings.state))
    if os.geteuid() != owner.uid:
        raise PolicydError(f"the daemon runs as {owner.name}, the owner of {settings.state}; "
                           f"`sudo -u {owner.name} policyd --home {home} serve`")
    if clock is not None:
        moment.pretend(settings, None if clock == "real" else _moment(clock))
    serve(Start(home, dict(os.environ), once))
    return OK


def _moment(text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text)
    except ValueError as error:
        raise PolicydError(f"{text!r} is no moment, such as 2026-09-22T23:59:50Z") from error
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)
