"""`policyd init`: what it writes loads, and so does all that it only proposes."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from policyd import cli
from policyd.core import documents
from policyd.core.policy import Settings
from policyd.core.settings import IDENTITIES, SettingsAuthored, compile_settings

KEYS = "|".join(one.name for one in fields(SettingsAuthored)) + "|listen"
IDENTITY = re.compile(r"^#   (\{from: .*\})", re.MULTILINE)


@pytest.fixture
def written(tmp_path: Path) -> str:
    assert cli.run(["init", str(tmp_path / "home")]) == 0
    return (tmp_path / "home/policyd.yaml").read_text()


def loaded(text: str) -> Settings:
    return compile_settings(documents.parse(text.encode(), "policyd.yaml"))


def test_what_is_commented_out_loads_when_it_is_not(written):
    loaded(written)
    whole = re.sub(rf"^( *)# ((?:{KEYS}): )", r"\1\2", written, flags=re.MULTILINE)
    settings = loaded(whole)
    assert settings.enroll.hooks_path == "/srv/git-hooks"
    assert settings.service.listen is not None
    assert settings.webhook is not None
    named = {one.name for one in fields(SettingsAuthored)} - {"pretended_clock"}
    assert {name for name in named if re.search(rf"^{name}:", whole, re.MULTILINE)} == named


def test_each_identity_that_is_proposed_loads(written):
    found = IDENTITY.findall(written.replace("SHA256:...", f"SHA256:{'a' * 43}"))
    for one in found:
        text = written.replace("{from: env, name: REMOTE_USER}", one)
        assert loaded(text).identity.source in one
    assert {one.split()[1].strip(",}") for one in found} == IDENTITIES.keys() - {"env"}
