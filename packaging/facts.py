"""What the installer asks an installed policyd: runs in a release, writes nothing of a server's.

    facts.py standing HOME             the owner of HOME's state folder, their group, the folder; a
                                       line each
    facts.py state HOME                the state folder that it names
    facts.py written HOME              what else the daemon writes to, where it enrols, a line each
    facts.py enrolled HOME STATE       folders of enrolled repositories, a line each; STATE is
                                       looked at where HOME cannot say which
    facts.py shared HOME STATE         folders where they have a hook for many, a line each
    facts.py hooked HOME REPO SERVER   fails where enrolling REPO (as on SERVER) would do something
    facts.py roots HOME                its roots, a line each
    facts.py gates HOME                the gates of all repositories, worked out by this release
    facts.py differ BEFORE AFTER       what two such files say differently, a line each
    facts.py verdicts HOME             recent pushes, judged again by this release; needs no such
                                       command in the release that asks
    facts.py verdicts-differ BEFORE AFTER   what two such files say differently, a line each; an
                                       empty BEFORE: what AFTER says otherwise than the log
    facts.py verdicts-left AFTER       what was looked at, and what was not, a line each
    facts.py observing HOME FINAL SERVER ROOT...   turns what `policyd init HOME` wrote into what a
                                       server starts with; FINAL is where HOME will be
    facts.py swap HOME FILE NEW LINK   makes FILE what is in force and renames NEW to LINK
"""

from __future__ import annotations

import grp
import json
import os
import pwd
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from policyd.adapters import activepolicy, asowner, gatefiles, hookfiles, repoindex
from policyd.cli import repositories, run
from policyd.core.errors import PolicydError
from policyd.rules import OPTIONS


def standing(home: str) -> None:
    folder = _state(home)
    found = os.stat(folder)
    try:
        user = pwd.getpwuid(found.st_uid)
        name, group = user.pw_name, grp.getgrgid(user.pw_gid).gr_name
    except KeyError:
        sys.exit(f"{folder} belongs to uid {found.st_uid}, which has no name or no group here")
    print(name, group, folder, sep="\n")


def state(home: str) -> None:
    print(_state(home))


def written(home: str) -> None:
    settings = activepolicy.load(Path(home), OPTIONS).settings
    if settings.enroll.new:
        print(*settings.roots, *filter(None, [settings.enroll.hooks_path]), sep="\n")


def enrolled(home: str, default: str) -> None:
    for git_dir in _enrolled(home, default):
        print(git_dir)


def shared(home: str, default: str) -> None:
    found = {folder for git_dir in _enrolled(home, default) for folder in _as_owner(
        git_dir, lambda path: [str(seat.given or seat.folder.parent)
                               for seat in repositories.seats_of(path) if seat.is_common])}
    print(*sorted(found), sep="\n", end="\n" if found else "")


def hooked(home: str, repository: str, server: str) -> None:
    program, folder = Path(sys.executable), _state(home)

    def current(git_dir: Path) -> bool:
        seats = repositories.seats_of(git_dir)
        return bool(seats) and server in ("", seats[-1].server) and hookfiles.is_current(
            seats[-1], hookfiles.text(program, Path(home), seats[-1]))

    known = repoindex.exists(folder, repoindex.key_of(repository))
    sys.exit(0 if known and _as_owner(repository, current) else 1)


def _as_owner(git_dir: str, work: Callable[[Path], Any]) -> Any:
    return asowner.run(asowner.owner_of(Path(git_dir)), lambda: work(Path(git_dir)), command="")


def _enrolled(home: str, default: str) -> Iterator[str]:
    try:
        folder = _state(home)
    except PolicydError:
        folder = default
    for key in repoindex.keys(folder):
        try:
            git_dir = repoindex.load(folder, key).git_dir
        except PolicydError:
            continue
        if git_dir and repoindex.has_key(git_dir, key):
            yield git_dir


def roots(home: str) -> None:
    for root in activepolicy.load(Path(home), OPTIONS).settings.roots:
        print(root)


