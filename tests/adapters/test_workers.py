"""Work that is shared out to processes."""

from __future__ import annotations

import os
import time

import pytest

from policyd.adapters.workers import shared_out


def squares():
    return lambda number: number * number


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_answers_come_in_the_order_of_the_questions(jobs):
    assert list(shared_out(squares, range(7), jobs)) == [0, 1, 4, 9, 16, 25, 36]
    assert list(shared_out(squares, (), jobs)) == []


def fragile():
    def work(number: int) -> int:
        if number % 4 == 1:
            os._exit(1)
        return number

    return work


def test_a_process_that_dies_costs_what_it_worked_on():
    assert list(shared_out(fragile, [0, 1, 2, 3, 4], 2)) == [0, None, 2, 3, 4]


def test_where_all_of_them_die_nothing_waits():
    found = list(shared_out(fragile, [1, 5, 9, 2, 3], 2))
    assert found.count(None) == 5


def test_closing_ends_the_processes():
    def slow():
        return lambda number: (os.getpid(), time.sleep(60 if number else 0))

    answers = shared_out(slow, [0, 1, 2], 2)
    process, _ = next(answers)
    answers.close()
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
