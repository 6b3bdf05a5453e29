"""Plain sshd: a name that it sets for each key, or the key itself by a table in policyd.yaml."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from policyd.adapters.identity import sshkey, words
from policyd.core.errors import CannotJudge
from policyd.core.facts import Who
from policyd.core.policy import Identity

Given = Mapping[str, str]


def repository(_given: Given) -> str | None:
    """Its path is its name."""
    return None


def who(given: Given, options: Identity, _refs: Sequence[str]) -> Who:
    """The credential is the key's fingerprint, where sshd tells it (ExposeAuthInfo).

    With `keys` a key that is not listed is nobody, whatever name is set beside it.
    """
    said = words.text(given, options.name)
    file = given.get("SSH_USER_AUTH") or None
    key = None if file is None else sshkey.fingerprint(file)
    if not options.keys:
        return Who(said, key)
    if file is None and given.get("SSH_CONNECTION"):
        raise CannotJudge("sshd does not tell the key that it let in; the operator sets "
                          "`ExposeAuthInfo yes` in sshd_config")
    name = None if key is None else options.keys.get(key)
    if name is not None and said is not None and name != said:
        raise words.contradiction(options.name, "SSH_USER_AUTH",
                                  "the key is somebody else's by `keys` in policyd.yaml")
    return Who(name, key)
