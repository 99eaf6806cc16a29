"""Ownership: the owner of each partition from stale and double claims (KIP-341).

Kafka's own code paths differ on stale and double claims, so the rule is a parameter.
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


def owners(claims: Claims, counts: Bools, *, partitions: int, rule: ClaimRule) -> Int32:
    """Resolve the claims to one owner per partition.

    Parameters
    ----------
    claims : Claims
    counts : bool, as long as ``claims.partitions``
        Whether a claim counts: its member subscribes to the topic.
    partitions : int
        Number of partitions of the instance.
    rule : ClaimRule

    Returns
    -------
    int32 (P,)
        Member index, or `NOBODY`.
    """
    member, generation = claims.member, claims.generation
    if rule is ClaimRule.CURRENT_GENERATION and generation.size:
        counts = counts & (generation == generation.max())[member]
    rows = claims.partitions
    if not counts.all():
        rows, member = rows[counts], member[counts]
    newest = _is_newest(rows, generation, member, partitions)
    if newest is not None:
        rows, member = rows[newest], member[newest]
    owner = np.full(partitions, NOBODY, dtype=np.int32)
    owner[rows] = member
    owner[np.bincount(rows, minlength=partitions) > 1] = NOBODY
    return owner


def _is_newest(
    rows: Int32, generation: Int64, member: Int32, partitions: int
) -> Bools | None:
    """Return which claims are the newest on their partition.

    None if all are, because all claims have the same generation.
    """
    if generation.size == 0 or generation.min() == generation.max():
        return None
    of_claim = generation[member]
    newest = np.full(partitions, np.iinfo(np.int64).min)
    np.maximum.at(newest, rows, of_claim)
    return np.asarray(of_claim == newest[rows])
