"""Real pushes as each server makes them: who that is, what it may, and what the log says.

tests/emulators/ holds what the servers do; the variables of each were compared with the real ones.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from pushing import accepted, made, refused, rules, unjudged
from sites import MAIN, Site

EMULATORS = Path(__file__).parents[1] / "emulators"
WRITERS = "protected-writers"
RECEIPT, CODE = "oracle/receipts/expected.json", "src/app.py"
SECRET = "czNjcmV0OmNvcnJlY3QtaG9yc2U="


def chosen(site: Site, identity: str, groups: Mapping[str, str] | None = None,
           repositories: str = '["**"]', writers: str = "") -> None:
    """Put this `identity:` in force, with other lists in groups and for these repositories."""
    settings = site.home / "policyd.yaml"
    line = "identity: {from: env, name: REMOTE_USER}"
    assert line in settings.read_text()
    settings.write_text(settings.read_text().replace(line, f"identity: {identity}"))
    policy = site.home / "policies/default.yaml"
    text = policy.read_text().replace('repositories: ["**"]', f"repositories: {repositories}")
    for group, listed in (groups or {}).items():
        start = text.index(f"\n  {group}: [") + 1
        text = text[:start] + f"  {group}: {listed}" + text[text.index("\n", start):]
    if writers:
        start = text.index("\n    writers:", text.index("protected-writers:"))
        text = f"{text[:start]}\n    {writers}{text[start:]}"
    policy.write_text(text)
    assert site.policyd("policy", "apply") == 0, site.out


def code(site: Site) -> str:
    return made(site, {CODE: b"x = 1\n"}, on=site.base_tip)


def answer(site: Site) -> str:
    """A commit that only maintainers may push."""
    return made(site, {RECEIPT: None}, on=site.base_tip)


def pusher(site: Site) -> tuple[object, ...]:
    """What the last entry of the log says: who, with what, where to."""
    entry = site.log()[-1]
    return entry["pusher"], entry.get("credential"), entry["repository"]


# --- Gitea -----------------------------------------------------------------------------------

@pytest.fixture
def gitea(site: Site) -> Site:
    """The site as a forge lays it out: the hook stands among others in pre-receive.d."""
    hooks = site.server / "hooks"
    (hooks / "pre-receive.d").mkdir()
    (hooks / "pre-receive").rename(hooks / "pre-receive.d/policyd")
    shutil.copy(EMULATORS / "gitea-delegate", hooks / "pre-receive")
    return site


def through(way: str) -> str:
    return f"--receive-pack={EMULATORS / 'gitea'} {way}"


@pytest.mark.parametrize(("way", "credential"), [
    ("http", "http"), ("ssh", "key-7"), ("web", "web"), ("merge", "web")])
def test_gitea_names_the_pusher_on_each_way(gitea, way, credential):
    chosen(gitea, "{from: gitea}", repositories='["ORG/*"]')
    refused(gitea, through(way), f"{answer(gitea)}:{MAIN}", by={WRITERS}, env={"PUSHER": "agent-7"})
    assert pusher(gitea) == ("agent-7", credential, "org/demo")
    accepted(gitea, through(way), f"{answer(gitea)}:{MAIN}", env={"PUSHER": "alice"})
    assert pusher(gitea) == ("alice", credential, "org/demo")


def test_gitea_opens_a_pull_request_as_the_namespaces_say(gitea):
    chosen(gitea, "{from: gitea}")
    accepted(gitea, through("pull"), f"{code(gitea)}:refs/pull/7/head", env={"PUSHER": "agent-7"})
    assert pusher(gitea) == ("agent-7", "internal", "org/demo")
    refused(gitea, through("pull"), f"{answer(gitea)}:refs/pull/8/head", by={WRITERS},
            env={"PUSHER": "agent-7"})
    gitea.edit_policy('{"refs/pull/**": judge,', '{"refs/pull/**": refuse,')
    refused(gitea, through("pull"), f"{code(gitea)}:refs/pull/9/head", by={"ordinary-refs"})


def test_gitea_has_no_business_of_its_own_on_a_branch(gitea):
    chosen(gitea, "{from: gitea}")
    unjudged(gitea, through("pull"), f"{code(gitea)}:{MAIN}", because="GITEA_INTERNAL_PUSH")


@pytest.mark.parametrize("way", ["deploy", "action"])
def test_a_deploy_key_and_an_action_are_nobody_unless_they_are_mapped(gitea, way):
    chosen(gitea, "{from: gitea}")
    refused(gitea, through(way), f"{answer(gitea)}:{MAIN}", by={WRITERS})
    assert pusher(gitea)[0] is None
    assert any("by nobody known" in line for line in gitea.told)


def test_a_deploy_key_and_an_action_are_whom_they_are_mapped_to(gitea):
    chosen(gitea, '{from: gitea, deploy_keys: {"4": bob}, actions: agent-7}')
    refused(gitea, through("action"), f"{answer(gitea)}:{MAIN}", by={WRITERS})
    assert pusher(gitea) == ("agent-7", "actions", "org/demo")
    accepted(gitea, through("deploy"), f"{answer(gitea)}:{MAIN}")
    assert pusher(gitea) == ("bob", "deploy-key-4", "org/demo")


def test_a_name_typed_otherwise_is_the_same_repository(gitea):
    """Over HTTP Gitea hands on what the pusher typed; a lenient policy is not to be had so."""
    chosen(gitea, "{from: gitea}", repositories='["Org/Demo"]')
    lenient = gitea.home / "policies/default.yaml"
    text = lenient.read_text().replace('repositories: ["Org/Demo"]',
                                       'repositories: ["**", "!Org/Demo"]')
    (gitea.home / "policies/others.yaml").write_text(text.replace("mode: enforce", "mode: off", 1))
    assert gitea.policyd("policy", "apply") == 0, gitea.out
    for owner, name in (("org", "demo"), ("ORG", "DEMO"), ("Org", "demo")):
        refused(gitea, through("http"), f"{answer(gitea)}:{MAIN}", by={WRITERS},
                env={"PUSHER": "agent-7", "OWNER": owner, "NAME": name})
        assert pusher(gitea) == ("agent-7", "http", "org/demo")


def test_a_repository_that_no_policy_names_cannot_be_judged(gitea):
    chosen(gitea, "{from: gitea}", repositories='["r", "other/*"]')
    unjudged(gitea, through("http"), f"{code(gitea)}:{MAIN}",
             because="no policy holds for the repository org/demo")


def test_a_push_past_the_forge_cannot_be_judged(gitea):
    chosen(gitea, "{from: gitea}")
    unjudged(gitea, f"{code(gitea)}:{MAIN}", because="always sets GITEA_REPO_USER_NAME")


def test_a_contradiction_refuses_only_where_a_rule_enforces(gitea):
    chosen(gitea, "{from: gitea}")
    gitea.edit_policy("mode: enforce", "mode: observe")
    accepted(gitea, through("pull"), f"{answer(gitea)}:{MAIN}")
    assert "GITEA_INTERNAL_PUSH" in gitea.incidents()[-1]["error"]
    assert gitea.log()[-1]["pusher"] is None


# --- GitLab, GitHub, gitolite, a web server --------------------------------------------------

@pytest.fixture
def gitlab(site: Site) -> Site:
    """The site in Gitaly's layout; its path says nothing."""
    hooks, custom = site.server / "hooks", site.server / "custom_hooks"
    custom.mkdir()
    (hooks / "pre-receive").rename(custom / "pre-receive")
    shutil.copy(EMULATORS / "gitaly", hooks / "pre-receive")
    return site


