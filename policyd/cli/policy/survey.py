"""`policyd policy survey ROOT`: what is in all repositories below a folder, and a policy for it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import click

from policyd.adapters import gitfolder, shipped, surveyed, workers
from policyd.adapters.gitrepo import PushedRepo
from policyd.cli.policy import files
from policyd.core import backtesting, drafting, survey
from policyd.core.backtesting import Summary, Tally
from policyd.core.compiled import SETTINGS, compile_home
from policyd.core.drafting import Draft
from policyd.core.errors import PolicydError
from policyd.core.facts import OddEntry
from policyd.core.globs import repository_pattern
from policyd.core.policy import Active, Policy, Settings
from policyd.core.survey import Group, Kind, Layout
from policyd.core.values import dataclass
from policyd.core.zones import ZoneMap

SHIPPED = "policies/default.yaml"
_ANY: Layout = Layout(("src/**",), ("tests/**",), ())


@dataclass(frozen=True, slots=True)
class One:
    """A repository, without the names of all its files."""

    name: str
    git_dir: Path
    bare: bool
    head: str
    branches: int
    guarded: tuple[str, ...]
    files: int
    kinds: Mapping[Kind, Group]
    layout: Layout
    shipped_zones: Mapping[str, int]
    """Zones of the shipped policy to the files that lie in them."""
    zones: Mapping[str, int]
    """The same of the draft."""
    odd: tuple[OddEntry, ...]
    lately: Mapping[str, int]
    signs: tuple[str, ...]
    mirror: bool
    past: Summary | None = None
    trouble: str = ""
    """Why its past could not be judged, if it could not."""


@dataclass(frozen=True, slots=True)
class Survey:
    """All of it."""

    root: Path
    found: tuple[One, ...]
    unread: tuple[tuple[str, str], ...]
    """Repositories that could not be read, and why."""
    drafts: tuple[str, ...]
    """Policy files, that of the largest group first."""


@click.command("survey")
@click.argument("root", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--draft", "file", type=click.Path(path_type=Path), metavar="FILE",
              help="Write the policy here; where layouts differ, a second one beside.")
@click.option("--steps", type=click.IntRange(min=0), default=50, show_default=True, metavar="N",
              help="First-parent steps of each repository that are judged by the draft.")
@click.option("--jobs", type=click.IntRange(min=1), metavar="N",
              help="Processes; as many as there are processors by default.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text",
              show_default=True)
def command(root: Path, file: Path | None, steps: int, jobs: int | None, form: str) -> None:
    """Read all repositories below ROOT, bare or with a work tree, and draft a policy for them.

    By names and sizes at the tip of each one's own branch: where sources, tests, recordings, CI
    definitions and pytest settings lie, which zones of the shipped policy match, what is unusual,
    what ordinary-tree would refuse, and by rule what the draft would have refused lately.

    The draft observes and passes `policyd policy lint`; repositories that keep their sources below
    src/ share one, and all others another.

    Authors are counted, and they are no identity: an author is what somebody typed. Nothing is
    written but the draft. A repository that cannot be read is listed and left out.
    """
    from policyd.cli import backtesttable, surveytable

    default = shipped.read(SHIPPED).decode()
    folders = list(gitfolder.below(root))
    if not folders:
        raise PolicydError(f"there is no repository below {root}")
    unread: list[tuple[str, str]] = []
    found = tuple(_read(root, backtesttable.progress(folders, len(folders), what="reading"),
                        default, unread))
    texts, policies = [], {}
    for draft, group in _drafts(found):
        texts.append(drafting.text(draft, default))
        policies.update(dict.fromkeys((one.git_dir for one in group), _compiled(texts[-1])))
    judged = tuple(_with_past(one, policies[one.git_dir], steps, jobs or workers.processors())
                   for one in backtesttable.progress(found, len(found)))
    told = Survey(root, judged, tuple(unread), tuple(texts))
    written = _write(file, texts) if file is not None else ()
    if form == "json":
        click.echo(json.dumps(surveytable.plain(told, written)).replace("\x7f", "\\u007f"))
    else:
        surveytable.show(told, written)


def _read(root: Path, folders: Iterator[Path], default: str,
          unread: list[tuple[str, str]]) -> Iterator[One]:
    """Each repository once, whatever leads to it."""
    zones = {_ANY: _compiled(default)}
    seen: set[Path] = set()
    for folder in folders:
        name = _name(root, folder)
        try:
            git_dir = gitfolder.git_dir(folder)
            if git_dir not in seen:
                seen.add(git_dir)
                yield _one(name, git_dir, default, zones)
        except PolicydError as error:
            unread.append((name, str(error)))
        except OSError as error:
            unread.append((name, f"{error.filename or 'a file'}: {error.strerror or error}"))


def _one(name: str, git_dir: Path, default: str, zones: dict[Layout, Policy]) -> One:
    """What is said of a repository. `zones` are policies by layout, made as they are needed."""
    there = surveyed.survey(git_dir, zones[_ANY].zones)
    recordings = {path: oid for path, oid in there.paths.items()
                  if survey.kind_of(path) in survey.RECORDINGS}
    sizes = surveyed.sizes(git_dir, recordings)
    fits = survey.layout(there.paths)
    if fits not in zones:
        zones[fits] = _compiled(drafting.text(Draft(fits, ("x",), ("main",)), default))
    return One(name, git_dir, git_dir.name != ".git", there.head, len(there.branches),
               survey.guarded(there.head, there.branches, there.tags), len(there.paths),
               survey.groups(there.paths, sizes.get), fits, _counted(zones[_ANY], there.paths),
               _counted(zones[fits], there.paths), there.odd, survey.lately(there.emails),
               there.signs, there.mirror)


def _counted(policy: Policy, paths: Mapping[str, bytes]) -> Mapping[str, int]:
    """Each zone that the policy itself defines, with the files in it."""
    asked = ZoneMap(policy.zones)
    held = Counter(zone for path in paths for zone in asked.inside(path))
    made = {glob for clause in policy.clauses for glob in getattr(clause.options, "globs", tuple)()}
    return {zone.name: held[zone.name] for zone in policy.zones if zone.name not in made}


def _drafts(found: Sequence[One]) -> Iterator[tuple[Draft, Sequence[One]]]:
    """One for sources below src/ and one for others, the more common first; with what it is for."""
    groups: dict[bool, list[One]] = {}
    for one in found:
        groups.setdefault(one.layout.is_src, []).append(one)
    for group in sorted(groups.values(), key=lambda group: -len(group)):
        names = tuple(one.name for one in group if not one.mirror and _is_taken(one.name))
        left = tuple(one.name for one in group if not _is_taken(one.name))
        yield Draft(
            survey.shared([one.layout for one in group]), names or ("nothing-yet",),
            tuple(dict.fromkeys(glob for one in group for glob in one.guarded)),
            tuple(one.name for one in group if one.mirror),
            {zone: _remark(zone, group) for zone in ("source", "tests")},
            (*_recordings(group), *(f"left out, since no pattern names it: {name}"
                                    for name in left))), group


def _remark(zone: str, group: Sequence[One]) -> str:
    held = [one.zones.get(zone, 0) for one in group]
    return (f"{sum(held)} files, in {sum(map(bool, held))} of {len(group)} "
            f"{'repository' if len(group) == 1 else 'repositories'}")


def _recordings(group: Sequence[One]) -> Iterator[str]:
    """Where recordings and settings lie: for who edits no-golden-output and the zone wiring."""
    for kind in (*survey.RECORDINGS, Kind.CI, Kind.SETTINGS):
        places = survey.places([one.kinds[kind] for one in group if kind in one.kinds])
        if places:
            yield f"{kind.value}: {places}"


def _is_taken(name: str) -> bool:
    """Whether a policy can name it."""
    try:
        return name.isprintable() and repository_pattern(name).matches(name) and name[0] != "!"
    except ValueError:
        return False


def _compiled(text: str) -> Policy:
    found = {SETTINGS: b"state: /nonexistent\n", "policies/draft.yaml": text.encode()}
    return compile_home(found, files.rules()).policies[0]


def _with_past(one: One, policy: Policy, steps: int, jobs: int) -> One:
    from policyd import backtest

    if not steps or not one.head:
        return one
    ref = f"refs/heads/{one.head}"
    tried = backtesting.as_tried(policy, ref, only=(), every=False)
    try:
        asked = backtest.Asked(str(one.git_dir), one.name, ref, limit=steps)
        made = backtest.prepared(asked, Active("0" * 64, Settings("/nonexistent"), (tried,)),
                                 PushedRepo(str(one.git_dir)))
    except PolicydError as error:
        return replace(one, trouble=str(error))
    tally = Tally({}, policy.bounds.seconds)
    with closing(made.steps(jobs)) as all_steps:
        for step in all_steps:
            tally.feed(step)
    return replace(one, past=tally.summary())


def _write(file: Path, texts: Sequence[str]) -> tuple[Path, ...]:
    """FILE, FILE-2, ... Raises PolicydError where one of them is there already."""
    paths = tuple(file if not number else file.with_name(f"{file.stem}-{number + 1}{file.suffix}")
                  for number in range(len(texts)))
    for path in paths:
        if path.exists():
            raise PolicydError(f"{path} is there already; name another file")
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
        path.chmod(0o644)
    return paths


def _name(root: Path, folder: Path) -> str:
    """As policies call it where ROOT is one of the server's roots."""
    real = root.resolve()
    if folder == real:
        return gitfolder.name_of(folder)
    return str(folder.relative_to(real)).removesuffix(".git").removesuffix("/")
