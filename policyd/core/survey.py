"""What lies where in a repository, by the names of its files alone. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum

from policyd.core.globs import branch_pattern
from policyd.core.values import dataclass

SHOWN = 3


class Kind(Enum):
    """What a file looks like by its name."""

    CASSETTE = "cassettes"
    SNAPSHOT = "snapshots"
    GOLDEN = "golden files"
    CI = "CI definitions"
    SETTINGS = "pytest settings"
    TESTS = "tests"
    SOURCE = "sources"
    OTHER = "other files"


RECORDINGS = (Kind.CASSETTE, Kind.SNAPSHOT, Kind.GOLDEN)

_CODE = re.compile(r".*\.(py[iwx]?|go|rs|java|kts?|scala|swift|c|cc|cpp|cxx|h|hh|hpp|cs|rb|php|pl|"
                   r"[cm]?[jt]sx?|ex|exs|erl|hs|ml|clj|lua|r|jl|sh|sql|vue|zig)", re.IGNORECASE)
_TEST_FOLDERS = frozenset(("test", "tests", "testing", "spec", "specs", "__tests__", "testsuite"))
_TEST_FILES = (
    (re.compile(r"test_[^/]*\.py"), "**/test_*.py"),
    (re.compile(r"[^/]*_test\.py"), "**/*_test.py"),
    (re.compile(r"[^/]*_test\.go"), "**/*_test.go"),
    (re.compile(r"[^/]*_spec\.rb"), "**/*_spec.rb"),
    (re.compile(r"[^/]*\.test\.[cm]?[jt]sx?"), "**/*.test.*"),
    (re.compile(r"[^/]*\.spec\.[cm]?[jt]sx?"), "**/*.spec.*"),
    (re.compile(r"[^/]*Tests?\.(java|kt|cs|scala)"), "**/*Test.*"))
_CI = (".github", ".ci", ".circleci", ".buildkite", ".woodpecker", ".gitlab-ci.yml", ".gitlab",
       ".travis.yml", ".drone.yml", ".cirrus.yml", "azure-pipelines.yml", "jenkinsfile",
       "bitbucket-pipelines.yml", "appveyor.yml", ".appveyor.yml", ".forgejo", ".gitea")
_SETTINGS = frozenset(("conftest.py", "pytest.ini", ".pytest.ini", "tox.ini", "setup.cfg",
                       "pyproject.toml"))
_FOLDERS = ((Kind.CASSETTE, frozenset(("cassettes", "cassette"))),
            (Kind.SNAPSHOT, frozenset(("__snapshots__", "snapshots"))),
            (Kind.GOLDEN, frozenset(("golden", "goldens", "expected", "baseline", "baselines",
                                     "testdata"))))
_ENDINGS = ((Kind.SNAPSHOT, re.compile(r".*\.(snap|ambr)")),
            (Kind.GOLDEN, re.compile(r".*\.(golden|approved|expected)(\.[^.]*)?")))
_RELEASES = ("release/*", "release-*", "releases/*", "stable", "stable/*", "maint/*", "*.x",
             "support/*", "hotfix/*")
_TAGS = ("tags/v*", "tags/*.*")
_BELOW_SRC = ("src/**",)
_NO_SOURCE = ("!docs/**", "!doc/**", "!examples/**", "!playground/**", "!benchmarks/**",
              "!oracle/**", "!fixtures/**", "!proposals/**", "!.*", "!*.md", "!*.rst", "!*.txt")
_SET_UP = ("!**/pyproject.toml", "!setup.cfg", "!tox.ini", "!noxfile.py", "!**/package.json",
           "!**/package-lock.json", "!**/pnpm-lock.yaml", "!**/*.lock", "!**/jest.config.*",
           "!**/vitest.config.*", "!**/playwright.config.*")
"""What a project is built and tested by: rules about tests read it by its own globs."""
_WIRED = frozenset((".ci/**", ".github/**", ".gitlab-ci.yml"))


@dataclass(frozen=True, slots=True)
class Group:
    """The files of one kind."""

    files: int
    size: int | None
    """Bytes; None where nobody looked."""
    where: tuple[tuple[str, int], ...]
    """The folders, with a slash, or files that hold most of them."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The zones that fit, as globs. Repositories that share one can share a policy."""

    source: tuple[str, ...]
    tests: tuple[str, ...]
    wiring: tuple[str, ...]
    """Besides what the shipped policy has."""

    @property
    def is_src(self) -> bool:
        """Whether sources lie below src/."""
        return self.source == _BELOW_SRC


