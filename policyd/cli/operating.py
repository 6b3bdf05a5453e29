"""What the operator's commands share: one repository, one branch, and whose hands do the work."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

from policyd.adapters import activepolicy, asowner, moment, repoindex
from policyd.adapters.gitrepo import PushedRepo
from policyd.adapters.reponame import known_as
from policyd.cli import repositories as shared
from policyd.core.errors import PolicydError
from policyd.core.policy import Active, Policy
from policyd.core.rows import DatedRow
from policyd.core.values import dataclass
from policyd.gatehouse import Standing, outside_of_pushes, records_of
from policyd.judge import policies_for
from policyd.rules import OPTIONS


@dataclass(frozen=True, slots=True)
class Opened:
    """A repository that a command works on, as the owner of the state folder sees it."""

    active: Active
    git_dir: Path
    key: str
    name: str
    policies: tuple[Policy, ...]
    repo: PushedRepo

    @property
    def state(self) -> str:
        return self.active.settings.state

    def branch(self, name: str) -> str:
        """The full name of a guarded branch. Raises PolicydError where it is none."""
        ref = name if name.startswith("refs/") else f"refs/heads/{name}"
        if not ref.startswith("refs/heads/") or not any(p.guards(ref) for p in self.policies):
            globs = ", ".join(dict.fromkeys(g.glob for p in self.policies for g in p.guarded))
            raise PolicydError(f"{name} is no guarded branch of {self.name}; guarded are {globs}")
        return ref

    def policy_of(self, ref: str) -> Policy:
        """The first policy that guards a branch."""
        return next(policy for policy in self.policies if policy.guards(ref))

    def rows(self, ref: str) -> tuple[DatedRow, ...]:
        """The rows that the branch's gate reads, under every policy that guards it."""
        files = outside_of_pushes(str(self.git_dir), self.repo, Standing(self.state, self.key),
                                  budget=1 << 26, seconds=60.0)
        found = (records_of(policy, ref, {}, self.repo, files).rows
                 for policy in self.policies if policy.guards(ref))
        return tuple(dict.fromkeys(row for rows in found for row in rows))


def as_keeper(home: Path, words: list[str], work: Callable[[], Any]) -> Any:
    """What `work` returns, run as the owner of the state folder; `words` are what was typed."""
    home = Path(os.path.abspath(home))
    state = Path(activepolicy.load(home, OPTIONS).settings.state)
    line = shlex.join(["policyd", "--home", str(home), *words])
    return asowner.run(asowner.owner_of(state), work, command=line)


def opened(home: Path, repository: Path) -> Opened:
    """Raises CannotJudge and PolicydError where it is not enrolled or not there."""
    active = activepolicy.load(Path(os.path.abspath(home)), OPTIONS)
    git_dir = shared.git_dir_of(repository)
    key = repoindex.key_of(git_dir)
    name = known_as(git_dir, active.settings, repoindex.load(active.settings.state, key).name)
    return Opened(active, git_dir, key, name, policies_for(active, name),
                  PushedRepo(str(git_dir)))


def now_of(active: Active) -> str:
    """The moment that counts, as the log and the state folder write it."""
    return moment.seen(active.settings).isoformat(timespec="milliseconds")
