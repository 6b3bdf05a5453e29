"""All files of a home, compiled together: settings, policies on their bases, groups, cases."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from policyd.core import cases, documents, layers, members, nodes
from policyd.core.authored import (
    anywhere,
    compile_policy,
    form,
    warnings_of,
)
from policyd.core.cases import Case
from policyd.core.errors import Fault, FileInvalid
from policyd.core.nodes import Node, in_order
from policyd.core.policy import Policy, Settings
from policyd.core.rule import Rule
from policyd.core.settings import compile_settings
from policyd.core.values import dataclass

SETTINGS = "policyd.yaml"
CASES = ".cases.yaml"


@dataclass(frozen=True, slots=True)
class Table:
    """The cases of a policy."""

    policy: str
    source: str
    cases: tuple[Case, ...]


@dataclass(frozen=True, slots=True)
class Compiled:
    """A home that can be put in force, and what lint has to say about it all the same."""

    settings: Settings
    policies: tuple[Policy, ...]
    warnings: tuple[Fault, ...]
    nodes: Mapping[str, Node]
    """Each policy as it was written, on top of its bases, by its name."""
    tables: tuple[Table, ...]
    unlimited: Mapping[str, Policy]
    """Each policy as its cases try it: without the ceiling of its own `mode`, by its name.

    So a table says the same all through a roll-out from observe to enforce.
    """


def compile_home(files: Mapping[str, bytes], rules: Mapping[str, Rule], *,
                 knows_timezone: Callable[[str], bool] = anywhere) -> Compiled:
    """All files of a home by their path in it. Raises FileInvalid with the faults of all."""
    faults: list[Fault] = []
    settings = _settings(files, faults)
    parsed = _parsed(files, faults)
    for node in parsed.values():
        faults += form(node, rules)
    whole = {name_of(source): node
             for source, node in layers.laid(parsed, _policy_files(files), faults).items()
             if layers.counts(parsed[source])}
    made: dict[str, tuple[Policy, Policy]] = {}
    for name, node in whole.items():
        try:
            made[name] = (
                compile_policy(node, name, rules, knows_timezone=knows_timezone),
                compile_policy(nodes.without(node, "mode"), name, rules))
        except FileInvalid as invalid:
            faults += invalid.faults
    tables = tuple(_tables(files, parsed, rules, faults))
    faults += _nothing_counts(files, parsed)
    if faults or settings is None:
        raise FileInvalid(in_order(faults))
    policies = {name: policy for name, (policy, _) in made.items()}
    warnings = in_order([*members.unused(files, parsed.values()), *layers.unused(parsed),
                         *(warning for name, policy in policies.items()
                           for warning in warnings_of(whole[name], policy, rules))])
    return Compiled(settings, tuple(policies.values()), warnings, whole, tables,
                    {name: free for name, (_, free) in made.items()})


def name_of(source: str) -> str:
    """The name of a policy by its file or by that of its cases: the last name without .yaml."""
    return source.rpartition("/")[2].removesuffix(".yaml").removesuffix(".cases")


def _policy_files(files: Mapping[str, bytes]) -> tuple[str, ...]:
    return tuple(source for source in files if source.startswith(layers.FOLDER)
                 and not source.endswith(CASES))


def _settings(files: Mapping[str, bytes], faults: list[Fault]) -> Settings | None:
    if SETTINGS not in files:
        faults.append(Fault(SETTINGS, 1, 1, "the file is absent; `policyd init` writes one"))
        return None
    try:
        return compile_settings(documents.parse(files[SETTINGS], SETTINGS))
    except FileInvalid as invalid:
        faults += invalid.faults
        return None


def _parsed(files: Mapping[str, bytes], faults: list[Fault]) -> dict[str, Node]:
    """The policy files that are YAML at all, with the members of their groups filled in."""
    found: dict[str, Node] = {}
    read = members.read(files, faults)
    for source in _policy_files(files):
        try:
            node = documents.parse(files[source], source)
        except FileInvalid as invalid:
            faults += invalid.faults
            continue
        found[source] = members.filled_in(node, read, faults)
    return found


def _nothing_counts(files: Mapping[str, bytes], parsed: Mapping[str, Node]) -> Iterator[Fault]:
    if not _policy_files(files):
        yield Fault("policies", 1, 1, "no policy; a policy is a file policies/NAME.yaml")
    elif len(parsed) == len(_policy_files(files)) and not any(map(layers.counts, parsed.values())):
        yield Fault("policies", 1, 1, "no policy is in force by itself: each is a base, without "
                                      "`repositories`")


def _tables(files: Mapping[str, bytes], parsed: Mapping[str, Node], rules: Mapping[str, Rule],
            faults: list[Fault]) -> Iterator[Table]:
    for source in files:
        if not source.endswith(CASES):
            continue
        name = name_of(source)
        beside = f"{layers.FOLDER}{name}.yaml"
        if beside not in files:
            faults.append(Fault(source, 1, 1, f"no policy {name}.yaml stands beside these cases"))
        elif beside in parsed and not layers.counts(parsed[beside]):
            faults.append(Fault(source, 1, 1, f"{name}.yaml is a base and says nothing by itself; "
                                              "put its cases beside a policy that extends it"))
        try:
            yield Table(name, source, cases.parse(files[source], source, known=rules))
        except FileInvalid as invalid:
            faults += invalid.faults
