"""Harm of rebalances, in partition-milliseconds: how long how many partitions suffer.

Each rebalance has the harm of its own interval, so that sums count nothing twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from oracle.report.load import Tables
from oracle.report.row_keys import keys_of
from oracle.summary import equals, is_true, plain

COLUMNS: Final = (
    "unread_partition_ms",
    "shared_partition_ms",
    "waiting_partition_ms",
    "imbalance_partition_ms",
)
_KEYS: Final = ("cluster", "group_id", "client_assignor")
_LARGEST_GAP: Final = 2**40
"""Gaps of rebalances of unknown duration are less, durations are added to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Harm:
    """Harm of the rebalances of a group and assignor; None where it is not known.

    Attributes
    ----------
    unread, shared, waiting, imbalance
        Partition-milliseconds, as in the table ``answers``.
    wrong : int
        Rebalances with unread or shared partitions for a known time.
    unknown : int
        Invalid ones of unknown duration.
    open : bool
        Whether unread or shared partitions remain at the end of the history.
    """

    unread: int | None = None
    shared: int | None = None
    waiting: int | None = None
    imbalance: int | None = None
    wrong: int = 0
    unknown: int = 0
    open: bool = False

    @property
    def invalid(self) -> int | None:
        """Partition-milliseconds without a reader, or with several."""
        if self.unread is None and self.shared is None:
            return None
        return (self.unread or 0) + (self.shared or 0)


def seconds_text(milliseconds: int) -> str:
    """Format seconds, below 10 with one digit after the point, rounded half up."""
    tenths = (milliseconds + 50) // 100
    if milliseconds and tenths < 100:
        return f"{tenths // 10}.{tenths % 10}" if tenths else "<0.1"
    return f"{(milliseconds + 500) // 1000:,}"


NO_HARM: Final = Harm()


def harm_of(tables: Tables) -> dict[tuple[Any, ...], Harm]:
    """Return the harm per cluster, group and assignor."""
    actual = tables.actual
    invalid = _invalid(actual)
    is_wrong = is_true(pc.greater(invalid, 0))
    is_invalid = pc.and_(
        pc.is_valid(actual["verdict"]), pc.invert(equals(actual["verdict"], "valid"))
    )
    flags = {
        "wrong": is_wrong,
        "unknown": pc.and_(is_invalid, pc.is_null(invalid)),
        "open": pc.and_(is_wrong, _are_open(tables)),
    }
    columns = {name: plain(actual[name]) for name in _KEYS}
    columns |= {name: actual[name] for name in COLUMNS}
    columns |= {name: pc.cast(flag, pa.int64()) for name, flag in flags.items()}
    grouped = pa.table(columns).group_by(list(_KEYS), use_threads=False)
    sums = grouped.aggregate([(name, "sum") for name in (*COLUMNS, *flags)])
    return {
        tuple(row[name] for name in _KEYS): Harm(
            unread=row["unread_partition_ms_sum"],
            shared=row["shared_partition_ms_sum"],
            waiting=row["waiting_partition_ms_sum"],
            imbalance=row["imbalance_partition_ms_sum"],
            wrong=row["wrong_sum"],
            unknown=row["unknown_sum"],
            open=row["open_sum"] > 0,
        )
        for row in sums.to_pylist()
    }


def harm_sum(rows: Sequence[Harm]) -> Harm:
    """Return the harm of several groups together."""

    def total(numbers: Sequence[int | None]) -> int | None:
        known = [number for number in numbers if number is not None]
        return sum(known) if known else None

    return Harm(
        unread=total([row.unread for row in rows]),
        shared=total([row.shared for row in rows]),
        waiting=total([row.waiting for row in rows]),
        imbalance=total([row.imbalance for row in rows]),
        wrong=sum(row.wrong for row in rows),
        unknown=sum(row.unknown for row in rows),
    )


def with_harm(units: pa.Table, tables: Tables) -> pa.Table:
    """Append ``invalid_ms`` and ``imbalance_ms`` of the state that each unit shows.

    Of a cooperative rebalance that is the state after its last round.
    """
    actual, episodes = tables.actual, tables.episodes
    keys = keys_of("episodes", episodes["cluster"], episodes["episode_id"])
    ends = keys_of(episodes["cluster"], episodes["last_rebalance_id"])
    drawn = keys_of(units["drawn_from"], units["cluster"], units["drawn_id"])
    end = ends.take(pc.index_in(drawn, keys))
    own = keys_of(units["cluster"], units["drawn_id"])
    place = pc.index_in(
        pc.coalesce(end, own), keys_of(actual["cluster"], actual["rebalance_id"])
    )
    found = units.append_column("invalid_ms", _invalid(actual).take(place))
    imbalance = actual["imbalance_partition_ms"].take(place)
    return found.append_column("imbalance_ms", imbalance)


def gap_of(milliseconds: pa.ChunkedArray, otherwise: pa.ChunkedArray) -> Any:
    """Return numbers that rank known durations before other gaps, largest first."""
    small = pc.min_element_wise(otherwise, _LARGEST_GAP - 1)
    return pc.coalesce(pc.add(milliseconds, _LARGEST_GAP), small)


def _invalid(actual: pa.Table) -> pa.ChunkedArray:
    """Return unread plus shared partition-milliseconds, null if neither is known."""
    unread, shared = actual["unread_partition_ms"], actual["shared_partition_ms"]
    found = pc.add(pc.fill_null(unread, 0), pc.fill_null(shared, 0))
    known = pc.or_(pc.is_valid(unread), pc.is_valid(shared))
    return pc.if_else(known, found, pa.scalar(None, pa.int64()))


def _are_open(tables: Tables) -> pa.ChunkedArray:
    """Return whether the state after each answer lasts until the history ends."""
    rows = tables.rebalances.filter(equals(tables.rebalances["ended"], "open"))
    keys = keys_of(rows["cluster"], rows["rebalance_id"])
    actual = tables.actual
    return pc.is_in(keys_of(actual["cluster"], actual["rebalance_id"]), keys)
