"""Base of the records of printed documents, and what several of them contain."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

Nothing = Literal[None]  # noqa: PYI061 - a schema would leave out None
"""A value that is null, not absent."""

StatusName = Literal["optimal", "feasible", "infeasible", "unknown"]
Members = dict[str, dict[str, list[int]]]
Reason = dict[str, Any]
"""Why something does not hold: ``fails`` is the part that fails, with its place."""


class PrintedRecord(BaseModel):
    """A strict record; absent fields are left out."""

    model_config = ConfigDict(
        strict=True, extra="forbid", frozen=True, populate_by_name=True
    )


class ProvedParts(PrintedRecord):
    """What can be checked without trust.

    Attributes
    ----------
    dec_min
        No valid assignment is more even: proved by the certificate.
    stickiness
        None that is equally even has fewer moves: proved by the certificate.
    peak_lag
        No valid assignment has less peak lag.
    """

    dec_min: bool
    stickiness: bool
    peak_lag: bool
