"""The judgement: from a request to a verdict. Any process can host it; it writes nothing."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from datetime import date, datetime
from functools import partial, reduce
from typing import TYPE_CHECKING

from policyd.adapters import clock
from policyd.adapters.gitchild import GitChild
from policyd.adapters.gitrepo import Missing, PushedRepo
from policyd.adapters.hookinput import Line
from policyd.adapters.look import Look, RefLine
from policyd.core import breakglass, gates
from policyd.core.breakglass import Asked, Permit, Use
from policyd.core.errors import CannotJudge
from policyd.core.evaluate import Outcome, Verdict, enforces, evaluate, needs_of, together
from policyd.core.facts import ZERO, Need, Pusher, Situation, Update, Who
from policyd.core.index import Index
from policyd.core.policy import Active, Mode, Policy
from policyd.core.values import dataclass
from policyd.gatehouse import Bookkeeper, Standing, record_files
from policyd.insides import Reader
from policyd.rules import BY_ID

if TYPE_CHECKING:  # what mends a refusal is not imported for a push that is accepted
    from policyd.core.repair import Block
    from policyd.core.rule import Finding
    from policyd.witness import Witness


@dataclass(frozen=True, slots=True)
class Bench:
    """Where relations are replayed, and what that may take."""

    state: str
    key: str
    """Of the repository."""
    waits: float
    """Seconds that this push may wait."""
    at_once: int = 2
    progress: Callable[[str], None] | None = None
    about: Mapping[str, str] | None = None
    """For people: the repository's name."""


@dataclass(frozen=True, slots=True)
class Request:
    """A push, as far as the server's word goes."""

    git_dir: str
    repository: str
    """Its name: the path below the server's roots, without .git."""
    environment: Mapping[str, str]
    """What git gave to the hook, without secrets; git children need it."""
    pusher: str | None
    at: datetime
    standing: Standing = field(default_factory=Standing)
    credential: str | None = None
    """What the server let in, where it says so."""
    signed: bool = False
    """Whether the push is signed, by a key that the server trusts."""
    override: Asked | None = None
    """The override that its pusher asks for."""
    bench: Bench | None = None
    """Where relations are replayed; None: they are not."""


@dataclass(frozen=True, slots=True)
class LetThrough:
    """How a push passes that rules refuse, and the permit that it uses up."""

    use: Use
    permit: Permit | None = None


@dataclass(frozen=True, slots=True)
class _Judged:
    """One policy's part: what it saw and what it found."""

    policy: Policy
    look: Look
    given: Situation
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict of all policies, and what the messages about it need."""

    verdict: Verdict
    updates: tuple[Update, ...]
    pusher: Pusher
    parts: tuple[_Judged, ...]
    let: LetThrough | None = None
    no_override: str = ""
    """Why the override that was asked for does not help, a sentence's end."""

    @property
    def is_refused(self) -> bool:
        return self.verdict.outcome is Outcome.REFUSED

    @property
    def today(self) -> date:
        """The day of the first policy; they differ only by their time zones."""
        return self.parts[0].given.today

    @property
    def use(self) -> Use | None:
        return None if self.let is None else self.let.use

    def blocks(self, push_id: str) -> dict[int, Block]:
        """What mends each enforced finding, by its position among them; none where it passes."""
        if self.verdict.outcome is Outcome.ACCEPTED:
            return {}
        from policyd.adapters.mend import Mending
        from policyd.core.repair import advice, block

        found: dict[int, Block] = {}
        refusing = self.verdict.of(Mode.ENFORCE)
        for part in self.parts:
            mine = {n: v.finding for n, v in enumerate(refusing) if v.policy == part.policy.name}
            mending = Mending(part.look, part.given, tuple(mine.values()), push_id,
                              partial(_refusing, part))
            for number, finding in mine.items():
                lead = mending.lead(finding)
                found[number] = advice(lead) or block(
                    lead, mending.ground(lead, partial(_writers, part.policy)), push_id)
        return found


