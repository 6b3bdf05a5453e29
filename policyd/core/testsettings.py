"""What settings of test runners say, and what a change of them takes away: tests, or their edge.

A setting is known by the last part of its key, whatever runner it belongs to; what command lines
say (addopts, scripts) is read as settings too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase

from policyd.core.sheet import Setting, Sheet
from policyd.core.values import dataclass

_LIMITS = frozenset({"timeout", "testtimeout", "hooktimeout", "test_timeout"})
_RETRIES = frozenset({"reruns", "retries", "retry", "retrytimes", "max_reruns", "force_flaky"})
_SWITCHES = frozenset({"timeout_func_only", "ignore_outcome", "ignore_errors"})

_INCLUDES: Mapping[str, tuple[str, ...]] = {
    "testpaths": ("tests",), "python_files": ("test_*.py", "*_test.py"),
    "python_classes": ("Test",), "python_functions": ("test",), "roots": (), "testmatch": (),
    "testregex": (), "include": (), "spec": (), "projects": (), "testdir": ()}
"""What is collected; the values are what holds where nothing is written."""

_EXCLUDES: Mapping[str, tuple[str, ...]] = {
    "norecursedirs": (".*", "*.egg", "_darcs", "build", "CVS", "dist", "node_modules", "venv",
                      "{arch}"),
    "testpathignorepatterns": ("/node_modules/",), "modulepathignorepatterns": (),
    "exclude": ("**/node_modules/**", "**/dist/**", "**/.git/**"), "ignore": (), "testignore": (),
    "collect_ignore": (), "collect_ignore_glob": ()}

_DESELECTING = frozenset({
    "--deselect", "--ignore", "--ignore-glob", "-k", "-m", "--lf", "--last-failed", "--co",
    "--collect-only", "--noconftest", "--setup-only", "--setup-plan", "-c", "--config-file",
    "--rootdir", "--testNamePattern", "-t", "--testPathIgnorePatterns", "--passWithNoTests",
    "--pass-with-no-tests", "--onlyChanged", "--changed", "--grep", "-g", "--fgrep", "-f",
    "--invert", "--exclude", "--grep-invert", "--suppress-no-test-exit-code", "--listTests"})
_BARE = frozenset({"--lf", "--last-failed", "--co", "--collect-only", "--noconftest",
                   "--setup-only", "--setup-plan", "--passWithNoTests", "--pass-with-no-tests",
                   "--onlyChanged", "--invert", "--suppress-no-test-exit-code", "--listTests",
                   "--force-flaky", "--doctest-modules", "--runxfail", "--strict-markers"})
_AS_SETTINGS = {"--timeout": "timeout", "--testTimeout": "timeout", "--reruns": "reruns",
                "--retries": "retries", "--retry": "retry", "--force-flaky": "force_flaky"}
_TOKEN = re.compile(r"""(?:[^\s"']|"[^"]*"|'[^']*')+""")
_QUOTED = re.compile(r""""([^"]*)"|'([^']*)'""")
_SHORT = re.compile(r"-[kmpoctgf](?=.)")
_APART = re.compile(r"tox\.(?:docs?|release|publish|upload|build|lint(?:ing)?|format)\b[\w-]*\.")
_OF_TESTS = re.compile(r"(?i)test|check|cov|spec\b|\bnox\b|\btox\b|\./|\.sh\b|\{\[")
_SHELL = frozenset({"||", ";", "true", "exit", "echo", ":"})


@dataclass(frozen=True, slots=True)
class Change:
    """A setting that takes something away: its line after (None: it is gone), and in words."""

    line: int | None
    says: str


@dataclass(frozen=True, slots=True)
class _Said:
    value: str
    line: int


def loosened(before: Sheet, after: Sheet) -> Iterator[Change]:
    """Limits that are raised or gone, retries that are gained, strictness that is lost."""
    was, now = _all(before.settings), _all(after.settings)
    for name in sorted({*was, *now}):
        old, new = was.get(name), now.get(name)
        line = new.line if new is not None else None
        if (_last(name) in _LIMITS and _is_raised(old, new)) or (
                _last(name) in _RETRIES and new is not None and _is_more(old, new)):
            yield Change(line, f"{_last(name)} {_shown(new)}, was {_shown(old)}")
        elif _last(name) in _SWITCHES and _is_true(new) and not _is_true(old):
            yield Change(line, f"{_last(name)} is on")
        elif _last(name) == "xfail_strict" and _is_true(old) and not _is_true(new):
            yield Change(line, "xfail_strict is off")
    yield from (Change(line, "plugin timeout is off") for flag, value, line in _flags(after)
                if (flag, value) == ("-p", "no:timeout")
                and ("-p", "no:timeout") not in {(f, v) for f, v, _ in _flags(before)})


def narrowed(before: Sheet, after: Sheet) -> Iterator[Change]:
    """Tests that are no longer collected, as far as the settings alone tell."""
    yield from _deselected(before, after)
    was, now = _all(before.settings), _all(after.settings)
    for name in sorted({*was, *now}):
        last, old, new = _last(name), was.get(name), now.get(name)
        line = new.line if new is not None else None
        if last in _INCLUDES:
            default = _INCLUDES[last]
            had, has = _values(old, default), _values(new, default)
            if old is None and not default:
                narrow = not any("**" in value for value in has)
            else:
                narrow = not all(any(_covers(b, a) for b in has) for a in had)
            if narrow and not (new is None and not default):
                yield Change(line, f"{last} is narrower")
        elif last in _EXCLUDES and new is not None:
            more = set(_values(new, ())) - set(_values(old, ())) - {
                each.rstrip("/") for each in _EXCLUDES[last]}
            if more:
                yield Change(line, f"{last} gains {min(more)}")
    yield from _commands(before, after)


def _deselected(before: Sheet, after: Sheet) -> Iterator[Change]:
    had = {(flag, value) for flag, value, _ in _flags(before)}
    has = {(flag, value) for flag, value, _ in _flags(after)}
    for flag, value, line in _flags(after):
        if flag in _DESELECTING and (flag, value) not in had:
            yield Change(line, f"gains {flag} {value}".rstrip())
    for flag, value in sorted(had - has):
        if flag in ("--doctest-modules", "--doctest-glob"):
            yield Change(None, f"loses {flag} {value}".rstrip())


def _commands(before: Sheet, after: Sheet) -> Iterator[Change]:
    """Commands that run tests: no word of theirs goes, and nothing makes them pass."""
    now = {one.key: one for one in after.settings}
    for one in before.settings:
        if not _is_command(one.key) or _is_apart(one):
            continue
        new = now.get(one.key)
        had, has = _words(one.value), _words(new.value) if new is not None else ()
        lost = [word for word in had if word not in has and not word.startswith("-")]
        if lost or _SHELL & (set(has) - set(had)):
            yield Change(new.line if new is not None else None, f"{one.key} runs something else")


def _all(settings: Iterable[Setting]) -> Mapping[str, _Said]:
    """By key; what a command line says stands beside what settings say."""
    found = {one.key: _Said(one.value, one.line) for one in settings}
    for flag, value, line in _flags(Sheet(settings=tuple(settings))):
        if flag in _AS_SETTINGS:
            found[f"command.{_AS_SETTINGS[flag]}"] = _Said(value or "1", line)
        elif flag in ("-o", "--override-ini") and "=" in value:
            key, _, said = value.partition("=")
            found[f"override.{key.strip()}"] = _Said(said, line)
    return found


def _is_apart(one: Setting) -> bool:
    """Whether it is what a named environment does that runs no tests: docs, a release."""
    return _APART.match(one.key) is not None and not _OF_TESTS.search(one.value)


def _is_command(key: str) -> bool:
    return key.lower().startswith("scripts.") or _last(key) == "commands"


def _words(value: str) -> tuple[str, ...]:
    """The words of one command, or of a list of them."""
    return tuple(word for line in _tokens(value) for word in _tokens(line))


def _flags(sheet: Sheet) -> Iterator[tuple[str, str, int]]:
    for one in sheet.settings:
        if _last(one.key) != "addopts" and not _is_command(one.key):
            continue
        words = list(_tokens(one.value) if not _is_command(one.key) else _words(one.value))
        word = ""
        while words:
            last, word = word, words.pop(0)
            if word in ("-m", "-c") and ("python" in last or last.endswith("sh")):
                words = words[word == "-c":]  # a module, or a program: no flag of a runner's
                continue
            if word.startswith("--"):
                flag, found, value = word.partition("=")
                if not found and flag not in _BARE and words and not words[0].startswith("-"):
                    value = words.pop(0)
                yield flag, value, one.line
            elif _SHORT.match(word):
                yield word[:2], word[2:].removeprefix("="), one.line
            elif word.startswith("-") and len(word) == 2:
                takes = word[1] in "kmpoctgf" and words
                yield word, words.pop(0) if takes else "", one.line


def _tokens(value: str) -> tuple[str, ...]:
    """The words of a command line, or the texts of a list."""
    text = value.strip()
    if text.startswith("[") and text.endswith("]") and _QUOTED.search(text):
        return tuple(a or b for a, b in _QUOTED.findall(text))
    return tuple(re.sub("[\"']", "", word) for word in _TOKEN.findall(text))


def _values(said: _Said | None, default: tuple[str, ...]) -> tuple[str, ...]:
    if said is None:
        return default
    words = (word.strip(",").rstrip("/") for word in _tokens(said.value))
    return tuple(word.removeprefix("./") or "." for word in words if word not in ("", "[]"))


def _covers(wide: str, narrow: str) -> bool:
    """Whether what one of a runner's patterns takes in, the other does too."""
    if wide in (narrow, ".", "*", "*.py", "**") or narrow.startswith(wide + "/"):
        return True
    plain = not any(mark in wide + narrow for mark in "*?[/")
    return (plain and narrow.startswith(wide)) or ("*" in wide and fnmatchcase(narrow, wide))


def _last(key: str) -> str:
    return key.rpartition(".")[2].lower().replace("-", "_")


def _is_raised(old: _Said | None, new: _Said | None) -> bool:
    """Zero is no limit; what is no number is not known to be one."""
    limit = _number(new)
    if new is not None and (limit is None or limit <= 0):
        return old is None or old.value != new.value
    most = _number(old)
    return old is not None and (limit is None or (most is not None and 0 < most < limit))


def _is_more(old: _Said | None, new: _Said) -> bool:
    if old is not None and old.value == new.value:
        return False
    before, after = _number(old) or 0.0, _number(new)
    if after is None:
        return new.value.lower() not in ("false", "")
    return after > before


def _number(said: _Said | None) -> float | None:
    found = re.fullmatch(r"\s*(\d[\d_]*(?:\.\d+)?)\s*[a-z]*\s*", said.value) if said else None
    return float(found[1].replace("_", "")) if found else None


def _is_true(said: _Said | None) -> bool:
    return said is not None and said.value.strip().lower() in ("true", "1", "yes", "on")


def _shown(said: _Said | None) -> str:
    return "none" if said is None else said.value.strip()[:20] or "empty"
