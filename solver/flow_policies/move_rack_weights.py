"""Objectives on moves and rack mismatches, combined into one weighted sum.

Lexicographic objectives are one sum in which each weighs more than the largest possible
value of all that follow it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from rebalance import NOBODY, Instance
from solver.policy import BalanceKind, Objective, Policy, WeightedObjective

MOVES: Final = WeightedObjective.of(Objective.STICKINESS)
LOAD: Final = WeightedObjective.of(Objective.LOAD)

EXACT_BALANCES: Final = (BalanceKind.DEC_MIN, BalanceKind.PER_TOPIC)
"""Balances whose assignments are those on a face of dec-min assignments."""

LINEAR: Final = frozenset({Objective.STICKINESS, Objective.RACK})
"""Objectives that are sums over partitions, of a cost that depends on the member."""

COST_MAX: Final = 2**62
"""Above any total cost, so that a cost plus a price is still an int64."""


class Weights(NamedTuple):
    """Costs of a move and of a rack mismatch."""

    move: int
    mismatch: int

    def total(self, moves: int, mismatches: int) -> int:
        """Return the cost of so many moves and mismatches."""
        return self.move * moves + self.mismatch * mismatches


def linear_parts(
    policy: Policy,
) -> tuple[list[WeightedObjective], list[WeightedObjective]] | None:
    """Split the objectives of a policy at ``load``; None if another is not linear.

    Those before are *separable*: each partition is optimized by itself. Those after,
    and all under an exact balance, are optimized on a face of dec-min assignments.
    ``load`` is not linear under ``per-topic``, as its face does not fix the loads.
    """
    kind = policy.balance.kind
    separable: list[WeightedObjective] = []
    on_face: list[WeightedObjective] = []
    part = on_face if kind in EXACT_BALANCES else separable
    for objective in policy.objectives:
        if objective == LOAD and kind is not BalanceKind.PER_TOPIC:
            part = on_face
        elif LINEAR.issuperset(objective.measures):
            part.append(objective)
        else:
            return None
    return separable, on_face


def with_moves(objectives: Sequence[WeightedObjective]) -> list[WeightedObjective]:
    """Append moves, if absent: ties are broken by the fewest moves."""
    return [*objectives] if MOVES in objectives else [*objectives, MOVES]


def weights_of(objective: WeightedObjective) -> Weights:
    """Return the weights of one objective."""
    weight = {measure: w for w, measure in objective.terms}
    return Weights(weight.get(Objective.STICKINESS, 0), weight.get(Objective.RACK, 0))


def combined_weights(
    instance: Instance, objectives: Sequence[WeightedObjective]
) -> Weights | None:
    """Return weights whose sum orders lexicographically; None if they are too large."""
    owned = int(np.count_nonzero(instance.owner != NOBODY))
    factor, move, mismatch = 1, 0, 0
    for objective in reversed(objectives):
        weights = weights_of(objective)
        move += factor * weights.move
        mismatch += factor * weights.mismatch
        factor *= weights.total(owned, instance.n_partitions) + 1
    combined = Weights(move, mismatch)
    is_small = combined.total(owned, instance.n_partitions) < COST_MAX
    return combined if is_small else None
