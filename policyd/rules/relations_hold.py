"""The relations of the base hold of the code that is pushed: the server runs them itself.

Each relation is tried on inputs that the server draws, in processes that know neither the
relation nor each other; what is compared are two runs, never a run and a recorded value. A row
that blocks refuses when a pair of it breaks, when two identical runs differ, when too many of
its pairs prove nothing, or when a pair holds alone and not after others in the same process. It
runs only when no other rule refuses. A policy row is listed, with its owner and its last day.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date

from policyd.core.examples import MAIN, push
from policyd.core.facts import Need, Situation, Update
from policyd.core.policy import Reach
from policyd.core.rule import Example, Finding, Next, Place, Repair, Rule
from policyd.core.values import dataclass
from policyd.core.witness import Bucket, Cause, Counts, Job, Replay, Row


@dataclass(frozen=True, slots=True)
class Options:
    """Nothing to set: what is replayed stands in the base, and how under `replay`."""


def check(given: Situation, options: Options) -> Iterator[Finding]:  # noqa: ARG001
    for update in given.updates:
        replay = update.replay
        if replay is None:
            continue
        if replay.undecided:
            yield _undecided(update, replay)
        if replay.unfit:
            yield _unfit(update, replay)
        for row in replay.refusing:
            yield _finding(update, replay, row, _names(given))
        if replay.properties is not None and replay.properties.refuses:
            yield _properties(update, replay.properties)


def _names(given: Situation) -> str:
    """Who may change a relation, as far as a line has room."""
    named = [name for name in given.members.get("maintainers", ()) if "*" not in name]
    return " or ".join(named[:2]) or "a maintainer"


def _finding(update: Update, replay: Replay, row: Row, names: str) -> Finding:
    words: tuple[str, ...] = (
        f"repair {_function(row)} for all inputs, commit on top, push.",
        "a branch for this one input does not help: each tree draws others.")
    if row.bucket is Bucket.HYSTERESIS:
        words = (f"let {_function(row)} keep nothing between two calls: no cache,",
                 "no counter, no argument changed in place; commit on top, push.")
    elif row.cause is Cause.FLICKERS:
        words = (f"take the clock, chance and hash order out of {_function(row)}, or",
                 "make it an argument; commit on top, push. No rerun helps.")
    words = (*words, f"ask the witness: git push origin HEAD:refs/check/{update.branch}",
             f"rule meant to change? first {names} make it a policy row")
    return Finding(
        ref=update.ref, says=f"{row.id} {_how(row)} on {update.branch}",
        scene=_scene(row, replay), places=_places(row),
        repair=Repair("edit", Next.EDIT, words=words), why=f"{row.says}.")


def _how(row: Row) -> str:
    if row.bucket is Bucket.HYSTERESIS:
        return "depends on earlier calls"
    return {Cause.FLICKERS: "flickers", Cause.VACUOUS: "proves nothing"}.get(row.cause, "breaks")


def _scene(row: Row, replay: Replay) -> str:
    counts = row.counts
    first = f"({replay.seed[:6]}, {row.id}, {row.first})"
    if row.cause is Cause.VACUOUS:
        return f"{counts.vacuous} of {counts.applied} pairs say nothing, as {first}"
    if row.bucket is Bucket.HYSTERESIS:
        after = ", ".join(row.polluters[:2]) or "others; not localised"
        return f"{first} changes after {after}"
    if row.cause is Cause.FLICKERS:
        return f"identical runs differ, first {first}"
    return f"{counts.broken} of {counts.applied} pairs, first {first}"


def _places(row: Row) -> tuple[Place, ...]:
    made = f", transform {row.transform}" if row.transform else ""
    is_call = row.input.startswith("(")
    call = row.entry + ("" if is_call else ": ") + row.input
    found = [Place(note=f"{call}{made}{', made smaller' if row.shrunk else ''}"),
             Place(note=row.reason)]
    if row.trace:
        found.append(Place(note=f"at {row.trace[-1]}"))
    if row.freeze:
        found.append(Place(note=row.freeze))
    return tuple(found)


def _function(row: Row) -> str:
    return row.entry.rpartition(":")[2]


def _undecided(update: Update, replay: Replay) -> Finding:
    return Finding(
        ref=update.ref, says=f"the relations could not be tried on {update.branch}", scene="",
        places=(Place(note=replay.undecided),),
        repair=Repair("edit", Next.RETRY, words=("nothing is known of this tree yet.",)),
        why="what nobody tried has not passed.")


def _unfit(update: Update, replay: Replay) -> Finding:
    return Finding(
        ref=update.ref, says=f"source on {update.branch} is none that can be run", scene="",
        places=(Place(note=replay.unfit),),
        repair=Repair("edit", Next.EDIT, words=(
            "make it plain files below the import roots, in a commit on top,",
            "and push.")),
        why="what could pass for other source proves nothing about this one.")


def _properties(update: Update, job: Job) -> Finding:
    says = f"properties {'fail' if job.failed else 'prove nothing'} on {update.branch}"
    return Finding(
        ref=update.ref, says=says,
        scene="the base's tests/properties on the base's receipts",
        places=tuple(Place(note=node) for node in job.failed) or (Place(note=job.wrong),),
        repair=Repair("edit", Next.EDIT, words=(
            "repair the code, commit on top, push.",)),
        why="what was true of every receipt must stay true.")


_SPLIT = Row("MR02", "shuffled weights give the same parts, shuffled alike", "split:allocate",
             "blocking", Bucket.BLOCK, Counts(48, 48, broken=13), Cause.BREAKS, 17,
             "(1, [1, 2])", shrunk=True, transform="permuted", reason="item 1 of 2 differs")


def _with(*rows: Row, **more: object) -> Situation:
    found = Replay("0" * 64, "88f1c0" + 26 * "0", rows, **more)  # type: ignore[arg-type]
    return push(update=replace(MAIN, replay=found))


RULE = Rule(
    id="relations-hold",
    why="what must stay true between two runs no longer does.",
    fix="Repair the function for all inputs; a rule that is meant to change becomes a policy row "
        "first, by a maintainer.",
    options=Options,
    check=check,
    doc=__doc__,
    accepts=lambda: (
        Example("all hold", _with(replace(_SPLIT, bucket=Bucket.HOLDS)), Options()),
        Example("a policy row breaks, until its last day", _with(replace(
            _SPLIT, status="policy", bucket=Bucket.SKIP, owner="mei", last=date(2026, 12, 1))),
            Options()),
        Example("a frozen row passes as often as it must",
                _with(replace(_SPLIT, bucket=Bucket.FROZEN)), Options()),
        Example("hysteresis where the policy only tells of it",
                _with(replace(_SPLIT, bucket=Bucket.HYSTERESIS), lenient=True), Options()),
        Example("nothing to replay", push(), Options()),
        Example("the properties pass", _with(properties=Job(passed=3)), Options()),
    ),
    rejects=lambda: (
        Example("a blocking row breaks", _with(_SPLIT), Options()),
        Example("two rows break", _with(_SPLIT, replace(_SPLIT, id="MR03")), Options()),
        Example("identical runs differ", _with(replace(
            _SPLIT, cause=Cause.FLICKERS, reason="identical runs differ: a clock or chance")),
            Options()),
        Example("too many pairs prove nothing", _with(replace(
            _SPLIT, cause=Cause.VACUOUS, reason="both runs raise KeyError")), Options()),
        Example("a pair changes after another", _with(replace(
            _SPLIT, bucket=Bucket.HYSTERESIS, polluters=("(MR01, 3)",))), Options()),
        Example("an error", _with(replace(
            _SPLIT, reason="it raises KeyError", trace=("src/split.py:7 in allocate",))),
            Options()),
        Example("a freeze that does not help", _with(replace(
            _SPLIT, freeze="draw 17 passes 0 of 5 reruns")), Options()),
        Example("a property fails", _with(properties=Job(
            2, ("tests/properties/test_tax.py::test_total",))), Options()),
        Example("no property is collected", _with(properties=Job(
            wrong="no test was collected, and there are 3 receipts")), Options()),
        Example("a link in the source", _with(unfit="src/a.py is a symbolic link"), Options()),
        Example("it could not be tried", _with(undecided="there is no sandbox"), Options()),
    ),
    needs=frozenset({Need.REPLAY}),
    on=Reach.GUARDED,
)
