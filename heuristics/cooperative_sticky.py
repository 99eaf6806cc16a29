"""``cooperative-sticky``: sticky in rounds that revoke before they assign (KIP-429)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from heuristics.claim_history import wanted_claims
from heuristics.sticky import sticky_assignment
from rebalance import NOBODY, Assignment, Bools, ClaimRule, Claims, Instance, Int32

MOST_ROUNDS = 16
"""Rounds after which no member has to revoke. Few groups need more than three."""


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
    revoke it, join again, and claim what they were assigned; the rounds end when
    nothing is withheld.

    `assign` returns the final assignment, and `rounds` yields every round.

    No ties beyond those of `StickyAssignor`. Not copied, because they are faults:

    - with heterogeneous subscriptions, upstream assigns a partition at once to a member
      that claims it, although the newest claimant, or a second one, still holds it: two
      members read it. Here it is withheld, as upstream does with equal subscriptions;
    - with heterogeneous subscriptions, upstream withholds for one round what is claimed
      only by members that have left the topic. These revoke it before they join;
    - nothing in upstream bounds the number of rounds, and with racks some groups never
      become stable: what no nearby member can take moves back and forth. Here the
      rounds end: see `rounds`.

    Nothing is omitted.
    """

    name = "cooperative-sticky"

    def refuses(self, instance: Instance) -> str | None:  # noqa: ARG002
        """Refuse nothing."""
        return None

    def assign(self, instance: Instance) -> Assignment:
        """Run all rounds and return the last assignment."""
        *_, last = self.rounds(instance)
        return last.given

    def first_round(self, instance: Instance) -> Round:
        """Compute one generation, as the leader of the group does."""
        return _round_of(instance, sticky_assignment(instance))

    def rounds(self, instance: Instance) -> Iterator[Round]:
        """Yield every round; the last withholds nothing.

        All members join every round, with what they were given in the one before. It
        terminates: without racks, equal subscriptions keep all that was given, so only
        the first round withholds; heterogeneous ones, and racks, revoke only in the
        first `MOST_ROUNDS` rounds.
        """
        n_rounds, is_rest = 0, False
        while not is_rest:
            may_revoke = n_rounds < MOST_ROUNDS
            target = sticky_assignment(instance, may_revoke=may_revoke)
            one = _round_of(instance, target)
            yield one
            n_rounds, is_rest = n_rounds + 1, one.is_rest
            instance = _after(instance, one.given)


def _round_of(instance: Instance, target: Assignment) -> Round:
    """Withhold what another member still holds."""
    withheld = withheld_of(instance, target)
    given = np.where(withheld, np.int32(NOBODY), target.assignee)
    return Round(target=target, given=Assignment(assignee=given), withheld=withheld)


def withheld_of(instance: Instance, target: Assignment) -> Bools:
    """Return what a cooperative round withholds on the way to a target, bool (P,)."""
    goes_elsewhere = (target.assignee != NOBODY) & (target.assignee != instance.owner)
    withheld: Bools = goes_elsewhere & _is_claimed(instance)
    return withheld


def _is_claimed(instance: Instance) -> Bools:
    """Return which partitions have a claim that counts, bool (P,)."""
    claims = instance.claims
    counts = wanted_claims(instance)
    if instance.claim_rule is ClaimRule.CURRENT_GENERATION and counts.size:
        newest = claims.generation == claims.generation.max()
        counts &= newest[claims.member]
    claimed = np.zeros(instance.n_partitions, dtype=np.bool_)
    claimed[claims.partitions[counts]] = True
    return claimed


def _after(instance: Instance, given: Assignment) -> Instance:
    """Return the instance in which each member claims what it was given."""
    held: Int32 = np.flatnonzero(given.assignee != NOBODY).astype(np.int32)
    held = held[np.argsort(given.assignee[held], kind="stable")]
    claims = Claims(
        offsets=np.r_[0, np.cumsum(given.loads(instance))].astype(np.int64),
        partitions=held,
        generation=np.zeros(len(instance.members), dtype=np.int64),
    )
    return replace(instance, claims=claims)
