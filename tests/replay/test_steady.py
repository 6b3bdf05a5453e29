"""What changes between identical runs: chance, the seed of hashes, or a leak that comes again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from policyd.replay.candidate import Script
from policyd.replay.execute import Call
from policyd.replay.outcome import Break, Broken, Outcome, Value
from policyd.replay.steady import CHANCE, HASHES, Steadiness, looked_at

RUNS: list[Script] = [(Call("m:f", b"[%d]" % n),) for n in range(12)]
GOOD, BAD, ODD = Value(b"1"), Value(b"2"), Value(b"3")

Answer = Callable[[int, Sequence[int], bool, int], Outcome]
"""Of a run, those before it in its process, whether hashes differ, how many processes there were.
"""


class Processes:
    """Stands for a candidate: processes are simulated, what they answer is a function."""

    def __init__(self, answer: Answer) -> None:
        self._answer, self.count = answer, 0
        self.known = dict(zip(RUNS, self.anew(RUNS), strict=True))
        self.sequences: list[int] = []

    def _run(self, runs: Sequence[Script], other: bool) -> list[Outcome]:
        self.count += 1
        numbers = [RUNS.index(run) for run in runs]
        return [self._answer(one, numbers[:at], other, self.count)
                for at, one in enumerate(numbers)]

    def anew(self, runs: Sequence[Script], *, hashed_otherwise: bool = False) -> list[Outcome]:
        return [self._run([run], hashed_otherwise)[0] for run in runs]

    def in_one_process(self, runs: Sequence[Script], *,
                       hashed_otherwise: bool = False) -> list[list[Outcome]]:
        self.sequences.append(len(runs))
        return [[outcome] for outcome in self._run(runs, hashed_otherwise)]


def look(answer: Answer, groups: Sequence[str] = ("R",) * 12) -> tuple[Steadiness, Processes]:
    processes = Processes(answer)
    return looked_at(RUNS, groups, processes), processes  # type: ignore[arg-type]


def test_what_never_changes_takes_two_sequences():
    found, processes = look(lambda *_: GOOD)
    assert found == Steadiness({}, ())
    assert processes.sequences == [12, 12]


def test_a_leak_that_comes_again_has_its_polluter():
    found, _ = look(lambda run, before, *_: BAD if run == 9 and 4 in before else GOOD)
    assert not found.flickers
    assert [(one.leak.victim, one.polluters) for one in found.leaks] == [(9, (4,))]


def test_a_leak_against_the_order_of_draws_is_found_in_reverse():
    found, _ = look(lambda run, before, *_: BAD if run == 2 and 7 in before else GOOD)
    assert [(one.leak.victim, one.polluters) for one in found.leaks] == [(2, (7,))]


def test_each_group_has_its_first_leak_and_known_polluters_help():
    groups = ["A"] * 6 + ["B"] * 6
    found, processes = look(lambda _, before, *__: BAD if 0 in before else GOOD, groups)
    assert [(one.leak.victim, one.polluters) for one in found.leaks] == [(1, (0,)), (6, (0,))]
    assert processes.sequences[-1] == 2


def test_a_change_that_does_not_come_again_is_chance_and_no_leak():
    def once(run: int, before: Sequence[int], _: bool, count: int) -> Outcome:
        return BAD if run == 9 and len(before) == 9 and count == 13 else GOOD

    found, _ = look(once)
    assert found.flickers == {RUNS[9]: CHANCE}
    assert found.leaks == ()


def test_an_answer_for_each_seed_of_hashes():
    found, _ = look(lambda run, _, other, __: BAD if other and run == 3 else GOOD)
    assert found.flickers == {RUNS[3]: HASHES}


def test_chance_that_looks_like_hashes_at_first_is_chance():
    def by_chance(run: int, _: Sequence[int], other: bool, count: int) -> Outcome:
        return (BAD if count % 2 else ODD) if other and run == 3 else GOOD

    assert look(by_chance)[0].flickers == {RUNS[3]: CHANCE}


def test_a_clock_is_chance():
    found, _ = look(lambda *given: Value(b"%d" % given[3]))
    assert set(found.flickers) == set(RUNS)
    assert set(found.flickers.values()) == {CHANCE}


def test_what_breaks_alone_is_left_out_of_the_sequences():
    def breaks(run: int, before: Sequence[int], *_: object) -> Outcome:
        if run in (0, 11):
            return Broken(Break.EXIT)
        return BAD if run == 9 and 4 in before else GOOD

    found, processes = look(breaks)
    assert processes.sequences[:2] == [10, 10]
    assert [(one.leak.victim, one.polluters) for one in found.leaks] == [(9, (4,))]
