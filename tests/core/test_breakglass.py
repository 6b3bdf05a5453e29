from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from policyd.core import breakglass
from policyd.core.breakglass import Asked, Permit, Use
from policyd.core.errors import PolicydError
from policyd.core.policy import Override

NOW = datetime(2026, 9, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
MAIN = "refs/heads/main"


def permit(hours: float = 2, pusher: str = "mei", new: str = "a" * 40) -> Permit:
    return Permit(MAIN, new, pusher, (NOW + hours * HOUR).isoformat(), "hotfix", "root", "")


@pytest.mark.parametrize(("options", "asked"), [
    ((), None),
    (("policyd.json", "policyd.overrides=x", "ci.skip"), None),
    (("policyd.override=the rate server is down",), Asked("the rate server is down")),
    (("policyd.override= padded ",), Asked("padded")),
    (("policyd.override=a=b",), Asked("a=b")),
    (("policyd.override",), Asked("", "it says no reason")),
    (("policyd.override=",), Asked("", "it says no reason")),
    (("policyd.override= .- ",), Asked("", "it says no reason")),
    (("policyd.override=a", "policyd.override=b"), Asked("", "it was given twice")),
    (("policyd.override=" + "x" * 301,),
     Asked("", "its reason is longer than 300 characters")),
])
def test_a_push_option_asks_for_an_override(options: tuple[str, ...], asked: Asked | None):
    assert breakglass.asked(options) == asked


def test_who_may_override_reaches_what_is_listed_and_no_more():
    override = Override(("maintainers",), ("gate-open", "literal-overlap"))
    reach = breakglass.out_of_reach
    assert reach(override, frozenset({"agents"}), ["gate-open"]) is None
    assert reach(Override(), frozenset({"maintainers"}), ["gate-open"]) is None
    assert reach(override, frozenset({"maintainers", "x"}), ["gate-open"]) == ()
    assert reach(override, frozenset({"maintainers"}), ["gate-open", "kept-rows"]) == (
        "kept-rows",)


@pytest.mark.parametrize(("name", "credential", "found"), [
    ("mei", None, True), ("mei", "SHA256:x", True), ("Mei", None, False), (None, None, False),
    ("mei#SHA256:x", None, False)])
def test_a_permit_is_for_its_pusher(name: str | None, credential: str | None, found: bool):
    got = breakglass.permit_of((permit(),), (MAIN, "a" * 40), name, credential, NOW)
    assert (got is not None) is found


def test_a_permit_can_be_for_one_key():
    one = (permit(pusher="mei#SHA256:x"),)
    pushed = MAIN, "a" * 40
    assert breakglass.permit_of(one, pushed, "mei", "SHA256:x", NOW) == one[0]
    assert breakglass.permit_of(one, pushed, "mei", "SHA256:y", NOW) is None
    assert breakglass.permit_of(one, pushed, "mei", None, NOW) is None


def test_a_permit_is_for_one_update_until_its_end():
    one = (permit(3), permit(2))
    assert breakglass.permit_of(one, (MAIN, "a" * 40), "mei", None, NOW) == one[1]
    assert breakglass.permit_of(one, (MAIN, "b" * 40), "mei", None, NOW) is None
    assert breakglass.permit_of(one, ("refs/heads/x", "a" * 40), "mei", None, NOW) is None
    assert breakglass.permit_of(one, (MAIN, "a" * 40), "mei", None, NOW + 3 * HOUR) is None


def test_permits_are_short_each_is_given_once_and_old_ones_go():
    permits = breakglass.permitting((permit(-1),), permit(), NOW)
    assert permits == (permit(),)
    with pytest.raises(PolicydError, match="is over"):
        breakglass.permitting((), permit(0), NOW)
    with pytest.raises(PolicydError, match="3 days at most, until 2026-09-04T12:00:00"):
        breakglass.permitting((), permit(73), NOW)
    with pytest.raises(PolicydError, match="permitted already, by root until"):
        breakglass.permitting(permits, permit(1), NOW)
    assert len(breakglass.permitting(permits, permit(pusher="bob"), NOW)) == 2


def test_what_is_revoked_must_be_there():
    permits = permit(), permit(pusher="bob")
    assert breakglass.revoking(permits, MAIN, "a" * 40, "bob") == (permit(),)
    with pytest.raises(PolicydError, match="permitted is refs/heads/main to aaaaaaaaaaaa by mei"):
        breakglass.revoking((permit(),), MAIN, "a" * 40, "bob")
    with pytest.raises(PolicydError, match="permitted is nothing"):
        breakglass.revoking((), MAIN, "a" * 40, "bob")


def test_the_latest_uses_are_kept():
    uses: tuple[Use, ...] = ()
    for n in range(25):
        uses = breakglass.used(uses, Use("permit", MAIN, "mei", str(n), (), ""))
    assert [use.reason for use in uses] == [str(n) for n in range(5, 25)]