def judge(request: Request, active: Active, repo: PushedRepo, lines: Sequence[RefLine],
          index: Index) -> Judgement:
    """Judge a push under every policy that holds for its repository. Raises CannotJudge."""
    policies = policies_for(active, request.repository)
    parts = tuple(_part(request, policy, repo, lines, index) for policy in policies)
    verdict = together(tuple(part.verdict for part in parts))
    updates = tuple(_combined([part.given.updates[n] for part in parts])
                    for n in range(len(parts[0].given.updates)))
    judgement = Judgement(verdict, updates, parts[0].given.pusher, parts)
    if verdict.outcome is Outcome.ACCEPTED and request.bench is not None:
        judgement = _witnessed(request, judgement, repo, request.bench)
    return _let_through(request, judgement) if judgement.is_refused else judgement


def _witnessed(request: Request, passed: Judgement, repo: PushedRepo, bench: Bench) -> Judgement:
    """What every other rule accepts is replayed, where a policy asks for it."""
    if not any(Need.REPLAY in needs_of(part.policy, BY_ID) for part in passed.parts):
        return passed
    from policyd.witness import Witness

    witness = Witness(repo, bench, request.at)
    parts = tuple(_replayed(witness, part) for part in passed.parts)
    return replace(passed, parts=parts, verdict=together(tuple(p.verdict for p in parts)))


def _replayed(witness: Witness, part: _Judged) -> _Judged:
    given, verdict = witness.judged(part.policy, part.given, part.verdict)
    return replace(part, given=given, verdict=verdict)


def _let_through(request: Request, refused: Judgement) -> Judgement:
    """A refused push, let through where an override or a permit does it; else why none does."""
    rules = tuple(dict.fromkeys(v.rule.id for v in refused.verdict.of(Mode.ENFORCE)))
    use = Use("override", refused.updates[0].ref, refused.pusher.name or "", "", rules,
              request.at.isoformat(timespec="milliseconds"), more=len(refused.updates) - 1)
    excused = replace(refused, verdict=replace(refused.verdict, excused=True))
    why = _no_override(request.override, refused.parts)
    if request.override is not None and not why:
        return replace(excused, let=LetThrough(replace(use, reason=request.override.reason)))
    permit = _permit(request, refused)
    if permit is None:
        return replace(refused, no_override=why)
    use = replace(use, by="permit", reason=permit.reason, operator=permit.operator)
    return replace(excused, let=LetThrough(use, permit))


def _no_override(asked: Asked | None, parts: Sequence[_Judged]) -> str:
    """Each policy that refuses must let this pusher override all that it refuses."""
    if asked is None or asked.fault:
        return asked.fault if asked else ""
    for part in parts:
        refusing = [v.rule.id for v in part.verdict.of(Mode.ENFORCE)]
        beyond = breakglass.out_of_reach(part.policy.override, part.given.pusher.groups, refusing)
        if refusing and beyond is None:
            return f"it is not for {part.given.pusher.name or 'who has no name'}"
        if beyond:
            return f"it does not reach {', '.join(beyond)}"
    return ""


def _permit(request: Request, refused: Judgement) -> Permit | None:
    """A permit is for a push of one ref whose history could be looked at, and for nothing else."""
    update, *others = refused.updates
    if others or (update.new is not None and (update.peels != "commit" or not update.whole)):
        return None
    return breakglass.permit_of(request.standing.acts.permits, (update.ref, update.new or ZERO),
                                request.pusher, request.credential, request.at)


def _combined(views: Sequence[Update]) -> Update:
    """One update as all policies see it: guarded, gated and booked where any of them says so."""
    first = views[0]
    if len(views) == 1:
        return first
    found = [view.gate for view in views if view.gate is not None]
    return replace(first, guarded=any(view.guarded for view in views),
                   books=next((view.books for view in views if view.books), None),
                   intake=next((view.intake for view in views if view.intake), None),
                   gate=reduce(gates.both, found) if found else None)