def kind_of(path: str) -> Kind:
    """By its folders first, then by its own name."""
    *folders, name = path.lower().split("/")
    is_code = _CODE.fullmatch(name) is not None
    for kind, names in _FOLDERS:
        if not is_code and not names.isdisjoint(folders):
            return kind
    for kind, ending in _ENDINGS:
        if ending.fullmatch(name):
            return kind
    if (folders[0] if folders else name) in _CI:
        return Kind.CI
    if name in _SETTINGS and (name == "conftest.py" or not folders):
        return Kind.SETTINGS
    if _tests_glob(path) is not None:
        return Kind.TESTS
    return Kind.SOURCE if is_code else Kind.OTHER


def groups(paths: Iterable[str], size: Callable[[str], int | None]) -> dict[Kind, Group]:
    """The files by kind; `size` is asked for recordings, in all for no more than it can tell."""
    listed: dict[Kind, list[str]] = {}
    for path in sorted(paths):
        listed.setdefault(kind_of(path), []).append(path)
    return {kind: Group(len(found), _sum(map(size, found)) if kind in RECORDINGS else None,
                        tuple(Counter(map(_place, found)).most_common(SHOWN)))
            for kind in Kind if (found := listed.get(kind))}


def layout(paths: Iterable[str]) -> Layout:
    """Zones that fit the files. Sources below src/ are that; others are all but what is known to
    be something else.
    """
    kinds: dict[Kind, list[str]] = {}
    for path in paths:
        kinds.setdefault(kind_of(path), []).append(path)
    tests = Counter(glob for path in kinds.get(Kind.TESTS, ())
                    if (glob := _tests_glob(path)) is not None)
    globs = tuple(glob for glob, _ in sorted(tests.items(), key=lambda one: (-one[1], one[0])))
    sources = kinds.get(Kind.SOURCE, [])
    inside = sum(path.lower().startswith("src/") for path in sources)
    ci = {path.split("/")[0] + ("/**" if "/" in path else "") for path in kinds.get(Kind.CI, ())}
    return Layout(_BELOW_SRC if sources and inside * 2 >= len(sources) else _all_but(globs),
                  globs or ("tests/**",), tuple(sorted(ci - _WIRED)))


def shared(layouts: Sequence[Layout]) -> Layout:
    """One that fits repositories which all keep sources below src/, or which all do not."""
    tests = tuple(dict.fromkeys(glob for one in layouts for glob in one.tests))
    return Layout(_BELOW_SRC if layouts[0].is_src else _all_but(tests), tests,
                  tuple(dict.fromkeys(glob for one in layouts for glob in one.wiring)))


def places(found: Iterable[Group]) -> str:
    """Where most of it lies, over several repositories."""
    held: Counter[str] = Counter()
    for group in found:
        held.update(dict(group.where))
    return ", ".join(f"{place} ({count})" for place, count in held.most_common(SHOWN))


def guarded(head: str, branches: Sequence[str], tags: Sequence[str]) -> tuple[str, ...]:
    """Its own branch, and patterns of releases that are there. Short names of refs go in."""
    own = f"refs/heads/{head}" if head.startswith(("!", "tags/", "refs/")) else head
    found = [own] if head and head.isprintable() else []
    found += [glob for glob in _RELEASES if glob != head and _fits(glob, branches, "heads")]
    found += [glob for glob in _TAGS if _fits(glob, tags, "tags")][:1]
    return tuple(found)


def lately(emails: Sequence[str]) -> Mapping[str, int]:
    """How many commits, different addresses, and addresses that look like a program's."""
    bots = {email for email in emails if "[bot]" in email or "bot@" in email or "agent" in email}
    return {"commits": len(emails), "addresses": len(set(emails)), "programs": len(bots)}


def _all_but(tests: Sequence[str]) -> tuple[str, ...]:
    return ("**", *(f"!{glob}" for glob in dict.fromkeys(("tests/**", *tests))), *_NO_SOURCE,
            *_SET_UP)


def _tests_glob(path: str) -> str | None:
    """The glob by which a file counts as a test; None where its name says nothing of it."""
    folders = path.split("/")[:-1]
    if folders and folders[0].lower() in _TEST_FOLDERS:
        return f"{folders[0]}/**"
    for folder in folders:
        if folder.lower() in _TEST_FOLDERS:
            return f"**/{folder}/**"
    name = path.rpartition("/")[2]
    return next((glob for form, glob in _TEST_FILES if form.fullmatch(name)), None)


def _fits(glob: str, names: Iterable[str], kind: str) -> bool:
    pattern = branch_pattern(glob)
    return any(pattern.matches(f"refs/{kind}/{name}") for name in names)


def _place(path: str) -> str:
    """Where it lies: two folders deep at the most."""
    folders = path.split("/")[:-1][:2]
    return "/".join(folders) + "/" if folders else path


def _sum(sizes: Iterable[int | None]) -> int | None:
    total = 0
    for size in sizes:
        if size is None:
            return None
        total += size
    return total
