"""policyd.yaml as written: what it compiles to, and what can be wrong in it."""

from __future__ import annotations

import pytest

from policyd.core.documents import parse
from policyd.core.errors import FileInvalid
from policyd.core.policy import Identity, Service, Settings, Webhook
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
                                  "{state: /s, pretended_clock: 1}"])
def test_settings_can_be_wrong(text):
    with pytest.raises(FileInvalid):
        compile_settings(parse(text.encode(), "s"))
