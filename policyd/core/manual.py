"""What each key of a policy and of policyd.yaml is for: the words of the reference and of editors.

Of a rule's options the docstring of their type says it, a line an option: "`name`: what for".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from policyd.core.authored import (
    BoundsAuthored,
    OverrideAuthored,
    PlacesAuthored,
    PolicyAuthored,
    ReplayAuthored,
)
from policyd.core.clauses import ClauseAuthored
from policyd.core.settings import (
    IDENTITIES,
    EnrolmentAuthored,
    ServiceAuthored,
    SettingsAuthored,
    WaitsAuthored,
    WebhookAuthored,
)
from policyd.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Key:
    """What a key is for, with a line of YAML that is taken and one that is refused."""

    says: str
    good: str = ""
    bad: str = ""


POLICY = {
    "version": Key("The form of the file.", "version: 1", "version: 2"),
    "repositories": Key(
        "Which repositories the policy holds for, by their paths below `roots` without .git (at "
        "gitolite and the forges: by the server's own name). `*` stops at /, `**` crosses it, "
        "`!` takes out, the last pattern that matches decides. Where several policies match, all "
        "of them hold. A file without this key is a base for `extends` and never in force itself.",
        'repositories: ["**", "!sandbox/**"]', 'repositories: ["!sandbox/**"]'),
    "guarded": Key(
        "Branches, and tags as `tags/NAME`, that only move forward and have a gate. Most content "
        "rules enforce there alone. `*` stops at /.",
        'guarded: [main, "release/*", "tags/v*"]', "guarded: main"),
    "zones": Key(
        "Named sets of paths. Patterns as in .gitignore, each anchored at the root: any depth is "
        "written `**/`, a folder covers all below it, `!` takes out, the last pattern that "
        "matches decides. A path lies in every zone that matches it. Case, Unicode form, "
        "invisible characters and trailing dots make no difference.",
        'zones: {source: ["src/**"], tests: ["tests/**", "!tests/ledger/**"]}',
        'zones: {source: ["!src/gen/**"]}'),
    "groups": Key(
        "Named sets of pushers, by the names that the server reports; `*` stands for any text, "
        "and what follows `#` is a credential (docs/identity.md). `{file: groups/NAME.txt}` "
        "takes the names from a file of the home, one a line. `maintainers` must be there.",
        'groups: {maintainers: [mei, "joe#key-7"], agents: ["bot-*"]}', "groups: {agents: [bot]}"),
    "rules": Key(
        "The rules that hold, by name, each with what is said below. A rule that is not named is "
        "off; ordinary-refs and ordinary-tree enforce as soon as any rule does.",
        "rules: {kept-rows: {mode: warn}}", "rules: {kept-row: {mode: warn}}"),
    "extends": Key(
        "A file beside this one that it is laid on: mappings merge by key, lists and scalars "
        "replace.", "extends: base.yaml", "extends: ../base.yaml"),
    "mode": Key(
        "A ceiling for all rules: `off`, `observe` (only logs), `warn` (tells the pusher too) or "
        "`enforce` (refuses).",
        "mode: observe", "mode: enforced"),
    "creators": Key(
        "Groups that may create a guarded ref, and delete one that another guarded ref contains.",
        "creators: [maintainers, mergers]", "creators: [maintainer]"),
    "rewriters": Key(
        "Groups that may move a guarded branch other than forward. What arrives is then judged "
        "as a change.", "rewriters: [maintainers]", "rewriters: maintainers"),
    "namespaces": Key(
        "What becomes of refs outside refs/heads and refs/tags, which are always judged. The "
        "first pattern that matches decides, and what nothing matches is refused. Unless given: "
        "refs/pull/** is judged, the rest refused.",
        'namespaces: {"refs/pull/**": judge, "**": refuse}', "namespaces: {refs/pull/**: allow}"),
    "bounds": Key(
        "How much of a push is read before it is refused unread.",
        "bounds: {max_files: 5000, seconds: 10}", "bounds: {seconds: 0}"),
    "timezone": Key(
        "Whose day it is when a date counts: a last day is over at midnight there.",
        "timezone: Europe/Madrid", "timezone: +02:00"),
    "together": Key(
        "What must not hold code and its judge together: all refs of a push, or each ref by "
        "itself.", "together: ref", "together: commit"),
    "queues": Key(
        "Groups, such as the account of a merge queue, whose pushes to guarded branches are "
        "judged apart for each first-parent step.", "queues: [mergers]", "queues: [merge-bot]"),
    "mirror": Key(
        "The repository is written by replication only: ordinary-refs refuses every push, and "
        "movements close no gate.", "mirror: true", "mirror: on"),
    "records": Key(
        "Where a repository keeps its records (docs/gates.md): three files and four folders.",
        "records: {flakes: ci/flakes.json}", "records: {flakes: ci/*.json}"),
    "records_from": Key(
        "Guarded branches whose gate reads the records of another guarded branch.",
        'records_from: {"release/*": main}', 'records_from: {"release/*": develop}'),
    "override": Key(
        "Break-glass: who passes rules with `git push -o policyd.override=\"REASON\"`; off where "
        "no group or no rule is listed.",
        "override: {groups: [maintainers], rules: [gate-open]}",
        "override: {groups: [maintainers], rules: [ordinary-refs]}"),
    "replay": Key(
        "How the relations of the base are replayed against what is pushed, where relations-hold "
        "asks for it (docs/replay.md).",
        "replay: {site: /srv/site/shop, seconds: 30}", "replay: {when: later}"),
}

REPLAY = {
    "when": Key("`push`: while the pusher waits. `ahead`: by the daemon, on the branches that "
                "nothing guards, and a push to a guarded one needs that verdict. `off`."),
    "python": Key("The interpreter that runs the candidate; policyd's own unless given."),
    "site": Key("A folder of packages that the candidate may import, which nobody but root "
                "writes to; without one the standard library is all there is."),
    "sandbox": Key("`bubblewrap`, or `none`, which isolates nothing and is told in every log."),
    "hysteresis": Key("Whether code that answers otherwise after other calls is refused "
                      "(`refuse`) or told (`warn`)."),
    "seed": Key("A number from which all draws are made; unless given, one that the server makes "
                "of a secret and of what is pushed."),
    "seconds": Key("Time of one replay while a push waits for it. A longer one is queued, and has "
                   "600 s there, or this where it is more."),
}

OVERRIDE = {
    "groups": Key("Groups whose members may override."),
    "rules": Key("The rules that they may override; never separate-authorship, "
                 "protected-writers, ordinary-refs or ordinary-tree."),
}

BOUNDS = {
    "max_commits": Key("Commits that the push brings."),
    "max_files": Key("Files that it changes."),
    "max_blob_bytes": Key("Bytes of a file that is parsed for its literals."),
    "seconds": Key("Time to judge it in."),
    "lookback_files": Key("Files that are read for what source gained lately."),
    "lease_bytes": Key("Bytes of leased corpora that are hashed anew."),
}

RECORDS = {
    "flakes": Key("The flake ledger, a file."),
    "quarantine": Key("The quarantine, a file."),
    "freezes": Key("The freezes, a file."),
    "leases": Key("Leases, `*.yaml` and `*.yml` below this folder."),
    "receipts": Key("Receipts, `*.json` below this folder."),
    "seeds": Key("Seeds, all files below this folder."),
    "relations": Key("Relation tables, `*.yaml` and `*.yml` below this folder, with their "
                     "functions in `*.py`."),
}

CLAUSE = {
    "mode": Key("How much the rule counts: `off`, `observe`, `warn` or `enforce`. The policy's "
                "own `mode` is a ceiling for it.", "mode: warn", "mode: warning"),
    "on": Key("The refs on which it enforces; on others it warns. Unless given, what the rule "
              "itself says.", "on: guarded", "on: main"),
    "warn_for": Key("Groups for whom it warns at the most.", "warn_for: [maintainers]",
                    "warn_for: [maintainer]"),
    "except": Key("Groups for whom it is off.", "except: [mergers]", "except: mergers"),
    "enforce_from": Key("The first day on which `mode: warn` becomes enforce.",
                        "{mode: warn, enforce_from: 2027-01-15}", "enforce_from: 2027-01-15"),
}

SETTINGS = {
    "state": Key("The folder of indexes, gates and decision log, which belongs to the user that "
                 "git runs as.", "state: /var/lib/policyd", "state: state"),
    "roots": Key("Folders that hold repositories. Policies name these by the path below, without "
                 ".git.", "roots: [/srv/git]", "roots: /srv/git"),
    "identity": Key("Who says who pushes; docs/identity.md has what each server needs.",
                    "identity: {from: gitolite}", "identity: {from: gitlite}"),
    "home_owner": Key("Who may own the home: root, or the user that the hook runs as (`self`).",
                      "home_owner: self", "home_owner: git"),
    "service": Key("How `policyd serve` runs.", 'service: {listen: "127.0.0.1:9464"}',
                   'service: {listen: "0.0.0.0:9464"}'),
    "webhook": Key("Who is told by POST when a gate closes or opens, or a row ends soon.",
                   'webhook: {url: "https://example.org/x", secret_file: /etc/policyd/secret}',
                   'webhook: {url: "https://example.org/x"}'),
    "pretended_clock": Key("Whether `policyd serve --clock` may let this home live at another "
                           "time: for tests and demos.", "pretended_clock: false",
                           "pretended_clock: no"),
    "server": Key("What runs the hooks (docs/servers.md).", "server: gitea", "server: gitae"),
    "enroll": Key("How repositories are enrolled where the command does not say.",
                  "enroll: {new: true}", "enroll: {new: always}"),
    "replay": Key("How long a push may wait for a replay, and how many run at a time.",
                  "replay: {http: 25}", "replay: {http: 0}"),
}

WAITS = {
    "ssh": Key("Seconds for a push over ssh, 1 to 600."),
    "http": Key("Seconds for a push over http, less than the web server's own limit."),
    "local": Key("Seconds for any other push."),
    "at_once": Key("Replays that run at a time, those of the daemon too, 1 to 64."),
}

SERVICE = {
    "rescan_seconds": Key("Seconds between two looks at everything, 1 to 3600."),
    "listen": Key("Where /metrics and /healthz answer, on loopback; nowhere unless given."),
}

WEBHOOK = {
    "url": Key("An http or https address without a user in it."),
    "secret_file": Key("A file with the secret that signs each notice."),
}

ENROLMENT = {
    "new": Key("Whether the daemon enrols what appears below the roots."),
    "hooks_path": Key("One folder that has the hook of all repositories."),
}

IDENTITY = {
    "from": Key("Which server says it."),
    "name": Key("The variable that holds the name."),
    "keys": Key("The fingerprint of a key, and whose it is."),
    "deploy_keys": Key("The number of a deploy key, and who pushes with it; others are nobody."),
    "actions": Key("Who pushes with the token of an action; nobody unless given."),
    "slop": Key("Seconds by which the nonce of a signed push may be old, 0 to 3600."),
}

OF: Mapping[type[Any], Mapping[str, Key]] = {
    PolicyAuthored: POLICY, BoundsAuthored: BOUNDS, PlacesAuthored: RECORDS,
    OverrideAuthored: OVERRIDE, ReplayAuthored: REPLAY, WaitsAuthored: WAITS,
    ClauseAuthored: CLAUSE, SettingsAuthored: SETTINGS, ServiceAuthored: SERVICE,
    WebhookAuthored: WEBHOOK, EnrolmentAuthored: ENROLMENT,
    **{kind: IDENTITY for kind in IDENTITIES.values()}}

_OPTION = re.compile(r"^`(\w+)`: ((?:.+\n?)+?)(?=^`|^\s*$|\Z)", re.MULTILINE)


def meanings(type_: type[Any]) -> Mapping[str, str]:
    """Key to what it is for, of a type in this manual or of a rule's options."""
    if type_ in OF:
        return {key: one.says for key, one in OF[type_].items()}
    told = "\n".join(line.strip() for line in (type_.__doc__ or "").splitlines())
    return {name: _sentence(says) for name, says in _OPTION.findall(told)}


def _sentence(says: str) -> str:
    flat = " ".join(says.split())
    return flat[:1].upper() + flat[1:]
