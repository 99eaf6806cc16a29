"""A policy: a balance constraint, lexicographic objectives, an optional move budget.

All objectives are minimized, and all but ``load`` are integers. Members *in play* are
those that subscribe to a topic with partitions; no other member counts in a spread, a
deviation or a mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

from rebalance import PolicyError

WEIGHT_MAX: Final = 2**31 - 1
"""Largest weight of an objective in a sum."""


class Objective(Enum):
    """A measure of an assignment that a policy minimizes.

    Loads and lags are divided by the member's capacity, exactly; `solver.objectives`
    has the common denominator.
    """

    STICKINESS = "stickiness"
    """Moves: owned partitions that do not stay with their owner."""

    PEAK_LAG = "peak-lag"
    """Largest lag ÷ capacity of one member, over all topics."""

    TOPIC_PEAK_LAG = "topic-peak-lag"
    """Sum over topics of the largest lag ÷ capacity of one member in that topic."""

    LAG_SPREAD = "lag-spread"
    """Largest minus least lag ÷ capacity of the members in play."""

    LAG_DEVIATION = "lag-deviation"
    """Sum over members in play of |lag - fair share|, shares by capacity."""

    RACK = "rack"
    """Partitions whose member's rack holds no replica (KIP-881)."""

    PER_TOPIC_SPREAD = "per-topic-spread"
    """Sum over topics of largest minus least load ÷ capacity of its subscribers."""

    LOAD = "load"
    """All loads ÷ capacity, largest first, compared lexicographically: dec-min."""

    @property
    def needs_lag(self) -> bool:
        """Whether the instance must state lag."""
        return "lag" in self.value.split("-")


class BalanceKind(Enum):
    """The kinds of balance constraint."""

    DEC_MIN = "dec-min"
    KIP54 = "kip54"
    PER_TOPIC = "per-topic"
    SPREAD = "spread"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """Which complete valid assignments are allowed.

    Attributes
    ----------
    kind : BalanceKind
        DEC_MIN: the vector of loads ÷ capacity, largest first, is lexicographically
        smallest. KIP54: no partition can be transferred to another subscriber whose
        load is lower by two or more (loads are counts, whatever the capacities).
        PER_TOPIC: dec-min within each topic over its subscribers (KIP-169). SPREAD:
        loads ÷ capacity of members in play differ by at most ``most``. NONE: all.
    most : int or None
        Of SPREAD, at least 0; otherwise None.
    """

    kind: BalanceKind
    most: int | None = None

    def __post_init__(self) -> None:
        """Reject a spread without a width, and a width of another kind."""
        if (self.most is not None) != (self.kind is BalanceKind.SPREAD):
            raise PolicyError("a width goes with spread, and only with it")
        if self.most is not None and self.most < 0:
            raise PolicyError("spread below 0")

    def __str__(self) -> str:
        """Return its text form."""
        return self.kind.value + ("" if self.most is None else f"={self.most}")


dec_min = Balance(kind=BalanceKind.DEC_MIN)
kip54 = Balance(kind=BalanceKind.KIP54)
per_topic = Balance(kind=BalanceKind.PER_TOPIC)
no_balance = Balance(kind=BalanceKind.NONE)


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedObjective:
    """One objective of a policy: a weighted sum of measures, usually of one alone.

    Attributes
    ----------
    terms : tuple of (weight, objective)
        Weights from 1; no measure twice. ``load`` is a vector and must be alone.
    """

    terms: tuple[tuple[int, Objective], ...]

    def __post_init__(self) -> None:
        """Reject sums without a meaning."""
        objectives = [objective for _, objective in self.terms]
        if not objectives:
            raise PolicyError("a sum without objective")
        if len(set(objectives)) < len(objectives):
            raise PolicyError("an objective twice in one sum")
        if any(not 1 <= weight <= WEIGHT_MAX for weight, _ in self.terms):
            raise PolicyError(f"a weight outside 1 to {WEIGHT_MAX}")
        if Objective.LOAD in objectives and self.terms != ((1, Objective.LOAD),):
            raise PolicyError("load is a vector: it has no weight and stands alone")

    @classmethod
    def of(cls, objective: Objective) -> WeightedObjective:
        """Return this measure alone."""
        return cls(terms=((1, objective),))

    @property
    def measures(self) -> tuple[Objective, ...]:
        """Its measures."""
        return tuple(objective for _, objective in self.terms)

    @property
    def only(self) -> Objective | None:
        """Its only measure, or None if it is a sum."""
        return self.terms[0][1] if len(self.terms) == 1 else None

    def __str__(self) -> str:
        """Return its text form."""
        return " + ".join(
            o.value if weight == 1 else f"{weight}*{o.value}"
            for weight, o in self.terms
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """A definition of the best assignment.

    Attributes
    ----------
    balance : Balance
    objectives : tuple of WeightedObjective
        Minimized lexicographically, in this order.
    max_moves : int or None
        Budget: at most so many owned partitions do not stay with their owner.
    """

    balance: Balance = dec_min
    objectives: tuple[WeightedObjective, ...] = ()
    max_moves: int | None = None

    def __post_init__(self) -> None:
        """Reject a negative budget, and an objective that occurs twice."""
        if self.max_moves is not None and self.max_moves < 0:
            raise PolicyError("max-moves below 0")
        alone = [
            objective.only
            for objective in self.objectives
            if objective.only is not None
        ]
        if len(set(alone)) < len(alone):
            raise PolicyError("an objective twice")

    @property
    def needs_lag(self) -> bool:
        """Whether one of its objectives does."""
        return any(
            m.needs_lag for objective in self.objectives for m in objective.measures
        )

    def __str__(self) -> str:
        """Return its canonical text form, which `parse_policy` reads."""
        parts = [str(self.balance)]
        if self.objectives:
            parts.append(", ".join(map(str, self.objectives)))
        if self.max_moves is not None:
            parts.append(f"max-moves={self.max_moves}")
        return "; ".join(parts)
