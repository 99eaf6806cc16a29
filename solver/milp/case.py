"""What all programs of one policy and instance have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rebalance import Instance
from solver.limits import Limits
from solver.milp.alike import alike_members
from solver.milp.backend import Backend
from solver.milp.chains import Face
from solver.milp.kinds import Kinds, View, kinds_of
from solver.milp.objectives import Members
from solver.objectives import capacities, common_capacity, in_play
from solver.policy import Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """An instance as a policy sees it.

    Attributes
    ----------
    instance, policy, limits, backend
        As given.
    kinds : Kinds
    members : Members
    alike : sequence of tuple of int
        Members that can be exchanged.
    face : Face or None
        All dec-min assignments, if that is the balance.
    """

    instance: Instance
    policy: Policy
    limits: Limits
    backend: Backend
    kinds: Kinds
    members: Members
    alike: Sequence[tuple[int, ...]]
    face: Face | None = None


def case_of(
    instance: Instance, policy: Policy, limits: Limits, backend: Backend
) -> Case:
    """Look at an instance the way a policy does.

    Raises
    ------
    TooLargeError
        If there is too much to look at (`kinds_of`).
    """
    view = View.of(policy)
    kinds = kinds_of(instance, view)
    racks = [-1] * kinds.members
    if instance.racks is not None:
        racks = [int(rack) for rack in instance.racks.member.tolist()]
    members = Members(
        play=tuple(int(c) for c in np.flatnonzero(in_play(instance)).tolist()),
        capacity=tuple(capacities(instance)),
        common=common_capacity(instance),
        rack=tuple(racks),
    )
    return Case(
        instance=instance,
        policy=policy,
        limits=limits,
        backend=backend,
        kinds=kinds,
        members=members,
        alike=alike_members(instance, kinds, members, racks=view.racks),
    )
