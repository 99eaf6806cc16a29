"""A rebalance as one column of integers, without its names.

No engine, heuristic, or rule of the judge depends on more of a name than its place in
sorted order (``tests/pipeline`` draws rebalances and order-preserving names to check
this). Equal rebalances of groups under other names therefore have equal codes: replicas
of a service, or one group every night.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from rebalance import Int32, Int64, kernel

GENERATIONS: Final = 2**31
_LAST_OF_TWO_BYTES: Final = "\uffff"
PAIRS_MAX: Final = 10_000_000
"""Subscription classes times topics; the documents of larger rebalances are judged."""

HEADER: Final = 7
"""Topics, members, classes, topics of classes, claims, assigned partitions, flags."""
LAG, ANSWERED, COOPERATIVE, RACKS, UNNAMED_RACK, LAG_KNOWN = (
    1 << bit for bit in range(6)
)
"""Flags."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RebalanceCode:
    """A rebalance without capacities and racks of partitions, and the real answer.

    Attributes
    ----------
    code : int64
        Bytes that `sections_of` reads.
    topics, members : tuple of str
        Sorted.
    instance_ids : tuple of str or None, (M,)
    racks : tuple of str
        Sorted.
    """

    code: Int64
    topics: tuple[str, ...]
    members: tuple[str, ...]
    instance_ids: tuple[str | None, ...]
    racks: tuple[str, ...]

    @property
    def n_partitions(self) -> int:
        """Number of partitions."""
        return sum(self.code[HEADER : HEADER + len(self.topics)].tolist())

    @property
    def has_one_order(self) -> bool:
        """Whether its names sort by UTF-16 unit as they do by code point."""
        named = filter(None, self.instance_ids)
        return have_one_order([*self.topics, *self.members, *named, ""])

    @property
    def is_answered(self) -> bool:
        """Whether the real answer is known."""
        return bool(self.code[6] & ANSWERED)


class Sections(NamedTuple):
    """The sections of a code; T topics, M members, K classes, P partitions.

    Attributes
    ----------
    topic_offsets : int64 (T+1,)
    lag : int64 (P,), or empty
    member_class : int32 (M,)
    class_offsets : int64 (K+1,)
    class_topics : int32
    generation : int64 (M,)
    rack, static : int64 (M,)
        Places of rack and instance id in sorted order; `ABSENT`: none.
    claim_offsets : int64 (M+1,)
    claims : int32
        Claimed partitions that exist, per member grouped by topic.
    given_offsets : int64 (M+1,)
    given : int32
        Partitions that the real client assigned; `ABSENT`: one that does not exist.
    flags : int
    """

    topic_offsets: Int64
    lag: Int64
    member_class: Int32
    class_offsets: Int64
    class_topics: Int32
    generation: Int64
    rack: Int64
    static: Int64
    claim_offsets: Int64
    claims: Int32
    given_offsets: Int64
    given: Int32
    flags: int


def have_one_order(names: Sequence[str]) -> bool:
    """Whether names sort by UTF-16 unit as they do by code point."""
    joined = "".join(names)
    return joined.isascii() or max(joined) <= _LAST_OF_TWO_BYTES


@kernel
def sections_of(code: Int64) -> Sections:
    """Read the sections of a code."""
    n_topics, n_members, n_classes = int(code[0]), int(code[1]), int(code[2])
    topic_offsets, at = _offsets(code, HEADER, n_topics, False)
    n_lags = int(topic_offsets[n_topics]) if code[6] & LAG else 0
    lag, at = code[at : at + n_lags], at + n_lags
    member_class, at = code[at : at + n_members].astype(np.int32), at + n_members
    class_offsets, at = _offsets(code, at, n_classes, True)
    class_topics, at = code[at : at + int(code[3])].astype(np.int32), at + int(code[3])
    generation, at = code[at : at + n_members], at + n_members
    rack, at = code[at : at + n_members], at + n_members
    static, at = code[at : at + n_members], at + n_members
    claim_offsets, at = _offsets(code, at, n_members, True)
    claims, at = code[at : at + int(code[4])].astype(np.int32), at + int(code[4])
    given_offsets, at = _offsets(code, at, n_members, True)
    given = code[at : at + int(code[5])].astype(np.int32)
    return Sections(
        topic_offsets,
        lag,
        member_class,
        class_offsets,
        class_topics,
        generation,
        rack,
        static,
        claim_offsets,
        claims,
        given_offsets,
        given,
        int(code[6]),
    )


@kernel
def _offsets(code: Int64, at: int, count: int, are_ends: bool) -> tuple[Int64, int]:
    """Read sizes, or ends, as offsets."""
    offsets = np.zeros(count + 1, np.int64)
    for i in range(count):
        offsets[i + 1] = code[at + i] + (0 if are_ends else offsets[i])
    return offsets, at + count
