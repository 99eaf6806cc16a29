"""Two valid answers of one assignor to one rebalance, and their dependence."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

from conformance.clients import Answer


class Dependence(Enum):
    """The cause that decides between the answers of an assignor."""

    PROCESS = "process"  # new processes that are sent the same line differ
    HASH_SEED = "hash-seed"  # only those with another hash seed do
    ORDER = "order"  # only the order of members, topics, or subscriptions matters
    HISTORY = "history"  # new processes agree: earlier rebalances of one matter


_OTHER: Final = {
    Dependence.PROCESS: "another process",
    Dependence.HASH_SEED: "another hash seed",
    Dependence.ORDER: "another order of members, topics, and subscriptions",
    Dependence.HISTORY: "other rebalances before",
    None: "another process, hash seed, and order",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SentAnswer:
    """A line that a process was sent, and its answer.

    Attributes
    ----------
    line : bytes
        The rebalance, as it was sent.
    answer : Answer
    hash_seed : int or None
        Of the process; None: as in the environment of the run.
    is_new : bool
        Whether the process was new.
    """

    line: bytes
    answer: Answer
    hash_seed: int | None = None
    is_new: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerDifference:
    """Two answers that are not equal; ``dependence`` is None if it is not known."""

    first: SentAnswer
    second: SentAnswer
    dependence: Dependence | None = None

    @property
    def detail(self) -> str:
        """The dependence by name, empty if it is not known."""
        return "" if self.dependence is None else self.dependence.value

    @property
    def reason(self) -> str:
        """The difference in words, with the first partition that has two members."""
        partition, owner, other = _moved(self.first.answer, self.second.answer)
        cause = _OTHER[self.dependence]
        return f"{cause}, another answer: {partition} to {owner}, or to {other}"


def same_answers(first: Answer, second: Answer) -> bool:
    """Return whether two answers give every member the same partitions."""
    return _owners(first) == _owners(second)


def _owners(answer: Answer) -> dict[tuple[str, int], str]:
    """Return the member of each partition of a valid answer."""
    if answer.assignment is None:
        return {}
    return {
        (topic, number): member
        for member, topics in answer.assignment.members.items()
        for topic, numbers in topics.items()
        for number in numbers
    }


def _moved(first: Answer, second: Answer) -> tuple[str, str, str]:
    owners, others = _owners(first), _owners(second)
    topic, number = min(
        place
        for place in owners.keys() | others
        if owners.get(place) != others.get(place)
    )
    place = topic, number
    nobody = "nobody yet"  # withheld until it is revoked
    return (
        f"{topic}:{number}",
        owners.get(place, nobody),
        others.get(place, nobody),
    )
