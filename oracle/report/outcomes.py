"""Rebalances by outcome, with the size of the possible gain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import Field, dataclass, fields
from typing import Any, ClassVar, Protocol, TypeVar


class _HasFields(Protocol):
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


_Counts = TypeVar("_Counts", bound=_HasFields)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeCounts:
    """Rebalances by outcome; they add up to all.

    Attributes
    ----------
    optimum : dec-min balanced, with the fewest moves
    needless : dec-min balanced, with needless moves
    unbalanced : not dec-min balanced
    invalid : violates a rule
    open : undecided: no proof, or a cooperative rebalance that was not finished
    needless_moves : moves beyond the fewest, summed over ``needless``
    transfers : partitions to transfer for balanced loads, at least, of ``unbalanced``
    """

    optimum: int = 0
    needless: int = 0
    unbalanced: int = 0
    invalid: int = 0
    open: int = 0
    needless_moves: int = 0
    transfers: int = 0

    @property
    def gain(self) -> int:
        """Potential gain in partitions; an invalid assignment counts as one."""
        return self.needless_moves + self.transfers + self.invalid

    @property
    def judged(self) -> int:
        """All except the open ones."""
        return self.optimum + self.wrong

    @property
    def wrong(self) -> int:
        """Answers that are worse than a proved optimum, or invalid."""
        return self.needless + self.unbalanced + self.invalid

    @property
    def total(self) -> int:
        """Number of all rebalances."""
        return self.judged + self.open

    def of(self, outcome: str) -> int:
        """Return the number of one outcome."""
        count: int = getattr(self, outcome)
        return count


def counts_of(kind: type[_Counts], row: Mapping[str, int]) -> _Counts:
    """Return the counts of a kind, a dataclass of integers, that a row has."""
    return kind(**{field.name: row[field.name] for field in fields(kind)})


def added(kind: type[_Counts], rows: Sequence[_Counts]) -> _Counts:
    """Add counts of a kind, a dataclass of integers."""
    names = [field.name for field in fields(kind)]
    return kind(**{name: sum(getattr(row, name) for row in rows) for name in names})
