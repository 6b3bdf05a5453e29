"""policyd.yaml as written: what it compiles to, and what can be wrong in it."""

from __future__ import annotations

import pytest

from policyd.core.documents import parse
from policyd.core.errors import FileInvalid
from policyd.core.policy import Enrolment, Identity, Service, Settings, Webhook
from policyd.core.settings import compile_settings


def test_settings_have_defaults():
    assert compile_settings(parse(b"state: /s/\n", "s")) == Settings("/s")
    assert compile_settings(parse(
        b"{state: /s, roots: [/r], identity: {from: env, name: X}, home_owner: self}", "s")
    ) == Settings("/s", ("/r",), Identity("env", "X"), "self")


def test_settings_of_the_daemon():
    assert compile_settings(parse(
        b"{state: /s, service: {rescan_seconds: 5, listen: '127.0.0.1:9464'}, webhook: "
        b"{url: 'https://example.org/x', secret_file: /k}, pretended_clock: true}", "s")
    ) == Settings("/s", service=Service(5.0, "127.0.0.1:9464"),
                  webhook=Webhook("https://example.org/x", "/k"), pretended_clock=True)


def test_settings_of_enrolment():
    assert compile_settings(parse(
        b"{state: /s, server: gitlab, enroll: {new: true, hooks_path: /h}}", "s")
    ) == Settings("/s", server="gitlab", enroll=Enrolment(True, "/h"))


KEY = "SHA256:" + "a" * 43


@pytest.mark.parametrize(("identity", "compiled"), [
    ("{}", Identity()),
    ("{name: WHO}", Identity("env", "WHO")),
    ("{from: ssh}", Identity("ssh", "REMOTE_USER")),
    (f"{{from: ssh, name: WHO, keys: {{'{KEY}': mei}}}}", Identity("ssh", "WHO", {KEY: "mei"})),
    ("{from: http}", Identity("http", "")),
    ("{from: gitolite}", Identity("gitolite", "")),
    ("{from: gitea}", Identity("gitea", "")),
    ("{from: gitea, deploy_keys: {'4': ci, 5: cd}, actions: bot}",
     Identity("gitea", "", deploy_keys={"4": "ci", "5": "cd"}, actions="bot")),
    ("{from: gitlab, deploy_keys: {'12': ci}}", Identity("gitlab", "", deploy_keys={"12": "ci"})),
    ("{from: ghes}", Identity("ghes", "")),
    (f"{{from: signed, keys: {{'{KEY}': mei, 0123456789ABCDEF: joe}}, slop: 30}}",
     Identity("signed", "", {KEY: "mei", "0123456789ABCDEF": "joe"}, slop=30)),
])
def test_each_server_has_its_own_options(identity, compiled):
    made = compile_settings(parse(f"{{state: /s, identity: {identity}}}".encode(), "s"))
    assert made == Settings("/s", identity=compiled)
    assert made.identity.any_case is (compiled.source in ("gitea", "gitlab", "ghes"))


@pytest.mark.parametrize(("identity", "fault"), [
    ("{from: gitae}", "did you mean 'gitea'"), ("[]", "expected a mapping"),
    ("", "expected a mapping"), ("{from: [env]}", "expected one of env"),
    ("{from: http, name: X}", "unknown key"), ("{from: gitea, keys: {}}", "unknown key"),
    ("{from: signed}", "missing key"), ("{from: ssh, keys: {'SHA256:x': mei}}", "no fingerprint"),
    (f"{{from: ssh, keys: {{'{KEY}=': mei}}}}", "no fingerprint"),
    (f"{{from: ssh, keys: {{'{KEY}': 'm*'}}}}", "no name of a pusher"),
    (f"{{from: ssh, keys: {{'{KEY}': 'mei#x'}}}}", "no name of a pusher"),
    (f"{{from: ssh, keys: {{'{KEY}': ''}}}}", "no name of a pusher"),
    (f"{{from: ssh, keys: {{'{KEY}': ' mei'}}}}", "no name of a pusher"),
    (f"{{from: ssh, keys: {{'{KEY}': {'m' * 256}}}}}", "no name of a pusher"),
    ("{from: gitea, deploy_keys: {'0': ci}}", "no number"),
    ("{from: gitlab, deploy_keys: {key-4: ci}}", "no number"),
    ("{from: signed, keys: {abcdef: mei}}", "no key as git names it"),
    (f"{{from: signed, keys: {{'{KEY}': mei}}, slop: 4000}}", "0 to 3600"),
])
def test_an_identity_can_be_wrong_and_says_where(identity, fault):
    with pytest.raises(FileInvalid) as caught:
        compile_settings(parse(f"state: /s\nidentity: {identity}".encode(), "s"))
    assert fault in str(caught.value), caught.value
    assert str(caught.value).startswith("s:2:")


@pytest.mark.parametrize("text", ["state: s", "state: /a/../b", "roots: [/r]",
                                  "{state: /s, home_owner: me}",
                                  "{state: /s, identity: {name: a b}}", "{state: /s, clock: x}",
                                  "{state: /s, service: {rescan_seconds: 0}}",
                                  "{state: /s, service: {listen: '0.0.0.0:9464'}}",
                                  "{state: /s, service: {listen: 'example.org:1'}}",
                                  "{state: /s, webhook: {url: 'https://x/'}}",
                                  "{state: /s, webhook: {url: 'ftp://x/', secret_file: /k}}",
                                  "{state: /s, webhook: {url: 'http://a:b@x/', secret_file: /k}}",
                                  "{state: /s, webhook: {url: 'http://x/', secret_file: k}}",
                                  "{state: /s, server: gittea}",
                                  "{state: /s, enroll: {hooks_path: h}}",
                                  "{state: /s, pretended_clock: 1}"])
def test_settings_can_be_wrong(text):
    with pytest.raises(FileInvalid):
        compile_settings(parse(text.encode(), "s"))
