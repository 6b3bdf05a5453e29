"""policyd.yaml as people write it, compiled to what is in force."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from enum import Enum
from typing import Annotated, Literal

from policyd.core import decoding, nodes
from policyd.core.errors import Fault, FileInvalid
from policyd.core.nodes import Node, in_order
from policyd.core.policy import Enrolment, Identity, Service, Settings, Waits, Webhook
from policyd.core.values import dataclass

NAME_BYTES = 255
"""What a name or a credential may be long."""

_FINGERPRINT = r"SHA256:[A-Za-z0-9+/]{43}"
_SIGNER = rf"{_FINGERPRINT}|[0-9A-F]{{16}}|[0-9A-F]{{40}}"
_LISTEN = re.compile(r"(127\.0\.0\.1|\[::1\]|localhost):[0-9]{1,5}")


def _variable(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", text):
        raise ValueError(f"{nodes.shown(text)} is no name of an environment variable")
    return text


def _fingerprint(text: str) -> str:
    if not re.fullmatch(_FINGERPRINT, text):
        raise ValueError(f"{nodes.shown(text)} is no fingerprint as `ssh-keygen -lf` prints it, "
                         "SHA256: and 43 characters")
    return text


def _signer(text: str) -> str:
    if not re.fullmatch(_SIGNER, text):
        raise ValueError(f"{nodes.shown(text)} is no key as git names it in GIT_PUSH_CERT_KEY: "
                         "SHA256: and 43 characters, or 16 or 40 digits in capitals")
    return text


def _number(text: str) -> str:
    if not re.fullmatch(r"[1-9][0-9]{0,17}", text):
        raise ValueError(f"{nodes.shown(text)} is no number of a deploy key")
    return text


def _person(text: str) -> str:
    if not text.isprintable() or text != text.strip() or not text or set(text) & {"#", "*"} \
            or len(text.encode()) > NAME_BYTES:
        raise ValueError(f"{nodes.shown(text)} is no name of a pusher")
    return text


def _seconds(number: int) -> int:
    if not 0 <= number <= 3600:
        raise ValueError("how old a nonce may be: 0 to 3600 seconds")
    return number


def absolute(text: str) -> str:
    """An absolute path without its last slash. Raises ValueError for any other text."""
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


def _wait(seconds: float) -> float:
    if not 1 <= seconds <= 600:
        raise ValueError("seconds that a push may wait for a replay: 1 to 600")
    return seconds


def _lanes(number: int) -> int:
    if not 1 <= number <= 64:
        raise ValueError("replays at a time: 1 to 64")
    return number


class HomeOwner(Enum):
    """Who may own HOME: root, or the user that the hook runs as."""

    ROOT = "root"
    SELF = "self"


Variable = Annotated[str, _variable]
Person = Annotated[str, _person]
DeployKeys = Mapping[Annotated[str, _number], Person]
_FROM = {"key": "from"}


@dataclass(frozen=True, slots=True)
class EnvAuthored:
    """`identity: {from: env}`: one variable, whoever sets it."""

    source: Literal["env"] = field(default="env", metadata=_FROM)
    name: Variable = "REMOTE_USER"


@dataclass(frozen=True, slots=True)
class SshAuthored:
    """`identity: {from: ssh}`: a variable that sshd sets for each key, or the key itself."""

    source: Literal["ssh"] = field(metadata=_FROM)
    name: Variable = "REMOTE_USER"
    keys: Mapping[Annotated[str, _fingerprint], Person] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HttpAuthored:
    """`identity: {from: http}`: whom the web server let in."""

    source: Literal["http"] = field(metadata=_FROM)


@dataclass(frozen=True, slots=True)
class GitoliteAuthored:
    """`identity: {from: gitolite}`."""

    source: Literal["gitolite"] = field(metadata=_FROM)


@dataclass(frozen=True, slots=True)
class GiteaAuthored:
    """`identity: {from: gitea}`, for Forgejo too."""

    source: Literal["gitea"] = field(metadata=_FROM)
    deploy_keys: DeployKeys = field(default_factory=dict)
    actions: Person | None = None


@dataclass(frozen=True, slots=True)
class GitlabAuthored:
    """`identity: {from: gitlab}`."""

    source: Literal["gitlab"] = field(metadata=_FROM)
    deploy_keys: DeployKeys = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GhesAuthored:
    """`identity: {from: ghes}`: GitHub Enterprise Server."""

    source: Literal["ghes"] = field(metadata=_FROM)


@dataclass(frozen=True, slots=True)
class SignedAuthored:
    """`identity: {from: signed}`: who signed the push, on a server that tells nothing better."""

    source: Literal["signed"] = field(metadata=_FROM)
    keys: Mapping[Annotated[str, _signer], Person]
    slop: Annotated[int, _seconds] = 0


IdentityAuthored = (EnvAuthored | SshAuthored | HttpAuthored | GitoliteAuthored | GiteaAuthored
                    | GitlabAuthored | GhesAuthored | SignedAuthored)
IDENTITIES: Mapping[str, type[IdentityAuthored]] = {
    "env": EnvAuthored, "ssh": SshAuthored, "http": HttpAuthored, "gitolite": GitoliteAuthored,
    "gitea": GiteaAuthored, "gitlab": GitlabAuthored, "ghes": GhesAuthored,
    "signed": SignedAuthored}
"""What `identity:` may hold, by its `from`; a module of adapters/identity stands behind each."""


@dataclass(frozen=True, slots=True)
class ServiceAuthored:
    """`service:` of policyd.yaml, for `policyd serve`."""

    rescan_seconds: Annotated[float, _pause] = Service().rescan_seconds
    listen: Annotated[str, _loopback] | None = None


@dataclass(frozen=True, slots=True)
class WebhookAuthored:
    """`webhook:` of policyd.yaml."""

    url: Annotated[str, _address]
    secret_file: Annotated[str, absolute]


@dataclass(frozen=True, slots=True)
class EnrolmentAuthored:
    """`enroll:` of policyd.yaml."""

    new: bool = False
    hooks_path: Annotated[str, absolute] | None = None


@dataclass(frozen=True, slots=True)
class WaitsAuthored:
    """`replay:` of policyd.yaml."""

    ssh: Annotated[float, _wait] = Waits().ssh
    http: Annotated[float, _wait] = Waits().http
    local: Annotated[float, _wait] = Waits().local
    at_once: Annotated[int, _lanes] = Waits().at_once


@dataclass(frozen=True, slots=True)
class SettingsAuthored:
    """policyd.yaml."""

    state: Annotated[str, absolute]
    roots: tuple[Annotated[str, absolute], ...] = ()
    identity: Node = nodes.Mapping("", 1, 1, ())
    """One of IDENTITIES, by its `from`."""
    home_owner: HomeOwner = HomeOwner.ROOT
    service: ServiceAuthored = field(default_factory=ServiceAuthored)
    webhook: WebhookAuthored | None = None
    pretended_clock: bool = False
    server: Literal["plain", "gitolite", "gitea", "gitlab"] = "plain"
    enroll: EnrolmentAuthored = field(default_factory=EnrolmentAuthored)
    replay: WaitsAuthored = field(default_factory=WaitsAuthored)


def compile_settings(node: Node) -> Settings:
    """policyd.yaml, compiled. Raises FileInvalid."""
    faults: list[Fault] = []
    authored = decoding.attempt(node, SettingsAuthored, faults)
    identity = _identity(nodes.get(node, "identity"), faults)
    if faults or authored is None:
        raise FileInvalid(in_order(faults))
    hook, waits = authored.webhook, authored.replay
    return Settings(
        state=authored.state,
        roots=authored.roots,
        identity=identity,
        home_owner=authored.home_owner.value,
        service=Service(authored.service.rescan_seconds, authored.service.listen),
        webhook=None if hook is None else Webhook(hook.url, hook.secret_file),
        pretended_clock=authored.pretended_clock,
        server=authored.server,
        enroll=Enrolment(authored.enroll.new, authored.enroll.hooks_path),
        replay=Waits(waits.ssh, waits.http, waits.local, waits.at_once),
    )


def _identity(node: Node | None, faults: list[Fault]) -> Identity:
    """`identity:`, typed by its `from`; the default where it is absent or has a fault."""
    source = nodes.get(node, "from")
    if isinstance(source, nodes.Scalar) and source.text not in IDENTITIES:
        faults.append(source.fault(decoding.unknown("server", source.text, list(IDENTITIES))))
        return Identity()
    kind = IDENTITIES[source.text] if isinstance(source, nodes.Scalar) else EnvAuthored
    authored = None if node is None else decoding.attempt(node, kind, faults)
    return Identity() if authored is None else _compiled(authored)


def _compiled(authored: IdentityAuthored) -> Identity:
    match authored:
        case EnvAuthored(source, name):
            return Identity(source, name)
        case SshAuthored(source, name, keys):
            return Identity(source, name, keys)
        case GiteaAuthored(source, deploy_keys, actions):
            return Identity(source, "", deploy_keys=deploy_keys, actions=actions)
        case GitlabAuthored(source, deploy_keys):
            return Identity(source, "", deploy_keys=deploy_keys)
        case SignedAuthored(source, keys, slop):
            return Identity(source, "", keys, slop=slop)
        case _:
            return Identity(authored.source, "")
