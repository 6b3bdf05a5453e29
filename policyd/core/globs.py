"""The only door to pathspec: globs as people write them, turned into regular expressions.

Zones use the gitignore dialect on folded paths, every pattern anchored at the root. Names of
refs and repositories use a smaller one: `*` stops at `/`, `**` crosses it, `?` is one character
other than `/`, a leading `!` takes names out again, and everything else stands for itself.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from policyd.core.policy import NamePattern, Pattern
from policyd.core.zones import fold

_TOKENS = re.compile(r"\\.|\[[!^]?\]?[^\]]*\]|[*?]|[^\\*?\[]+|.", re.DOTALL)
_UNCLASSED = re.compile(r"\\.|\[\^/\]|\[", re.DOTALL)
_NAME_TOKENS = re.compile(r"\*\*/|\*+|\?|[^*?]+")
_NOT_IN_REFS = re.compile(r"[\x00-\x20\x7f~^:\\\[]|\.\.|//|@\{|/\Z|\A/|\.lock(?=/|\Z)")
_MAX_RANGE = 4096


def zone_pattern(glob: str) -> Pattern:
    """A zone's glob, compiled. Raises ValueError with the reason where it is none."""
    negate = glob.startswith("!")
    body = glob.removeprefix("!").removeprefix("/")
    if not body.strip():
        raise ValueError("an empty pattern")
    if body.startswith("#"):
        raise ValueError("a pattern that starts with # is a comment in this dialect; write \\#")
    names = [_fold_name(name) for name in body.removesuffix("/").split("/")]
    if not all(names):
        raise ValueError(f"{glob!r} can match nothing: one of its names is empty, dots or spaces")
    if names[-1] != names[-1].rstrip():
        raise ValueError(f"{glob!r} ends in white space, which this dialect drops")
    folded = "/".join(names) + ("/" if body.endswith("/") else "")
    return Pattern(glob, negate, _regex(glob, folded), tuple(_literal(names)))


def branch_pattern(glob: str) -> NamePattern:
    """A guarded ref: `main` is refs/heads/main, `tags/v*` refs/tags/v*, `refs/...` itself."""
    body = glob.removeprefix("!")
    if body.startswith("refs/"):
        return _ref_pattern(glob, body)
    prefix = "refs/" if body.startswith("tags/") else "refs/heads/"
    return _ref_pattern(glob, prefix + body if body else "")


def namespace_pattern(glob: str) -> NamePattern:
    """A glob on whole ref names. Raises ValueError where it could match no ref."""
    if glob.startswith("!"):
        raise ValueError("the first pattern that matches decides here; ! has no meaning")
    if not glob.startswith(("refs/", "*")):
        raise ValueError(f"{glob!r} is not a whole ref name; it starts with refs/ or **")
    return _ref_pattern(glob, glob)


def repository_pattern(glob: str) -> NamePattern:
    """A glob on repository names: paths below the server's roots, without .git."""
    body = glob.removeprefix("!")
    if not body or body.startswith("/") or body.endswith("/"):
        raise ValueError(f"{glob!r} is no path below the server's roots")
    if body.endswith(".git"):
        raise ValueError(f"{glob!r}: repositories are named without .git")
    return NamePattern(glob, glob.startswith("!"), _name_regex(body))


def _ref_pattern(glob: str, body: str) -> NamePattern:
    if not body or _NOT_IN_REFS.search(body):
        raise ValueError(f"{glob!r} can match no ref")
    return NamePattern(glob, glob.startswith("!"), _name_regex(body))


def _name_regex(glob: str) -> str:
    """For fullmatch. `**/` also stands for no folder at all, as in gitignore."""
    parts = []
    for token in _NAME_TOKENS.findall(glob):
        if token == "**/":
            parts.append("(?:.*/)?")
        elif token.startswith("*"):
            parts.append("[^/]*" if token == "*" else ".*")
        else:
            parts.append("[^/]" if token == "?" else re.escape(token))
    return "".join(parts)


def _regex(glob: str, folded: str) -> str:
    """For re.match with DOTALL, unlike pathspec's, which are for re.search.

    A class never matches `/`, as in git, and the end is the very end, not before a newline.
    """
    try:
        regex, _ = GitIgnoreSpecPattern.pattern_to_regex("/" + folded)
    except ValueError as error:
        raise ValueError(f"{glob!r} is no pattern: a lone backslash") from error
    if regex is None:
        raise ValueError(f"{glob!r} is no pattern")
    regex = regex.replace("(?P<ps_d>/)", "/")
    if regex.endswith("(?:/|$)"):
        regex = regex.removesuffix("(?:/|$)") + r"(?:/|\Z)"
    regex = _UNCLASSED.sub(lambda m: "(?!/)[" if m.group() == "[" else m.group(), regex)
    regex = regex if regex.startswith("^") else f".*?{regex}"
    try:
        re.compile(regex)
    except re.error as error:
        raise ValueError(f"{glob!r} is no pattern: {error.msg}") from error
    return regex


def _literal(names: list[str]) -> Iterator[str]:
    for name in names:
        tokens = _TOKENS.findall(name)
        if any(token[0] in "*?[" for token in tokens):
            return
        yield "".join(token[1:] if token[0] == "\\" else token for token in tokens)


def _fold_name(name: str) -> str:
    """One name of a glob folded as `fold` folds paths, wildcards and classes kept."""
    parts, after_wildcard = [], False
    for token in _TOKENS.findall(name):
        if after_wildcard and unicodedata.combining(token[0]):
            raise ValueError(f"{name!r}: a combining mark cannot follow a wildcard")
        after_wildcard = token[0] in "*?["
        parts.append(_fold_class(token) if token[0] == "[" else token)
    return _fold_outside(parts)


def _fold_outside(parts: list[str]) -> str:
    """Folds runs between classes; dots and spaces end a name only where the name ends."""
    out, run = [], ""
    for part in parts:
        if part[0] == "[":
            out.append(fold(run + "\0")[:-1] + part)
            run = ""
        else:
            run += part[1:] if part in ("\\.", "\\ ") else part
    return "".join(out) + fold(run)


def _fold_class(token: str) -> str:
    """A class such as [!a-c]: plain characters and ranges that folding leaves one to one."""
    body = re.sub(r"\A\[[!^]?", "", token)[:-1]
    if not body or len(token) == 1 or re.search(r"[\\\[]|--|&&|~~|\|\|", body):
        raise ValueError(f"{token!r}: a class holds plain characters and ranges, then ]")
    out, rest = token[:len(token) - len(body) - 1], body
    while rest:
        if len(rest) > 2 and rest[1] == "-":
            out += _fold_range(rest[0], rest[2])
            rest = rest[3:]
        else:
            out += _fold_one(rest[0])
            rest = rest[1:]
    return out + "]"


def _fold_one(char: str) -> str:
    folded = fold(char + "\0")[:-1]
    if len(folded) != 1:
        raise ValueError(f"{char!r} cannot stand in a class: names are compared without it")
    return folded


def _fold_range(low: str, high: str) -> str:
    span = ord(high) - ord(low)
    if not 0 <= span < _MAX_RANGE:
        raise ValueError(f"the range {low}-{high} is empty or too wide")
    image = {_fold_one(chr(c)) for c in range(ord(low), ord(high) + 1)}
    first, last = _fold_one(low), _fold_one(high)
    stable = {c for c in map(chr, range(ord(first), ord(last) + 1)) if _fold_one(c) == c}
    if stable != image:
        raise ValueError(f"the range {low}-{high} depends on case; names are compared without it")
    return f"{first}-{last}"