@pytest.mark.parametrize("way", ["ssh", "http", "web"])
def test_gitlab_names_the_pusher_on_each_way(gitlab, way):
    chosen(gitlab, "{from: gitlab}", repositories='["group/*"]')
    assert gitlab.push(f"{answer(gitlab)}:{MAIN}", env={"WHO": "agent-7", "WAY": way}) == 1
    assert rules([line.removeprefix("GL-HOOK-ERR: ") for line in gitlab.told]) == {WRITERS}
    assert pusher(gitlab) == ("agent-7", way, "group/demo")
    accepted(gitlab, f"{answer(gitlab)}:{MAIN}", env={"WHO": "alice", "WAY": way}, as_="agent-7")
    assert pusher(gitlab) == ("alice", way, "group/demo")


def test_gitlab_s_deploy_keys_are_nobody_unless_they_are_mapped(gitlab):
    chosen(gitlab, '{from: gitlab, deploy_keys: {"12": bob}}')
    for owner in ("", "alice"):
        refused(gitlab, f"{answer(gitlab)}:{MAIN}", by={WRITERS}, env={"ID": "key-5", "WHO": owner})
        assert pusher(gitlab) == (None, "key-5", "group/demo")
    accepted(gitlab, f"{answer(gitlab)}:{MAIN}", env={"ID": "key-12"})
    assert pusher(gitlab) == ("bob", "key-12", "group/demo")


