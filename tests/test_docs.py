"""What the pages show is there: commands with their options, files, and YAML that is taken."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest

from policyd import cli
from policyd.core import authored, decoding
from policyd.core.documents import parse
from policyd.core.settings import SettingsAuthored
from policyd.rules import BY_ID

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCED = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`([^`]+)`")
NAMED = re.compile(r"(?<![\w/.])(?:docs|packaging|bench)/[\w/.-]*\w")
FILE_OF_MANY = re.compile(r"(?<![\w/.])docs/\{([\w,]+)\}\.md")


def code(page: str) -> Iterator[str]:
    """The lines of code blocks, and what stands between backticks."""
    for _, block in FENCED.findall(page):
        yield from block.splitlines()
    rest = FENCED.sub("", page)
    yield from (line.strip() for line in rest.splitlines() if line.startswith("    "))
    yield from (" ".join(span.split()) for span in INLINE.findall(rest))


ADMIN = re.compile(r"docker compose run --rm admin (?=[a-z])")
"""docs/container.md: the words behind it are those behind `policyd`."""


def commands(page: str) -> Iterator[str]:
    """Each `policyd ...` that is to be typed, without what is said of it behind two blanks."""
    for line in code(page):
        for part in re.split(r"&&|\||;| > ", re.sub(r"\w+(?:\|\w+)+", "CHOICE", line)):
            typed = re.split(r"\s{2,}|\s#\s", part.strip())[0].removeprefix("$ ")
            typed = ADMIN.sub("policyd ", re.sub(r"^sudo (-u \w+ )?", "", typed))
            if re.match(r"policyd [a-z-]", typed):
                yield re.sub(r"[\[\]]|\.\.\.", "", typed)


@cache
def command(name: tuple[str, ...]) -> click.Command:
    found: click.Command = cli.group
    for part in name:
        assert isinstance(found, click.Group), f"{' '.join(name)}: {part} is no command"
        below = found.get_command(click.Context(found), part)
        assert below is not None, f"there is no `policyd {' '.join(name)}`"
        found = below
    return found


def tried(typed: str) -> None:
    """Fails where the command, an option or so many arguments are not in the command line."""
    words = shlex.split(typed.replace("'", ""))[1:]
    if words[:1] == ["--home"]:
        words = words[2:]
    name: tuple[str, ...] = ()
    while words and isinstance(command(name), click.Group):
        name, words = (*name, words[0]), words[1:]
    asked = command(name)
    options = {text: one for one in asked.params for text in (*one.opts, *one.secondary_opts)
               if text.startswith("-")}
    given = 0
    while words:
        word = words.pop(0)
        if word.startswith("-") and word != "--help":
            assert word in options, f"`policyd {' '.join(name)}` has no {word}"
            one = options[word]
            if isinstance(one, click.Option) and not one.is_flag and words:
                words.pop(0)
        elif word != "--help":
            given += 1
    places = [one.nargs for one in asked.params if isinstance(one, click.Argument)]
    assert -1 in places or given <= len(places), f"too many arguments: {typed}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_on_a_page_are_in_the_command_line(page):
    for typed in dict.fromkeys(commands(page.read_text())):
        tried(typed)


@pytest.mark.parametrize("typed", [
    "policyd statsu", "policyd gate hold REPO BRANCH --until DATE", "policyd pause NOW",
    "policyd policy aply", "policyd log report --sinse DATE"])
def test_a_command_that_is_not_there_is_found(typed):
    with pytest.raises(AssertionError):
        tried(typed)


def test_commands_are_found_wherever_a_page_shows_them():
    page = ("`policyd policy\n  lint`, `policyd `, `policyd.yaml`\n\n    sudo policyd doctor "
            "[REPO...]  looks\n\n```\ncd x && policyd status  # all\n```\n")
    assert set(commands(page)) == {"policyd policy lint", "policyd doctor REPO", "policyd status"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_a_page_names_are_there(page):
    for name in NAMED.findall(page.read_text()):
        assert (ROOT / name).exists() or "{" in name, name


def test_every_page_is_named_on_page_one():
    front = (ROOT / "README.md").read_text()
    listed = {name for names in FILE_OF_MANY.findall(front) for name in names.split(",")}
    for page in PAGES[1:]:
        assert page.stem in listed or f"docs/{page.name}" in front, page.name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_yaml_on_a_page_is_taken(page):
    for language, block in FENCED.findall(page.read_text()):
        if language == "yaml":
            node = parse(block.encode(), page.name)
            first = node.entries[0][0].text
            if first in BY_ID:
                text = "rules:\n" + "".join(f"  {line}\n" for line in block.splitlines())
                node, first = parse(text.encode(), page.name), "rules"
            form = decoding.form(node, SettingsAuthored) if first in (
                one for one in SettingsAuthored.__dataclass_fields__) else tuple(
                authored.form(node, BY_ID))
            assert [str(fault) for fault in form] == []
