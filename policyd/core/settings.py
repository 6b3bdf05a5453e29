"""policyd.yaml as people write it, compiled to what is in force."""

from __future__ import annotations

import re
from dataclasses import field
from enum import Enum
from typing import Annotated, Literal

from policyd.core import decoding, nodes
from policyd.core.nodes import Node
from policyd.core.policy import Identity, Service, Settings, Webhook
from policyd.core.values import dataclass

_LISTEN = re.compile(r"(127\.0\.0\.1|\[::1\]|localhost):[0-9]{1,5}")


def _variable(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", text):
        raise ValueError(f"{nodes.shown(text)} is no name of an environment variable")
    return text


def _absolute(text: str) -> str:
    if not text.startswith("/") or any(part in (".", "..") for part in text.split("/")):
        raise ValueError(f"{nodes.shown(text)} is no absolute path")
    return text.rstrip("/") or "/"


def _loopback(text: str) -> str:
    if not _LISTEN.fullmatch(text):
        raise ValueError(f"{nodes.shown(text)} is no place on loopback, such as 127.0.0.1:9464")
    return text


def _address(text: str) -> str:
    if not re.fullmatch(r"https?://[^\s/@]+(/\S*)?", text):
        raise ValueError(f"{nodes.shown(text)} is no http or https address without a user in it")
    return text


def _pause(seconds: float) -> float:
    if not 1 <= seconds <= 3600:
        raise ValueError("seconds between two looks at everything: 1 to 3600")
    return seconds


class HomeOwner(Enum):
    """Who may own HOME: root, or the user that the hook runs as."""

    ROOT = "root"
    SELF = "self"


@dataclass(frozen=True, slots=True)
class IdentityAuthored:
    """`identity:` of policyd.yaml."""

    source: Literal["env"] = field(default="env", metadata={"key": "from"})
    name: Annotated[str, _variable] = "REMOTE_USER"


@dataclass(frozen=True, slots=True)
class ServiceAuthored:
    """`service:` of policyd.yaml, for `policyd serve`."""

    rescan_seconds: Annotated[float, _pause] = Service().rescan_seconds
    listen: Annotated[str, _loopback] | None = None


@dataclass(frozen=True, slots=True)
class WebhookAuthored:
    """`webhook:` of policyd.yaml."""

    url: Annotated[str, _address]
    secret_file: Annotated[str, _absolute]


@dataclass(frozen=True, slots=True)
class SettingsAuthored:
    """policyd.yaml."""

    state: Annotated[str, _absolute]
    roots: tuple[Annotated[str, _absolute], ...] = ()
    identity: IdentityAuthored = field(default_factory=IdentityAuthored)
    home_owner: HomeOwner = HomeOwner.ROOT
    service: ServiceAuthored = field(default_factory=ServiceAuthored)
    webhook: WebhookAuthored | None = None
    pretended_clock: bool = False


def compile_settings(node: Node) -> Settings:
    """policyd.yaml, compiled. Raises FileInvalid."""
    authored = decoding.decode(node, SettingsAuthored)
    hook = authored.webhook
    return Settings(
        state=authored.state,
        roots=authored.roots,
        identity=Identity(authored.identity.source, authored.identity.name),
        home_owner=authored.home_owner.value,
        service=Service(authored.service.rescan_seconds, authored.service.listen),
        webhook=None if hook is None else Webhook(hook.url, hook.secret_file),
        pretended_clock=authored.pretended_clock,
    )
