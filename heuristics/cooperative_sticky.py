"""``cooperative-sticky``: sticky in rounds, nothing given before it is revoked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from heuristics.claim_history import wanted_claims
from heuristics.sticky import sticky_assignment
from rebalance import NOBODY, Assignment, Bools, ClaimRule, Claims, Instance, Int32

MOST_ROUNDS = 16
"""In the rounds after these nobody has to revoke. Few groups need more than three."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One generation of a cooperative rebalance.

    Attributes
    ----------
    target : Assignment
        What the assignor is after.
    given : Assignment
        What the members get now: what is withheld goes to nobody.
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
        """Whether nobody has to revoke, so that no further round follows."""
        return not self.withheld.any()


class CooperativeStickyAssignor:
    """The target of `heuristics.sticky.StickyAssignor`, come to in rounds.

    Follows ``org.apache.kafka.clients.consumer.CooperativeStickyAssignor`` (KIP-429;
    held against Kafka 4.4.0 and 3.9.2). In each round a partition is withheld, given to
    nobody, if a member to which it is not to go still has it: the newest claimant, or
    the newest claimants where several are of one generation (KAFKA-12984). They revoke
    it and join again, and claim what they were given; and so on until nothing is
    withheld.

    `assign` gives what the group comes to rest at; `rounds`, the way there.

    Nothing is tied beyond what is in `StickyAssignor`. Not copied, since they are
    faults:

    - with mixed subscriptions, upstream gives a partition at once to whoever claims
      it, though the newest claimant, or a second one, still has it: two members read
      it. Here it is withheld, as upstream does with equal subscriptions;
    - with mixed subscriptions, upstream withholds for a round what nobody claims but
      members that have left the topic. Those revoke it before they join;
    - nothing in upstream makes the rounds end, and with racks some groups never come to
      rest: what nobody near can take goes to and fro. Here they end: see `rounds`.

    Left out: nothing.
    """

    name = "cooperative-sticky"

    def refuses(self, instance: Instance) -> str | None:  # noqa: ARG002
        """Refuse nothing."""
        return None

    def assign(self, instance: Instance) -> Assignment:
        """Go round after round to the last."""
        *_, last = self.rounds(instance)
        return last.given

    def first_round(self, instance: Instance) -> Round:
        """Answer one rebalance, as the leader of the group does."""
        return _round_of(instance, sticky_assignment(instance))

    def rounds(self, instance: Instance) -> Iterator[Round]:
        """Yield every round, the last being the one that withholds nothing.

        All members join every round, with what they were given in the one before. It
        ends: without racks, equal subscriptions keep all that was given, so withhold in
        the first round alone; mixed ones, and racks, revoke in the first `MOST_ROUNDS`
        at most.
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
    """Withhold what somebody else still has."""
    goes_elsewhere = (target.assignee != NOBODY) & (target.assignee != instance.owner)
    withheld = goes_elsewhere & _is_claimed(instance)
    given = np.where(withheld, np.int32(NOBODY), target.assignee)
    return Round(target=target, given=Assignment(assignee=given), withheld=withheld)


def _is_claimed(instance: Instance) -> Bools:
    """Tell which partitions have a claim that counts, bool (P,)."""
    claims = instance.claims
    counts = wanted_claims(instance)
    if instance.claim_rule is ClaimRule.CURRENT_GENERATION and counts.size:
        newest = claims.generation == claims.generation.max()
        counts &= newest[claims.member]
    claimed = np.zeros(instance.n_partitions, dtype=np.bool_)
    claimed[claims.partitions[counts]] = True
    return claimed


def _after(instance: Instance, given: Assignment) -> Instance:
    """Let every member claim what it was given, all as of one generation."""
    held: Int32 = np.flatnonzero(given.assignee != NOBODY).astype(np.int32)
    held = held[np.argsort(given.assignee[held], kind="stable")]
    claims = Claims(
        offsets=np.r_[0, np.cumsum(given.loads(instance))].astype(np.int64),
        partitions=held,
        generation=np.zeros(len(instance.members), dtype=np.int64),
    )
    return replace(instance, claims=claims)
