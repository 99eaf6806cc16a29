"""Build the rebalance document from the members that joined a group."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from oracle.plugins.protocol_modes import Mode
from rebalance import Rebalance
from rebalance import rebalance_of as checked
from rebalance.protocol import (
    COOPERATIVE_STICKY,
    STICKY,
    ClaimSource,
    MemberClaim,
    Subscription,
    listed_claim,
    member_claim,
)

Racks = Mapping[str, Sequence[Sequence[str]]]
"""Per topic and partition: the racks of the replicas."""

Lags = Mapping[str, Sequence[int]]
"""Per topic and partition: the number of records behind the log end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Joining:
    """A member of the new generation; ``instance_id`` if it is static (KIP-345)."""

    member_id: str
    subscription: Subscription
    instance_id: str | None = None


def claim_of(subscription: Subscription, mode: Mode) -> MemberClaim:
    """Return a member's claim, for any client.

    In the eager mode, user data is a claim only in the format of ``sticky``. Without
    user data, the owned partitions in the subscription are the claim; eager clients
    leave them empty.
    """
    return _claim_of(subscription, mode, member_claim)


def listed_claim_of(subscription: Subscription, mode: Mode) -> MemberClaim:
    """Return the claim of `claim_of` with the partitions as the member lists them."""
    return _claim_of(subscription, mode, listed_claim)


def _claim_of(
    subscription: Subscription,
    mode: Mode,
    read: Callable[[Subscription, str], MemberClaim],
) -> MemberClaim:
    if mode is Mode.COOPERATIVE:
        return read(subscription, COOPERATIVE_STICKY)
    said = read(subscription, STICKY)
    return read(subscription, "") if said.source is ClaimSource.NOWHERE else said


def rebalance_of(
    joined: Iterable[Joining],
    counts: Mapping[str, int],
    *,
    mode: Mode,
    racks: Racks | None = None,
    lags: Lags | None = None,
) -> Rebalance:
    """Return the rebalance for which the leader computes an assignment.

    Parameters
    ----------
    joined : iterable of Joining
    counts : mapping of str to int
        Partitions of each topic that exists.
    mode : Mode
    racks, lags : mapping or None
        None if unknown. If a list is shorter than its topic, the remaining partitions
        have no racks, or lag 0.

    Raises
    ------
    DocumentError
        If a lag is negative.
    """
    document = {
        "format": "rebalance/1",
        "group": "",
        "topics": {
            name: _topic(count, (racks or {}).get(name), (lags or {}).get(name))
            for name, count in counts.items()
        },
        "members": {member.member_id: _member(member, mode) for member in joined},
    }
    return checked(document)


def _topic(
    count: int,
    racks: Sequence[Sequence[str]] | None,
    lags: Sequence[int] | None,
) -> dict[str, object]:
    document: dict[str, object] = {"partitions": count}
    if racks is not None:
        listed = [list(rack) for rack in racks[:count]]
        document["racks"] = listed + [[]] * (count - len(listed))
    if lags is not None:
        behind = [int(lag) for lag in lags[:count]]
        document["lag"] = behind + [0] * (count - len(behind))
    return document


def _member(joining: Joining, mode: Mode) -> dict[str, object]:
    claim = claim_of(joining.subscription, mode)
    document: dict[str, object] = {
        "subscription": sorted(set(joining.subscription.topics)),
        "owned": {topic: list(numbers) for topic, numbers in claim.partitions},
        "generation": claim.generation,
    }
    if joining.subscription.rack:  # librdkafka writes an empty string for no rack
        document["rack"] = joining.subscription.rack
    if joining.instance_id is not None:
        document["instance_id"] = joining.instance_id
    return document
