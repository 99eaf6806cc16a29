"""Claims that a member reports, in the form of its assignor.

Follows ``memberData`` of Java's ``StickyAssignor`` and ``CooperativeStickyAssignor``
(Apache Kafka 4.3). `rebalance.claims` selects among several claims.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final

from rebalance.errors import WireError
from rebalance.protocol.consumer import UNKNOWN_GENERATION, Partitions, Subscription
from rebalance.protocol.sticky_user_data import (
    decode_generation,
    decode_sticky_user_data,
)

STICKY: Final = "sticky"
COOPERATIVE_STICKY: Final = "cooperative-sticky"
_ONE_NUMBER: Final = 4  # bytes


class ClaimSource(Enum):
    """Where a claim was read."""

    FIELD = "owned-partitions"  # the field of the subscription, from version 1 on
    USER_DATA = "user-data"  # sticky's user data
    NOWHERE = "nowhere"  # no claim
    UNREADABLE = "unreadable"  # sticky's user data in no known form: no claim


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberClaim:
    """Partitions that a member claims to own, and the generation of the claim.

    ``partitions`` of `member_claim` are sorted by topic and number, without repetition,
    negative numbers, and topics without numbers; ``generation`` is -1 if unknown.
    """

    partitions: Partitions
    generation: int
    source: ClaimSource


def member_claim(subscription: Subscription, assignor: str) -> MemberClaim:
    """Return a member's claim from its subscription, in order (`listed_claim`)."""
    claim = listed_claim(subscription, assignor)
    return replace(claim, partitions=_in_order(claim.partitions))


def listed_claim(subscription: Subscription, assignor: str) -> MemberClaim:
    """Return a member's claim with the partitions as the member lists them.

    ``sticky`` is eager and always uses the user data. All others have the owned
    partitions and generation of the subscription; ``cooperative-sticky`` uses a
    generation in the user data if the subscription has none (version 1).

    Parameters
    ----------
    subscription
        As decoded.
    assignor
        Name of the protocol the group chose, e.g. ``range``.
    """
    if assignor == STICKY:
        return _of_user_data(subscription.user_data)
    generation = subscription.generation
    if assignor == COOPERATIVE_STICKY and generation < 0:
        generation = _generation_in(subscription.user_data)
    source = ClaimSource.FIELD if subscription.version >= 1 else ClaimSource.NOWHERE
    return _claim(subscription.owned, generation, source)


def _of_user_data(data: bytes | None) -> MemberClaim:
    if not data:
        return _claim((), UNKNOWN_GENERATION, ClaimSource.NOWHERE)
    try:
        held = decode_sticky_user_data(data)
    except WireError:
        return _claim((), UNKNOWN_GENERATION, ClaimSource.UNREADABLE)
    return _claim(held.partitions, held.generation, ClaimSource.USER_DATA)


def _generation_in(data: bytes | None) -> int:
    """Decode Java's four bytes, or librdkafka's complete sticky user data."""
    try:
        if data and len(data) > _ONE_NUMBER:
            return decode_sticky_user_data(data).generation
        return decode_generation(data or b"")
    except WireError:
        return UNKNOWN_GENERATION


def _claim(partitions: Partitions, generation: int, source: ClaimSource) -> MemberClaim:
    return MemberClaim(
        partitions=partitions,
        generation=max(generation, UNKNOWN_GENERATION),
        source=source,
    )


def _in_order(partitions: Iterable[tuple[str, tuple[int, ...]]]) -> Partitions:
    merged: dict[str, set[int]] = {}
    for topic, numbers in partitions:
        merged.setdefault(topic, set()).update(n for n in numbers if n >= 0)
    held = ((topic, tuple(sorted(merged[topic]))) for topic in sorted(merged))
    return tuple((topic, numbers) for topic, numbers in held if numbers)
