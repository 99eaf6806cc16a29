"""Safety rules of a group, each of which a test can disable."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Safeguards:
    """Safety rules, all enabled except in tests that must fail.

    Attributes
    ----------
    withholds : bool
        A partition in transfer has no member until its owner has revoked it (KIP-429).
    loses_when_missed : bool
        A member that missed a generation gives up all its partitions as lost, without a
        commit (KIP-429's ``onPartitionsLost``, KIP-726's stragglers). Upstream does so
        after an error. Here, the member also does so if the generation that it joins
        shows it, because a JoinGroup contains no generation and can precede any error.
    loses_to_eager : bool
        A member that joined while holding partitions, in a group that then selects an
        eager assignor, gives them up as lost before it syncs: they can belong to
        another member (KIP-726, downgrade).
    fences : bool
        The coordinator accepts only commits of the current generation's members
        (``ClassicGroup.validateOffsetCommit``).
    leader_follows_up : bool
        The leader requests another rebalance if partitions are still withheld when
        there are no further events. This rule is ours: upstream relies on the revoking
        member to rejoin, but a static member that dies meanwhile can return without a
        rebalance (KIP-345), and the withheld partitions would have no owner.
    heeds_new_topics : bool
        The group rebalances if the next process of a static member subscribes to other
        topics. Upstream compares only the assignor (KAFKA-12759), so that partitions to
        which only that member subscribes stay without an owner. This rule is ours.
    """

    withholds: bool = True
    loses_when_missed: bool = True
    loses_to_eager: bool = True
    fences: bool = True
    leader_follows_up: bool = True
    heeds_new_topics: bool = True
