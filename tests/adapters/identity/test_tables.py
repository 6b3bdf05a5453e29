"""Environments of hooks, and who that is; or the word that the sentence holds which says why not.

One row is one push. `~` before the last column: it cannot be judged.
"""

from __future__ import annotations

import subprocess
import sys

import pytest
from servers import (
    ABSENT,
    GITEA_HTTP,
    GITEA_SSH,
    GITEA_WEB,
    GITHUB,
    GITLAB,
    GITOLITE,
    KEY,
    SIGNED,
    asked,
    said,
)

from policyd.adapters import identity
from policyd.core.errors import CannotJudge
from policyd.core.policy import Identity
from policyd.core.settings import IDENTITIES

DEMO = "org/demo"
PULL = ("refs/pull/7/head",)
OLD_GITEA = said(GITEA_SSH, GITEA_DEPLOY_KEY_ID=ABSENT, GITEA_IS_DEPLOY_KEY="false")

TABLE = [
    # --- one variable -----------------------------------------------------------------------
    ("env", {"REMOTE_USER": "mei"}, {}, ("mei", None, None)),
    ("env", {"REMOTE_USER": ""}, {}, (None, None, None)),
    ("env", {}, {}, (None, None, None)),
    ("env", {"WHO": "mei", "REMOTE_USER": "joe"}, {"name": "WHO"}, ("mei", None, None)),
    # --- a web server -----------------------------------------------------------------------
    ("http", {"REMOTE_USER": "mei", "AUTH_TYPE": "Basic"}, {}, ("mei", "Basic", None)),
    ("http", {"REMOTE_USER": "mei"}, {}, ("mei", None, None)),
    ("http", {}, {}, (None, None, None)),
    ("http", {"HTTP_AUTHORIZATION": "Basic bWVpOng="}, {}, (None, None, None)),
    ("http", {"AUTH_TYPE": "Basic"}, {}, "~contradict"),
    ("http", {"REMOTE_USER": "mei\x1b[2J"}, {}, "~control character"),
    ("http", {"REMOTE_USER": "mei\x85"}, {}, "~control character"),
    ("http", {"REMOTE_USER": " mei"}, {}, "~blank"),
    ("http", {"REMOTE_USER": "mei "}, {}, "~blank"),
    ("http", {"REMOTE_USER": "m" * 255}, {}, ("m" * 255, None, None)),
    ("http", {"REMOTE_USER": "m" * 256}, {}, "~255 bytes"),
    ("http", {"REMOTE_USER": "é" * 128}, {}, "~255 bytes"),
    ("http", {"REMOTE_USER": "m\udce9i"}, {}, ("m\udce9i", None, None)),
    # --- gitolite ---------------------------------------------------------------------------
    ("gitolite", GITOLITE, {}, ("mei", None, "team/demo")),
    ("gitolite", said(GITOLITE, GL_USER="anonymous"), {}, (None, None, "team/demo")),
    ("gitolite", said(GITOLITE, GL_USER="anyone"), {}, (None, None, "team/demo")),
    ("gitolite", said(GITOLITE, GL_USER="daemon"), {}, (None, None, "team/demo")),
    ("gitolite", said(GITOLITE, GL_USER=ABSENT), {}, "~GL_USER"),
    ("gitolite", said(GITOLITE, GL_REPO=ABSENT), {}, "~GL_REPO"),
    ("gitolite", said(GITOLITE, GL_REPO="../x"), {}, "~no name of a repository"),
    ("gitolite", GITLAB, {}, "~GL_USER"),
    # --- Gitea and Forgejo ------------------------------------------------------------------
    ("gitea", GITEA_HTTP, {}, ("mei", "http", DEMO)),
    ("gitea", GITEA_SSH, {}, ("mei", "key-7", DEMO)),
    ("gitea", said(GITEA_SSH, SSH_ORIGINAL_COMMAND="git receive-pack 'x'"), {},
     ("mei", "key-7", DEMO)),
    ("gitea", GITEA_WEB, {}, ("mei", "web", DEMO)),
    ("gitea", said(GITEA_WEB, GITEA_PR_ID="42", GITEA_PUSH_TRIGGER="pr-merge-to-base"), {},
     ("mei", "web", DEMO)),
    ("gitea", OLD_GITEA, {}, ("mei", "key-7", DEMO)),
    ("gitea", said(OLD_GITEA, GITEA_IS_DEPLOY_KEY="true"), {"deploy_keys": {"7": "ci"}},
     (None, "deploy-key-7", DEMO)),
    ("gitea", said(GITEA_SSH, GITEA_DEPLOY_KEY_ID="4"), {}, (None, "deploy-key-4", DEMO)),
    ("gitea", said(GITEA_SSH, GITEA_DEPLOY_KEY_ID="4"), {"deploy_keys": {"4": "ci"}},
     ("ci", "deploy-key-4", DEMO)),
    ("gitea", said(GITEA_SSH, GITEA_DEPLOY_KEY_ID="4"), {"deploy_keys": {"7": "ci"}},
     (None, "deploy-key-4", DEMO)),
    ("gitea", said(GITEA_SSH, GITEA_DEPLOY_KEY_ID="4", GITEA_IS_DEPLOY_KEY="false"), {},
     "~contradict"),
    ("gitea", said(GITEA_SSH, GITEA_IS_DEPLOY_KEY="true"), {}, "~contradict"),
    ("gitea", said(GITEA_HTTP, GITEA_ACTIONS_TASK_ID="9"), {}, (None, "actions", DEMO)),
    ("gitea", said(GITEA_HTTP, GITEA_ACTIONS_TASK_ID="9"), {"actions": "ci"},
     ("ci", "actions", DEMO)),
    ("gitea", said(GITEA_HTTP, GITEA_ACTIONS_TASK_ID="0"), {}, ("mei", "http", DEMO)),
    ("gitea", said(GITEA_HTTP, GITEA_ACTION_PERM="2"), {}, (None, "actions", DEMO)),
    ("gitea", said(GITEA_HTTP, GITEA_PUSHER_ID="-2"), {}, (None, "actions", DEMO)),
    ("gitea", said(GITEA_SSH, GITEA_ACTIONS_TASK_ID="9"), {}, "~contradict"),
    ("gitea", said(GITEA_HTTP, GITEA_ACTIONS_TASK_ID="nine"), {}, "~no number"),
    ("gitea", said(GITEA_SSH, GITEA_KEY_ID="-1"), {}, "~no number"),
    ("gitea", said(GITEA_SSH, GITEA_KEY_ID="0"), {}, "~contradict"),
    ("gitea", said(GITEA_HTTP, GITEA_KEY_ID="7"), {}, "~contradict"),
    ("gitea", said(GITEA_HTTP, SSH_ORIGINAL_COMMAND="upload"), {}, "~none that Gitea sets"),
    ("gitea", said(GITEA_HTTP, SSH_ORIGINAL_COMMAND=ABSENT), {}, "~SSH_ORIGINAL_COMMAND"),
    ("gitea", said(GITEA_HTTP, GITEA_PUSHER_NAME=ABSENT), {}, "~GITEA_PUSHER_NAME"),
    ("gitea", said(GITEA_HTTP, GITEA_REPO_NAME=ABSENT), {}, "~GITEA_REPO_NAME"),
    ("gitea", said(GITEA_HTTP, GITEA_REPO_IS_WIKI=ABSENT), {}, "~GITEA_REPO_IS_WIKI"),
    ("gitea", said(GITEA_HTTP, GITEA_REPO_IS_WIKI="maybe"), {}, "~GITEA_REPO_IS_WIKI"),
    ("gitea", said(GITEA_HTTP, GITEA_REPO_NAME="a/b"), {}, "~is a path"),
    ("gitea", said(GITEA_HTTP, GITEA_REPO_IS_WIKI="true"), {}, ("mei", "http", f"{DEMO}.wiki")),
    ("gitea", said(GITEA_WEB, GITEA_REPO_IS_WIKI="true", GITEA_REPO_NAME="demo.Wiki"), {},
     ("mei", "web", f"{DEMO}.wiki")),
    ("gitea", said(GITEA_WEB, GITEA_REPO_NAME="demo.wiki"), {}, "~a wiki, and none"),
    ("gitea", said(GITEA_WEB, GITEA_INTERNAL_PUSH="true"), {"refs": PULL},
     ("mei", "internal", DEMO)),
    ("gitea", said(GITEA_WEB, GITEA_INTERNAL_PUSH="true"), {}, "~GITEA_INTERNAL_PUSH"),
    ("gitea", said(GITEA_WEB, GITEA_INTERNAL_PUSH="true"),
     {"refs": (*PULL, "refs/heads/main")}, "~GITEA_INTERNAL_PUSH"),
    ("gitea", said(GITEA_HTTP, GITEA_INTERNAL_PUSH="true"), {"refs": PULL},
     "~GITEA_INTERNAL_PUSH"),
    # --- GitLab -----------------------------------------------------------------------------
    ("gitlab", GITLAB, {}, ("mei", "ssh", "group/Demo")),
    ("gitlab", said(GITLAB, GL_PROTOCOL="http"), {}, ("mei", "http", "group/Demo")),
    ("gitlab", said(GITLAB, GL_PROTOCOL="web"), {}, ("mei", "web", "group/Demo")),
    ("gitlab", said(GITLAB, GL_ID="key-12", GL_USERNAME="mei"), {},
     (None, "key-12", "group/Demo")),
    ("gitlab", said(GITLAB, GL_ID="key-12", GL_USERNAME=ABSENT), {"deploy_keys": {"12": "ci"}},
     ("ci", "key-12", "group/Demo")),
    ("gitlab", said(GITLAB, GL_REPOSITORY="wiki-351"), {}, ("mei", "ssh", "group/Demo.wiki")),
    ("gitlab", said(GITLAB, GL_REPOSITORY="project-351-wiki", GL_PROJECT_PATH="g/d.wiki"), {},
     ("mei", "ssh", "g/d.wiki")),
    ("gitlab", said(GITLAB, GL_REPOSITORY="design-4"), {}, ("mei", "ssh", "group/Demo.design")),
    ("gitlab", said(GITLAB, GL_USERNAME=ABSENT), {}, "~GL_USERNAME"),
    ("gitlab", said(GITLAB, GL_ID=ABSENT), {}, "~GL_ID"),
    ("gitlab", said(GITLAB, GL_ID="user-x"), {}, "~neither user-N nor key-N"),
    ("gitlab", said(GITLAB, GL_PROJECT_PATH=ABSENT), {}, "~GL_PROJECT_PATH"),
    ("gitlab", said(GITLAB, GL_REPOSITORY=ABSENT), {}, "~GL_REPOSITORY"),
    ("gitlab", said(GITLAB, GL_PROTOCOL=ABSENT), {}, "~GL_PROTOCOL"),
    ("gitlab", said(GITLAB, GL_PROTOCOL="carrier"), {}, "~none of ssh, http, web"),
    # --- GitHub Enterprise Server -----------------------------------------------------------
    ("ghes", GITHUB, {}, ("mei", None, "octo-org/hello")),
    ("ghes", said(GITHUB, GITHUB_PUBLIC_KEY_FINGERPRINT=KEY), {}, ("mei", KEY, "octo-org/hello")),
    ("ghes", said(GITHUB, GITHUB_VIA="pull request merge button"), {},
     ("mei", "web", "octo-org/hello")),
    ("ghes", said(GITHUB, GITHUB_VIA="blob#save", GITHUB_PUBLIC_KEY_FINGERPRINT=KEY), {},
     "~contradict"),
    ("ghes", said(GITHUB, GITHUB_USER_LOGIN=ABSENT), {}, "~GITHUB_USER_LOGIN"),
    ("ghes", said(GITHUB, GITHUB_REPO_NAME=ABSENT), {}, "~GITHUB_REPO_NAME"),
    # --- signed pushes ----------------------------------------------------------------------
    ("signed", SIGNED, {"keys": {KEY: "mei"}}, ("mei", KEY, None)),
    ("signed", SIGNED, {"keys": {}}, (None, KEY, None)),
    ("signed", {}, {"keys": {KEY: "mei"}}, (None, None, None)),
    *(("signed", said(SIGNED, GIT_PUSH_CERT_STATUS=status), {"keys": {KEY: "mei"}},
       (None, None, None)) for status in "BUXYREN"),
    *(("signed", said(SIGNED, GIT_PUSH_CERT_NONCE_STATUS=status), {"keys": {KEY: "mei"}},
       (None, None, None)) for status in ("UNSOLICITED", "MISSING", "BAD", "SLOP", ABSENT)),
    ("signed", said(SIGNED, GIT_PUSH_CERT_NONCE_STATUS="SLOP", GIT_PUSH_CERT_NONCE_SLOP="30"),
     {"keys": {KEY: "mei"}, "slop": 30}, ("mei", KEY, None)),
    ("signed", said(SIGNED, GIT_PUSH_CERT_NONCE_STATUS="SLOP", GIT_PUSH_CERT_NONCE_SLOP="31"),
     {"keys": {KEY: "mei"}, "slop": 30}, (None, None, None)),
    ("signed", said(SIGNED, GIT_PUSH_CERT_NONCE_STATUS="SLOP", GIT_PUSH_CERT_NONCE_SLOP="-1"),
     {"keys": {KEY: "mei"}, "slop": 30}, (None, None, None)),
    ("signed", said(SIGNED, GIT_PUSH_CERT_SIGNER=""), {"keys": {KEY: "mei"}}, (None, None, None)),
    ("signed", said(SIGNED, GIT_PUSH_CERT_STATUS=ABSENT), {"keys": {}}, "~GIT_PUSH_CERT_STATUS"),
    ("signed", said(SIGNED, GIT_PUSH_CERT_KEY=ABSENT), {"keys": {}}, "~GIT_PUSH_CERT_KEY"),
    ("signed", said(SIGNED, GIT_PUSH_CERT=ABSENT), {"keys": {KEY: "mei"}}, (None, None, None)),
]


