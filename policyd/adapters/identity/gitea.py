"""Gitea and Forgejo: users by name and key; deploy keys and actions as who they are mapped to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from policyd.adapters.identity import words
from policyd.core.errors import CannotJudge
from policyd.core.facts import Who
from policyd.core.policy import Identity

Given = Mapping[str, str]

PULLS = "refs/pull/"
_TRUTHS = ("true", "false")
_WAYS = {"receive-pack": "http", "gitea-internal": "web"}
_ACTIONS_ID = "-2"
"""The user that Gitea made up for the tokens of actions."""


def repository(given: Given) -> str | None:
    """`owner/name` in lower case, as Gitea compares it: over HTTP it stands as the pusher typed
    it. Wikis end in .wiki."""
    owner = words.path(given, "GITEA_REPO_USER_NAME", "Gitea")
    name = words.path(given, "GITEA_REPO_NAME", "Gitea")
    words.demanded(given, "GITEA_REPO_IS_WIKI", "Gitea")
    is_wiki = words.choice(given, "GITEA_REPO_IS_WIKI", _TRUTHS) == "true"
    if "/" in owner or "/" in name:
        raise CannotJudge("GITEA_REPO_USER_NAME or GITEA_REPO_NAME is a path; this policyd may be "
                          "older than Gitea")
    bare = name.lower().removesuffix(".wiki")
    if bare != name.lower() and not is_wiki:
        raise words.contradiction("GITEA_REPO_NAME", "GITEA_REPO_IS_WIKI", "a wiki, and none")
    return f"{owner.lower()}/{bare}{'.wiki' if is_wiki else ''}"


def who(given: Given, options: Identity, refs: Sequence[str]) -> Who:
    """The credential is key-N, deploy-key-N or actions; http or web where there is no key;
    internal where Gitea itself pushes refs/pull/ for somebody."""
    where = repository(given)
    name = words.demanded(given, "GITEA_PUSHER_NAME", "Gitea")
    key, way = words.number(given, "GITEA_KEY_ID"), _way(given)
    if (key is not None) != (way == "ssh"):
        raise words.contradiction("GITEA_KEY_ID", "SSH_ORIGINAL_COMMAND",
                                  "a push by a key, and none by a key")
    deploy = _deploy_key(given)
    if _is_action(given):
        if deploy is not None or key is not None:
            raise words.contradiction("GITEA_ACTIONS_TASK_ID", "GITEA_KEY_ID",
                                      "an action's token, and a key")
        return Who(options.actions, "actions", where)
    if deploy is not None:
        return Who(options.deploy_keys.get(deploy), f"deploy-key-{deploy or key}", where)
    if words.choice(given, "GITEA_INTERNAL_PUSH", _TRUTHS) == "true":
        return _internal(name, way, where, refs)
    return Who(name, way if key is None else f"key-{key}", where)


def _way(given: Given) -> str:
    command = given.get("SSH_ORIGINAL_COMMAND", "")
    if command.startswith(("git-receive-pack ", "git receive-pack ")):
        return "ssh"
    if command not in _WAYS:
        words.demanded(given, "SSH_ORIGINAL_COMMAND", "Gitea")
        raise CannotJudge("SSH_ORIGINAL_COMMAND is none that Gitea sets; push through Gitea")
    return _WAYS[command]


def _deploy_key(given: Given) -> str | None:
    """The number of a deploy key, "" for one that Gitea 1.15 does not number; None: no such."""
    number = words.number(given, "GITEA_DEPLOY_KEY_ID")
    said = words.choice(given, "GITEA_IS_DEPLOY_KEY", _TRUTHS)
    numbered = given.get("GITEA_DEPLOY_KEY_ID", "") != ""
    if said is not None and numbered and (said == "true") != (number is not None):
        raise words.contradiction("GITEA_IS_DEPLOY_KEY", "GITEA_DEPLOY_KEY_ID",
                                  "a deploy key, and none")
    return "" if number is None and said == "true" else number


def _is_action(given: Given) -> bool:
    """By whichever name the version has: a task, a permission, or the made up user."""
    return (words.number(given, "GITEA_ACTIONS_TASK_ID") is not None
            or given.get("GITEA_ACTION_PERM", "") not in ("", "0")
            or given.get("GITEA_PUSHER_ID", "") == _ACTIONS_ID)


def _internal(name: str, way: str, where: str | None, refs: Sequence[str]) -> Who:
    """Gitea keeps the heads of pull requests itself; the policy's namespaces say what becomes
    of refs/pull/. It has no business elsewhere, and its own checks are off then."""
    if way != "web" or not all(ref.startswith(PULLS) for ref in refs):
        raise CannotJudge("GITEA_INTERNAL_PUSH is for refs/pull/ alone, and this push is to "
                          "something else; the operator looks at what Gitea was asked to do")
    return Who(name, "internal", where)
