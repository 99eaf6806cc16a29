"""The instance of a state: the members own the partitions that they hold.

A describe text has no rebalance, so the audit's instance of a snapshot has no owners.
The question here is for the best next assignment, as `pipeline.live.group_snapshots`
asks it.
"""

from __future__ import annotations

from rebalance import AssignmentDocument, Rebalance


def with_held(rebalance: Rebalance, assignment: AssignmentDocument) -> Rebalance:
    """Return the rebalance in which each member owns its assigned partitions.

    Partitions of members that are not in the rebalance are dropped.
    """
    given = assignment.members or {}
    members = {}
    for name, member in rebalance.members.items():
        held = {topic: sorted(n) for topic, n in given.get(name, {}).items() if n}
        owned = {"owned": held or None, "generation": None}
        members[name] = member.model_copy(update=owned)
    return rebalance.model_copy(update={"members": members})


def with_subscriptions(rebalance: Rebalance) -> Rebalance:
    """Return the rebalance in which members without a subscription want all topics.

    A text states none; a member that has no partitions subscribes to something.
    """
    wanted = sorted(
        {t for member in rebalance.members.values() for t in member.subscription}
    )
    members = {
        name: member
        if member.subscription
        else member.model_copy(update={"subscription": wanted})
        for name, member in rebalance.members.items()
    }
    return rebalance.model_copy(update={"members": members})
