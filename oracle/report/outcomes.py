"""Outcome of each rebalance, by one rule for all assignors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

OPTIMUM, NEEDLESS, UNBALANCED, INVALID, OPEN = (
    "optimum",
    "needless",
    "unbalanced",
    "invalid",
    "open",
)
OUTCOMES: Final = (OPTIMUM, NEEDLESS, UNBALANCED, INVALID, OPEN)
JUDGED: Final = OUTCOMES[:-1]
WRONG: Final = (NEEDLESS, UNBALANCED, INVALID)


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Rebalances by outcome; they add up to all.

    Attributes
    ----------
    optimum : dec-min balanced, with the fewest moves
    needless : dec-min balanced, with needless moves
    unbalanced : not dec-min balanced
    invalid : violates a rule
    open : undecided: no proof, or a cooperative rebalance that was not finished
    needless_moves : moves beyond the fewest, summed over ``needless``
    """

    optimum: int = 0
    needless: int = 0
    unbalanced: int = 0
    invalid: int = 0
    open: int = 0
    needless_moves: int = 0

    @property
    def judged(self) -> int:
        """All except the open ones."""
        return self.optimum + self.wrong

    @property
    def wrong(self) -> int:
        """Answers that are worse than a proved optimum, or invalid."""
        return self.needless + self.unbalanced + self.invalid

    @property
    def total(self) -> int:
        """Number of all rebalances."""
        return self.judged + self.open

    def of(self, outcome: str) -> int:
        """Return the number of one outcome."""
        count: int = getattr(self, outcome)
        return count


def outcome_of(rows: pd.DataFrame) -> pd.Series[str]:
    """Return the outcome of each row of ``answers`` or ``episodes``."""
    optimum = _true(rows["at_optimum"])
    balanced = rows["dec_min_balanced"]
    beaten = _true(rows["moves"] > rows["moves_least"])
    unsettled = rows["at_optimum"].isna().to_numpy()
    named = np.select(
        [
            _true(rows["verdict"] != "valid"),
            optimum,
            unsettled,
            _true(~balanced),
            _true(balanced) & beaten,
        ],
        [INVALID, OPTIMUM, OPEN, UNBALANCED, NEEDLESS],
        default=OPEN,
    )
    return pd.Series(named, index=rows.index, dtype="str")


def counts_of(units: pd.DataFrame) -> Counts:
    """Count units, which have an ``outcome``, ``moves`` and ``moves_least``."""
    found = units["outcome"].value_counts()
    needless = units[units["outcome"] == NEEDLESS]
    return Counts(
        **{outcome: int(found.get(outcome, 0)) for outcome in OUTCOMES},
        needless_moves=int((needless["moves"] - needless["moves_least"]).sum()),
    )


def _true(flags: pd.Series[bool]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Convert flags to booleans; unknown is not true."""
    return flags.fillna(False).to_numpy(dtype=np.bool_)
