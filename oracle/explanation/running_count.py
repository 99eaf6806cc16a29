"""Count of an assignment while transfers are applied, from the judge's case alone.

The judge counts the beginning and the end; in between, each transfer changes a few
numbers, which are counted here: holders, loads, moves, lag.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import verify
from oracle.explanation.explained_case import Members, require
from oracle.explanation.statement_records import TransferRecord


class RunningCount:
    """An assignment that changes by transfers, with its loads and moves."""

    def __init__(self, case: verify.Case, members: Members, moves: int) -> None:
        self.case = case
        self.held = {
            name: {topic: set(numbers) for topic, numbers in topics.items()}
            for name, topics in members.items()
        }
        self.loads = {
            name: sum(map(len, topics.values())) for name, topics in members.items()
        }
        self.moves = moves

    def apply(self, transfers: Sequence[TransferRecord]) -> None:
        """Apply transfers in order.

        Raises
        ------
        CheckError
            If a member does not hold a partition that it gives, or a receiver does not
            subscribe.
        """
        owned = self.case.owned
        for transfer in transfers:
            numbers = self.held[transfer.giver].get(transfer.topic, set())
            require(transfer.partition in numbers, "the giver holds the partition")
            require(
                transfer.topic in self.case.wants[transfer.to],
                "the receiver subscribes",
            )
            numbers.remove(transfer.partition)
            self.held[transfer.to].setdefault(transfer.topic, set()).add(
                transfer.partition
            )
            self.loads[transfer.giver] -= 1
            self.loads[transfer.to] += 1
            self.moves += transfer.partition in owned.get(
                (transfer.giver, transfer.topic), ()
            )
            self.moves -= transfer.partition in owned.get(
                (transfer.to, transfer.topic), ()
            )

    @property
    def members(self) -> Members:
        """The assignment, for the judge."""
        return {
            name: {topic: sorted(held) for topic, held in topics.items() if held}
            for name, topics in self.held.items()
        }

    def ratios(self, names: Sequence[str]) -> list[Fraction]:
        """Return load ÷ capacity of some members, largest first."""
        capacity = self.case.capacity
        return sorted(
            (Fraction(self.loads[name], capacity[name]) for name in set(names)),
            reverse=True,
        )

    def balance_score(self) -> int:
        """Return the sum of load differences over all pairs of members."""
        ascending = sorted(self.loads.values())
        least = 1 - len(ascending)
        return sum(load * (least + 2 * i) for i, load in enumerate(ascending))

    def lag(self, name: str) -> int:
        """Return the lag of a member, records."""
        listed = self.case.lag
        return sum(
            listed[topic][number]
            for topic, numbers in self.held[name].items()
            if topic in listed
            for number in numbers
        )

    def lag_ratio(self, name: str) -> Fraction:
        """Return lag ÷ capacity of a member."""
        return Fraction(self.lag(name), self.case.capacity[name])
