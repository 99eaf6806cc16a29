"""Random churn: states of one group in sequence, each a small change from the last.

Members join, leave, return, and change their subscriptions; topics are created, grow,
and are deleted. The states have no claims: these follow from the assignor's own answers
(`conformance.testing.Churn`).
"""

from __future__ import annotations

import copy
from random import Random

from conformance.random_rebalances.group_changes import ALL_CHANGES, join
from conformance.random_rebalances.subscription_frames import (
    Document,
    DrawLimits,
    document_of_frame,
    draw_frame,
)


def draw_churn(
    rng: Random, limits: DrawLimits | None = None, *, steps: int = 5
) -> list[Document]:
    """Draw the states of a group, as rebalance/1 documents without claims.

    Parameters
    ----------
    limits : DrawLimits or None
        Of the first state; a change can add two members or one topic.
    steps : int
        Number of states, at least 1. The first one has at least one member.
    """
    state = document_of_frame(draw_frame(rng, limits or DrawLimits()))
    if not state["members"]:
        join(rng, state, {})
    states, departed = [state], dict[str, Document]()
    while len(states) < steps:
        state = copy.deepcopy(state)
        rng.choice(ALL_CHANGES)(rng, state, departed)
        states.append(state)
    return states