def policies_for(active: Active, repository: str) -> tuple[Policy, ...]:
    """The policies that hold for a repository. Raises CannotJudge when there is none."""
    any_case = active.settings.identity.any_case
    found = tuple(policy for policy in active.policies
                  if policy.holds_for(repository, any_case=any_case))
    if not found:
        raise CannotJudge(f"no policy holds for the repository {repository}; the operator names "
                          "it in a policy's `repositories` and runs `policyd policy apply`")
    return found


def must_refuse(policies: Sequence[Policy], who: Who, at: datetime) -> bool:
    """Whether a push that cannot be judged is refused: some rule enforces for this pusher.

    Which refs are guarded may be what could not be found out, so that each counts as guarded.
    """
    return any(enforces(policy, policy.groups_of(who.name, who.credential),
                        clock.today(policy.timezone, at), guarded=True) for policy in policies)


def resolve(repo: PushedRepo, lines: Sequence[Line]) -> tuple[RefLine, ...]:
    """The lines against the repository: symbolic refs followed, old ids read and not believed."""
    resolved = [(line, *repo.resolve(line.ref)) for line in lines]
    times = Counter(ref for _, ref, _ in resolved)
    return tuple(
        RefLine(ref, held, None if line.new == ZERO else line.new,
                line.old if line.old != (held or ZERO) else None, times[ref] > 1)
        for line, ref, held in resolved)


def _part(request: Request, policy: Policy, repo: PushedRepo, lines: Sequence[RefLine],
          index: Index) -> _Judged:
    """Nothing is refused for a commit that is accepted already: a refusal looks twice."""
    part = _once(request, policy, repo, lines, index)
    known = _overlooked(part.look) if part.verdict.outcome is Outcome.REFUSED else ()
    if not known:
        return part
    return _once(request, policy, repo, lines, replace(index, extra=(*index.extra, *known)))


def _overlooked(look: Look) -> tuple[str, ...]:
    try:
        return look.overlooked()
    except (Missing, OSError, CannotJudge):
        return ()  # it cannot be told: the refusal stands


def _once(request: Request, policy: Policy, repo: PushedRepo, lines: Sequence[RefLine],
          index: Index) -> _Judged:
    deadline = time.monotonic() + policy.bounds.seconds
    pusher = Pusher(request.pusher, policy.groups_of(request.pusher, request.credential),
                    request.credential, request.signed)
    tips = {ref: tip for ref, tip in index.branches.items() if policy.guards(ref)}
    child = GitChild(request.git_dir, request.environment, deadline)
    look = Look(repo, child, policy, tips=tips, extra=index.extra, groups=pusher.groups,
                deadline=deadline)
    needs = needs_of(policy, BY_ID)
    try:
        updates = look.updates(lines, needs)
        if needs & {Need.LITERALS, Need.CONTENT}:
            reader = Reader(look, index, request.at, deadline, lambda: record_files(
                repo, look.trees, child, request.standing, policy.bounds.lease_bytes),
                request.standing.sheets)
            updates = tuple(map(reader.with_insides, updates))
        if needs & {Need.GATE, Need.RECORDS}:
            updates = _with_books(look, child, request, updates, needs, deadline)
        if Need.PROPOSALS in needs:
            updates = _with_intake(look, request, updates, index, deadline)
        _refuse_unreadable(policy, updates)
        given = _situation(policy, pusher, updates, empty=not tips, at=request.at)
        verdict = evaluate(given, policy, BY_ID, seconds=time.perf_counter)
        reverting = _reverting(look, given) if verdict.violations else given
    except Missing as error:
        raise CannotJudge(f"the object {error} is not in the repository; the operator runs "
                          f"`git fsck` in {request.git_dir}") from error
    if reverting is not given:
        verdict = evaluate(reverting, policy, BY_ID, seconds=time.perf_counter)
    return _Judged(policy, look, reverting, verdict)


def _with_books(look: Look, child: GitChild, request: Request, updates: Sequence[Update],
                needs: frozenset[Need], deadline: float) -> tuple[Update, ...]:
    files = record_files(look.repo, look.trees, child, request.standing,
                         look.policy.bounds.lease_bytes)
    keeper = Bookkeeper(look, files, request.standing,
                        clock.today(look.policy.timezone, request.at), needs, deadline)
    pushed = {update.ref: update.tip for update in updates if update.tip is not None}
    return tuple(keeper.with_books(update, pushed) for update in updates)


