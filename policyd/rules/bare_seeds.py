"""Seeds are inputs: no expected output stands beside them, and they do not run out.

A file whose name says `expected` (or another of the words) as an extension, or at the end of a
name behind `_` or `-`, is an answer: a relation compares two runs and needs none. Only what the
push adds or changes is looked at. While relations are listed, the last input does not go: a
relation without inputs would hold for ever.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from policyd.core.examples import MAIN, push
from policyd.core.facts import Books, Need, Situation, Update
from policyd.core.policy import Reach
from policyd.core.rows import Records, Relation
from policyd.core.rule import Example, Finding, Next, Place, Repair, Rule
from policyd.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """`answers`: the words in a file's name that make it an answer."""

    answers: tuple[str, ...] = ("expected", "golden", "snapshot")


def check(given: Situation, options: Options) -> Iterator[Finding]:
    for update in given.updates:
        if update.books is None:
            continue
        yield from _answers(update, update.books, options)
        yield from _empty(update, update.books, options)


def _answers(update: Update, books: Books, options: Options) -> Iterator[Finding]:
    paths = tuple(path for path in books.after.seeds
                  if path in books.changed and _is_answer(path, options))
    if paths:
        yield _finding(update, paths, "is no input", "an answer beside an input")


def _empty(update: Update, books: Books, options: Options) -> Iterator[Finding]:
    gone = _inputs(books.before.seeds, options)
    if gone and books.after.relations and not _inputs(books.after.seeds, options):
        yield replace(_finding(update, gone, "was the last seed", "the seeds run out"),
                      why="a relation without inputs would hold for ever.")


def _finding(update: Update, paths: tuple[str, ...], says: str, scene: str) -> Finding:
    return Finding(ref=update.ref, says=f"{paths[0]} {says}", scene=scene,
                   places=tuple(Place(path=path) for path in paths),
                   repair=Repair("drop", Next.EDIT, paths=paths, words=(
                       "put the seeds back as they were, in a commit on top",)))


def _is_answer(path: str, options: Options) -> bool:
    """Whether `x.expected`, `x.expected.csv` or `x_expected.csv`, in any case."""
    stem, *extensions = _name(path).casefold().split(".")
    words = [word.casefold() for word in options.answers]
    return any(part in words for part in extensions) or any(
        part.endswith((f"_{word}", f"-{word}")) for part in (stem, *extensions) for word in words)


def _inputs(seeds: Iterable[str], options: Options) -> tuple[str, ...]:
    """The seeds that are inputs: no answers, and not what only keeps or explains a folder."""
    return tuple(path for path in seeds if not _is_answer(path, options)
                 and not _name(path).casefold().startswith((".gitkeep", "readme")))


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _with(before: Iterable[str], after: Iterable[str], *, tables: bool = True) -> Situation:
    """The seeds before and after, by name; what differs is changed."""
    old, new = (tuple(f"oracle/seeds/{name}" for name in names) for names in (before, after))
    relations = (Relation("MR02", "oracle/relations/tax.yaml", 7, "blocking"),) if tables else ()
    books = Books(Records(seeds=old, relations=relations), Records(seeds=new, relations=relations),
                  frozenset(set(old) ^ set(new)))
    return push(update=replace(MAIN, books=books))


RULE = Rule(
    id="bare-seeds",
    why="an answer beside an input is a golden file; relate two runs.",
    fix="Keep inputs only, at least one, and let a relation say what must hold.",
    options=Options,
    check=check,
    doc=__doc__,
    accepts=lambda: (
        Example("an input", _with((), ("rates.csv",)), Options()),
        Example("an answer that stood there before", _with(
            ("rates.csv", "rates.csv.expected"), ("rates.csv", "rates.csv.expected", "b.csv")),
            Options()),
        Example("a name that only holds the word", _with(
            (), ("unexpected.csv", "expected_rates.csv", "expectedly.csv", "golden/a.csv")),
            Options()),
        Example("one of two folders runs out", _with(("a/x.csv", "b/y.csv"), ("a/x.csv",)),
                Options()),
        Example("the last seed goes where no relation is listed",
                _with(("rates.csv",), (), tables=False), Options()),
        Example("there never was a seed", _with((), ("README.md",)), Options()),
        Example("no record changed", push(), Options()),
    ),
    rejects=lambda: (
        Example("an answer beside its input", _with((), ("rates.csv", "rates.csv.expected")),
                Options()),
        Example("an answer with an extension of its own", _with((), ("rates.Expected.csv",)),
                Options()),
        Example("an answer by the end of its name", _with((), ("rates_expected.csv",)), Options()),
        Example("a snapshot", _with((), ("a/rates-snapshot",)), Options()),
        Example("a hidden answer", _with((), (".expected",)), Options()),
        Example("a word that the policy names", _with((), ("rates.out",)),
                Options(answers=("out",))),
        Example("the last seeds go", _with(("rates.csv", "b.csv"), ()), Options()),
        Example("only an answer stays", _with(
            ("rates.csv", "rates.csv.expected"), ("rates.csv.expected",)), Options()),
        Example("only what keeps the folder stays", _with(
            ("rates.csv", ".gitkeep", "README.md"), (".gitkeep", "README.md")), Options()),
    ),
    needs=frozenset({Need.RECORDS}),
    on=Reach.GUARDED,
)
