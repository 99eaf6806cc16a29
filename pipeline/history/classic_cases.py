"""Rebalances of classic groups as tables of cases, from the arrays of kernels."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from pipeline.case_table import CASES
from pipeline.cases import CLAIMS, OPEN, PREVIOUS, REPORTED, REST
from pipeline.history.case_lists import (
    Columns,
    cases_of_columns,
    committed_lists,
    gathered,
    held_lists,
    identities,
    or_null,
    reason_of,
    sorted_names,
    struct,
    struct_lists,
    topic_lists,
    undated_lists,
)
from pipeline.history.commit_walk import CaseCommits, Slots
from pipeline.history.generation_walk import GenerationCases
from pipeline.history.participants import Keys, Participants
from pipeline.history.read_groups import ReadGroups
from pipeline.history.shown_walk import Undated
from pipeline.history.walked_records import AT_REST, GOES_ON
from pipeline.records.tape_layout import (
    ASSIGNOR,
    CLAIM_GENERATION,
    CLIENT_HOST,
    CLIENT_ID,
    INSTANCE_ID,
    LEADER,
    MEMBER_ID,
    NOTHING,
    NUMBER,
    RACK,
    REPORTS,
)
from pipeline.sources.rows import OFFSETS
from rebalance import ABSENT, Int64


class ClassicCases:
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
        self._rows = read.rows
        self._tape, self._at = read.records.tape, read.records.at
        self._names, self._ranked = read.names, sorted_names(read.names)
        self._people, self._cases = people, walked
        self._slots, self._undated = slots, undated
        held, claimed = people.held, people.claimed
        # Partitions that members had, then those that they claim, in one column.
        self._owned = Keys(
            np.concatenate((held.at[:-1], held.at[-1] + claimed.at)),
            np.concatenate((held.key, claimed.key)),
        )
        by_claims = np.repeat(walked.is_by_claims, np.diff(walked.member_at))
        claims = walked.member + len(people.seat)
        self._source = np.where(by_claims, claims, walked.owner)

    def table(self, begin: int, end: int, commits: CaseCommits) -> pa.Table:
        """Return the cases from ``begin`` to ``end``; ``commits`` are theirs."""
        cases, part = self._cases, slice(begin, end)
        row, first = cases.row[part], cases.first[part]
        rows = self._rows.take(pa.array(row))
        is_new_group = ~cases.is_known[part]
        columns = {
            "rebalance_id": identities(rows),
            "group_id": rows["group_id"],
            "source_kind": pa.repeat(OFFSETS, end - begin),
            "source": rows["source"],
            "source_partition": rows["source_partition"],
            "source_offset": rows["source_offset"],
            "generation": pa.array(self._number(row)),
            "at": rows["at"],
            "protocol": pa.repeat("classic", end - begin),
            "client_assignor": self._named(self._at[row] + ASSIGNOR),
            "cooperative": pa.array(cases.is_round[part]),
            "leader": self._named(self._at[row] + LEADER),
            "owned_from": _owned_from(cases, np.arange(begin, end)),
            "subscriptions": pa.repeat(REPORTED, end - begin),
            "members": self._members(begin, end),
            "left": pa.array(cases.left[part], mask=is_new_group),
            "resubscribed": pa.array(cases.resubscribed[part], mask=is_new_group),
            "claims_disagree": or_null(cases.disagree[part]),
            "committed": committed_lists(self._slots, commits, self._ranked),
            "undated_sizes": undated_lists(self._undated, begin, end, self._ranked),
            "episode_id": identities(self._rows.take(pa.array(cases.row[first]))),
            "round": pa.array(cases.round[part]),
            "episode": self._episodes(begin, end),
        }
        return cases_of_columns(columns, end - begin)

    def _number(self, row: Int64) -> Int64:
        """Return the generations of records."""
        return self._tape[self._at[row] + NUMBER]

    def _named(self, places: Int64) -> pa.Array:
        """Return the names at places of the tape, null where there is none."""
        return self._names.take(or_null(self._tape[places]))

    def _text(self, places: Int64) -> pa.Array:
        """Return the names at places of the tape; an empty one is null."""
        number = self._tape[places]
        return self._names.take(or_null(np.where(number == NOTHING, ABSENT, number)))

    def _members(self, begin: int, end: int) -> pa.ListArray:
        cases, people, tape = self._cases, self._people, self._tape
        at = cases.member_at[begin : end + 1]
        listed, sizes = slice(at[0], at[-1]), np.diff(at)
        member, is_new = cases.member[listed], cases.owner[listed] == ABSENT
        on_tape, sent = people.place[member], people.sent[member]
        claims = np.repeat(cases.is_by_claims[begin:end], sizes)
        claim_generation = tape[sent + CLAIM_GENERATION]
        before = self._number(cases.row[begin:end]) - 1
        generation = np.where(claims, claim_generation, np.repeat(before, sizes))
        tells_not = tape[sent + REPORTS] == 0
        is_known = np.repeat(cases.is_known[begin:end], sizes)
        claimed = gathered(people.claimed, member)
        fields: Columns = {
            "member_id": self._named(on_tape + MEMBER_ID),
            "subscription": topic_lists(gathered(people.wanted, member), self._ranked),
            "owned": self._held(gathered(self._owned, self._source[listed])),
            "assigned": self._held(gathered(people.assigned, member)),
            "generation": pa.array(generation, mask=~claims & is_new),
            "claimed": held_lists(claimed, self._ranked, tells_not),
            "claimed_generation": pa.array(claim_generation, mask=tells_not),
            "rack": self._text(sent + RACK),
            "instance_id": self._text(on_tape + INSTANCE_ID),
            "client_id": self._named(on_tape + CLIENT_ID),
            "client_host": self._named(on_tape + CLIENT_HOST),
            "joined": pa.array(is_new, mask=~is_known),
        }
        return struct_lists(at - at[0], CASES.field("members").type, fields)

    def _held(self, keys: Keys) -> pa.ListArray:
        return held_lists(keys, self._ranked)

    def _episodes(self, begin: int, end: int) -> pa.StructArray:
        cases, part = self._cases, slice(begin, end)
        first = cases.first[part]
        rows = self._rows.take(pa.array(cases.row[first]))
        is_eager = ~cases.is_round[part]
        why = np.where(is_eager, 0, cases.unowned_why[part])
        is_open = cases.end[part] != AT_REST
        fields: Columns = {
            "episode_id": identities(rows),
            "first_generation": pa.array(self._number(cases.row[first])),
            "started_at": rows["at"],
            "rounds": pa.array(cases.round[part]),
            "ended": pa.array([REST, OPEN]).take(pa.array(is_open + 0)),
            "owned_from": _owned_from(cases, first),
            "withheld": pa.array(cases.withheld[part]),
            # How long an eager group does not consume is not recorded.
            "unowned_partition_ms": pa.array(
                cases.unowned[part], mask=is_eager | (why > 0)
            ),
            "source": rows["source"],
            "unowned_unknown": reason_of(why),
            "before": self._before(begin, end),
        }
        kind = CASES.field("episode").type
        return struct(kind, fields, cases.end[part] == GOES_ON)

    def _before(self, begin: int, end: int) -> pa.ListArray:
        """Return the partitions of the members of a last round before the first."""
        cases = self._cases
        at = cases.member_at[begin : end + 1]
        known = at[0] + np.flatnonzero(cases.began_as[at[0] : at[-1]] != ABSENT)
        source = self._source[cases.began_as[known]]
        sizes = np.diff(gathered(self._owned, source).at)
        known, source = known[sizes > 0], source[sizes > 0]
        on_tape = self._people.place[cases.member[known]]
        fields = {
            "member_id": self._named(on_tape + MEMBER_ID),
            "owned": self._held(gathered(self._owned, source)),
        }
        is_one_step = cases.round[begin:end] == 1
        kind = CASES.field("episode").type.field("before").type
        return struct_lists(np.searchsorted(known, at), kind, fields, is_one_step)


def _owned_from(cases: GenerationCases, places: Int64) -> pa.Array:
    by_claims = cases.is_by_claims[places] + 0
    return pa.array([PREVIOUS, CLAIMS]).take(pa.array(by_claims))
