"""Names with a credential in groups: who is in which group, what is warned of, what is no entry."""

from __future__ import annotations

import pytest

from policyd.core import members
from policyd.core.authored import compile_policy, warnings_of
from policyd.core.documents import parse
from policyd.core.errors import Fault, FileInvalid

TEXT = """\
version: 1
repositories: ["Org/**"]
guarded: [main]
zones: {source: ["src/**"]}
groups:
  maintainers: [MAINTAINERS]
  agents: [AGENTS]
rules: {}
"""
KEY, OTHER = "SHA256:" + "a" * 43, "SHA256:" + "b/+" * 14 + "b"


def policy(maintainers: str, agents: str = ""):
    text = TEXT.replace("MAINTAINERS", maintainers).replace("AGENTS", agents)
    node = parse(text.encode(), "p.yaml")
    return node, compile_policy(node, "p", {})


@pytest.mark.parametrize(("maintainers", "agents", "name", "credential", "groups"), [
    # an entry without # counts for any credential
    ("mei", "", "mei", None, "maintainers"),
    ("mei", "", "mei", KEY, "maintainers"),
    ("'m*'", "", "mei", "key-7", "maintainers"),
    # one with # for that one alone
    (f"'mei#{KEY}'", "", "mei", KEY, "maintainers"),
    (f"'mei#{KEY}'", "", "mei", OTHER, ""),
    (f"'mei#{KEY}'", "", "mei", None, ""),
    (f"'mei#{KEY}'", "", "joe", KEY, ""),
    (f"'mei#{KEY}'", "", f"mei#{KEY}", None, ""),
    (f"'mei#{KEY}'", "", f"mei#{KEY}", KEY, ""),
    (f"'mei#{OTHER}'", "", "mei", OTHER, "maintainers"),
    # patterns on either side
    ("'mei#*'", "", "mei", "key-7", "maintainers"),
    ("'mei#*'", "", "mei", None, ""),
    ("'*#key-7'", "", "joe", "key-7", "maintainers"),
    ("'m*#key-*'", "", "mei", "key-7", "maintainers"),
    ("'m*#key-*'", "", "mei", "web", ""),
    ("'mei#key-7'", "", "mei", "key-77", ""),
    # an entry that names the credential takes it out of those that do not
    ("mei", "'mei#key-7'", "mei", "key-7", "agents"),
    ("mei", "'mei#key-7'", "mei", "key-8", "maintainers"),
    ("mei", "'mei#key-7'", "mei", None, "maintainers"),
    ("'*'", "'mei#key-7'", "mei", "key-7", "agents"),
    ("mei", "'*#key-*'", "mei", "key-7", "agents"),
    ("'mei#key-1'", "mei", "mei", "key-1", "maintainers"),
    ("'mei#key-1'", "mei", "mei", "key-2", "agents"),
    ("'mei#key-1'", "'mei#*'", "mei", "key-1", "maintainers agents"),
    ("mei, 'mei#key-7'", "'mei#key-7'", "mei", "key-7", "maintainers agents"),
    ("mei", "'joe#key-7'", "mei", "key-7", "maintainers"),
    # nobody is in no group, with whatever key
    ("'*'", "'*#*'", None, KEY, ""),
])
def test_groups_by_name_and_credential(maintainers, agents, name, credential, groups):
    _, made = policy(maintainers, agents)
    assert made.groups_of(name, credential) == set(groups.split())


def test_people_are_told_names_alone():
    _, made = policy(f"'mei#{KEY}', 'mei#{OTHER}', joe")
    assert made.members == {"maintainers": ("mei", "joe"), "agents": ()}
    assert made.groups["maintainers"] == (f"mei#{KEY}", f"mei#{OTHER}", "joe")


@pytest.mark.parametrize("entry", ["mei#", "#key-7", "mei# key-7", "mei #key-7", "mei#key 7",
                                   "mei#a#b", "mei#\\u202e", " mei", "mei#key-7 "])
def test_what_is_no_entry_is_a_fault(entry):
    with pytest.raises(FileInvalid):
        policy(f'"{entry}"')


@pytest.mark.parametrize(("maintainers", "agents", "warned"), [
    ("mei", "'mei#key-7'", ["mei"]), ("'mei#key-1'", "mei", ["mei"]),
    ("'m*'", "'mei#key-7'", ["m*"]), ("'mei'", "'m*#key-7'", ["mei"]),
    ("'m*'", "'me*#key-7'", ["m*"]), ("'a*'", "'me*#key-7'", []), ("joe", "'mei#key-7'", []),
    ("'mei#key-1'", "'mei#key-7'", []), ("mei", "mei", []),
])
def test_a_name_with_and_without_a_credential_is_warned_of(maintainers, agents, warned):
    node, made = policy(maintainers, agents)
    told = [str(fault) for fault in warnings_of(node, made, {}) if "credential" in str(fault)]
    assert [line.split("'")[1] for line in told] == warned
    assert all(line.startswith(("p.yaml:6:", "p.yaml:7:")) for line in told)


def test_a_file_of_a_group_holds_credentials_and_no_blank_before_them():
    faults: list[Fault] = []
    text = f"mei#{KEY} # laptop\njoe#key-7\n# all\nbob #\nann # key of ann\nbot-*#*\n"
    read = members.read({"groups/m.txt": text.encode()}, faults)
    assert [item.text for item in read["groups/m.txt"].items] == [
        f"mei#{KEY}", "joe#key-7", "bob", "ann", "bot-*#*"]
    assert faults == []


@pytest.mark.parametrize("line", [f"mei #{KEY}", "mei  #key-7", "mei\t#*", "mei #deploy-key-4"])
def test_a_credential_behind_a_blank_is_no_comment(line):
    """Else the name would count with any key, and nobody would see it."""
    faults: list[Fault] = []
    members.read({"groups/m.txt": f"joe\n{line}\n".encode()}, faults)
    assert [str(fault).partition(": ")[0] for fault in faults] == ["groups/m.txt:2:1"]
    assert "without a blank" in str(faults[0])


@pytest.mark.parametrize(("name", "any_case", "holds"), [
    ("Org/demo", False, True), ("org/demo", False, False), ("org/demo", True, True),
    ("ORG/x", True, True), ("other/x", True, False)])
def test_a_forge_s_names_are_one_in_any_case(name, any_case, holds):
    _, made = policy("mei")
    assert made.holds_for(name, any_case=any_case) is holds
