"""A member whose requests are ours: it states the claims that it is given, and follows.

It joins with its claims in the words of a client, claims its last assignment
afterwards, and keeps its claims when its subscription changes. It is a thread with a
connection of its own.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Event, Thread
from typing import Any, Final

from conformance.wire import Dialect, WrittenAs
from rebalance import Member, WireError
from rebalance.protocol import (
    COOPERATIVE_STICKY,
    UNKNOWN_GENERATION,
    Partitions,
    decode_assignment,
)
from studies.confirmation.group_connection import GroupConnection

HEARTBEAT_SECONDS: Final = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class CraftedClaims:
    """Claims of a member when it joins.

    Attributes
    ----------
    partitions : tuple
        Numbers by topic, by the names of the broker's topics.
    generation : int
        Generation of the group; -1: unknown.
    """

    partitions: Partitions = ()
    generation: int = UNKNOWN_GENERATION


NOTHING: Final = CraftedClaims()


@dataclass(frozen=True, slots=True, kw_only=True)
class CraftedSubscription:
    """How a crafted member writes its subscription.

    Attributes
    ----------
    dialect : Dialect
    protocol : str
        The assignor's name in the group protocol.
    version : int
        Version of the subscription.
    rack : str or None
    """

    dialect: Dialect
    protocol: str
    version: int = 1
    rack: str | None = None

    def write(self, topics: Sequence[str], claims: CraftedClaims) -> bytes:
        """Encode the metadata of JoinGroup.

        Raises
        ------
        WireError
            If a name is too long for its field.
        """
        fields: dict[str, Any] = {"subscription": list(topics)}
        if claims.generation != UNKNOWN_GENERATION:
            fields["generation"] = claims.generation
        if self.rack is not None:
            fields["rack"] = self.rack
        member = Member(**fields)
        at = WrittenAs(protocol=self.protocol, version=self.version, base=0)
        return self.dialect.subscription(member, tuple(topics), claims.partitions, at)


class CraftedMember:
    """A member that never leads its group.

    Parameters
    ----------
    connection : GroupConnection
        It is closed at the end.
    subscription : CraftedSubscription
    topics : sequence of str
    claims : CraftedClaims
        Its claims when it joins for the first time.
    """

    def __init__(
        self,
        connection: GroupConnection,
        subscription: CraftedSubscription,
        topics: Sequence[str],
        claims: CraftedClaims = NOTHING,
    ) -> None:
        self.topics = tuple(topics)
        self.may_join = Event()
        self.may_join.set()
        self._connection, self._subscription = connection, subscription
        self._claims = claims
        self._changed, self._ended = Event(), Event()
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def subscribe(self, topics: Sequence[str]) -> None:
        """Change the subscription; the member joins again when it may."""
        self.topics = tuple(topics)
        self._changed.set()

    def end(self) -> None:
        """Close the connection, without leaving the group."""
        self._ended.set()
        self.may_join.set()
        self._connection.close()

    def _run(self) -> None:
        try:
            generation = self._join()
            while not self._ended.is_set():
                time.sleep(HEARTBEAT_SECONDS)
                wants = self._connection.is_rebalancing(generation)
                if (wants or self._changed.is_set()) and self.may_join.is_set():
                    generation = self._join()
        except (OSError, WireError):
            return  # the broker, or the group, has no more use for it

    def _join(self) -> int:
        """Join until the group is stable and nothing is revoked; return the generation.

        A cooperative member that has to revoke a partition joins again (KIP-429).
        """
        while True:
            self._changed.clear()
            metadata = self._subscription.write(self.topics, self._claims)
            joined = self._connection.join(metadata)
            data = self._connection.sync(joined.generation)
            if data is None:
                continue
            held = decode_assignment(data).partitions if data else ()
            has_revoked = bool(_pairs(self._claims.partitions) - _pairs(held))
            has_revoked &= self._subscription.protocol == COOPERATIVE_STICKY
            self._claims = CraftedClaims(partitions=held, generation=joined.generation)
            if not has_revoked:
                return joined.generation


def _pairs(partitions: Partitions) -> set[tuple[str, int]]:
    return {(topic, number) for topic, numbers in partitions for number in numbers}
