"""The few ways in which policyd itself can fail. Each of them refuses the push."""

from __future__ import annotations

from policyd.core.values import dataclass


class PolicydError(Exception):
    """Base of the failures that can be explained; `str()` is one sentence for people."""


class CannotJudge(PolicydError):
    """The push could not be judged; the sentence names what failed and what to do about it."""


class TryAgain(CannotJudge):
    """Not judged yet: the same push, made again a little later, can be."""


class Unfit(CannotJudge):
    """Not to be judged as it is, and its pusher can mend that: a refusal, not a failure."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong in a file that a person edits. `line` and `column` start at 1."""

    source: str
    line: int
    column: int
    message: str

    def __str__(self) -> str:
        return f"{self.source}:{self.line}:{self.column}: {self.message}"


class FileInvalid(PolicydError):
    """A file that a person edits cannot be used as written; carries every fault found."""

    def __init__(self, faults: tuple[Fault, ...]) -> None:
        super().__init__("\n".join(map(str, faults)))
        self.faults = faults
