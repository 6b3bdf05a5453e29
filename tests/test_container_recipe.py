"""The recipe for containers: names files that are there, pins, shares what must be shared."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from policyd.core.documents import parse
from policyd.core.settings import compile_settings

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "packaging/container"
RECIPE = (FOLDER / "Containerfile").read_text()
COMPOSE = yaml.safe_load((FOLDER / "compose.yaml").read_text())
SERVICES = COMPOSE["services"]
SETTINGS = compile_settings(parse((FOLDER / "policyd.yaml").read_bytes(), "policyd.yaml"))
HOME, STATE, DATA = "/etc/policyd", "/var/lib/policyd", "/var/lib/gitea"


def volumes(service: str) -> dict[str, tuple[str, bool]]:
    """Where it is, to what it is and whether it may be written."""
    found = {}
    for text in SERVICES[service]["volumes"]:
        source, place, mode = re.fullmatch(r"(.+?):(/[^:]+)(:ro)?", text).groups()
        found[place] = (source, mode is None)
    return found


def locked(lock: str) -> set[str]:
    return set(re.findall(r"^([a-z0-9-]+)==", (ROOT / lock).read_text(), re.MULTILINE))


def test_what_the_recipe_copies_is_there():
    copied = [name for line in re.findall(r"^COPY (?!--from)(.+)$", RECIPE, re.MULTILINE)
              for name in line.split()[:-1]]
    assert {"policyd", "requirements.lock", "requirements-test.lock"} <= set(copied)
    for name in copied:
        assert (ROOT / name).exists(), name
    shipped = re.findall(r'"((?:hooks|policies|packaging)/[^"*]+)"',
                         (ROOT / "pyproject.toml").read_text())
    for name in shipped:
        assert any(name == one or name.startswith(f"{one}/") for one in copied), name


def test_nothing_is_installed_but_what_the_locks_name():
    assert "watchdog" in locked("requirements.lock")
    assert "setuptools" in locked("requirements-test.lock")
    installs = re.findall(r"\$pip .*?(?=&&|\n\n)", RECIPE, re.DOTALL)
    assert len(installs) == 5
    for one in installs:
        assert "--require-hashes" in one or "--no-index" in one, one
    assert re.search(r"^ARG GITEA=\d+\.\d+\.\d+$", RECIPE, re.MULTILINE)
    assert RECIPE.count("FROM docker.io/gitea/gitea:${GITEA}-rootless") == 2
    assert ":latest" not in RECIPE + str(COMPOSE)


def test_the_image_ends_as_the_git_user_of_gitea():
    assert re.findall(r"^USER (.+)$", RECIPE, re.MULTILINE)[-1] == "1000:1000"
    for service in SERVICES.values():
        assert service["user"] == "1000:1000"
        assert service["image"] == SERVICES["gitea"]["image"]


def test_no_service_may_more_than_it_needs():
    for service in SERVICES.values():
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert "privileged" not in service


def test_hook_and_daemon_share_state_and_repositories_and_cannot_write_the_home():
    gitea, daemon, admin = (volumes(name) for name in ("gitea", "policyd", "admin"))
    for place in (STATE, DATA):
        assert gitea[place] == daemon[place] == admin[place]
        assert gitea[place][1]
        assert gitea[place][0] in COMPOSE["volumes"]
    assert gitea[HOME] == daemon[HOME] == (admin[HOME][0], False)
    assert admin[HOME][1]
    assert SERVICES["admin"]["profiles"]


def test_the_settings_are_those_of_the_containers():
    assert SETTINGS.state == STATE
    assert all(root.startswith(f"{DATA}/") for root in SETTINGS.roots)
    assert (SETTINGS.server, SETTINGS.identity.source) == ("gitea", "gitea")
    assert SETTINGS.home_owner == "self"
    assert SETTINGS.enroll.new


def test_the_health_check_asks_where_the_daemon_answers():
    asked = SERVICES["policyd"]["healthcheck"]["test"]
    assert f"http://{SETTINGS.service.listen}/healthz" in asked[-1]
    compile(asked[-1], "healthcheck", "exec")
    assert SERVICES["policyd"]["entrypoint"][0] == asked[1] == "/opt/policyd/bin/python"
    assert SERVICES["policyd"]["command"] == ["serve"]
