"""Results of one group's clients with one assignor: a row of the table of groups."""

from __future__ import annotations

from dataclasses import dataclass

from oracle.report.advice import Advice
from oracle.report.advice_words import SettingsBlock, blocks_of, line_of
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
    """Results of one group's clients with one assignor, and the advice.

    ``advice`` is the line about it, and ``settings`` are the blocks below that line.
    """

    cluster: str
    group: str
    assignor: str | None
    cooperative: bool
    counts: OutcomeCounts
    lag: Lag
    harm: Harm = NO_HARM
    advised: tuple[Advice, ...] = ()

    def __hash__(self) -> int:
        """Hash its name alone: other rows of the same name are rare, numbers slow."""
        return hash((self.cluster, self.group, self.assignor))

    @property
    def advice(self) -> str:
        """The advice in one line."""
        return line_of(self.advised)

    @property
    def settings(self) -> tuple[SettingsBlock, ...]:
        """The settings to copy, and the findings, below that line."""
        return blocks_of(self.advised)
