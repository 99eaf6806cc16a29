"""Categories of outcomes: faults of safety, slow ones, gaps of quality, the optimum."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import Final


class Category(Enum):
    """Outcome of one rebalance; the worst comes first.

    The first six are faults of safety, the three before the last gaps of quality. A
    slow answer is neither: it is valid or not known, and comes before those gaps,
    because it can hide one. Answers that differ when they are repeated are not outcomes
    of a rebalance, but are counted in addition: each of them has an outcome of its own.
    """

    HANG = "hang"  # no answer; see `conformance.clients.Patience`
    CRASH = "crash"  # the process ended
    ERROR = "error"  # the assignor raised
    INVALID = "invalid"  # no assignment/1, or one that violates a rule
    UNREVOKED = "unrevoked"  # a round assigns a partition that another still holds
    RESTLESS = "restless"  # cooperative rounds that reach no stable state
    NONDETERMINISTIC = "nondeterministic"  # a repeated answer differs, both valid
    SLOW = "slow"  # a valid answer that came late, or none that was awaited to the end
    KIP54_UNBALANCED = "kip54-unbalanced"  # one transfer evens out two members
    UNBALANCED = "unbalanced"  # KIP-54 balanced, but not dec-min
    NEEDLESS_MOVES = "needless-moves"  # dec-min, with more moves than needed
    OPTIMAL = "optimal"

    @property
    def is_safety(self) -> bool:
        """Whether it is a fault of safety."""
        return self in SAFETY


SAFETY: Final = frozenset(tuple(Category)[:6])


Mechanism = tuple[Category, str, str]
"""Category, detail, and place in the client if it is known: one fault of a program."""


class Requirement(Enum):
    """The result that an assignor has to reach (``--require``)."""

    VALID = "valid"
    KIP54 = "kip54"
    OPTIMUM = "optimum"

    def is_met_by(self, category: Category) -> bool:
        """Return whether an outcome of this category is good enough.

        Answers that differ are, unless the assignor is declared deterministic.
        """
        return category in _GOOD_ENOUGH[self]


_GOOD_ENOUGH: Final[Mapping[Requirement, frozenset[Category]]] = MappingProxyType(
    {
        Requirement.VALID: frozenset(Category) - SAFETY,
        Requirement.KIP54: frozenset(
            {
                Category.NONDETERMINISTIC,
                Category.UNBALANCED,
                Category.NEEDLESS_MOVES,
                Category.OPTIMAL,
            }
        ),
        Requirement.OPTIMUM: frozenset({Category.NONDETERMINISTIC, Category.OPTIMAL}),
    }
)