def _with_intake(look: Look, request: Request, updates: tuple[Update, ...], index: Index,
                 deadline: float) -> tuple[Update, ...]:
    """Only for a push that has to do with proposals, its pusher's earlier ones among them."""
    clause, overlap = (look.policy.clause(rule) for rule in ("fair-proposals", "literal-overlap"))
    zone = clause.options.zone if clause else ""
    if not any(request.pusher in one.by for one in index.proposed) \
            and not any(zone in touch.zones for update in updates for touch in update.net):
        return updates
    from policyd.intake import Asked, Clerk

    clerk = Clerk(look, Asked.of(zone, overlap.options.allow_file if overlap else "",
                                 request.pusher, index.proposed), deadline)
    return tuple(map(clerk.with_intake, updates))


def _reverting(look: Look, given: Situation) -> Situation:
    """Asked only once something was found, and of maintainers: history is walked for it."""
    if "maintainers" not in given.pusher.groups:
        return given
    from policyd.adapters import reverts

    updates = tuple(replace(update, revert=reverts.is_revert(look, update))
                    for update in given.updates)
    return replace(given, updates=updates) if any(u.revert for u in updates) else given


def _refuse_unreadable(policy: Policy, updates: Sequence[Update]) -> None:
    """What cannot be looked at is a finding of ordinary-refs; without it, it is no pass."""
    clause = policy.clause("ordinary-refs")
    if clause is not None and clause.mode is Mode.ENFORCE:
        return
    for update in updates:
        if update.new is not None and (update.peels != "commit" or not update.whole):
            raise CannotJudge(f"{update.ref} leads to no whole history that could be looked at, "
                              "and ordinary-refs does not enforce; the operator lets it")


def _situation(policy: Policy, pusher: Pusher, updates: tuple[Update, ...], *, empty: bool,
               at: datetime) -> Situation:
    writers = _zone_writers(policy)
    apart = {zone for rights in _option(policy, "separate-authorship", "keep_apart").values()
             for zone in rights}
    return Situation(
        pusher, updates, creator=bool(pusher.groups & set(policy.creators)),
        creators=_names(policy, policy.creators),
        rewriter=bool(pusher.groups & set(policy.rewriters)), empty=empty,
        may_write=frozenset(z for z, groups in writers.items() if pusher.groups & set(groups)),
        protected=frozenset(writers) | apart, members=policy.members, together=policy.together,
        mirror=policy.mirror,
        today=clock.today(policy.timezone, at))


def _option(policy: Policy, rule: str, name: str) -> Mapping[str, tuple[str, ...]]:
    clause = policy.clause(rule)
    found: Mapping[str, tuple[str, ...]] = getattr(clause.options, name) if clause else {}
    return found


def _zone_writers(policy: Policy) -> Mapping[str, tuple[str, ...]]:
    return _option(policy, "protected-writers", "writers")


def _writers(policy: Policy, zones: Sequence[str]) -> tuple[str, ...]:
    """The names of those who may write all of the zones; the maintainers where none is listed."""
    writers = _zone_writers(policy)
    groups = [set(writers.get(zone, ("maintainers",))) for zone in zones] or [{"maintainers"}]
    return _names(policy, sorted(set.intersection(*groups)))


def _names(policy: Policy, groups: Sequence[str]) -> tuple[str, ...]:
    members = policy.members
    return tuple(dict.fromkeys(name for group in groups for name in members.get(group, ())))


def _refusing(part: _Judged, update: Update) -> tuple[Finding, ...]:
    """What would refuse this update if it were pushed alone."""
    verdict = evaluate(replace(part.given, updates=(update,)), part.policy, BY_ID,
                       seconds=time.perf_counter)
    return tuple(violation.finding for violation in verdict.of(Mode.ENFORCE))
