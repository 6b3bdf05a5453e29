"""What each server hands to a hook, as it was seen on the real ones or read in their sources."""

from __future__ import annotations

from policyd.adapters import identity
from policyd.core.errors import CannotJudge
from policyd.core.facts import Who
from policyd.core.policy import Identity

MAIN = ("refs/heads/main",)
KEY = "SHA256:" + "a" * 43
GITEA = {"GITEA_REPO_USER_NAME": "Org", "GITEA_REPO_NAME": "Demo", "GITEA_REPO_ID": "7",
         "GITEA_REPO_IS_WIKI": "false", "GITEA_PUSHER_NAME": "mei", "GITEA_PUSHER_ID": "3",
         "GITEA_ROOT_URL": "http://127.0.0.1:3000/"}
GITEA_HTTP = {**GITEA, "SSH_ORIGINAL_COMMAND": "receive-pack"}
GITEA_SSH = {**GITEA, "SSH_ORIGINAL_COMMAND": "git-receive-pack '/org/demo.git'",
             "GITEA_KEY_ID": "7", "GITEA_DEPLOY_KEY_ID": "0", "GITEA_PR_ID": "0"}
GITEA_WEB = {**GITEA, "SSH_ORIGINAL_COMMAND": "gitea-internal", "GITEA_PR_ID": "0"}
GITLAB = {"GL_ID": "user-3", "GL_USERNAME": "mei", "GL_PROJECT_PATH": "group/Demo",
          "GL_REPOSITORY": "project-351", "GL_PROTOCOL": "ssh"}
GITHUB = {"GITHUB_REPO_NAME": "octo-org/hello", "GITHUB_USER_LOGIN": "mei",
          "GITHUB_REPO_PUBLIC": "false", "GITHUB_USER_IP": "192.0.2.1"}
GITOLITE = {"GL_USER": "mei", "GL_REPO": "team/demo", "GL_TID": "77"}
SIGNED = {"GIT_PUSH_CERT": "c" * 40, "GIT_PUSH_CERT_STATUS": "G", "GIT_PUSH_CERT_KEY": KEY,
          "GIT_PUSH_CERT_SIGNER": "mei@example.org", "GIT_PUSH_CERT_NONCE": "n",
          "GIT_PUSH_CERT_NONCE_STATUS": "OK"}
ABSENT = object()
"""For `said`: the variable goes."""


def said(given: dict[str, str], **changed: object) -> dict[str, str]:
    """An environment with other values; ABSENT takes one out."""
    return {name: str(value) for name, value in {**given, **changed}.items()
            if value is not ABSENT}


def asked(source: str, given: dict[str, str], refs: tuple[str, ...] = MAIN,
          **options: object) -> tuple[str | None, ...] | str:
    """Name, credential, repository; or why it cannot be told."""
    try:
        who = identity.who_of(Identity(source, **options), given, refs)  # type: ignore[arg-type]
    except CannotJudge as error:
        return str(error)
    assert isinstance(who, Who)
    return who.name, who.credential, who.repository
