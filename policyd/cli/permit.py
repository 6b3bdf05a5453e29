"""`policyd permit`: lets one pusher bring one commit to one ref, once, although rules refuse it."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import click

from policyd.adapters import gateacts, moment
from policyd.cli import operating
from policyd.cli import repositories as shared
from policyd.core import breakglass
from policyd.core.breakglass import Permit
from policyd.core.errors import PolicydError
from policyd.core.facts import ZERO
from policyd.core.gates import Acts

_OID = re.compile(r"[0-9a-f]{40}")
_REF = re.compile(r"refs/[^\x00-\x20\x7f~^:?*\[\\]+")


@click.command("permit")
@click.argument("repository", type=click.Path(path_type=Path), metavar="REPO")
@click.argument("ref", metavar="REF")
@click.argument("new", metavar="NEW")
@click.option("--pusher", required=True, metavar="NAME",
              help="Who may push it, as the server names them; NAME#CREDENTIAL for one key only.")
@click.option("--until", metavar="TIME",
              help="2026-12-24T18:00, in the policy's time zone where TIME has none; at most 3 "
                   "days from now.")
@click.option("--revoke", is_flag=True, help="Take a permit back that nobody used.")
@click.option("--reason", required=True, metavar="TEXT",
              help="What the log, the status and the pusher read.")
@click.pass_obj
def command(home: Path, repository: Path, ref: str, new: str, pusher: str, until: str | None,
            *, revoke: bool, reason: str) -> None:
    """Let one push through that rules refuse: REF to the commit NEW, by one pusher, once.

    REF is a branch or a full name; NEW is the whole object id, or `delete`. The push must hold
    nothing else, and it is judged all the same: what could not be judged is not let through.
    """
    if revoke is (until is not None):
        raise click.UsageError("say --until TIME, or --revoke")
    who = shared.operator()
    asked = Permit(_ref(ref), _oid(new), pusher, until or "", reason, who, "")

    def work() -> str:
        there = operating.opened(home, repository)
        return _revoked(there, asked) if revoke else _permitted(there, asked)

    click.echo(operating.as_keeper(home, [
        "permit", str(repository), ref, new, "--pusher", pusher,
        *(["--revoke"] if until is None else ["--until", until]), "--reason", reason], work))


def _permitted(there: operating.Opened, asked: Permit) -> str:
    now = moment.seen(there.active.settings)
    permit = replace(asked, until=_until(asked.until, there).isoformat(timespec="seconds"),
                     at=now.isoformat(timespec="milliseconds"))

    def change(acts: Acts) -> Acts:
        return replace(acts, permits=breakglass.permitting(acts.permits, permit, now))

    gateacts.change(there.state, there.key, str(there.git_dir), {
        **_entry(there, permit), "verdict": "push-permitted", "until": permit.until}, change)
    return (f"{there.name}: {permit.pusher} may bring {_what(permit)} once, until {permit.until}"
            f"; any other push is judged as ever")


def _revoked(there: operating.Opened, asked: Permit) -> str:
    def change(acts: Acts) -> Acts:
        return replace(acts, permits=breakglass.revoking(acts.permits, asked.ref, asked.new,
                                                         asked.pusher))

    gateacts.change(there.state, there.key, str(there.git_dir), {
        **_entry(there, asked), "verdict": "permit-revoked"}, change)
    return f"{there.name}: {asked.pusher} may no longer bring {_what(asked)}"


def _entry(there: operating.Opened, permit: Permit) -> dict[str, object]:
    """`pusher` would make it an entry of that pusher's; they did nothing yet."""
    return {"repository": there.name, "ref": permit.ref, "new": permit.new, "for": permit.pusher,
            "reason": permit.reason, "operator": permit.operator}


def _what(permit: Permit) -> str:
    if permit.new == ZERO:
        return f"the deletion of {permit.ref}"
    return f"{permit.ref} to {permit.new[:12]}"


def _ref(name: str) -> str:
    ref = name if name.startswith("refs/") else f"refs/heads/{name}"
    if not _REF.fullmatch(ref) or ".." in ref or ref.endswith(("/", ".", ".lock")):
        raise click.BadParameter(f"{name} is no name of a ref", param_hint="REF")
    return ref


def _oid(text: str) -> str:
    if text in ("delete", ZERO):
        return ZERO
    if not _OID.fullmatch(text):
        raise click.BadParameter(
            f"{text} is no whole object id of 40 digits; the refused push's entry in the log has "
            "it, and so has `git rev-parse` in the pusher's clone", param_hint="NEW")
    return text


def _until(text: str, there: operating.Opened) -> datetime:
    """Raises PolicydError."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        found = None
    if found is None or "T" not in text.upper().replace(" ", "T"):
        raise PolicydError(f"{text} is no time such as 2026-12-24T18:00")
    if found.tzinfo is not None:
        return found
    return found.replace(tzinfo=ZoneInfo(there.policies[0].timezone))
