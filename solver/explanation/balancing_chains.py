"""Chains of transfers that balance an assignment, with the fewest transfers.

The stickiest dec-min assignment whose "owners" are the members of the given assignment
differs from it in the fewest partitions. Its difference decomposes into chains only,
and each chain improves the load vector, in whatever order they are applied: otherwise
the chain could be reversed, which would leave more partitions where they are.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from rebalance import NOBODY, Assignment, Claims, Instance
from solver import exact
from solver.explanation.transfers import Chain, decompose


class Balancing(NamedTuple):
    """The transfers that balance an assignment."""

    chains: list[Chain]
    assignment: Assignment  # dec-min balanced, after all chains


def balance(instance: Instance, assignment: Assignment) -> Balancing:
    """Compute the fewest transfers to dec-min balance; none if it is balanced.

    The chains are ordered by the difference in load of their ends, largest first.
    """
    held = replace(instance, claims=_claims_on(instance, assignment))
    balanced = exact.solve(held).require_assignment()
    before = assignment.assignee
    found = decompose(before, balanced.assignee, len(instance.members))
    loads = assignment.loads(instance)

    def difference(chain: Chain) -> int:
        return int(loads[chain[-1].receiver] - loads[chain[0].giver])

    return Balancing(sorted(found.chains, key=difference), balanced)


def _claims_on(instance: Instance, assignment: Assignment) -> Claims:
    """Let every member claim its partitions of the assignment."""
    assignee = assignment.assignee
    rows = np.argsort(assignee, kind="stable").astype(np.int32)
    rows = rows[np.count_nonzero(assignee == NOBODY) :]
    n_members = len(instance.members)
    counts = np.bincount(assignee[rows], minlength=n_members)
    return Claims(
        offsets=np.r_[0, np.cumsum(counts)].astype(np.int64),
        partitions=rows,
        generation=np.zeros(n_members, np.int64),
    )
