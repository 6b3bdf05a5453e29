"""GitHub Enterprise Server: the login, the key of an ssh push, `web` for pages and the API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from policyd.adapters.identity import words
from policyd.core.facts import Who
from policyd.core.policy import Identity

Given = Mapping[str, str]


def repository(given: Given) -> str | None:
    """`GITHUB_REPO_NAME`, such as octo-org/hello."""
    return words.path(given, "GITHUB_REPO_NAME", "GitHub")


def who(given: Given, _options: Identity, _refs: Sequence[str]) -> Who:
    """No credential is a push over https."""
    name = words.demanded(given, "GITHUB_USER_LOGIN", "GitHub")
    key, via = (words.text(given, variable)
                for variable in ("GITHUB_PUBLIC_KEY_FINGERPRINT", "GITHUB_VIA"))
    if key is not None and via is not None:
        raise words.contradiction("GITHUB_PUBLIC_KEY_FINGERPRINT", "GITHUB_VIA",
                                  "a push by a key, and none by a key")
    return Who(name, "web" if via is not None else key, repository(given))