def test_gitlab_without_a_name_cannot_be_judged(gitlab):
    chosen(gitlab, "{from: gitlab}")
    unjudged(gitlab, f"{code(gitlab)}:{MAIN}", because="always sets GL_USERNAME")


@pytest.mark.parametrize(("environment", "credential"), [
    ({"KEY": "SHA256:" + "a" * 43}, "SHA256:" + "a" * 43), ({"VIA": "merge"}, "web"), ({}, None)])
def test_github_names_the_pusher_on_each_way(site, environment, credential):
    (site.server / "hooks/pre-receive").rename(site.server / "hooks/judge")
    shutil.copy(EMULATORS / "ghes", site.server / "hooks/pre-receive")
    chosen(site, "{from: ghes}", repositories='["octo-org/*"]')
    refused(site, f"{answer(site)}:{MAIN}", by={WRITERS}, env={"WHO": "agent-7", **environment})
    assert pusher(site) == ("agent-7", credential, "octo-org/demo")
    accepted(site, f"{answer(site)}:{MAIN}", env={"WHO": "alice", **environment})


def test_gitolite_names_the_pusher_and_the_repository(site):
    chosen(site, "{from: gitolite}", repositories='["team/*"]')
    gitolite = f"--receive-pack={EMULATORS / 'gitolite'}"
    for nobody in ("agent-7", "anonymous"):
        refused(site, gitolite, f"{answer(site)}:{MAIN}", by={WRITERS}, env={"WHO": nobody})
    assert pusher(site) == (None, None, "team/demo")
    accepted(site, gitolite, f"{answer(site)}:{MAIN}", env={"WHO": "alice"})
    unjudged(site, gitolite, f"{code(site)}:refs/heads/x", env={"REPO": "other"},
             because="no policy holds for the repository other")


def test_a_web_server_names_the_pusher_and_its_header_stays_out_of_everything(site):
    chosen(site, "{from: http}")
    web = f"--receive-pack={EMULATORS / 'web'}"
    refused(site, web, f"{answer(site)}:{MAIN}", by={WRITERS}, env={"WHO": "", "SECRET": SECRET})
    unjudged(site, web, f"{code(site)}:{MAIN}", env={"WHO": "a\tb", "SECRET": SECRET},
             because="REMOTE_USER is no name")
    refused(site, web, "-o", "policyd.json", f"{answer(site)}:{MAIN}", by={WRITERS},
            env={"WHO": "agent-7", "SECRET": SECRET})
    accepted(site, web, f"{answer(site)}:{MAIN}", env={"WHO": "alice", "SECRET": SECRET})
    assert pusher(site) == ("alice", "Basic", "r")
    assert kept(site, SECRET) == []


