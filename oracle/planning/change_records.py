"""Records of the changes of a group: what-if questions of plan/1."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from rebalance import (
    Count,
    Optional,
)


class PlanRecord(BaseModel):
    """A strict record; unknown keys are errors."""

    model_config = ConfigDict(
        strict=True, extra="forbid", frozen=True, populate_by_name=True
    )

    @classmethod
    def known(cls, **fields: Any) -> Self:
        """Return the record; fields that are None are absent."""
        given = {name: field for name, field in fields.items() if field is not None}
        return cls.model_validate(given)


class Join(PlanRecord):
    """A member joins.

    Attributes
    ----------
    kind
        Kind of the change.
    member
        Member that joins.
    subscription
        Its topics.
    """

    kind: Literal["join"] = "join"
    member: str
    subscription: list[str]


class Leave(PlanRecord):
    """A member leaves.

    Attributes
    ----------
    kind
        Kind of the change.
    member
        Member that leaves.
    """

    kind: Literal["leave"] = "leave"
    member: str


class Subscribe(PlanRecord):
    """A member subscribes to these topics, and no others.

    Attributes
    ----------
    kind
        Kind of the change.
    member
        Member whose subscription changes.
    subscription
        Its topics from then on.
    """

    kind: Literal["subscribe"] = "subscribe"
    member: str
    subscription: list[str]


class AddPartitions(PlanRecord):
    """A topic has so many partitions, or is created.

    Attributes
    ----------
    kind
        Kind of the change.
    topic
        The topic.
    partitions
        Number of its partitions from then on.
    """

    kind: Literal["partitions"] = "partitions"
    topic: str
    partitions: Count


class SetLag(PlanRecord):
    """A partition has so much lag, in records; without ``partition``, all of a topic.

    ``times`` multiplies the lag of the topic.

    Attributes
    ----------
    kind
        Kind of the change.
    topic
        The topic.
    partition
        The partition; absent: all of the topic.
    lag
        Lag from then on, records.
    times
        Factor of the present lag.
    """

    kind: Literal["lag"] = "lag"
    topic: str
    partition: Optional[Count] = None
    lag: Optional[Count] = None
    times: Optional[Count] = None


Change = Annotated[
    Join | Leave | Subscribe | AddPartitions | SetLag, Field(discriminator="kind")
]
