"""The pre-receive shell: read, judge, record, tell, exit. Fails closed."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from policyd.adapters import activepolicy, clock, decisionlog, incidents, nexthook, repoindex
from policyd.adapters.gitrepo import PushedRepo
from policyd.core import index as indexes
from policyd.core import render
from policyd.core.errors import CannotJudge, PolicydError
from policyd.core.evaluate import Outcome, Violation
from policyd.core.policy import Active, Mode
from policyd.judge import Judgement, Line, Request, judge, must_refuse, policies_for, resolve
from policyd.rules import OPTIONS

ACCEPTED, REFUSED, UNJUDGED = 0, 1, 2

_LINE = re.compile(rb"([0-9a-f]{40}) ([0-9a-f]{40}) ([^\x00\n ]+)")
_SHA256 = re.compile(rb"[0-9a-f]{64} [0-9a-f]{64} ")
_SECRET = re.compile(r"AUTH|COOKIE|TOKEN|SECRET|PASS|CREDENTIAL|PRIVATE|PUSH_CERT\Z")
_MISLEADING = re.compile(r"GIT_(TRACE|CONFIG|SSH|ASKPASS|EDITOR|PAGER|EXTERNAL|ATTR|REPLACE|GRAFT"
                         r"|SHALLOW|INDEX|WORK_TREE|NAMESPACE|CEILING)|LD_|PYTHON")


@dataclass(frozen=True, slots=True)
class _Site:
    """What is known before the judgement: where the failures go, and what is in force."""

    active: Active
    repository: str
    git_dir: str

    @property
    def state(self) -> str:
        return self.active.settings.state


def main(home: Path, stdin: bytes | None = None,
         environment: Mapping[str, str] | None = None) -> int:
    """Judge the push on standard input; the exit code for git. Never raises."""
    given = dict(os.environ if environment is None else environment)
    state = None
    try:
        data = sys.stdin.buffer.read() if stdin is None else stdin
        active = activepolicy.load(home, OPTIONS)
        state = Path(active.settings.state)
        site = _site(active, given)
        code = _guarded(site, parse(data), given)
    except BaseException as error:
        return _unjudged(state, error)
    return _followed(site, data, given) if code == ACCEPTED else code


def parse(data: bytes) -> tuple[Line, ...]:
    """The lines that git wrote. Raises CannotJudge: an empty input is no push."""
    lines = []
    for raw in data.removesuffix(b"\n").split(b"\n"):
        match = _LINE.fullmatch(raw)
        if match is None:
            raise CannotJudge(_malformed(data, raw))
        old, new, ref = match.groups()
        lines.append(Line(old.decode(), new.decode(), ref.decode("utf-8", "surrogateescape")))
    return tuple(lines)


def _malformed(data: bytes, raw: bytes) -> str:
    if not data.strip():
        return "no ref lines received; whatever runs this hook must hand git's input on"
    if _SHA256.match(raw):
        return "the repository uses SHA-256 object ids, which libgit2 cannot read"
    return "a line of the hook's input is not `old new ref`"


def _site(active: Active, given: Mapping[str, str]) -> _Site:
    git_dir = os.path.realpath(given.get("GIT_DIR", "."))
    name = git_dir.removesuffix(".git").removesuffix("/")
    for root in active.settings.roots:
        if name.startswith(f"{root.rstrip('/')}/"):
            return _Site(active, name[len(root.rstrip("/")) + 1:], git_dir)
    return _Site(active, name.lstrip("/"), git_dir)


def _guarded(site: _Site, lines: Sequence[Line], given: Mapping[str, str]) -> int:
    """Judge; a failure refuses where a rule enforces on a pushed ref, else it is reported."""
    policies = policies_for(site.active, site.repository)
    try:
        return _judged(site, lines, given)
    except Exception as error:
        incident = incidents.report(Path(site.state), "hook", error)
        refuses = must_refuse(policies, _pusher(site.active, given),
                              [line.ref for line in lines], clock.now())
        _log_unjudged(site, lines, given, incident, accepted=not refuses)
        if refuses:
            return _tell_unjudged(error, incident)
        return ACCEPTED


def _log_unjudged(site: _Site, lines: Sequence[Line], given: Mapping[str, str], incident: str, *,
                  accepted: bool) -> None:
    """Best effort: what failed may be the log itself, and the incident is told elsewhere too."""
    guarded = [any(p.guards(line.ref) for p in policies_for(site.active, site.repository))
               for line in lines]
    entry = {
        "verdict": Outcome.ACCEPTED.value if accepted else "unjudged", "incident": incident,
        "repository": site.repository, "pusher": _pusher(site.active, given),
        "policy": site.active.digest, "updates": [
            {"ref": line.ref, "old": line.old, "new": line.new, "rewrites": False, "guarded": g}
            for line, g in zip(lines, guarded, strict=True)]}
    with suppress(PolicydError):
        key = repoindex.key_of(site.git_dir)
        if accepted:
            decisionlog.record(site.state, key, entry)
        else:
            decisionlog.append(site.state, {**entry, "key": key})


def _judged(site: _Site, lines: Sequence[Line], given: Mapping[str, str]) -> int:
    key = repoindex.key_of(site.git_dir)
    repo = PushedRepo(site.git_dir, *_object_folders(given))
    index, _ = decisionlog.settled(site.state, key, lambda index: {
        ref: repo.resolve(ref)[1] for ref in indexes.watched(index)})
    request = Request(site.git_dir, site.repository, scrubbed(given),
                      _pusher(site.active, given), clock.now())
    resolved = resolve(repo, lines)
    judgement = judge(request, site.active, repo, resolved, index)
    entry = _entry(site, request, judgement)
    if judgement.verdict.outcome is Outcome.REFUSED:
        return _refused(site, key, entry, judgement)
    decisionlog.record(site.state, key, entry, at=request.at)
    warnings = judgement.verdict.of(Mode.WARN)
    if warnings:
        _tell(render.warning(warnings, judgement.pusher))
    return ACCEPTED


def _refused(site: _Site, key: str, entry: Mapping[str, object], judgement: Judgement) -> int:
    push_id = decisionlog.append(site.state, {**entry, "key": key})
    violations = judgement.verdict.of(Mode.ENFORCE)
    _tell(render.rejection(render.Told(
        push_id, judgement.pusher, violations, judgement.blocks(push_id))))
    return REFUSED


def _entry(site: _Site, request: Request, judgement: Judgement) -> dict[str, object]:
    return {
        "verdict": judgement.verdict.outcome.value, "repository": site.repository,
        "pusher": request.pusher, "policy": site.active.digest,
        "updates": indexes.logged(judgement.updates),
        "findings": [_logged(v) for v in judgement.verdict.violations],
        "ms": {rule: round(spent, 2) for rule, spent in judgement.verdict.spent.items()}}


def _logged(violation: Violation) -> dict[str, str]:
    return {"rule": violation.rule.id, "mode": violation.mode.value, "policy": violation.policy,
            "ref": violation.finding.ref, "says": violation.finding.says}


def scrubbed(given: Mapping[str, str]) -> dict[str, str]:
    """The environment without secrets, and without what would change what git children see."""
    return {name: value for name, value in given.items()
            if not _SECRET.search(name) and not _MISLEADING.match(name)}


def _object_folders(given: Mapping[str, str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The quarantine, and the other object folders that git names besides the repository's."""
    quarantine = given.get("GIT_OBJECT_DIRECTORY") or given.get("GIT_QUARANTINE_PATH")
    others = given.get("GIT_ALTERNATE_OBJECT_DIRECTORIES", "").split(":")
    return ((os.path.abspath(quarantine),) if quarantine else (),
            tuple(os.path.abspath(folder) for folder in others if os.path.isdir(folder)))


def _pusher(active: Active, given: Mapping[str, str]) -> str | None:
    """The name by the server's word: the variable that policyd.yaml names."""
    return given.get(active.settings.identity.name) or None


def _unjudged(state: Path | None, error: BaseException) -> int:
    return _tell_unjudged(error, incidents.report(state, "hook", error))


def _tell_unjudged(error: BaseException, incident: str) -> int:
    known = isinstance(error, PolicydError)
    reason = str(error) if known else "policyd failed; its log has the details"
    _tell(render.unjudged(reason, incident, "stop"))
    return UNJUDGED


def _tell(text: str) -> None:
    """All output in one write, on stderr; a reader that went away changes no verdict."""
    with suppress(OSError, ValueError):
        sys.stderr.write(text)
        sys.stderr.flush()


def _followed(site: _Site, data: bytes, given: Mapping[str, str]) -> int:
    try:
        return nexthook.run(site.git_dir, data, given)
    except BaseException as error:
        return _unjudged(Path(site.state), error)
