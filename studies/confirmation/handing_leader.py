"""A crafted leader that gives real members the partitions they shall claim, and leaves.

Members keep the assignment of their leader, whoever it is. When it has left, the others
rebalance without it, and claim the partitions that they hold: a state that no history
of ordinary actions is known to lead to is thus that of real, unmodified consumers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from threading import Condition, Event, Thread
from typing import Final

from rebalance import OutsideError, WireError
from rebalance.protocol import (
    MemberAssignment,
    Partitions,
    Subscription,
    encode_assignment,
    encode_subscription,
)
from studies.confirmation.crafted_member import HEARTBEAT_SECONDS
from studies.confirmation.group_connection import GroupConnection, JoinedGroup

NAME: Final = "hands-out"
UUID_LENGTH: Final = 36
_NO_TOPICS: Final = encode_subscription(Subscription(version=1, topics=()))


@dataclass(frozen=True, slots=True, kw_only=True)
class HandedOut:
    """A generation in which every member had its partitions.

    Attributes
    ----------
    generation : int
    metadata : dict
        Data that each member sent when it joined, by its name.
    """

    generation: int
    metadata: dict[str, bytes]


class HandingLeader:
    """The first member of a group; it subscribes to nothing.

    Parameters
    ----------
    connection : GroupConnection
        It is closed at the end.
    claims : mapping
        Partitions that each member receives, by the name that begins its member id: the
        client id, or the instance id of a static member.
    least_generation : int
        It joins again until the group has this generation.

    Raises
    ------
    WireError
        If the coordinator refuses it.
    OSError
        If there is no connection.
    """

    def __init__(
        self,
        connection: GroupConnection,
        claims: Mapping[str, Partitions],
        *,
        least_generation: int = 0,
    ) -> None:
        self._connection, self._claims = connection, dict(claims)
        self._least = least_generation
        self._leaves = Event()
        self._news = Condition()
        self._handed: HandedOut | None = None
        self._generation = self._join()
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def wait_until_handed_out(self, seconds: float) -> HandedOut:
        """Wait until every member with a claim has joined and has its partitions.

        Raises
        ------
        OutsideError
            If that takes too long.
        """
        with self._news:
            if not self._news.wait_for(lambda: self._handed is not None, seconds):
                raise OutsideError(f"claims are not handed out in {seconds:g} s")
            assert self._handed is not None  # noqa: S101  # the condition above
            return self._handed

    def leave(self) -> None:
        """Leave the group, which then rebalances.

        Raises
        ------
        WireError
            If the coordinator returns an error.
        OSError
            If the connection has ended.
        """
        self._leaves.set()
        self._thread.join()
        self._connection.leave()

    def end(self) -> None:
        """Close the connection."""
        self._leaves.set()
        self._connection.close()

    def _run(self) -> None:
        try:
            while not self._leaves.wait(HEARTBEAT_SECONDS):
                is_early = self._generation < self._least
                if is_early or self._connection.is_rebalancing(self._generation):
                    self._generation = self._join()
        except (OSError, WireError):
            return  # it has been closed, or the broker has ended

    def _join(self) -> int:
        while True:
            joined = self._connection.join(_NO_TOPICS)
            metadata = {_name(member): data for member, data in joined.members.items()}
            given = self._assignments(joined)
            if self._connection.sync(joined.generation, given) is not None:
                break
        handed = HandedOut(generation=joined.generation, metadata=metadata)
        is_late = joined.generation >= self._least
        with self._news:
            self._handed = (
                handed if is_late and self._claims.keys() <= metadata.keys() else None
            )
            self._news.notify_all()
        return joined.generation

    def _assignments(self, joined: JoinedGroup) -> list[tuple[str, bytes]]:
        return [
            (
                member,
                encode_assignment(
                    MemberAssignment(
                        version=1, partitions=self._claims.get(_name(member), ())
                    )
                ),
            )
            for member in joined.members
        ]


def _name(member_id: str) -> str:
    """Return the part of the broker's member id before its UUID."""
    return member_id[: -UUID_LENGTH - 1]
