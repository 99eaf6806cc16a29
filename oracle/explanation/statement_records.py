"""Base of the records of explanation/1, and the parts of several statements."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from rebalance import (
    Count,
    Optional,
)


class ExplanationRecord(BaseModel):
    """A strict record; unknown keys are errors."""

    model_config = ConfigDict(
        strict=True, extra="forbid", frozen=True, populate_by_name=True
    )


class TransferRecord(ExplanationRecord):
    """One partition that goes from one member to another.

    Attributes
    ----------
    topic, partition
        The partition.
    from
        Member that gives it.
    to
        Member that receives it.
    """

    topic: str
    partition: Count
    giver: str = Field(alias="from")
    to: str

    @classmethod
    def of(cls, topic: str, partition: int, *, giver: str, to: str) -> TransferRecord:
        """Return the record; ``from`` is not a name in Python."""
        value = {"topic": topic, "partition": partition, "from": giver, "to": to}
        return cls.model_validate(value)


class Gain(ExplanationRecord):
    """Gain of transfers; less than 0 if they cost something.

    Attributes
    ----------
    kip54_score, moves
        By how much the balance score and the moves decrease.
    """

    kip54_score: Optional[int] = None
    moves: Optional[int] = None


class Statement(ExplanationRecord):
    """One checked statement; ``text`` is its sentence, with long lists shortened."""

    text: str = Field(description="The sentence, with long lists shortened.")


class ClaimRecord(ExplanationRecord):
    """A claim on a partition.

    Attributes
    ----------
    member
        Who claims it.
    generation
        Generation of the claim; -1 if it is unknown.
    """

    member: str
    generation: int


class LagRecord(ExplanationRecord):
    """A partition and its lag, records.

    Attributes
    ----------
    topic, partition
        The partition.
    lag
        Its lag, records.
    """

    topic: str
    partition: Count
    lag: Count
