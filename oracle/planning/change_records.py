"""Records of the changes of a group: what-if questions of plan/1."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from oracle.strict_record import StrictRecord
from rebalance import (
    Count,
    Optional,
)


class Join(StrictRecord):
    """A member joins."""

    kind: Literal["join"] = "join"
    """Kind of the change."""

    member: str
    """Member that joins."""

    subscription: list[str]
    """Its topics."""


class Leave(StrictRecord):
    """A member leaves."""

    kind: Literal["leave"] = "leave"
    """Kind of the change."""

    member: str
    """Member that leaves."""


class Subscribe(StrictRecord):
    """A member subscribes to these topics, and no others."""

    kind: Literal["subscribe"] = "subscribe"
    """Kind of the change."""

    member: str
    """Member whose subscription changes."""

    subscription: list[str]
    """Its topics from then on."""


class AddPartitions(StrictRecord):
    """A topic has so many partitions, or is created."""

    kind: Literal["partitions"] = "partitions"
    """Kind of the change."""

    topic: str
    """The topic."""

    partitions: Count
    """Number of its partitions from then on."""


class SetLag(StrictRecord):
    """A partition has so much lag, in records; without ``partition``, all of a topic.

    ``times`` multiplies the lag of the topic.
    """

    kind: Literal["lag"] = "lag"
    """Kind of the change."""

    topic: str
    """The topic."""

    partition: Optional[Count] = None
    """The partition; absent: all of the topic."""

    lag: Optional[Count] = None
    """Lag from then on, records."""

    times: Optional[Count] = None
    """Factor of the present lag."""


Change = Annotated[
    Join | Leave | Subscribe | AddPartitions | SetLag, Field(discriminator="kind")
]
