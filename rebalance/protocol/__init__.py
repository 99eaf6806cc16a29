"""Consumer-protocol bytes: subscriptions, assignments, sticky user data."""

from rebalance.protocol.consumer import (
    UNKNOWN_GENERATION,
    MemberAssignment,
    Partitions,
    Subscription,
    decode_assignment,
    decode_subscription,
    encode_assignment,
    encode_subscription,
)
from rebalance.protocol.cursor import Cursor
from rebalance.protocol.reported_claims import (
    COOPERATIVE_STICKY,
    STICKY,
    ClaimSource,
    MemberClaim,
    listed_claim,
    member_claim,
)
from rebalance.protocol.sticky_user_data import (
    StickyUserData,
    decode_generation,
    decode_sticky_user_data,
    encode_generation,
    encode_sticky_user_data,
)

__all__ = [
    "COOPERATIVE_STICKY",
    "STICKY",
    "UNKNOWN_GENERATION",
    "ClaimSource",
    "Cursor",
    "MemberAssignment",
    "MemberClaim",
    "Partitions",
    "StickyUserData",
    "Subscription",
    "decode_assignment",
    "decode_generation",
    "decode_sticky_user_data",
    "decode_subscription",
    "encode_assignment",
    "encode_generation",
    "encode_sticky_user_data",
    "encode_subscription",
    "listed_claim",
    "member_claim",
]
