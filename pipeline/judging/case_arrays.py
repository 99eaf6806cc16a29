"""Many cases as arrays of integers, for kernels; names are numbers.

N cases, M members of all of them, R distinct names of topics in sorted order.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

import numpy as np

from rebalance import Bools, Int32, Int64

UNSTATED: Final = -(2**63)
"""Generation of a member that states none."""


def begins_of(sizes: Iterable[int]) -> Int64:
    """Return where each of several ranges begins, and the last one ends."""
    return np.cumsum([0, *sizes], dtype=np.int64)


class Lists(NamedTuple):
    """Topics per row, each with partition numbers.

    Attributes
    ----------
    at : int64 (rows+1,)
        Where the topics of a row begin; sorted by name, except in commits.
    topic : int32 (entries,)
        As in `Names`.
    number_at : int64 (entries+1,)
    number : int32
    """

    at: Int64
    topic: Int32
    number_at: Int64
    number: Int32


class Sizes(NamedTuple):
    """Partition counts per case: ``at`` is int64 (N+1,), ``topic`` as in `Names`."""

    at: Int64
    topic: Int32
    partitions: Int64


class Names(NamedTuple):
    """Topics as cases state them: by name, or by id.

    Attributes
    ----------
    rank : int32
        Place of the name in sorted order; `ABSENT`: an id without a name.
    is_id : bool
    """

    rank: Int32
    is_id: Bools


class Cases(NamedTuple):
    """Statements of cases.

    Attributes
    ----------
    member_at : int64 (N+1,)
        Members of a case are sorted by their id.
    topic_at : int64 (M+1,)
    topic : int32
        Subscriptions.
    owned, assigned, claimed : Lists, of M rows
    generation : int64 (M,)
        Or `UNSTATED`.
    rack, instance : int64 (M,)
        Places in sorted order, over all cases; `ABSENT`: none.
    has_unnamed_rack : bool
        Whether rack 0 is the empty name.
    before : Lists
        Of members before an episode: their owned partitions.
    before_of : int64 (M,)
        Row of ``before``; `ABSENT`: none.
    at : int64 (N,)
        Milliseconds.
    is_dated : bool (N,)
        Whether ``at`` is known.
    counted_at : int64 (N,)
        Milliseconds: ``at``, or when the rebalance was that led to a state.
    is_counted : bool (N,)
        Whether ``counted_at`` is known.
    is_document : bool (N,)
        Whether a document states the instance; its topics are the ``recorded`` ones.
    commits : Lists, of N rows
        Partitions with a committed offset.
    offset : int64
        The offsets, next to ``commits.number``.
    has_commits : bool (N,)
    lags : Lists, of N rows
        Partitions of which the source states the lag, or a monitoring system.
    behind : int64
        That lag, next to ``lags.number``.
    has_lags : bool (N,)
        Whether it is the source's; then, no other lag counts.
    has_least : bool (N,)
        Whether the source states least counts; then, no other group's records count.
    recorded, undated, least : Sizes
    """

    member_at: Int64
    topic_at: Int64
    topic: Int32
    owned: Lists
    assigned: Lists
    claimed: Lists
    generation: Int64
    rack: Int64
    instance: Int64
    has_unnamed_rack: bool
    before: Lists
    before_of: Int64
    at: Int64
    is_dated: Bools
    counted_at: Int64
    is_counted: Bools
    is_document: Bools
    commits: Lists
    offset: Int64
    has_commits: Bools
    lags: Lists
    behind: Int64
    has_lags: Bools
    has_least: Bools
    recorded: Sizes
    undated: Sizes
    least: Sizes


class Steps(NamedTuple):
    """`pipeline.known_counts.KnownCounts` of R topics: ``at`` is int64 (R+1,)."""

    at: Int64
    time: Int64
    partitions: Int64


class Evidence(NamedTuple):
    """Facts of topics beyond the cases.

    Attributes
    ----------
    at_end : int64 (R,)
        Partition count at the end of the history; `ABSENT`: not known.
    dated, shown : Steps
    log_at : int64 (R+1,)
        Of the log ends of a topic's partitions from 0 on, without a gap.
    log_first, log_end : int64
    logs_read_at : int
        Milliseconds; the largest integer if it is not known.
    metadata_max_age : int
        Milliseconds, `pipeline.known_counts.METADATA_MAX_AGE`.
    most_partitions : int
        `pipeline.sightings.MOST_PARTITIONS`.
    """

    at_end: Int64
    dated: Steps
    shown: Steps
    log_at: Int64
    log_first: Int64
    log_end: Int64
    logs_read_at: int
    metadata_max_age: int
    most_partitions: int


class CaseInstances(NamedTuple):
    """Topics of cases as of their rebalances; T of all N cases.

    Attributes
    ----------
    is_named : bool (N,)
        False: partitions are of names and of ids, or of ids without a current name.
    is_small : bool (N,)
        Whether the case has at most as many partitions as it may.
    is_sound : bool (N,)
        Whether a code can state the case: it is small, and names nothing twice.
    topic_at : int64 (N+1,)
    topic : int64 (T,)
        Places in sorted order, ascending in each case.
    partitions : int64 (T,)
    basis : int64 (N,)
        Place in `partition_counts.CERTAINTY`.
    newer : int64 (N,)
    """

    is_named: Bools
    is_small: Bools
    is_sound: Bools
    topic_at: Int64
    topic: Int64
    partitions: Int64
    basis: Int64
    newer: Int64


class Lags(NamedTuple):
    """Lags of the instances of cases; T topics of all N cases.

    Attributes
    ----------
    at : int64 (T+1,)
        Of the lags of a topic; they are there for all of its partitions, or for none.
    records : int64
    is_known : bool (N,)
        Whether all topics of the case have lags, and it has a topic.
    is_stated : bool (N,)
        Whether the lag of a topic is the one that was stated (`Cases.lags`).
    """

    at: Int64
    records: Int64
    is_known: Bools
    is_stated: Bools
