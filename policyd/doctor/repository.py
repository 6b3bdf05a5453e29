"""One repository: whether the hook is there and runs, and whether what it judges can be read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from policyd.adapters import repoconfig, repoindex, treepaths
from policyd.adapters.gitrepo import PushedRepo
from policyd.adapters.reponame import known_as
from policyd.adapters.statefolder import because
from policyd.core.enrolment import guarded_tips
from policyd.core.errors import CannotJudge, PolicydError
from policyd.core.policy import Active, Policy
from policyd.core.values import dataclass
from policyd.core.zones import ZoneMap
from policyd.doctor import hook
from policyd.doctor.findings import Finding, fault, note, warning
from policyd.judge import policies_for

FSCK = (("receive.fsckObjects", "true"), ("receive.fsck.badFilemode", "error"))
"""What keeps odd trees out before policyd looks; ordinary-tree refuses them all the same."""
MANY = 64
"""Object files whose owners are looked at."""


@dataclass(frozen=True, slots=True)
class Place:
    """A repository that is looked at."""

    active: Active
    home: Path
    git_dir: Path
    program: Path
    """The Python that an installed hook has to name."""

    @property
    def name(self) -> str:
        return str(self.git_dir)


def look(place: Place) -> Iterator[Finding]:
    """Everything about one repository that its pushes depend on."""
    yield from _key(place)
    yield from hook.look(hook.Place(place.git_dir, place.home, place.program))
    yield from _owners(place)
    yield from _configuration(place)
    try:
        repo = PushedRepo(place.name)
    except CannotJudge as error:
        yield fault("format", place.name, str(error), "convert the repository: policyd reads "
                    "SHA-1 objects and files as refs, and no partial clone")
        return
    yield from _policies(place, repo)


def _key(place: Place) -> Iterator[Finding]:
    line = f"policyd enroll {place.name}"
    try:
        key = repoindex.key_of(place.git_dir)
        index = repoindex.load(place.active.settings.state, key)
    except CannotJudge as error:
        yield fault("enrolment", place.name, str(error), line)
        return
    if index.git_dir not in ("", place.name):
        if repoindex.has_key(index.git_dir, key):
            yield fault("enrolment", place.name, f"it holds the key of {index.git_dir}: it is a "
                        "copy", f"rm {place.name}/{repoindex.KEY_FILE}; {line}")
        else:
            yield note("enrolment", place.name, f"it was at {index.git_dir} before",
                       "the next push notes where it is")


def _owners(place: Place) -> Iterator[Finding]:
    owner = os.stat(place.git_dir).st_uid
    judge = os.stat(place.active.settings.state).st_uid
    if owner != judge:
        yield warning("owner", place.name, f"it belongs to uid {owner}, and the state folder to "
                      f"uid {judge}: pushes must arrive as uid {judge}",
                      "let git and policyd run as one user")
    seen: dict[int, str] = {}
    for folder in ("objects", "refs/heads"):
        with suppress(OSError):
            for count, entry in enumerate(os.scandir(place.git_dir / folder)):
                seen.setdefault(entry.stat(follow_symlinks=False).st_uid, entry.path)
                if count >= MANY:
                    break
    strangers = {uid: path for uid, path in seen.items() if uid != owner}
    for uid, path in strangers.items():
        yield warning("owner", path, f"it was written by uid {uid}: pushes arrive as several "
                      "users, and policyd judges those of one", "give all pushes one user")


def _configuration(place: Place) -> Iterator[Finding]:
    for name, wanted in FSCK:
        found = repoconfig.value(place.git_dir, name)
        if found != wanted:
            line = f"git -C {place.name} config {name} {wanted}"
            yield note("fsck", place.name, f"{name} is {found or 'unset'}: git takes odd trees "
                       "that ordinary-tree then refuses", line)
    if repoconfig.value(place.git_dir, repoconfig.OFFERED) == "false":
        yield note("push options", place.name, "pushers cannot use `git push -o`",
                   f"git -C {place.name} config {repoconfig.OFFERED} true")


def _policies(place: Place, repo: PushedRepo) -> Iterator[Finding]:
    try:
        name = _name(place)
        policies = policies_for(place.active, name)
        refs = repo.refs()
        tips = guarded_tips(policies, refs)
        paths = treepaths.paths(repo, tips.values())
    except PolicydError as error:
        yield fault("policy", place.name, str(error), "see the sentence")
        return
    except OSError as error:
        yield fault("repository", place.name, because(error), "git fsck")
        return
    for policy in policies:
        yield from _aliases(policy, repo, place)
        yield from _zones(policy, paths, place)


def _name(place: Place) -> str:
    """What policies call it: as its last push or its enrolment was told."""
    told = ""
    with suppress(CannotJudge):
        key = repoindex.key_of(place.git_dir)
        told = repoindex.load(place.active.settings.state, key).name
    return known_as(place.git_dir, place.active.settings, told)


def _aliases(policy: Policy, repo: PushedRepo, place: Place) -> Iterator[Finding]:
    """A symbolic ref that leads to a guarded branch: pushes to it move that branch."""
    for name in repo.names("refs/"):
        ref, _ = repo.resolve(name)
        if ref != name and policy.guards(ref) and not policy.guards(name):
            yield note("alias", place.name, f"{name} leads to {ref}, which {policy.name} guards; "
                       "pushes to it are judged as pushes there", "nothing, if that is meant")


def _zones(policy: Policy, paths: frozenset[str], place: Place) -> Iterator[Finding]:
    if not paths:
        return
    named = tuple(zone for zone in policy.zones if "*" not in zone.name and "/" not in zone.name)
    zones = ZoneMap(named)
    lying = [zones.of(path) for path in paths]
    held = {name for names in lying for name in names}
    outside = sum(not names for names in lying)
    for zone in named:
        if zone.name not in held and zone.name in ("source", "tests", "oracle"):
            yield warning("zones", place.name, f"zone {zone.name} of {policy.name} matches no "
                          "path of the guarded branches", "policyd policy lint --repo "
                          f"{place.name}")
    if outside * 2 > len(paths):
        yield note("zones", place.name, f"{outside} of {len(paths)} paths lie in no zone of "
                   f"{policy.name}", "name them, or be content that nobody judges them")
