"""How each client's members write their claims into their subscriptions.

All members of a group have one client here, as the members whose metadata the leader
reads. The version of the subscription is the one that the consumer itself writes.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

from rebalance import Member
from rebalance.protocol import (
    COOPERATIVE_STICKY,
    STICKY,
    UNKNOWN_GENERATION,
    Partitions,
    StickyUserData,
    Subscription,
    decode_subscription,
    encode_generation,
    encode_sticky_user_data,
    encode_subscription,
)

NEWEST: Final = 3  # version of a subscription
RACK_AFFINITY: Final = "rack-affinity"  # of kafka-go; its user data is the rack
CooperativeUserData = Literal["generation", "sticky", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """The choices that the consumer protocol leaves to a client.

    Attributes
    ----------
    cooperative : str
        User data of ``cooperative-sticky``: Java's ``generation``, ``sticky``'s claims
        beside the owned partitions, or ``none``.
    prefixed : bool
        Whether ``sticky``'s user data begins with a version number.
    states_generation : bool
        Whether the client tells its assignor the generation; aiokafka never does.
    drops_unsubscribed : bool
        Whether a member omits owned partitions of topics to which it does not
        subscribe, and the generation if none remain.
    """

    cooperative: CooperativeUserData = "generation"
    prefixed: bool = False
    states_generation: bool = True
    drops_unsubscribed: bool = False

    def subscription(
        self, member: Member, topics: tuple[str, ...], claims: Partitions, at: WrittenAs
    ) -> bytes:
        """Encode the metadata of a member that joins with these claims.

        ``topics`` and ``claims`` have the names on the wire. An eager member has given
        up its partitions before it joins, so only ``cooperative-sticky`` has owned
        partitions; ``sticky`` has its claims in the user data.

        Raises
        ------
        WireError
            If a name is too long for its field.
        """
        known = at.generation(member) if self.states_generation else UNKNOWN_GENERATION
        has_owned = at.protocol == COOPERATIVE_STICKY
        if self.drops_unsubscribed:
            claims = tuple(claim for claim in claims if claim[0] in topics)
            known = known if claims else UNKNOWN_GENERATION
        subscription = Subscription(
            version=at.version,
            topics=topics,
            user_data=self._user_data(member, claims, known, at.protocol),
            owned=claims if has_owned and not at.is_short else (),
            generation=known,
            rack=member.rack,
            is_short=at.is_short,
        )
        return encode_subscription(subscription)

    def _user_data(
        self, member: Member, claims: Partitions, generation: int, protocol: str
    ) -> bytes | None:
        if protocol == RACK_AFFINITY:
            return (member.rack or "").encode()
        if protocol == COOPERATIVE_STICKY:
            if self.cooperative == "generation":
                return encode_generation(generation)
            if self.cooperative == "none":
                return None
        elif protocol != STICKY:
            return None
        if not claims and generation == UNKNOWN_GENERATION:
            return None  # a member that has never had an assignment
        data = StickyUserData(
            version=1,
            partitions=claims,
            generation=generation,
            prefixed=self.prefixed and protocol == STICKY,
        )
        return encode_sticky_user_data(data)


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenAs:
    """Values that all members of one instance have in common.

    Attributes
    ----------
    protocol : str
        The assignor's name in the group protocol.
    version : int
        Version of the subscriptions.
    base : int
        Added to every known generation.
    is_short : bool
        Whether version 1 ends before its owned partitions: see `written_version`.
    """

    protocol: str
    version: int
    base: int
    is_short: bool = False

    def generation(self, member: Member) -> int:
        """Return the generation that the member states."""
        if member.generation is None or member.generation == UNKNOWN_GENERATION:
            return UNKNOWN_GENERATION
        return self.base + member.generation


def written_version(metadata: bytes) -> tuple[int, bool]:
    """Return the version of a subscription, and whether it is short.

    kafka-go's version 1 ends before the owned partitions, and its leader refuses the
    whole one. A broker does not read subscriptions, so that a consumer of any client
    can join.

    Raises
    ------
    WireError
        If it is not a subscription.
    """
    subscription = decode_subscription(metadata)
    return min(subscription.version, NEWEST), subscription.is_short


DIALECTS: Final = MappingProxyType(
    {
        "kafka-clients": Dialect(),
        "librdkafka": Dialect(cooperative="sticky"),
        "franz-go": Dialect(cooperative="sticky"),
        "kafka-python": Dialect(cooperative="none", prefixed=True),
        "aiokafka": Dialect(states_generation=False),
        "kafka-go": Dialect(),
        "kafkajs": Dialect(),
        "platformatic-kafka": Dialect(cooperative="none", drops_unsubscribed=True),
        "sarama": Dialect(),
    }
)
"""Dialects by the names of the clients."""