def kept(site: Site, secret: str) -> list[str]:
    """Where a secret was left: in what a push was told, in state and in what is in force."""
    found = [] if secret not in site.err else ["told"]
    return found + [str(file) for folder in (site.state, site.home / "active")
                    for file in folder.rglob("*")
                    if file.is_file() and secret.encode() in file.read_bytes()]


# --- ssh -------------------------------------------------------------------------------------

def keygen(folder: Path, name: str) -> tuple[Path, str]:
    """A new key: where it is, and its fingerprint."""
    key = folder / name
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", key],
                   check=True, stdin=subprocess.DEVNULL)
    told = subprocess.run(["ssh-keygen", "-lf", f"{key}.pub"], check=True, capture_output=True,
                          text=True).stdout
    return key, told.split(" ")[1]


def shown(folder: Path, key: Path) -> dict[str, str]:
    """The environment that sshd gives with ExposeAuthInfo, and the file that it names."""
    file = folder / f"auth.{key.name}"
    kind, blob, _ = Path(f"{key}.pub").read_text().split(" ")
    file.write_text(f"publickey {kind} {blob}\n")
    file.chmod(0o600)
    return {"SSH_USER_AUTH": str(file), "SSH_CONNECTION": "192.0.2.1 50000 192.0.2.2 22"}


def test_a_key_that_sshd_let_in_is_whom_it_is_mapped_to(site):
    alice, hers = keygen(site.folder, "alice")
    agent, its = keygen(site.folder, "agent")
    other, _ = keygen(site.folder, "other")
    chosen(site, f'{{from: ssh, keys: {{"{hers}": alice, "{its}": agent-7}}}}')
    push = f"{answer(site)}:{MAIN}"
    for key in (agent, other):
        refused(site, push, by={WRITERS}, env=shown(site.folder, key), as_=None)
    assert pusher(site)[0] is None
    unjudged(site, push, env=shown(site.folder, agent), as_="alice", because="contradict")
    accepted(site, push, env=shown(site.folder, alice), as_=None)
    assert pusher(site) == ("alice", hers, "r")


def test_another_key_of_a_maintainer_s_account_is_no_maintainer(site):
    """An agent that works with its person's account is told apart by its key."""
    alice, hers = keygen(site.folder, "alice")
    agent, its = keygen(site.folder, "agent")
    chosen(site, "{from: ssh}", {"maintainers": f'["alice#{hers}", bob]',
                                 "agents": f'[agent-7, "alice#{its}"]'})
    push = f"{answer(site)}:{MAIN}"
    refused(site, push, by={WRITERS}, env=shown(site.folder, agent))
    assert site.told[0].endswith("by alice with another key"), site.told
    assert site.told[1:3] == ["  alice to refs/heads/main, zone oracle, with",
                              f"    {its}"]
    assert f"alice#{hers}" not in site.err
    refused(site, push, by={WRITERS})
    assert site.told[0].endswith("by alice with no key")
    accepted(site, push, env=shown(site.folder, alice))
    assert site.log()[-1]["credential"] == hers


def test_a_key_that_is_an_agent_s_takes_it_out_of_the_maintainers(site):
    alice, _ = keygen(site.folder, "alice")
    agent, its = keygen(site.folder, "agent")
    chosen(site, "{from: ssh}", {"agents": f'[agent-7, "alice#{its}"]'})
    assert "counts for every credential but those" in site.out
    refused(site, f"{answer(site)}:{MAIN}", by={WRITERS}, env=shown(site.folder, agent))
    accepted(site, f"{answer(site)}:{MAIN}", env=shown(site.folder, alice))


# --- Signed pushes ---------------------------------------------------------------------------

@pytest.fixture
def signing(site: Site) -> Site:
    """The site where git asks for signed pushes; `signer` is a key that it trusts."""
    key, _ = keygen(site.folder, "signer")
    trusted = site.folder / "allowed"
    trusted.write_text(f"alice@example.org {Path(f'{key}.pub').read_text()}")
    for name, value in (("receive.certNonceSeed", "a seed"), ("gpg.format", "ssh"),
                        ("gpg.ssh.allowedSignersFile", str(trusted))):
        site.git("config", name, value, cwd=site.server)
    site.git("config", "gpg.format", "ssh")
    site.git("config", "user.signingkey", str(key))
    return site