def gates(home: str) -> None:
    # What a daemon noted is the other release's view: take none, so that all is worked out here.
    gatefiles.heartbeat = lambda _: None  # type: ignore[assignment]
    sys.exit(run(["--home", home, "status", "--format", "json"]))


def differ(before: str, after: str) -> None:
    """The form in which policies are kept may be another one; what they say is what counts."""
    old, new = (dict(_told(json.loads(Path(name).read_text()))) for name in (before, after))
    for place in sorted({*old, *new}):
        was, now = old.get(place, "not there"), new.get(place, "not there")
        if was != now:
            print(f"{place}: {was} -> {now}")


def verdicts(home: str) -> None:
    # Half of what may be waited for: the release in force and the new one are asked.
    code = run(["--home", home, "log", "rejudge", "--format", "json", "--last=50", "--most=200",
                "--seconds=15"])
    sys.exit(0 if code == 1 else code)  # 1: some differ, which is no failure


def verdicts_differ(before: str, after: str) -> None:
    """What a policy of today says of a push of last week is no news when both releases say it."""
    from policyd.cli.logagain import line

    was = {one["id"]: one["now"] for one in _pushes(before)}
    for one in _pushes(after):
        then = was.get(one["id"], one["logged"])
        if one["now"] != then:
            print(line({**one, "logged": then, "same_policy": True}))


def verdicts_left(after: str) -> None:
    told = json.loads(Path(after).read_text())
    print(f"{len(told['pushes'])} pushes judged again")
    for why, count in told["left"].items():
        print(f"not judged again, {count}: {why}")


def _pushes(file: str) -> Any:
    text = Path(file).read_text()
    return json.loads(text)["pushes"] if text else []


def observing(home: str, final: str, server: str, *roots: str) -> None:
    _edit(Path(home, "policyd.yaml"), {
        f"--home {home} ": f"--home {final} ",
        **({} if server in ("", "plain") else {
            "\nidentity: {from: env, name: REMOTE_USER}\n":
                f"\nidentity: {{from: {server}}}\n\n# What runs the hooks.\nserver: {server}\n"}),
        "\nroots: []\n": f"\nroots: {json.dumps(list(roots), ensure_ascii=False)}\n",
        "\nhome_owner: self\n": "\nhome_owner: root\n"})
    _edit(Path(home, "policies/default.yaml"), {"\nmode: enforce\n": "\nmode: observe\n"})


def swap(home: str, file: str, new: str, link: str) -> None:
    activepolicy.store(Path(home), Path(file).read_bytes())
    os.replace(new, link)


def _state(home: str) -> str:
    return activepolicy.load(Path(home), OPTIONS).settings.state


def _told(status: Any) -> Iterator[tuple[str, str]]:
    """What is in force, by the digest that the sentence begins with, and each gate."""
    yield "policies", status["policies"].partition(" ")[0]
    for repository in status["repositories"]:
        where = repository["path"] or repository["repository"]
        if repository["problem"]:
            yield where, repository["problem"]
        for branch in repository["branches"]:
            why = "; ".join(f"{reason['cause']}: {reason['says']}" for reason in branch["reasons"])
            yield (f"{where} {branch['branch']}",
                   "open" if branch["open"] else f"CLOSED ({why})")


def _edit(file: Path, changes: dict[str, str]) -> None:
    text = file.read_text()
    for old, new in changes.items():
        if text.count(old) != 1:
            sys.exit(f"{file}: {old.strip()!r} is there {text.count(old)} times, not once")
        text = text.replace(old, new)
    file.write_text(text)


ANSWERS: dict[str, Callable[..., None]] = {
    "standing": standing, "state": state, "written": written, "enrolled": enrolled,
    "shared": shared, "hooked": hooked, "roots": roots, "gates": gates, "differ": differ,
    "verdicts": verdicts, "verdicts-differ": verdicts_differ, "verdicts-left": verdicts_left,
    "observing": observing, "swap": swap}

if __name__ == "__main__":
    try:
        ANSWERS[sys.argv[1]](*sys.argv[2:])
    except (PolicydError, OSError) as error:
        sys.exit(f"policyd: {error}")
