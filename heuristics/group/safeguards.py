"""Safety rules of a group, each of which a test can disable."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Safeguards:
    """Safety rules, all enabled except in tests that must fail.

    Attributes
    ----------
    withholds : bool
        A partition in transfer goes to nobody until its owner revoked it (KIP-429).
    loses_when_missed : bool
        Who missed a generation gives up all it holds as lost, without a commit
        (KIP-429's ``onPartitionsLost``, KIP-726's stragglers). Upstream does so when an
        error tells the member; here also when the generation that it joins tells, for
        a JoinGroup carries no generation and may come before any error.
    loses_to_eager : bool
        Who joined with partitions in hand and learns that an eager assignor was
        picked gives them up as lost, before it syncs: they may be another's now
        (KIP-726, going down).
    fences : bool
        The coordinator takes commits of the current generation's members alone
        (``ClassicGroup.validateOffsetCommit``).
    leader_follows_up : bool
        The leader asks for another rebalance if what it withheld is still withheld
        when all is quiet. Ours: upstream relies on the revoking member to rejoin, and
        one that is static and dies between may come back without a rebalance
        (KIP-345); its withheld partitions would then have no owner.
    heeds_new_topics : bool
        A static member whose next process wants other topics is one that changed:
        the group rebalances. Upstream looks at the assignor alone (KAFKA-12759), so
        that partitions for which only that member subscribes stay without an owner.
        Our own rule, until upstream has it.
    """

    withholds: bool = True
    loses_when_missed: bool = True
    loses_to_eager: bool = True
    fences: bool = True
    leader_follows_up: bool = True
    heeds_new_topics: bool = True
