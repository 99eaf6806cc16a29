"""``cooperative-sticky``: sticky in rounds that revoke before they assign (KIP-429)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from heuristics.claim_history import (
    ClaimColumns,
    Past,
    claim_columns_of,
    claimed_of,
    past_of,
)
from heuristics.group_columns import Columns, GroupColumns, columns_of, is_mixed
from heuristics.rack_locality import (
    RackColumns,
    is_informative,
    rack_columns_of,
    rack_locality_of,
)
from heuristics.sticky import sticky_after
from rebalance import NOBODY, Assignment, Bools, Instance, Int32, kernel

MOST_ROUNDS = 16
"""Rounds after which no member has to revoke. Few groups need more than three."""
_ALL: Final = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One generation of a cooperative rebalance.

    Attributes
    ----------
    target : Assignment
        The final assignment of the rebalance.
    given : Assignment
        The assignment of this round, without withheld partitions.
    withheld : bool (P,)
    """

    target: Assignment
    given: Assignment
    withheld: Bools

    def __post_init__(self) -> None:
        """Freeze the column."""
        self.withheld.setflags(write=False)

    @property
    def is_rest(self) -> bool:
        """Whether no member has to revoke, so that the state is stable."""
        return not self.withheld.any()


class CooperativeStickyAssignor:
    """The target of `heuristics.sticky.StickyAssignor`, reached in rounds.

    Follows ``org.apache.kafka.clients.consumer.CooperativeStickyAssignor`` (KIP-429;
    compared with Kafka 4.4.0 and 3.9.2). In each round, a partition is withheld
    (assigned to no member) if it is to go to one member while another still holds it:
    the newest claimant, or all newest claimants of one generation (KAFKA-12984). These
    revoke it, join again, and claim their assigned partitions; the rounds end when
    nothing is withheld.

    `assign` returns the final assignment, and `rounds` yields every round.

    No ties beyond those of `StickyAssignor`. Not copied, because they are faults:

    - with heterogeneous subscriptions, upstream assigns a partition at once to a member
      that claims it, although the newest claimant, or a second one, still holds it: two
      members read it. Here it is withheld, as upstream does with equal subscriptions;
    - with heterogeneous subscriptions, upstream withholds for one round partitions that
      are claimed only by members that have left the topic. These revoke it before they
      join;
    - nothing in upstream bounds the number of rounds, and with racks some groups never
      become stable: partitions that no nearby member can take move back and forth. Here
      the rounds end: see `rounds`.

    Nothing is omitted.
    """

    name = "cooperative-sticky"

    def refuses(self, instance: Instance) -> str | None:  # noqa: ARG002
        """Refuse nothing."""
        return None

    def assign(self, instance: Instance) -> Assignment:
        """Run all rounds and return the last assignment."""
        target, _ = _after(instance, rounds=_ALL)
        return Assignment(assignee=target)

    def first_round(self, instance: Instance) -> Round:
        """Compute one generation, as the leader of the group does."""
        return _round_of(*_after(instance, rounds=1))

    def rounds(self, instance: Instance) -> Iterator[Round]:
        """Yield every round; the last withholds nothing.

        All members join every round, with their partitions of the one before. It
        terminates: without racks, equal subscriptions keep all that was given, so only
        the first round withholds; heterogeneous ones, and racks, revoke only in the
        first `MOST_ROUNDS` rounds.
        """
        n_rounds, is_rest = 0, False
        while not is_rest:
            n_rounds += 1
            one = _round_of(*_after(instance, rounds=n_rounds))
            yield one
            is_rest = one.is_rest


def withheld_of(instance: Instance, target: Assignment) -> Bools:
    """Return the partitions that a cooperative round withholds, bool (P,)."""
    group = GroupColumns(*columns_of(instance))
    claims = claim_columns_of(instance)
    claimed = claimed_of(group, instance.partition_topic, claims)
    return _withheld(target.assignee, instance.owner, claimed)


def _round_of(target: Int32, withheld: Bools) -> Round:
    given = np.where(withheld, np.int32(NOBODY), target)
    return Round(
        target=Assignment(assignee=target),
        given=Assignment(assignee=given),
        withheld=withheld,
    )


def _after(instance: Instance, *, rounds: int) -> tuple[Int32, Bools]:
    """Return the target of the last of some rounds, and its withheld partitions."""
    return cooperative_sticky(
        columns_of(instance),
        instance.partition_topic,
        instance.owner,
        claim_columns_of(instance),
        rack_columns_of(instance),
        rounds,
        MOST_ROUNDS,
    )


@kernel
def cooperative_sticky(
    columns: Columns,
    topic: Int32,
    owner: Int32,
    claims: ClaimColumns,
    racks: RackColumns,
    rounds: int,
    revoking: int,
) -> tuple[Int32, Bools]:
    """Run rounds until nothing is withheld, or so many; the first can revoke."""
    group, owner = GroupColumns(*columns), owner.copy()
    past = Past(np.empty(0, dtype=np.int32), False)
    if is_mixed(group.member_class):
        past = past_of(group, topic, owner, claims)
    locality = rack_locality_of(racks)
    uses_racks = is_informative(locality, group)
    claimed, n_rounds = claimed_of(group, topic, claims), 0
    while True:
        may_revoke = n_rounds < revoking
        target = sticky_after(columns, owner, past, locality, uses_racks, may_revoke)
        withheld = _withheld(target, owner, claimed)
        n_rounds += 1
        if n_rounds == rounds or not withheld.any():
            return target, withheld
        # Each member claims the partitions that it was given; no claim is older than
        # another.
        owner = target.copy()
        owner[withheld] = NOBODY
        claimed = owner != NOBODY
        past = Past(np.full_like(past.previous, NOBODY), False)


@kernel
def _withheld(target: Int32, owner: Int32, claimed: Bools) -> Bools:
    """Select claimed partitions that go to another member than their owner."""
    withheld: Bools = (target != NOBODY) & (target != owner) & claimed
    return withheld
