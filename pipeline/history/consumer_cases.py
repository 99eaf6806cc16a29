"""Rebalances of the new protocol as tables of cases, from the arrays of kernels."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

from pipeline.case_table import CASES
from pipeline.cases import PREVIOUS
from pipeline.history.case_lists import (
    Columns,
    cases_of_columns,
    held_lists,
    reason_of,
    struct_lists,
    topic_lists,
)
from pipeline.history.commit_walk import CaseCommits, Slots
from pipeline.history.consumer_parts import Parts
from pipeline.history.key_lists import Keys, gathered, ranges
from pipeline.history.lasted_columns import ends_of_targets
from pipeline.history.reached_walk import Reached
from pipeline.history.read_groups import ReadGroups
from pipeline.history.shown_walk import Undated
from pipeline.history.target_case import server_assignor
from pipeline.history.target_topics import Subscriptions
from pipeline.history.targets import (
    ASSIGNED,
    BEFORE,
    BY_MEMBER,
    FORMER,
    NO_TARGET,
    PRESENT,
    Targets,
)
from pipeline.history.walked_cases import WalkedCases
from pipeline.history.walked_records import AT_REST
from pipeline.records.tape_layout import (
    CURRENT_EPOCH,
    EPOCH_NUMBER,
    MEMBER_ASSIGNOR,
    MEMBER_CLIENT,
    MEMBER_HOST,
    MEMBER_INSTANCE,
    MEMBER_RACK,
    MEMBER_TOPICS,
    SUBJECT,
)
from rebalance import ABSENT, Bools, Int64

_MEMBERS: Final = CASES.field("members").type
_EPISODE: Final = CASES.field("episode").type


class ConsumerCases(WalkedCases):
    """Cases of walked targets.

    Parameters
    ----------
    read : ReadGroups
    ids : pa.StringArray
        Of topics, as text, by rank.
    targets : Targets
    reached : Reached
    parts : Parts
    wanted : Subscriptions
    slots : Slots
    undated : Undated
        Of the cases.
    """

    def __init__(
        self,
        read: ReadGroups,
        ids: pa.StringArray,
        targets: Targets,
        reached: Reached,
        parts: Parts,
        wanted: Subscriptions,
        slots: Slots,
        undated: Undated,
    ) -> None:
        topics = pa.concat_arrays([read.ranked, ids])
        super().__init__(read, topics, slots, undated, ends_of_targets(read))
        self._ids = ids
        self._targets, self._reached = targets, reached
        self._held, self._wanted = Keys(parts.at, parts.key), wanted
        self._number = np.flatnonzero(targets.is_case)

    def table(self, begin: int, end: int, commits: CaseCommits) -> pa.Table:
        """Return the cases from ``begin`` to ``end``; ``commits`` are theirs."""
        targets, reached = self._targets, self._reached
        number = self._number[begin:end]
        row, count = targets.row[number], end - begin
        at, people = ranges(targets.first, number)
        previous = np.maximum(targets.previous[number], 0)
        before = targets.first[previous + 1] - targets.first[previous]
        before[targets.previous[number] == NO_TARGET] = 0
        left = before - _sums(targets.people[people, FORMER] != ABSENT, at)
        has_took = reached.end[number] == AT_REST
        took_why = np.where(has_took, reached.took_why[number], 0)
        first = self._rows.take(pa.array(targets.row[reached.first[number]]))
        columns = self._placed(row, first, begin, commits) | {
            "generation": pa.array(self._numbers(row, EPOCH_NUMBER)),
            "protocol": pa.repeat("consumer", count),
            "client_assignor": self._assignors(people, at),
            "cooperative": pa.repeat(False, count),
            "owned_from": pa.repeat(PREVIOUS, count),
            "members": self._members(number, people, at),
            "left": pa.array(left),
            "resubscribed": pa.array(_sums(self._are_resubscribed(people), at)),
            "claims_disagree": pa.array(_sums(self._had_not_reached(people), at)),
            "behind": pa.array(reached.behind[number]),
            "reached_ms": pa.array(
                reached.took[number], mask=~has_took | (took_why > 0)
            ),
            "reached_unknown": reason_of(took_why),
            "round": pa.array(reached.round[number]),
            "episode": self._episodes(number, first, people, at),
        }
        return cases_of_columns(columns, count)

    def _on_tape(self, people: Int64, column: int) -> Int64:
        """Return places of records on the tape; that of `ABSENT` has no meaning."""
        places: Int64 = self._at[self._targets.people[people, column]]
        return places

    def _lists(
        self, people: Int64, column: int, is_null: Bools | None = None
    ) -> pa.ListArray:
        source = self._targets.people[people, column]
        return held_lists(gathered(self._held, source), self._ids, is_null)

    def _members(self, number: Int64, people: Int64, at: Int64) -> pa.ListArray:
        targets = self._targets
        of = targets.people[people]
        member = self._on_tape(people, BY_MEMBER)
        previous = targets.previous[number]
        row = targets.row[np.maximum(previous, 0)]
        epoch = np.repeat(self._numbers(row, EPOCH_NUMBER), np.diff(at))
        has_none = (of[:, BEFORE] == ABSENT) | np.repeat(previous < 0, np.diff(at))
        has_nothing = of[:, PRESENT] == ABSENT
        present = self._tape[self._on_tape(people, PRESENT) + CURRENT_EPOCH]
        fields: Columns = {
            "member_id": self._named(member + SUBJECT),
            "subscription": topic_lists(
                gathered(self._wanted.topics, self._wanted.of[people]), self._ranked
            ),
            "owned": self._lists(people, BEFORE),
            "assigned": self._lists(people, ASSIGNED),
            "generation": pa.array(epoch, mask=has_none),
            "claimed": self._lists(people, PRESENT, has_nothing),
            "claimed_generation": pa.array(present, mask=has_nothing),
            "rack": self._text(member + MEMBER_RACK),
            "instance_id": self._text(member + MEMBER_INSTANCE),
            "client_id": self._named(member + MEMBER_CLIENT),
            "client_host": self._named(member + MEMBER_HOST),
            "joined": pa.array(of[:, FORMER] == ABSENT),
            "last_commit_at": pa.nulls(len(people), pa.int64()),
        }
        return struct_lists(at, _MEMBERS, fields)

    def _assignors(self, people: Int64, at: Int64) -> pa.Array:
        """Return the server assignor of each target."""
        member = self._on_tape(people, BY_MEMBER)
        topics = member + MEMBER_TOPICS
        place = topics + self._tape[topics] + MEMBER_ASSIGNOR
        names = self._text(place).to_pylist()
        found = [
            server_assignor(names[begin:end])
            for begin, end in zip(at[:-1].tolist(), at[1:].tolist(), strict=True)
        ]
        return pa.array(found, pa.string())

    def _are_resubscribed(self, people: Int64) -> Bools:
        """Return which of the people had another subscription in the target before."""
        former = self._targets.people[people, FORMER]
        before = np.where(former == ABSENT, people, former)
        topics, of = self._wanted
        return _differ(topics, of[people], of[before])

    def _had_not_reached(self, people: Int64) -> Bools:
        """Return which of the people had something else than the target before."""
        of = self._targets.people[people]
        is_known = (of[:, BEFORE] != ABSENT) & (of[:, PRESENT] != ABSENT)
        differ: Bools = is_known & _differ(self._held, of[:, BEFORE], of[:, PRESENT])
        return differ

    def _episodes(
        self, number: Int64, first: pa.RecordBatch, people: Int64, at: Int64
    ) -> pa.StructArray:
        reached, count = self._reached, len(number)
        began = self._targets.row[reached.first[number]]
        why = reached.unowned_why[number]
        fields: Columns = {
            "first_generation": pa.array(self._numbers(began, EPOCH_NUMBER)),
            "rounds": pa.array(reached.round[number]),
            "owned_from": pa.repeat(PREVIOUS, count),
            "withheld": pa.repeat(0, count),  # a target assigns every partition
            "unowned_partition_ms": pa.array(reached.unowned[number], mask=why > 0),
            "before": self._before(number, people, at),
        }
        return self._episode(first, reached.end[number], why, fields)

    def _before(self, number: Int64, people: Int64, at: Int64) -> pa.ListArray:
        """Return the targets of the people before the first round of the episode."""
        began_as = self._reached.began_as[people]
        source = self._targets.people[began_as, BEFORE]
        sizes = self._held.at[source + 1] - self._held.at[source]
        known = np.flatnonzero((began_as != ABSENT) & (sizes > 0))
        member = self._on_tape(people[known], BY_MEMBER) + SUBJECT
        fields = {
            "member_id": self._named(member),
            "owned": self._lists(began_as[known], BEFORE),
        }
        is_one_step = self._reached.round[number] == 1
        kind = _EPISODE.field("before").type
        return struct_lists(np.searchsorted(known, at), kind, fields, is_one_step)


def _sums(are: Bools, at: Int64) -> Int64:
    """Count the true values in each range."""
    return np.diff(np.concatenate(([0], np.cumsum(are)))[at])


def _differ(keys: Keys, row: Int64, other: Int64) -> Bools:
    """Return which pairs of rows have other keys; a row can be `ABSENT`."""
    first, second = gathered(keys, row), gathered(keys, other)
    size, others = np.diff(first.at), np.diff(second.at)
    differ: Bools = size != others
    is_same = np.flatnonzero(~differ)
    one = gathered(first, is_same)
    unequal = one.key != gathered(second, is_same).key
    differ[is_same] = _sums(unequal, one.at) > 0
    return differ
