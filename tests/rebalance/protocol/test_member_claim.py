"""Claims of members, decoded from the bytes of each client."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given

from rebalance.protocol import (
    ClaimSource,
    MemberClaim,
    StickyUserData,
    Subscription,
    decode_subscription,
    encode_generation,
    encode_sticky_user_data,
    member_claim,
)
from tests.support.wire import RecordedMember, recorded_members
from tests.support.wire_strategies import subscriptions

HELD = encode_sticky_user_data(
    StickyUserData(version=1, partitions=(("t", (4, 2)),), generation=6)
)
HELD_BEFORE_KIP_341 = encode_sticky_user_data(
    StickyUserData(version=0, partitions=(("t", (1,)),))
)


BY, FIELD = ClaimSource.USER_DATA, ClaimSource.FIELD
Partitions = tuple[tuple[str, tuple[int, ...]], ...]


def recorded(group: str, *, user_data: int | None, owned: bool) -> MemberClaim:
    """Claim of the first such member; ``user_data`` is a length, 5 for more than 4."""
    for member in recorded_members():
        read = decode_subscription(member.subscription)
        length = None if read.user_data is None else min(len(read.user_data), 5)
        if (member.group, length, bool(read.owned)) == (group, user_data, owned):
            return member_claim(read, member.assignor)
    raise LookupError(group)


ADS = (("clicks", (0, 1, 2, 3, 4, 5, 6, 8, 12, 16, 20)), ("users", (0, 1, 2)))
FEED = (("feed.likes", tuple(range(1, 10))), ("sessions", (0, 1, 2, 4)))
QUERIES = (("search.queries", (1, 3, 5, 7, 9, 11)), ("users", (1,)))


@pytest.mark.parametrize(
    ("group", "user_data", "owned", "partitions", "generation", "source"),
    [
        # Java: by user data if sticky, otherwise by field.
        ("ads-java-sticky", 5, False, ADS, 1, BY),
        ("ads-java-sticky", None, False, (), -1, ClaimSource.NOWHERE),
        ("upgrade-726", 4, True, (("orders", (1, 6, 11)),), 28, FIELD),
        # librdkafka; one left a topic: the field is empty, the user data is of before,
        # and Kafka, too, takes the field.
        ("mix-coop", 5, True, FEED, 1, FIELD),
        ("mix-coop", 5, False, (), 3, FIELD),
        ("orders-range", 0, False, (), -1, FIELD),
        # kafka-python has a form of its own.
        ("search-sticky", 5, False, QUERIES, 1, BY),
        ("billing-roundrobin", 0, False, (), -1, ClaimSource.NOWHERE),
    ],
)
def test_recorded_claims(
    group: str,
    user_data: int | None,
    owned: bool,
    partitions: Partitions,
    generation: int,
    source: ClaimSource,
) -> None:
    assert recorded(group, user_data=user_data, owned=owned) == MemberClaim(
        partitions=partitions, generation=generation, source=source
    )


@pytest.mark.parametrize(
    ("user_data", "partitions", "generation", "source"),
    [
        (None, (), -1, ClaimSource.NOWHERE),
        (b"", (), -1, ClaimSource.NOWHERE),
        (b"what is this", (), -1, ClaimSource.UNREADABLE),
        (HELD, (("t", (2, 4)),), 6, ClaimSource.USER_DATA),
        (HELD_BEFORE_KIP_341, (("t", (1,)),), -1, ClaimSource.USER_DATA),
    ],
)
def test_sticky_believes_its_user_data_alone(
    user_data: bytes | None,
    partitions: Partitions,
    generation: int,
    source: ClaimSource,
) -> None:
    said = Subscription(
        version=3,
        topics=("t",),
        user_data=user_data,
        owned=(("t", (9,)),),
        generation=8,
    )
    assert member_claim(said, "sticky") == MemberClaim(
        partitions=partitions, generation=generation, source=source
    )


@pytest.mark.parametrize(
    ("field", "user_data", "generation"),
    [
        (5, encode_generation(4), 5),  # the field wins
        (-1, encode_generation(4), 4),  # Java before KIP-792
        (-1, encode_generation(0), 0),  # as sticky's it would be an empty version 0
        (-1, HELD, 6),  # librdkafka before KIP-792
        (-1, None, -1),
        (-1, b"", -1),
        (-1, b"what is this", -1),
        (-7, encode_generation(-9), -1),
    ],
)
def test_where_cooperative_sticky_finds_its_generation(
    field: int, user_data: bytes | None, generation: int
) -> None:
    said = Subscription(
        version=2,
        topics=("t",),
        user_data=user_data,
        owned=(("t", (1,)),),
        generation=field,
    )
    assert member_claim(said, "cooperative-sticky") == MemberClaim(
        partitions=(("t", (1,)),), generation=generation, source=ClaimSource.FIELD
    )


@pytest.mark.parametrize("assignor", ["range", "roundrobin", "somebody.else.Assignor"])
def test_others_claim_by_field_alone(assignor: str) -> None:
    said = Subscription(version=2, topics=("t",), user_data=HELD, owned=(("t", (1,)),))
    assert member_claim(said, assignor) == MemberClaim(
        partitions=(("t", (1,)),), generation=-1, source=ClaimSource.FIELD
    )


def test_a_claim_is_sorted_without_duplicates() -> None:
    owned = (("u", (3, -1, 3)), ("t", (2,)), ("u", (0,)), ("v", ()), ("w", (-2,)))
    said = Subscription(version=1, topics=(), owned=owned)
    assert member_claim(said, "range").partitions == (("t", (2,)), ("u", (0, 3)))


@pytest.mark.heavy
@given(subscriptions())
def test_a_claim_is_always_sorted_and_dated(subscription: Subscription) -> None:
    for assignor in ("sticky", "cooperative-sticky", "range"):
        claim = member_claim(subscription, assignor)
        assert claim.generation >= -1
        flat = [(topic, n) for topic, numbers in claim.partitions for n in numbers]
        assert all(a < b for a, b in pairwise(flat))
        assert all(n >= 0 for _, n in flat)


@pytest.mark.parametrize("member", recorded_members(), ids=lambda m: str(m.group))
def test_no_recorded_claim_is_from_the_future(member: RecordedMember) -> None:
    claim = member_claim(decode_subscription(member.subscription), member.assignor)
    assert claim.source is not ClaimSource.UNREADABLE
    assert claim.generation < member.generation
