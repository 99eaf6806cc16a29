"""Claims of members on partitions, which can be stale or double.

Kafka's own code paths differ on such claims, so the rule is a parameter
(`rebalance.ownership` applies it).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Bools = NDArray[np.bool_]

NOBODY = -1


class ClaimRule(Enum):
    """Rule for stale and double claims."""

    NEWEST_CLAIM = "newest-claim"
    """KIP-341: the claim with the highest generation wins; a tie yields no owner."""

    CURRENT_GENERATION = "current-generation"
    """KIP-615, KAFKA-9987: first drop claims older than the group's newest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """Partitions that members claim to own, grouped by member.

    Attributes
    ----------
    offsets : int64 (M+1,)
        Member m claims rows ``offsets[m]:offsets[m+1]`` of ``partitions``.
    partitions : int32
        Claimed partitions as rows of the instance; per member, grouped by topic.
    generation : int64 (M,)
        Generation of each member's claims; -1: unknown.
    """

    offsets: Int64
    partitions: Int32
    generation: Int64

    @property
    def member(self) -> Int32:
        """Claiming member of each row of ``partitions``, int32."""
        count = np.diff(self.offsets)
        return np.repeat(np.arange(count.size, dtype=np.int32), count)
