"""A policy: one balance constraint, objectives in their order, maybe a budget.

All objectives are minimized, and all but ``load`` are integers. Members *in play* are
those that subscribe to a topic that exists and has partitions; the others can be given
nothing and count in no spread, no deviation and no mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from rebalance.errors import PolicyError

WEIGHT_MAX = 2**31 - 1


class Objective(Enum):
    """What can be made small.

    With `capacity` a member's load or lag counts divided by it, exactly, as a
    fraction; `solver.objectives` tells the common denominator.
    """

    STICKINESS = "stickiness"
    """Moves: owned partitions that do not stay with their owner."""

    PEAK_LAG = "peak-lag"
    """Largest lag ÷ capacity of one member, over all topics."""

    TOPIC_PEAK_LAG = "topic-peak-lag"
    """Sum over topics of the largest lag ÷ capacity that one member gets of it."""

    LAG_SPREAD = "lag-spread"
    """Largest minus least lag ÷ capacity of the members in play."""

    LAG_DEVIATION = "lag-deviation"
    """Sum over members in play of |lag - fair share|, shares by capacity."""

    RACK = "rack"
    """Partitions whose member's rack holds no replica (KIP-881)."""

    PER_TOPIC_SPREAD = "per-topic-spread"
    """Sum over topics of largest minus least load ÷ capacity of its subscribers."""

    LOAD = "load"
    """All loads ÷ capacity, largest first, compared word by word: dec-min."""

    @property
    def needs_lag(self) -> bool:
        """Whether an instance must tell lag."""
        return "lag" in self.value.split("-")


class BalanceKind(Enum):
    """The sorts of balance."""

    DEC_MIN = "dec-min"
    KIP54 = "kip54"
    PER_TOPIC = "per-topic"
    SPREAD = "spread"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """Which assignments are allowed; each gives every partition to a subscriber.

    Attributes
    ----------
    kind : BalanceKind
        DEC_MIN: the vector of loads ÷ capacity, largest first, is the
        lexicographically least there is. KIP54: no partition can go to another
        subscriber whose load is lower by two or more (loads as counts, whatever the
        capacities). PER_TOPIC: dec-min within each topic over its subscribers
        (KIP-169). SPREAD: loads ÷ capacity of members in play lie at most ``most``
        apart. NONE: everything.
    most : int or None
        Of SPREAD, at least 0; else None.
    """

    kind: BalanceKind
    most: int | None = None

    def __post_init__(self) -> None:
        """Refuse a spread without width, and a width of anything else."""
        if (self.most is not None) != (self.kind is BalanceKind.SPREAD):
            raise PolicyError("a width goes with spread, and only with it")
        if self.most is not None and self.most < 0:
            raise PolicyError("spread below 0")

    def __str__(self) -> str:
        """Write it as the text form does."""
        return self.kind.value + ("" if self.most is None else f"={self.most}")


dec_min = Balance(kind=BalanceKind.DEC_MIN)
kip54 = Balance(kind=BalanceKind.KIP54)
per_topic = Balance(kind=BalanceKind.PER_TOPIC)
no_balance = Balance(kind=BalanceKind.NONE)


def spread(most: int) -> Balance:
    """Allow loads that lie at most so far apart."""
    return Balance(kind=BalanceKind.SPREAD, most=most)


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedObjective:
    """One level of a policy: a weighted sum of objectives, mostly of one alone.

    Attributes
    ----------
    terms : tuple of (weight, objective)
        Weights at least 1; no objective twice. ``load`` is a vector and stands alone.
    """

    terms: tuple[tuple[int, Objective], ...]

    def __post_init__(self) -> None:
        """Refuse sums that mean nothing."""
        objectives = [objective for _, objective in self.terms]
        if not objectives:
            raise PolicyError("a level without objective")
        if len(set(objectives)) < len(objectives):
            raise PolicyError("an objective twice in one sum")
        if any(not 1 <= weight <= WEIGHT_MAX for weight, _ in self.terms):
            raise PolicyError(f"a weight outside 1 to {WEIGHT_MAX}")
        if Objective.LOAD in objectives and self.terms != ((1, Objective.LOAD),):
            raise PolicyError("load is a vector: it has no weight and stands alone")

    @classmethod
    def of(cls, objective: Objective) -> WeightedObjective:
        """Return the level that is this objective alone."""
        return cls(terms=((1, objective),))

    @property
    def measures(self) -> tuple[Objective, ...]:
        """The objectives in it."""
        return tuple(objective for _, objective in self.terms)

    @property
    def only(self) -> Objective | None:
        """The one objective that this level is, or None."""
        return self.terms[0][1] if len(self.terms) == 1 else None

    def __str__(self) -> str:
        """Write it as the text form does."""
        return " + ".join(
            o.value if weight == 1 else f"{weight}*{o.value}"
            for weight, o in self.terms
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What the best assignment is.

    Attributes
    ----------
    balance : Balance
    objectives : tuple of WeightedObjective
        Minimized one after the other, the first first.
    max_moves : int or None
        At most so many owned partitions do not stay with their owner.
    """

    balance: Balance = dec_min
    objectives: tuple[WeightedObjective, ...] = ()
    max_moves: int | None = None

    def __post_init__(self) -> None:
        """Refuse a budget below 0 and what is asked twice."""
        if self.max_moves is not None and self.max_moves < 0:
            raise PolicyError("max-moves below 0")
        alone = [level.only for level in self.objectives if level.only is not None]
        if len(set(alone)) < len(alone):
            raise PolicyError("an objective twice")

    @property
    def needs_lag(self) -> bool:
        """Whether some objective does."""
        return any(o.needs_lag for level in self.objectives for o in level.measures)

    def __str__(self) -> str:
        """Write it canonically; `solver.policy.parse_policy` reads it back."""
        parts = [str(self.balance)]
        if self.objectives:
            parts.append(", ".join(map(str, self.objectives)))
        if self.max_moves is not None:
            parts.append(f"max-moves={self.max_moves}")
        return "; ".join(parts)
