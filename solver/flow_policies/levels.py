"""The levels of a policy as sums of moves and rack mismatches, and as one sum.

Levels one after the other are one sum if each weighs more than all that can follow it:
that sum is least exactly where the levels are, in their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rebalance import Instance
from rebalance.claims import NOBODY
from solver.policy import BalanceKind, Objective, Policy, WeightedObjective

LINEAR = frozenset({Objective.STICKINESS, Objective.RACK})
_WEIGHT_MAX = 2**62  # a cost, and what is added to it, stays in 64 bits


class Weights(NamedTuple):
    """What a move and a rack mismatch cost."""

    move: int
    mismatch: int

    def total(self, moves: int, mismatches: int) -> int:
        """Return what so many cost."""
        return self.move * moves + self.mismatch * mismatches


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The levels of a policy by what settles them.

    Attributes
    ----------
    before : tuple of WeightedObjective
        Sums of moves and mismatches that each partition settles alone.
    after : tuple of WeightedObjective
        Such sums on the face of the best-balanced: all under dec-min, else what comes
        after ``load``.
    is_whole : bool
        Whether there is no level of another sort.
    """

    before: tuple[WeightedObjective, ...]
    after: tuple[WeightedObjective, ...]
    is_whole: bool


def parts_of(policy: Policy) -> Parts:
    """Part the levels of a policy at ``load``."""
    on_face = policy.balance.kind is BalanceKind.DEC_MIN
    found: dict[bool, list[WeightedObjective]] = {False: [], True: []}
    is_whole = True
    for level in policy.objectives:
        if level.only is Objective.LOAD:
            on_face = True
        elif LINEAR.issuperset(level.measures):
            found[on_face].append(level)
        else:
            is_whole = False
    return Parts(
        before=tuple(found[False]), after=tuple(found[True]), is_whole=is_whole
    )


def weights_of(level: WeightedObjective) -> Weights:
    """Return the weights of one level."""
    weight = {objective: w for w, objective in level.terms}
    return Weights(weight.get(Objective.STICKINESS, 0), weight.get(Objective.RACK, 0))


def joined(instance: Instance, levels: Sequence[WeightedObjective]) -> Weights | None:
    """Return the weights of one sum that says what the levels say in their order.

    None if they could pass 64 bits.
    """
    owned = int(np.count_nonzero(instance.owner != NOBODY))
    factor, move, mismatch = 1, 0, 0
    for level in reversed(levels):
        one = weights_of(level)
        move += factor * one.move
        mismatch += factor * one.mismatch
        factor *= one.total(owned, instance.n_partitions) + 1
    most = Weights(move, mismatch).total(owned, instance.n_partitions)
    return Weights(move, mismatch) if most < _WEIGHT_MAX else None
