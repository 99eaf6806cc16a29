"""Results of one group's clients with one assignor: a row of the table of groups."""

from __future__ import annotations

from dataclasses import dataclass

from oracle.report.harm import NO_HARM, Harm
from oracle.report.outcomes import OutcomeCounts


@dataclass(frozen=True, slots=True, kw_only=True)
class Lag:
    """Peak lag compared with its lower bound.

    ``median_above`` is in percent of the bound, rounded up; None if unknown.
    """

    known: int
    at_bound: int
    median_above: int | None


NO_LAG = Lag(known=0, at_bound=0, median_above=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientRow:
    """Results of one group's clients with one assignor, and the advice."""

    cluster: str
    group: str
    assignor: str | None
    cooperative: bool
    counts: OutcomeCounts
    lag: Lag
    harm: Harm = NO_HARM
    advice: str = ""
