"""Settings files in, what they say of tests out: which run, for how long, and what counts.

One `Setting` for each key, as `RUNNER.KEY` whatever the file: a list is `["a", "b"]`, a table is
JSON. What tells nothing of tests is left out. What is said in YAML or in a program is not found.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from policyd.core.sheet import Setting, Sheet
from policyd.languages.literal import Unparseable, bounded
from policyd.languages.settings_ini import Entry, entries
from policyd.languages.settings_lines import json_lines, toml_lines, without_remarks

_LONGEST = 4096
_TOO_DEEP = "nested too deeply, or too large, to be parsed"
_PLACE = re.compile(r"at line (\d+)")

_SHOWS_ONLY = re.compile(
    r"(?:log|junit)_\w+|console_output_style|cache_dir|tmp_path_\w+|faulthandler_\w+|verbosity_\w+"
    r"|doctest_encoding|enable_assertion_pass_hook")
_BY_LINES = frozenset(["markers", "filterwarnings", "required_plugins", "env", "commands",
                       "commands_pre", "commands_post", "setenv", "exclude_lines", "exclude_also",
                       "omit", "envlist", "env_list"])
_TOX = frozenset(["commands", "commands_pre", "commands_post", "setenv", "set_env", "ignore_errors",
                  "ignore_outcome", "envlist", "env_list", "skip_missing_interpreters"])
_COVERAGE = frozenset(["fail_under", "omit", "exclude_lines", "exclude_also", "source", "branch"])
_PYTEST: tuple[tuple[str, ...], ...] = (
    ("tool", "pytest", "ini_options"), ("tool", "pytest"), ("pytest",))
_RUNNERS = ("jest", "mocha", "vitest", "ava", "nyc", "c8", "tap")
_TESTS = re.compile(
    r"(?<!la)test|(?<!type)(?<!type[-_:])(?<!types[-_:])check(?![-_:]?types?\b)|verify|\bci\b|cov|(?<!in)spec|jest|mocha|vitest|\bava\b|\btap\b|karma"
    r"|cypress|playwright|pytest|unittest|\btox\b|\bnox\b")
_SCRIPTS = (("tool", "pdm", "scripts"), ("tool", "poe", "tasks"), ("tool", "taskipy", "tasks"),
            ("tool", "rye", "scripts"))

Path = tuple[str, ...]
Found = Iterator[tuple[str, Path, Any]]
"""The key of the setting, where it stands in the file, and its value."""


def sheet(source: bytes, min_length: int, *, form: str) -> Sheet:  # noqa: ARG001
    """`form` is toml, ini, json (of npm), jest or mocha. Raises Unparseable."""
    try:
        text = source.decode("utf-8-sig")
        found = tuple(_FORMS[form](text))
    except UnicodeDecodeError:
        raise Unparseable(1, "not in UTF-8") from None
    except json.JSONDecodeError as error:
        raise Unparseable(error.lineno, "invalid JSON") from None
    except tomllib.TOMLDecodeError as error:
        at = _PLACE.search(str(error))
        raise Unparseable(int(at[1]) if at else text.count("\n") + 1, "invalid TOML") from None
    except (MemoryError, RecursionError):
        raise Unparseable(1, _TOO_DEEP) from None
    except ValueError:
        raise Unparseable(1, "holds a value that cannot be read") from None
    return Sheet(settings=tuple(sorted(set(found), key=lambda one: (one.line, one.key))))


def _of_toml(text: str) -> Iterator[Setting]:
    data, lines = tomllib.loads(text), toml_lines(text)
    for key, path, value in _in_toml(data):
        yield Setting(key, _shown(key, value), _line(lines, path))
    legacy = _at(data, "tool", "tox").get("legacy_tox_ini")
    if isinstance(legacy, str):
        first = _line(lines, ("tool", "tox", "legacy_tox_ini"))
        for one in _of_ini(legacy):
            yield Setting(one.key, one.value, one.line + first)


def _in_toml(data: Mapping[str, Any]) -> Found:
    tool = _at(data, "tool")
    for where in _PYTEST:
        yield from (("pytest." + key, path, value) for key, path, value in _items(data, where)
                    if key != "ini_options" and not _SHOWS_ONLY.fullmatch(key))
    for part in ("run", "report"):
        yield from (("coverage." + key, path, value)
                    for key, path, value in _items(data, ("tool", "coverage", part))
                    if key in _COVERAGE)
    yield from _of_tox(data, ("tool", "tox"))
    yield from _of_tox(data, ())
    for where in (*_SCRIPTS, *(("tool", "hatch", "envs", env, "scripts")
                               for env in _at(tool, "hatch", "envs"))):
        yield from _scripts(data, where)


def _of_tox(data: Mapping[str, Any], where: Path) -> Found:
    """Its native form; `where` is empty in a file of its own."""
    envs = [("env_run_base",), *(("env", name) for name in _at(data, *where, "env"))]
    yield from (("tox." + key, path, value) for key, path, value in _items(data, where)
                if key in _TOX)
    for env in envs:
        name = env[-1] if len(env) > 1 else "testenv"
        yield from ((f"tox.{name}.{key}", path, value)
                    for key, path, value in _items(data, (*where, *env)) if key in _TOX)


def _of_ini(text: str) -> Iterator[Setting]:
    for entry in entries(text):
        key = _ini_key(entry)
        if key is not None:
            lines = [line for line in entry.lines if line]
            value = lines if key.rpartition(".")[2] in _BY_LINES else " ".join(lines)
            yield Setting(key, _shown(key, value), entry.line)


def _ini_key(entry: Entry) -> str | None:
    section, key = entry.section, entry.key
    if section in ("pytest", "tool:pytest"):
        return None if _SHOWS_ONLY.fullmatch(key) else f"pytest.{key}"
    if section in ("run", "report", "coverage:run", "coverage:report"):
        return f"coverage.{key}" if key in _COVERAGE else None
    if section == "tox" or section.startswith("testenv"):
        inside = "" if section == "tox" else section.removeprefix("testenv:") + "."
        return f"tox.{inside}{key}" if key in _TOX else None
    return None


def _of_json(text: str) -> Iterator[Setting]:
    """A package of npm: its scripts, and what it says to runners."""
    data = _object(text)
    found = [*_scripts(data, ("scripts",)),
             *((f"{runner}.{key}", path, value) for runner in _RUNNERS
               for key, path, value in _items(data, (runner,)))]
    lines = json_lines(text)
    yield from (Setting(key, _shown(key, value), _line(lines, path)) for key, path, value in found)


def _of_runner(runner: str) -> Callable[[str], Iterator[Setting]]:
    """A file that belongs to one runner, in which remarks are allowed."""
    def read(text: str) -> Iterator[Setting]:
        plain = without_remarks(text)
        data = _object(plain)
        lines = json_lines(plain)
        for key, path, value in _items(data, ()):
            yield Setting(f"{runner}.{key}", _shown(key, value), _line(lines, path))

    return read


_FORMS: Mapping[str, Callable[[str], Iterator[Setting]]] = {
    "toml": _of_toml, "ini": _of_ini, "json": _of_json, "jest": _of_runner("jest"),
    "mocha": _of_runner("mocha")}


def _object(text: str) -> Mapping[str, Any]:
    data = json.loads(text)
    if not isinstance(data, dict):
        raise Unparseable(1, "holds no object")
    return data


def _at(data: Any, *path: str) -> Mapping[str, Any]:
    """The table there, or an empty one."""
    for name in path:
        data = data.get(name) if isinstance(data, dict) else None
    return data if isinstance(data, dict) else {}


def _items(data: Mapping[str, Any], where: Path) -> Found:
    yield from ((key, (*where, key), value) for key, value in _at(data, *where).items())


def _scripts(data: Mapping[str, Any], where: Path) -> Found:
    """Those that run tests, by their name or by what they run."""
    for key, path, value in _items(data, where):
        if _TESTS.search(key) or _TESTS.search(json.dumps(value, default=str)):
            yield f"scripts.{key}", path, value


def _line(lines: Mapping[Path, int], path: Path) -> int:
    """Of the key, or of the table that it stands in, in one line with it."""
    return next((lines[path[:end]] for end in range(len(path), 0, -1) if path[:end] in lines), 1)


def _shown(key: str, value: Any) -> str:
    """As a person writes it, in printable ASCII."""
    if isinstance(value, str):
        lines = [line.strip() for line in value.splitlines() if line.strip()]
        if len(lines) > 1 and key.rpartition(".")[2] in _BY_LINES:
            return _shown(key, lines)
        text = "".join(char if char.isprintable() else "?" for char in " ".join(lines))
        text = text.encode("ascii", "backslashreplace").decode()
    else:
        text = json.dumps(value, default=str, sort_keys=True)
    return text if len(text) <= _LONGEST else bounded(text)