def fingerprint(key: Path) -> str:
    told = subprocess.run(["ssh-keygen", "-lf", f"{key}.pub"], check=True, capture_output=True,
                          text=True).stdout
    return told.split(" ")[1]


def test_a_signed_push_is_who_signed_it(signing):
    site, key = signing, fingerprint(signing.folder / "signer")
    chosen(site, f'{{from: signed, keys: {{"{key}": alice}}}}')
    push = f"{answer(site)}:{MAIN}"
    refused(site, push, by={WRITERS})
    assert pusher(site) == (None, None, "r")
    accepted(site, "--signed", push, as_="agent-7")
    assert pusher(site) == ("alice", key, "r")
    assert site.log()[-1]["signed"] is True


def test_a_signature_by_an_unknown_key_is_nobody_s(signing):
    site, key = signing, fingerprint(signing.folder / "signer")
    chosen(site, f'{{from: signed, keys: {{"{key}": alice}}}}')
    other, _ = keygen(site.folder, "other")
    site.git("config", "user.signingkey", str(other))
    refused(site, "--signed", f"{answer(site)}:{MAIN}", by={WRITERS})
    assert pusher(site) == (None, None, "r")
    assert "signed" not in site.log()[-1]


def test_a_signature_without_a_nonce_of_the_server_is_nobody_s(signing):
    """git asks for none without a seed; such a certificate could be pushed again later."""
    site = signing
    chosen(site, f'{{from: signed, keys: {{"{fingerprint(site.folder / "signer")}": alice}}}}')
    hook = site.server / "hooks/pre-receive"
    hook.rename(hook.with_name("judge"))
    hook.write_text("#!/bin/sh\nexport GIT_PUSH_CERT_NONCE_STATUS=MISSING\nexec hooks/judge\n")
    hook.chmod(0o755)
    refused(site, "--signed", f"{answer(site)}:{MAIN}", by={WRITERS})


def test_a_zone_can_ask_for_signed_pushes(signing):
    site = signing
    chosen(site, "{from: env, name: REMOTE_USER}", writers="signed: [oracle]")
    push = f"{answer(site)}:{MAIN}"
    refused(site, push, by={WRITERS})
    assert site.told[0].endswith("by alice, not signed")
    command, = (line.strip() for line in site.told if "git push --signed" in line)
    done = subprocess.run(["sh", "-ec", command], cwd=site.work, check=False, capture_output=True,
                          env=site.environment(REMOTE_USER="alice"), text=True)
    assert done.returncode == 0, done.stderr
    assert site.refs()[MAIN] == push.split(":")[0]
    assert site.log()[-1]["signed"] is True
    accepted(site, f"{made(site, {CODE: b'x = 1'}, on=site.tip(push.split(':')[0]))}:{MAIN}")


def test_a_signature_makes_nobody_a_writer(signing):
    site = signing
    chosen(site, "{from: env, name: REMOTE_USER}", writers="signed: [oracle]")
    refused(site, "--signed", f"{answer(site)}:{MAIN}", by={WRITERS}, as_="agent-7")
    assert rules(site.told) == {WRITERS}
    assert "not signed" not in site.err


def test_the_certificate_stays_out_of_everything(signing):
    site = signing
    chosen(site, "{from: env, name: REMOTE_USER}", writers="signed: [oracle]")
    refused(site, "--signed", f"{answer(site)}:{MAIN}", by={WRITERS}, as_="agent-7")
    accepted(site, "--signed", f"{answer(site)}:{MAIN}")
    for part in ("BEGIN SSH SIGNATURE", "certificate version", "U1NIU0lH"):
        assert kept(site, part) == []
