"""Decision tables as the commands run and tell them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from policyd import caserun
from policyd.caserun import Result, Rows
from policyd.core.compiled import Compiled, Table
from policyd.core.coverage import Word, rules_of, with_clause, words_of
from policyd.core.facts import Need
from policyd.core.frozen import put_together
from policyd.core.policy import Active, Policy
from policyd.rules import BY_ID


def failing(compiled: Compiled, table: Table, at: datetime) -> tuple[Result, ...]:
    """The rows of a table that do not hold at a moment."""
    results = caserun.run(table.cases, _alone(compiled, compiled.unlimited[table.policy]), at=at)
    return tuple(result for result in results if not result.holds)


def lines(source: str, results: Sequence[Result]) -> Iterator[str]:
    """Each row that does not hold: what was expected, what was found."""
    for result in results:
        yield f"{source}:{result.case.line}: {result.case.title}"
        yield f"  expected: {answer(result.case.rules)}"
        yield f"  found: {answer(result.refused_by)}" if result.unjudged is None else \
            f"  could not be judged: {result.unjudged}"
        yield from (f"    {said}" for said in result.says)


def answer(rules: Sequence[str]) -> str:
    """An answer in words."""
    return f"refused by {', '.join(rules)}" if rules else "accepted"


def untried(compiled: Compiled, table: Table, at: datetime) -> Iterator[Word]:
    """What a policy says and no row of its table tries."""
    from policyd.adapters import clock

    policy, node = compiled.unlimited[table.policy], compiled.nodes[table.policy]
    with caserun.prepared(table.cases) as rows:
        known = dict(rows.results(_alone(compiled, policy), at=at))
        for rule in rules_of(policy, node):
            clause = policy.clause(rule.rule)
            if Need.REPLAY in BY_ID[rule.rule].needs:
                continue  # a case runs nobody's code
            if clause is None or not _tried(rule, compiled, policy, rows, known, at):
                yield rule
                continue
            today = clock.today(policy.timezone, at)
            yield from (word for word in words_of(clause, node, today)
                        if not _tried(word, compiled, policy, rows, known, at))


def _tried(word: Word, compiled: Compiled, policy: Policy, rows: Rows, known: dict[int, Result],
           at: datetime) -> bool:
    """Whether some row comes out otherwise when the word is another one."""
    varied = (_alone(compiled, with_clause(policy, clause)) for clause in word.variants)
    return any(result.unjudged is None and result.found != known[number].found
               for active in varied
               for number, result in rows.results(active, at=at, first=word.rule))


def _alone(compiled: Compiled, policy: Policy) -> Active:
    return put_together(compiled.settings, (policy,))