@pytest.mark.parametrize(("source", "given", "options", "expected"), TABLE)
def test_who_that_is(source, given, options, expected):
    found = asked(source, given, **options)
    if isinstance(expected, tuple):
        assert found == expected
    else:
        assert isinstance(found, str), found
        assert expected.removeprefix("~") in found
        assert "\n" not in found
        assert found.isascii()
        assert found.isprintable()


@pytest.mark.parametrize(("source", "given", "options"), [row[:3] for row in TABLE])
def test_no_sentence_holds_what_a_variable_says(source, given, options):
    """A name that is none, or a header with a password, is not for the pusher's terminal."""
    marked = {name: f"{value}\tS3CRET" for name, value in given.items()}
    found = asked(source, marked, **options)
    assert not isinstance(found, str) or "S3CRET" not in found


def test_a_name_of_a_repository_may_be_long_and_no_longer():
    long = "g/" * 500 + "demo"
    assert asked("gitlab", said(GITLAB, GL_PROJECT_PATH=long)) == ("mei", "ssh", long)
    assert "1024 bytes" in asked("gitlab", said(GITLAB, GL_PROJECT_PATH=f"{long}{'o' * 30}"))


@pytest.mark.parametrize(("given", "slop", "is_signed"), [
    (SIGNED, 0, True), ({}, 0, False), (said(SIGNED, GIT_PUSH_CERT_STATUS="U"), 0, False),
    (said(SIGNED, GIT_PUSH_CERT_NONCE_STATUS="SLOP", GIT_PUSH_CERT_NONCE_SLOP="5"), 0, False),
    (said(SIGNED, GIT_PUSH_CERT_NONCE_STATUS="SLOP", GIT_PUSH_CERT_NONCE_SLOP="5"), 5, True),
])
def test_whether_a_push_is_signed_is_asked_of_git_whoever_names_the_pusher(given, slop, is_signed):
    assert identity.is_signed(Identity("env", slop=slop), given) is is_signed


@pytest.mark.parametrize("source", IDENTITIES)
def test_each_server_has_a_module_that_is_imported_alone(source):
    code = ("import sys; import policyd.hook; from policyd.adapters import identity; "
            "from policyd.core.policy import Identity\n"
            f"try: identity.repository_of(Identity({source!r}), {{}})\n"
            "except Exception as error: assert type(error).__name__ == 'CannotJudge', error\n"
            "print(*sorted(m.rpartition('.')[2] for m in sys.modules "
            "if m.startswith('policyd.adapters.identity.')))")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    own = {"env": [], "ssh": ["sshkey", "words"], "signed": ["pushcert", "words"]}
    assert done.stdout.split() == sorted([source, *own.get(source, ["words"])])


def test_only_forges_name_the_repository():
    assert [source for source in IDENTITIES
            if source in ("env", "ssh", "http", "signed")
            and identity.repository_of(Identity(source), {}) is not None] == []
    for source in ("gitolite", "gitea", "gitlab", "ghes"):
        with pytest.raises(CannotJudge):
            identity.repository_of(Identity(source), {"REMOTE_USER": "mei"})
