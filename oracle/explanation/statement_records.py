"""Parts of several statements of explanation/1."""

from __future__ import annotations

from pydantic import Field

from oracle.strict_record import StrictRecord
from rebalance import (
    Count,
    Optional,
)


class TransferRecord(StrictRecord):
    """One partition that goes from one member to another."""

    topic: str
    """Topic of the partition."""

    partition: Count
    """Number of the partition."""

    giver: str = Field(alias="from")
    """Member that gives it."""

    to: str
    """Member that receives it."""


class Gain(StrictRecord):
    """Gain of transfers; less than 0 if they cost something."""

    kip54_score: Optional[int] = None
    """Decrease of the balance score."""

    moves: Optional[int] = None
    """Decrease of the moves."""


class Statement(StrictRecord):
    """One checked statement; ``text`` is its sentence, with long lists shortened."""

    text: str = Field(description="The sentence, with long lists shortened.")


class ClaimRecord(StrictRecord):
    """A claim on a partition."""

    member: str
    """Who claims it."""

    generation: int
    """Generation of the claim; -1 if it is unknown."""


class LagRecord(StrictRecord):
    """A partition and its lag, records."""

    topic: str
    """Topic of the partition."""

    partition: Count
    """Number of the partition."""

    lag: Count
    """Its lag, records."""
