"""`policyd init DIR`: writes a commented home that needs an edit of two names and `apply`."""

from __future__ import annotations

import json
import os
from pathlib import Path

import click

from policyd.adapters import shipped
from policyd.core.errors import PolicydError

SHIPPED = "policies/default.yaml"
SCHEMAS = ("policies/policy.schema.json", "policies/policyd.schema.json")

SETTINGS = """\
# policyd.yaml: what concerns this server and not a policy.
# yaml-language-server: $schema=policies/policyd.schema.json
# Nothing changes until `policyd --home {home} policy apply`.

# Where policyd keeps its indexes and its decision log; only the user that git runs as
# writes there.
state: {state}

# Folders that hold repositories. Policies name repositories by their path below them,
# without .git.
roots: []

# Who pushes, by the server's word: an environment variable that the server sets.
identity: {{from: env, name: REMOTE_USER}}
# Instead of it one of these, by what runs the hook; docs/identity.md says what each needs.
#   {{from: ssh}}       REMOTE_USER of authorized_keys, and the key (ExposeAuthInfo yes)
#   {{from: ssh, keys: {{"SHA256:...": mei}}}}
#   {{from: http}}      whom the web server let in
#   {{from: gitolite}}
#   {{from: gitea, deploy_keys: {{"4": ci}}, actions: ci-bot}}   Gitea and Forgejo
#   {{from: gitlab, deploy_keys: {{"12": ci}}}}
#   {{from: ghes}}      GitHub Enterprise Server
#   {{from: signed, keys: {{"SHA256:...": mei}}}}   who signed the push

# Who may own this folder: root, or self for the user that the hook runs as.
home_owner: self

# What runs the hooks: plain, gitolite, gitea (Forgejo too) or gitlab; docs/servers.md.
# server: plain

# `new`: the daemon enrols what appears below the roots. `hooks_path`: one folder with the hook of
# all repositories, instead of one in each.
# enroll: {{new: false, hooks_path: /srv/git-hooks}}

# `policyd serve`: seconds between two looks at everything, and where it answers on loopback
# with /metrics and /healthz.
service:
  rescan_seconds: 60
  # listen: 127.0.0.1:9464

# For how many seconds a push may wait for a replay of relations, by how it arrives, and how many
# run at a time, those of the daemon too.
# replay: {{ssh: 60, http: 50, local: 60, at_once: 2}}

# Who is told when a gate closes or opens, by POST; the file holds the secret that signs it.
# webhook: {{url: "https://example.org/policyd", secret_file: /etc/policyd/webhook.secret}}
"""


@click.command("init")
@click.argument("directory", type=click.Path(path_type=Path))
@click.option("--state", type=click.Path(path_type=Path), metavar="DIR",
              help="Where indexes and the decision log go; DIRECTORY/state unless given.")
@click.option("--private", is_flag=True, help="Readable by the owner only (0700, 0600).")
def command(directory: Path, state: Path | None, *, private: bool) -> None:
    """Write a commented home into an absent or empty DIRECTORY."""
    home = Path(os.path.abspath(directory))
    if home.is_symlink() or (home.exists() and (not home.is_dir() or any(home.iterdir()))):
        raise PolicydError(f"{home} is not an empty folder; name one that is absent or empty")
    files = {name: shipped.read(name) for name in (SHIPPED, *SCHEMAS)}
    folder_mode, file_mode = (0o700, 0o600) if private else (0o755, 0o644)
    kept = Path(os.path.abspath(state or home / "state"))
    _folder(home, folder_mode)
    _folder(home / "policies", folder_mode)
    if kept.is_relative_to(home):
        _folder(kept, 0o700)
    settings = SETTINGS.format(home=home, state=_quoted(kept))
    _file(home / "policyd.yaml", settings.encode(), file_mode)
    for name, data in files.items():
        _file(home / name, data, file_mode)
    click.echo(f"wrote {home}; edit the names in {SHIPPED}, then run\n"
               f"  policyd --home {home} policy apply")


def _quoted(path: Path) -> str:
    """A path as YAML text: JSON's quoting is YAML's, and any path survives it."""
    return json.dumps(str(path), ensure_ascii=False)


def _folder(path: Path, mode: int) -> None:
    path.mkdir(parents=True, exist_ok=True)
    path.chmod(mode)


def _file(path: Path, data: bytes, mode: int) -> None:
    path.write_bytes(data)
    path.chmod(mode)
