"""Which policies are tried on a repository that need not be enrolled anywhere."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from policyd.adapters import gitfolder, policyfiles
from policyd.adapters.gitrepo import PushedRepo
from policyd.adapters.reponame import name_of
from policyd.cli.policy import files
from policyd.core.compiled import CASES, SETTINGS, Compiled, compile_home
from policyd.core.decoding import unknown
from policyd.core.errors import CannotJudge, PolicydError
from policyd.core.policy import Policy
from policyd.core.values import dataclass

_HEADS = "refs/heads/"
_NO_SETTINGS = b"state: /nonexistent\n"
"""Where no home says more; nothing is kept."""


@dataclass(frozen=True, slots=True)
class Tried:
    """The policies, what they call the repository, and what to know about the choice."""

    policies: tuple[Policy, ...]
    repository: str
    notes: tuple[str, ...] = ()


def policies(home: Path, against: str | None, git_dir: Path) -> Tried:
    """Those of HOME's files that would hold, or the one that is named. Raises PolicydError."""
    if against is not None:
        return _against(home, against, git_dir)
    compiled = files.compiled(home)
    name = _name(compiled, git_dir)
    any_case = compiled.settings.identity.any_case
    found = tuple(policy for policy in compiled.policies
                  if policy.holds_for(name, any_case=any_case))
    if found:
        return Tried(found, name)
    first = compiled.policies[0]
    return Tried((first,), name, (
        f"no policy holds for {name}; judged under {first.name}, as if it did",))


def demand_rules(found: Collection[Policy], only: Collection[str]) -> None:
    """Raises PolicydError for a rule that there is not, or that no policy names."""
    named = {clause.rule for policy in found for clause in policy.clauses}
    for rule in only:
        if rule not in files.rules():
            raise PolicydError(unknown("rule", rule, list(files.rules())))
        if rule not in named:
            raise PolicydError(f"{' and '.join(policy.name for policy in found)} does not name "
                               f"{rule}; name it in a copy of the file, and the copy with "
                               "--against")


def unnamed(found: Collection[Policy]) -> tuple[str, ...]:
    """The rules that none of the policies names."""
    named = {clause.rule for policy in found for clause in policy.clauses}
    return tuple(rule for rule in files.rules() if rule not in named)


def branch(found: Collection[Policy], repo: PushedRepo, named: str | None) -> str:
    """The branch by its full name: as named, what HEAD leads to, or the first guarded one."""
    if named is not None:
        return named if named.startswith("refs/") else _HEADS + named
    head, tip = repo.resolve("HEAD")
    if tip is not None and any(policy.guards(head) for policy in found):
        return head
    heads = sorted(repo.names(_HEADS))
    for policy in found:
        for pattern in policy.guarded:
            for ref in heads:
                if not pattern.negate and pattern.matches(ref) and policy.guards(ref):
                    return ref
    if tip is None or not head.startswith(_HEADS):
        raise CannotJudge(f"{repo.git_dir} has no branch that a policy guards, and none that is "
                          "its own; name one with --branch")
    return head


def _against(home: Path, against: str, git_dir: Path) -> Tried:
    """A file is compiled with HOME's others, which it may extend; a name is one of these."""
    path = Path(against)
    found = policyfiles.sources(home) if home.is_dir() else {}
    found = {source: data for source, data in found.items() if not source.endswith(CASES)}
    name = against.removesuffix(".yaml")
    if path.is_file():
        name = path.name.removesuffix(".yaml")
        found[f"policies/{name}.yaml"] = path.read_bytes()
    elif not home.is_dir():
        raise PolicydError(f"{against} is no file, and {home} is no home with a policy of that "
                           "name")
    found.setdefault(SETTINGS, _NO_SETTINGS)
    compiled = compile_home(found, files.rules(), knows_timezone=policyfiles.knows_timezone)
    chosen = next((policy for policy in compiled.policies if policy.name == name), None)
    if chosen is None and f"policies/{name}.yaml" in found:
        raise PolicydError(f"{name} is a base, without `repositories`; a policy that extends it "
                           "can be tried")
    if chosen is None:
        raise PolicydError(f"no file and no policy {against}; the home has "
                           f"{', '.join(policy.name for policy in compiled.policies)}")
    return Tried((chosen,), _name(compiled, git_dir))


def _name(compiled: Compiled, git_dir: Path) -> str:
    """Below the server's roots; what lies elsewhere is called by its folder."""
    if not compiled.settings.roots:
        return gitfolder.name_of(git_dir)
    try:
        return name_of(git_dir, compiled.settings.roots)
    except CannotJudge:
        return gitfolder.name_of(git_dir)
