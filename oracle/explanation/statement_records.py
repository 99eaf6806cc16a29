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
        strict=True,
        extra="forbid",
        frozen=True,
        populate_by_name=True,
        use_attribute_docstrings=True,
    )


class TransferRecord(ExplanationRecord):
    """One partition that goes from one member to another."""

    topic: str
    """Topic of the partition."""

    partition: Count
    """Number of the partition."""

    giver: str = Field(alias="from")
    """Member that gives it."""

    to: str
    """Member that receives it."""

    @classmethod
    def of(cls, topic: str, partition: int, *, giver: str, to: str) -> TransferRecord:
        """Return the record; ``from`` is not a name in Python."""
        value = {"topic": topic, "partition": partition, "from": giver, "to": to}
        return cls.model_validate(value)


class Gain(ExplanationRecord):
    """Gain of transfers; less than 0 if they cost something."""

    kip54_score: Optional[int] = None
    """Decrease of the balance score."""

    moves: Optional[int] = None
    """Decrease of the moves."""


class Statement(ExplanationRecord):
    """One checked statement; ``text`` is its sentence, with long lists shortened."""

    text: str = Field(description="The sentence, with long lists shortened.")


class ClaimRecord(ExplanationRecord):
    """A claim on a partition."""

    member: str
    """Who claims it."""

    generation: int
    """Generation of the claim; -1 if it is unknown."""


class LagRecord(ExplanationRecord):
    """A partition and its lag, records."""

    topic: str
    """Topic of the partition."""

    partition: Count
    """Number of the partition."""

    lag: Count
    """Its lag, records."""
