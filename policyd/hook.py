"""The pre-receive shell: read, judge, record, tell, exit. Fails closed."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from policyd import logentry
from policyd.adapters import (
    activepolicy,
    clock,
    decisionlog,
    gateacts,
    gatefiles,
    hints,
    identity,
    incidents,
    moment,
    nexthook,
    repoindex,
    reponame,
    statefolder,
)
from policyd.adapters.gitrepo import PushedRepo
from policyd.adapters.hookinput import (
    CHECK,
    Line,
    keep_streams_apart,
    object_folders,
    parse,
    push_options,
    read,
    scrubbed,
)
from policyd.core import breakglass
from policyd.core import index as indexes
from policyd.core.errors import CannotJudge, PolicydError, TryAgain
from policyd.core.evaluate import Outcome
from policyd.core.facts import ZERO
from policyd.core.index import Index
from policyd.core.paused import observed
from policyd.core.policy import Active, Mode
from policyd.gatehouse import Standing
from policyd.judge import Bench, Judgement, Request, judge, must_refuse, policies_for, resolve
from policyd.logentry import Site
from policyd.rules import OPTIONS

ACCEPTED, REFUSED, UNJUDGED = 0, 1, 2

JSON_OPTION = "policyd.json"
"""`git push -o policyd.json`: everything that was found, as one JSON object on the last line."""


def main(home: Path, stdin: bytes | None = None,
         environment: Mapping[str, str] | None = None) -> int:
    """Judge the push on standard input; the exit code for git. Never raises."""
    given = dict(os.environ if environment is None else environment)
    state = None
    try:
        keep_streams_apart()
        data = read() if stdin is None else stdin
        active = activepolicy.load(home, OPTIONS)
        state = Path(active.settings.state)
        code = ACCEPTED
        if not _passes_by(active, given):
            code = _guarded(_site(active, given), parse(data))
    except BaseException as error:
        return _unjudged(error, incidents.report(state, "hook", error), given)
    return _followed(state, data, given) if code == ACCEPTED else code


def _git_dir(given: Mapping[str, str]) -> str:
    return os.path.realpath(given.get("GIT_DIR", "."))


def _passes_by(active: Active, given: Mapping[str, str]) -> bool:
    """Whether a hook for many repositories met one that was never enrolled.

    One that no policy wants passes too where the state folder is another user's, as it may be.
    """
    if not nexthook.is_for_many(given):
        return False
    from policyd.adapters.hosts import strangers

    state, git_dir = active.settings.state, _git_dir(given)
    if strangers.has_key(git_dir):
        return False
    if not strangers.is_mine(state) and not _may_be_wanted(active, git_dir, given):
        return True
    return not strangers.is_recorded(state, git_dir)


def _may_be_wanted(active: Active, git_dir: str, given: Mapping[str, str]) -> bool:
    """Whether a policy takes it in, for all that is known of its name."""
    try:
        name = identity.repository_of(active.settings.identity, given)
    except CannotJudge:
        return True
    try:
        return bool(policies_for(active, name or reponame.name_of(
            Path(git_dir), active.settings.roots)))
    except CannotJudge:
        return False


def _site(active: Active, given: Mapping[str, str]) -> Site:
    settings = active.settings
    git_dir = _git_dir(given)
    name = identity.repository_of(settings.identity, given)
    return Site(active, name or reponame.name_of(Path(git_dir), settings.roots), git_dir, given,
                 clock.now())


def _guarded(site: Site, lines: Sequence[Line]) -> int:
    """Judge; a failure refuses where a rule enforces for this pusher, else it is reported."""
    policies = policies_for(site.active, site.repository)
    try:
        statefolder.check(site.state)  # before anything in it is believed
        site = _at_its_moment(site)
        policies = policies_for(site.active, site.repository)
        site = _known(site, lines)
        if any(line.ref.startswith(CHECK) for line in lines):
            return _checked(site, lines)
        return _judged(site, lines)
    except Exception as error:
        incident = incidents.report(Path(site.state), "hook", error)
        refuses = must_refuse(policies, site.who, site.at)
        _log_unjudged(site, lines, incident, accepted=not refuses)
        return _unjudged(error, incident, site.given) if refuses else ACCEPTED


def _at_its_moment(site: Site) -> Site:
    """With the moment that counts, and with what is in force then."""
    at = moment.of(site.active.settings)
    pause = gatefiles.pause(site.state)
    if pause is None or not pause.holds(at):
        return replace(site, at=at)
    from policyd.core import telling

    _tell(telling.paused(pause), site.given)
    return replace(site, at=at, pause=pause, active=observed(site.active))


def _known(site: Site, lines: Sequence[Line]) -> Site:
    """With who pushes: a server that contradicts itself refuses only where a rule enforces."""
    options = site.active.settings.identity
    return replace(site, who=identity.who_of(options, site.given, [line.ref for line in lines]),
                   signed=identity.is_signed(options, site.given))


def _judged(site: Site, lines: Sequence[Line]) -> int:
    key = repoindex.key_of(site.git_dir)
    if _is_admitted(site, repoindex.load(site.state, key)):
        _admit(site, key, lines)
        return ACCEPTED
    judgement = _judge(site, key, lines)
    entry = logentry.of(site, judgement)
    if judgement.verdict.outcome is Outcome.REFUSED:
        push_id = decisionlog.append(site.state, {**entry, "key": key})
        _tell(_told(site, judgement, push_id), site.given)
        return REFUSED
    let = judgement.let
    push_id = decisionlog.record(site.state, key, entry) if let is None else \
        gateacts.let_through(site.state, key, entry, let.use, let.permit)
    hints.leave(site.state, key, hints.Hint(site.git_dir, {
        update.ref: update.new for update in judgement.updates
        if update.guarded and update.branch}))
    if let or judgement.verdict.of(Mode.WARN):
        _tell(_told(site, judgement, push_id), site.given)
    _tell(_due(site, key, judgement), site.given)
    return ACCEPTED


def _due(site: Site, key: str, judgement: Judgement) -> str:
    """What a maintainer is told of rows that end soon, once a step; "" for anybody else."""
    if site.pusher is None or "maintainers" not in judgement.pusher.groups:
        return ""
    gates = [gate for update in judgement.updates if (gate := update.gate) and gate.soon]
    if not gates:
        return ""
    from policyd.adapters import tolds
    from policyd.core import telling

    gate, today = gates[0], judgement.today
    rows = tolds.fresh(site.state, key, site.pusher, gate.soon, today)
    return telling.due(rows, gate.ref.removeprefix("refs/heads/"), today)


def _is_admitted(site: Site, index: Index) -> bool:
    """Whether enrolment let this pusher make one unjudged push, and this is it."""
    return index.bootstrap is not None and any(
        indexes.admits(index, policy.groups_of(site.who.name, site.who.credential),
                       clock.today(policy.timezone, site.at))
        for policy in policies_for(site.active, site.repository))


def _admit(site: Site, key: str, lines: Sequence[Line]) -> None:
    decisionlog.record(site.state, key, {**logentry.plain(site, lines), "bootstrap": True,
                                         "verdict": Outcome.ACCEPTED.value}, _still_admitting)
    _tell("policyd: taken unjudged, once, as the operator allowed when enrolling\n", site.given)


def _still_admitting(index: Index) -> Index:
    """Under the lock: of two pushes that both found themselves admitted, one is."""
    if index.bootstrap is None:
        raise CannotJudge("the one unjudged push that enrolment allowed was made meanwhile; "
                          "push again, and it is judged")
    return index


def _judge(site: Site, key: str, lines: Sequence[Line]) -> Judgement:
    repo = PushedRepo(site.git_dir, *object_folders(site.given))
    index, movements = decisionlog.settled(
        site.state, key,
        lambda index: {ref: repo.resolve(ref)[1] for ref in indexes.watched(index)},
        git_dir=_place(site, key), name=site.repository)
    standing = Standing(site.state, key, gatefiles.acts(site.state, key), movements)
    request = Request(site.git_dir, site.repository, scrubbed(site.given), site.pusher, site.at,
                      standing, site.who.credential, site.signed,
                      breakglass.asked(push_options(site.given)), _bench(site, key))
    return judge(request, site.active, repo, resolve(repo, lines), index)


def _bench(site: Site, key: str) -> Bench | None:
    """Where relations are replayed, and for how long this push may wait; None during a pause."""
    if site.pause is not None:
        return None
    waits = site.active.settings.replay
    return Bench(site.state, key, waits.of(site.given), waits.at_once,
                 lambda line: _tell(_going_on(line), site.given),
                 {"repository": site.repository})


def _going_on(line: str) -> str:
    """A line to a pusher who waits."""
    from policyd.core import render

    return "\n".join(render.wrapped(f"policyd: {render.printable(line)}", "  ")) + "\n"


def _place(site: Site, key: str) -> str:
    """Where the repository is now; a copy beside the one that was enrolled is another one."""
    known = repoindex.load(site.state, key).git_dir
    if known not in ("", site.git_dir) and repoindex.has_key(known, key):
        raise CannotJudge(f"{site.git_dir} holds the key of {known}: it is a copy of it; "
                          f"`rm {site.git_dir}/{repoindex.KEY_FILE}` there and "
                          f"`policyd enroll {site.git_dir}`")
    return site.git_dir


def _checked(site: Site, lines: Sequence[Line]) -> int:
    """A question: judged as the push would be, always refused, never a movement."""
    key = repoindex.key_of(site.git_dir)
    asked = lines[0]
    branch = f"refs/heads/{asked.ref.removeprefix(CHECK)}"
    held = PushedRepo(site.git_dir).resolve(branch)[1]
    guarded = any(p.guards(branch) for p in policies_for(site.active, site.repository))
    wrong = _cannot_ask(lines, known=held is not None or guarded)
    if wrong:
        from policyd.core import telling

        push_id = decisionlog.append(site.state, {
            "verdict": "check", "key": key, "repository": site.repository, **site.by,
            "policy": site.active.digest, "asked": [line.ref for line in lines]})
        _tell(telling.cannot_ask(wrong, push_id), site.given)
        return REFUSED
    judgement = _judge(site, key, [Line(held or ZERO, asked.new, branch)])
    entry = {**logentry.of(site, judgement), "verdict": "check", "asked": asked.ref, "key": key}
    push_id = decisionlog.append(site.state, entry)
    _tell(_told(site, judgement, push_id, check=branch), site.given)
    return REFUSED


def _cannot_ask(lines: Sequence[Line], *, known: bool) -> str:
    if len(lines) > 1:
        return "a push to refs/check/... holds nothing else; ask alone"
    if lines[0].new == ZERO:
        return "there is nothing to delete under refs/check/"
    return "" if known else f"no branch {lines[0].ref.removeprefix(CHECK)} here, and none guarded"


def _told(site: Site, judgement: Judgement, push_id: str, *, check: str | None = None) -> str:
    """What the pusher reads of a judgement."""
    from policyd.core import telling

    gate = next((u.gate for u in judgement.updates if u.ref == check), None)
    told = telling.Answer(push_id, judgement.pusher, judgement.verdict,
                          judgement.blocks(push_id), check, gate, judgement.today,
                          judgement.use, judgement.no_override)
    return telling.answer(told, everything=JSON_OPTION in push_options(site.given))


def _log_unjudged(site: Site, lines: Sequence[Line], incident: str, *, accepted: bool) -> None:
    """Best effort: what failed may be the log itself, and the incident is told elsewhere too."""
    entry = {**logentry.plain(site, lines), "incident": incident,
             "verdict": Outcome.ACCEPTED.value if accepted else "unjudged"}
    with suppress(PolicydError):
        key = repoindex.key_of(site.git_dir)
        if accepted:
            decisionlog.record(site.state, key, entry)
        else:
            decisionlog.append(site.state, {**entry, "key": key})


def _unjudged(error: BaseException, incident: str, given: Mapping[str, str]) -> int:
    from policyd.core import render

    word = "retry" if isinstance(error, TryAgain) else "stop"
    _tell(render.unjudged(_reason(error), incident, word), given)
    return UNJUDGED


def _reason(error: BaseException) -> str:
    if isinstance(error, PolicydError):
        return str(error)
    if isinstance(error, OSError) and isinstance(error.filename, str):
        return f"{error.filename}: {statefolder.because(error)}; policyd's log has the details"
    return "policyd failed; its log has the details"


def _tell(text: str, given: Mapping[str, str]) -> None:
    """All output in one write, on stderr; a reader that went away changes no verdict."""
    if text and given.get("GL_PROTOCOL") == "web":
        from policyd.core import telling

        text = telling.for_gitlab(text)
    if sys.stderr is not None:
        with suppress(OSError, ValueError):
            sys.stderr.write(text)
            sys.stderr.flush()


def _followed(state: Path, data: bytes, given: Mapping[str, str]) -> int:
    try:
        return nexthook.run(_git_dir(given), data, given)
    except CannotJudge as error:
        return _unjudged(error, incidents.report(state, "hook", error), given)
