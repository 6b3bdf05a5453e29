"""The JSON Schema of policies takes what policyd takes, as far as form goes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from policyd.core import schema
from policyd.core.authored import form
from policyd.core.documents import parse
from policyd.rules import ALL, BY_ID

POLICIES = Path(__file__).parents[2] / "policies"
OF = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def wrong(given: Any, of: schema.Schema, path: str = "") -> list[str]:
    """What a validator would say, for the words that our schemas use."""
    if "anyOf" in of:
        return [] if any(not wrong(given, one, path) for one in of["anyOf"]) else [path]
    if "enum" in of:
        return [] if given in of["enum"] else [path]
    kind = of.get("type")
    if kind == "integer":
        return [] if type(given) is int else [path]
    if kind == "number":
        return [] if type(given) in (int, float) else [path]
    if kind is not None and not isinstance(given, OF[kind]):
        return [path]
    if kind == "array":
        return [one for n, item in enumerate(given)
                for one in wrong(item, of["items"], f"{path}/{n}")]
    if kind != "object":
        return []
    found = [f"{path}/{key}" for key in of.get("required", ()) if key not in given]
    for key, value in given.items():
        below = of.get("properties", {}).get(key, of.get("additionalProperties"))
        found += [f"{path}/{key}"] if below is False else wrong(value, below or {}, f"{path}/{key}")
    return found


def test_the_shipped_schema_is_what_the_types_say():
    shipped = json.loads((POLICIES / "policy.schema.json").read_bytes())
    assert shipped == schema.of_policy(ALL)


def test_the_shipped_schema_of_settings_is_what_the_types_say():
    shipped = json.loads((POLICIES / "policyd.schema.json").read_bytes())
    assert shipped == schema.of_settings()


def test_an_editor_shows_what_each_key_is_for():
    for of in (schema.of_policy(ALL), schema.of_settings()):
        for key, one in of["properties"].items():
            assert one["description"], key
    overlap = schema.of_policy(ALL)["properties"]["rules"]["properties"]["literal-overlap"]
    assert all(one["description"] for one in overlap["properties"].values())


def test_the_shipped_policy_fits():
    assert wrong(yaml.safe_load((POLICIES / "default.yaml").read_bytes()),
                 schema.of_policy(ALL)) == []


@pytest.mark.parametrize("text", [
    "mood: enforce", "mode: maybe", "guarded: main", "bounds: {max_commits: many}",
    "rules: {no-such-rule: {}}", "rules: {gate-open: {sauce: x}}", "mirror: yes please",
    "groups: {a: {fil: x}}", "zones: {a: x}", "rules: {literal-overlap: {min_length: six}}",
    "namespaces: {refs/x: allow}", "rules: {gate-open: {on: some}}",
])
def test_what_is_wrong_for_policyd_is_wrong_for_an_editor(text):
    assert wrong(yaml.safe_load(text), schema.of_policy(ALL))
    assert list(form(parse(text.encode(), "p"), BY_ID)) or "fil: x" in text


def test_settings_have_a_schema():
    of = schema.of_settings()
    assert wrong({"state": "/s", "home_owner": "self", "service": {"rescan_seconds": 5}}, of) == []
    mapped = {"from": "ssh", "keys": {"SHA256:x": "mei"}}
    assert wrong({"state": "/s", "identity": mapped}, of) == []
    assert wrong({"state": "/s", "identity": {"from": "telnet"}}, of) == ["/identity"]
    assert wrong({"state": "/s", "identity": {"from": "http", "keys": {}}}, of) == ["/identity"]
    assert wrong({"state": 7}, of) == ["/state"]
    assert wrong({}, of) == ["/state"]
    assert wrong({"state": "/s", "webhook": {"url": "https://x"}}, of) == ["/webhook"]
