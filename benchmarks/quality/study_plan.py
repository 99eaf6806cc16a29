"""Plan of a study: families, seeds, number of draws, and limits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from conformance.runs import FAMILIES, FILE

COUNT: Final = 5000
SEEDS: Final = 5
SECONDS: Final = 5.0
FAMILY_SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyPlan:
    """Draws to make, and their limits.

    Attributes
    ----------
    families : tuple of str
        Names that `conformance.runs.family_of` knows; without any, and without
        ``given``, all that have names.
    seeds : int
        Seeds 1 to ``seeds``.
    count : int
        Instances per family, equally many of each seed.
    given : Path or None
        A file of rebalance/1 documents: one more family, ``file``.
    seconds : float
        CPU time of an answer at most, without the start of the program.
    family_seconds : float
        Limit of one assignor's answers of one family; it then has answered a prefix.
    """

    families: tuple[str, ...] = ()
    seeds: int = SEEDS
    count: int = COUNT
    given: Path | None = None
    seconds: float = SECONDS
    family_seconds: float = FAMILY_SECONDS

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the families, that of the file last."""
        own = () if self.given is None else (FILE,)
        return (*(self.families or (() if own else tuple(FAMILIES))), *own)

    def places(self) -> Iterator[tuple[int, int]]:
        """Yield the seed and the index of each draw; the seeds take turns.

        So a prefix has equally many draws of each seed.
        """
        for index in range(-(-self.count // self.seeds)):
            for seed in range(1, self.seeds + 1):
                yield seed, index
