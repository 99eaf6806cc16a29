"""Columns that cases of both protocols have, from the arrays of kernels."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from pipeline.case_table import CASES
from pipeline.cases import OPEN, REPORTED, REST
from pipeline.history.case_lists import (
    Columns,
    committed_lists,
    identities,
    or_null,
    reason_of,
    struct,
    undated_lists,
)
from pipeline.history.commit_walk import CaseCommits, Slots
from pipeline.history.lasted_columns import StateEnds, lasted_columns
from pipeline.history.read_groups import ReadGroups
from pipeline.history.shown_walk import Undated
from pipeline.history.walked_records import AT_REST, GOES_ON
from pipeline.records.tape_layout import NOTHING
from pipeline.rows import OFFSETS
from rebalance import ABSENT, Int64


class WalkedCases:
    """Cases of groups that were walked.

    Parameters
    ----------
    read : ReadGroups
    topics : pa.StringArray
        Of ``undated``, by rank.
    slots : Slots
    undated : Undated
    ends : StateEnds
    """

    def __init__(
        self,
        read: ReadGroups,
        topics: pa.StringArray,
        slots: Slots,
        undated: Undated,
        ends: StateEnds,
    ) -> None:
        self._read, self._ends, self._rows = read, ends, read.rows
        self._tape, self._at = read.records.tape, read.records.at
        self._names, self._ranked = read.names, read.ranked
        self._topics, self._slots, self._undated = topics, slots, undated

    def _placed(
        self, row: Int64, first: pa.RecordBatch, begin: int, commits: CaseCommits
    ) -> Columns:
        """Return the columns of cases from ``begin`` on, by their records.

        Parameters
        ----------
        row : int64 (C,)
            Records.
        first : pa.RecordBatch
            Those that the episodes began with.
        """
        rows, count = self._rows.take(pa.array(row)), len(row)
        undated = undated_lists(self._undated, begin, begin + count, self._topics)
        return {
            "rebalance_id": identities(rows),
            "group_id": rows["group_id"],
            "source_kind": pa.repeat(OFFSETS, count),
            "source": rows["source"],
            "source_partition": rows["source_partition"],
            "source_offset": rows["source_offset"],
            "at": rows["at"],
            **lasted_columns(self._read, row, self._ends),
            "subscriptions": pa.repeat(REPORTED, count),
            "committed": committed_lists(self._slots, commits, self._ranked),
            "undated_sizes": undated,
            "episode_id": identities(first),
        }

    def _episode(
        self, first: pa.RecordBatch, end: Int64, why: Int64, fields: Columns
    ) -> pa.StructArray:
        """Return the episodes that end with cases; ``fields`` are the others.

        Parameters
        ----------
        end, why : int64 (C,)
            `GOES_ON` and so on; `IS_KNOWN` and so on, of the time without owner.
        """
        is_open = pa.array((end != AT_REST) + 0)
        placed = {
            "episode_id": identities(first),
            "started_at": first["at"],
            "ended": pa.array([REST, OPEN]).take(is_open),
            "source": first["source"],
            "unowned_unknown": reason_of(why),
        }
        return struct(CASES.field("episode").type, fields | placed, end == GOES_ON)

    def _numbers(self, row: Int64, place: int) -> Int64:
        """Return the numbers of records at a place of each."""
        numbers: Int64 = self._tape[self._at[row] + place]
        return numbers

    def _named(self, places: Int64) -> pa.Array:
        """Return the names at places of the tape, null where there is none."""
        return self._names.take(or_null(self._tape[places]))

    def _text(self, places: Int64) -> pa.Array:
        """Return the names at places of the tape; an empty one is null."""
        number = self._tape[places]
        return self._names.take(or_null(np.where(number == NOTHING, ABSENT, number)))
