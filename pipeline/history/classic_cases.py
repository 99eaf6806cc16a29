"""Rebalances of classic groups as tables of cases, from the arrays of kernels."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pyarrow as pa

from pipeline.case_table import CASES
from pipeline.cases import CLAIMS, PREVIOUS
from pipeline.history.case_lists import (
    Columns,
    cases_of_columns,
    held_lists,
    or_null,
    struct_lists,
    topic_lists,
)
from pipeline.history.commit_walk import CaseCommits, Slots
from pipeline.history.generation_walk import GenerationCases
from pipeline.history.key_lists import Keys, gathered, joined
from pipeline.history.last_commits import commits_of_states, last_commits
from pipeline.history.lasted_columns import ends_of_generations
from pipeline.history.participants import Participants
from pipeline.history.read_groups import ReadGroups
from pipeline.history.shown_walk import Undated
from pipeline.history.walked_cases import WalkedCases
from pipeline.history.walked_records import UNKNOWN
from pipeline.records.tape_layout import (
    ASSIGNOR,
    CLAIM_GENERATION,
    CLIENT_HOST,
    CLIENT_ID,
    INSTANCE_ID,
    LEADER,
    MEMBER_ID,
    NUMBER,
    RACK,
    REPORTS,
)
from rebalance import ABSENT, Int64


class ClassicCases(WalkedCases):
    """Cases of walked generations.

    Parameters
    ----------
    read : ReadGroups
    people : Participants
    walked : GenerationCases
    slots : Slots
    undated : Undated
    """

    def __init__(
        self,
        read: ReadGroups,
        people: Participants,
        walked: GenerationCases,
        slots: Slots,
        undated: Undated,
    ) -> None:
        ends = ends_of_generations(read, people)
        super().__init__(read, read.ranked, slots, undated, ends)
        self._people, self._cases = people, walked
        self._commits = commits_of_states(read, walked.row, slots, ends)
        by_claims = np.repeat(walked.is_by_claims, np.diff(walked.member_at))
        # Partitions that members had are numbered, then those that they claim.
        claims = walked.member + len(people.seat)
        self._source = np.where(by_claims, claims, walked.owner)

    def table(self, begin: int, end: int, commits: CaseCommits) -> pa.Table:
        """Return the cases from ``begin`` to ``end``; ``commits`` are theirs."""
        cases, part = self._cases, slice(begin, end)
        row = cases.row[part]
        first = self._rows.take(pa.array(cases.row[cases.first[part]]))
        is_new_group = ~cases.is_known[part]
        columns = self._placed(row, first, begin, commits) | {
            "generation": pa.array(self._numbers(row, NUMBER)),
            "protocol": pa.repeat("classic", end - begin),
            "client_assignor": self._named(self._at[row] + ASSIGNOR),
            "cooperative": pa.array(cases.is_round[part]),
            "leader": self._named(self._at[row] + LEADER),
            "owned_from": _owned_from(cases, np.arange(begin, end)),
            "members": self._members(begin, end),
            "left": pa.array(cases.left[part], mask=is_new_group),
            "resubscribed": pa.array(cases.resubscribed[part], mask=is_new_group),
            "claims_disagree": or_null(cases.disagree[part]),
            "round": pa.array(cases.round[part]),
            "episode": self._episodes(begin, end, first),
        }
        return cases_of_columns(columns, end - begin)

    def _members(self, begin: int, end: int) -> pa.ListArray:
        cases, people, tape = self._cases, self._people, self._tape
        at = cases.member_at[begin : end + 1]
        listed, sizes = slice(at[0], at[-1]), np.diff(at)
        member, is_new = cases.member[listed], cases.owner[listed] == ABSENT
        on_tape, sent = people.place[member], people.sent[member]
        claims = np.repeat(cases.is_by_claims[begin:end], sizes)
        claim_generation = tape[sent + CLAIM_GENERATION]
        before = self._numbers(cases.row[begin:end], NUMBER) - 1
        generation = np.where(claims, claim_generation, np.repeat(before, sizes))
        tells_not = tape[sent + REPORTS] == 0
        is_known = np.repeat(cases.is_known[begin:end], sizes)
        claimed = gathered(people.claimed, member)
        assigned = gathered(people.assigned, member)
        committed = last_commits(self._commits, begin, at - at[0], assigned)
        fields: Columns = {
            "member_id": self._named(on_tape + MEMBER_ID),
            "subscription": topic_lists(gathered(people.wanted, member), self._ranked),
            "owned": self._held(self._owned_of(self._source[listed])),
            "assigned": self._held(assigned),
            "generation": pa.array(generation, mask=~claims & is_new),
            "claimed": held_lists(claimed, self._ranked, tells_not),
            "claimed_generation": pa.array(claim_generation, mask=tells_not),
            "rack": self._text(sent + RACK),
            "instance_id": self._text(on_tape + INSTANCE_ID),
            "client_id": self._named(on_tape + CLIENT_ID),
            "client_host": self._named(on_tape + CLIENT_HOST),
            "joined": pa.array(is_new, mask=~is_known),
            "last_commit_at": pa.array(committed, mask=committed == UNKNOWN),
        }
        return struct_lists(at - at[0], CASES.field("members").type, fields)

    def _owned_of(self, source: Int64) -> Keys:
        """Return the partitions that members had or claim."""
        count = len(self._people.seat)
        if not (are_claims := source >= count).any():
            return gathered(self._people.held, source)
        if are_claims.all():
            return gathered(self._people.claimed, source - count)
        return gathered(self._owned, source)

    @cached_property
    def _owned(self) -> Keys:
        """Both in one column, which takes as much memory again."""
        return joined(self._people.held, self._people.claimed)

    def _held(self, keys: Keys) -> pa.ListArray:
        return held_lists(keys, self._ranked)

    def _episodes(self, begin: int, end: int, first: pa.RecordBatch) -> pa.StructArray:
        cases, part = self._cases, slice(begin, end)
        began = cases.first[part]
        is_eager = ~cases.is_round[part]
        why = np.where(is_eager, 0, cases.unowned_why[part])
        fields: Columns = {
            "first_generation": pa.array(self._numbers(cases.row[began], NUMBER)),
            "rounds": pa.array(cases.round[part]),
            "owned_from": _owned_from(cases, began),
            "withheld": pa.array(cases.withheld[part]),
            # How long an eager group does not consume is not recorded.
            "unowned_partition_ms": pa.array(
                cases.unowned[part], mask=is_eager | (why > 0)
            ),
            "before": self._before(begin, end),
        }
        return self._episode(first, cases.end[part], why, fields)

    def _before(self, begin: int, end: int) -> pa.ListArray:
        """Return the partitions of the members of a last round before the first."""
        cases = self._cases
        at = cases.member_at[begin : end + 1]
        known = at[0] + np.flatnonzero(cases.began_as[at[0] : at[-1]] != ABSENT)
        source = self._source[cases.began_as[known]]
        sizes = np.diff(self._owned_of(source).at)
        known, source = known[sizes > 0], source[sizes > 0]
        on_tape = self._people.place[cases.member[known]]
        fields = {
            "member_id": self._named(on_tape + MEMBER_ID),
            "owned": self._held(self._owned_of(source)),
        }
        is_one_step = cases.round[begin:end] == 1
        kind = CASES.field("episode").type.field("before").type
        return struct_lists(np.searchsorted(known, at), kind, fields, is_one_step)


def _owned_from(cases: GenerationCases, places: Int64) -> pa.Array:
    by_claims = cases.is_by_claims[places] + 0
    return pa.array([PREVIOUS, CLAIMS]).take(pa.array(by_claims))
