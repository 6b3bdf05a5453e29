"""What an editor needs to know of a policy and of policyd.yaml: JSON Schema, made from the types.

The schema (draft 2020-12) knows names, types, choices and defaults. What only meaning can tell,
such as an undefined group, `policyd policy lint` tells.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections import abc
from collections.abc import Mapping, Sequence
from datetime import date
from enum import Enum
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from policyd.core.authored import PolicyAuthored
from policyd.core.clauses import ClauseAuthored
from policyd.core.frozen import plain
from policyd.core.manual import POLICY, SETTINGS, meanings
from policyd.core.nodes import Node
from policyd.core.rule import Rule
from policyd.core.settings import IDENTITIES, SettingsAuthored

Schema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_LEAVES: Mapping[Any, Schema] = {
    str: {"type": "string"}, int: {"type": "integer"}, float: {"type": "number"},
    bool: {"type": "boolean"},
    date: {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}}


def of_policy(rules: Sequence[Rule]) -> Schema:
    """A file of HOME/policies. A base, or a file on one, need not be whole: nothing is required."""
    made = _record(PolicyAuthored)
    made["properties"]["rules"] = {
        "type": "object", "additionalProperties": False, "description": POLICY["rules"].says,
        "properties": {rule.id: _rule(rule) for rule in rules}}
    made["properties"]["groups"]["additionalProperties"] = {"anyOf": [
        made["properties"]["groups"]["additionalProperties"],
        {"type": "object", "properties": {"file": {"type": "string"}}, "required": ["file"],
         "additionalProperties": False}]}
    made.pop("required", None)
    return {"$schema": DIALECT, "title": "A policy of policyd", **made}


def of_settings() -> Schema:
    """policyd.yaml."""
    made = _record(SettingsAuthored)
    made["properties"]["identity"] = {
        "anyOf": [_identity(name, type_) for name, type_ in IDENTITIES.items()],
        "description": SETTINGS["identity"].says}
    return {"$schema": DIALECT, "title": "policyd.yaml", **made}


def _identity(name: str, type_: type[Any]) -> Schema:
    made = _record(type_)
    made["properties"]["from"]["enum"] = [name]
    return made


def _rule(rule: Rule) -> Schema:
    common, own = _record(ClauseAuthored), _record(rule.options)
    return {"type": "object", "additionalProperties": False, "description": rule.why,
            "properties": {**common["properties"], **own["properties"]},
            **({"required": own["required"]} if "required" in own else {})}


def _record(type_: type[Any]) -> Schema:
    hints = typing.get_type_hints(type_, include_extras=True)
    says = meanings(type_)
    properties: Schema = {}
    required: list[str] = []
    for one in dataclasses.fields(type_):
        key = one.metadata.get("key", one.name)
        described = {"description": says[key]} if key in says else {}
        properties[key] = {**_type(hints[one.name]), **described, **_default(one)}
        if one.default is dataclasses.MISSING and one.default_factory is dataclasses.MISSING:
            required.append(key)
    made: Schema = {"type": "object", "additionalProperties": False, "properties": properties}
    return {**made, "required": required} if required else made


def _default(one: dataclasses.Field[Any]) -> Schema:
    value = one.default_factory() if one.default_factory is not dataclasses.MISSING \
        else one.default
    if value is dataclasses.MISSING or value is None or dataclasses.is_dataclass(value):
        return {}
    return {"default": plain(value)}


def _type(hint: Any) -> Schema:
    """The schema of what a person writes, whatever it is compiled to."""
    origin, args = get_origin(hint), get_args(hint)
    if hint == Node:
        return {}
    if hint in _LEAVES:
        return dict(_LEAVES[hint])
    if origin is Annotated:
        return dict(_LEAVES.get(args[0], _LEAVES[str]))
    if origin is Literal:
        return {"enum": list(args)}
    if origin in (Union, types.UnionType):
        return {"anyOf": [*(_type(arg) for arg in args if arg is not types.NoneType),
                          {"type": "null"}]}
    if origin is tuple:
        return {"type": "array", "items": _type(args[0])}
    if origin in (dict, abc.Mapping):
        return {"type": "object", "additionalProperties": _type(args[1])}
    if issubclass(hint, Enum):
        return {"enum": [member.value for member in hint]}
    return _record(hint)
