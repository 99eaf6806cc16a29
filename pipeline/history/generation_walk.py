"""Histories of whole classic groups, compiled: their rebalances and episodes.

`pipeline.history.reconstruct`, `ownership` and `episodes` do the same record by record,
and say why; both are compared with each other in tests.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pipeline.history.classic_owners import (
    disagrees,
    is_eager,
    want_the_same,
    withheld,
)
from pipeline.history.participants import Participants
from pipeline.history.walked_records import (
    AT_REST,
    GOES_ON,
    LEFT_OPEN,
    Groups,
    why_unknown,
)
from pipeline.records.tape_layout import (
    ASSIGNOR,
    DELETED,
    GENERATION,
    IS_COOPERATIVE,
    IS_STICKY,
    MEMBER_ID,
    NO_ROW,
    NUMBER,
    START,
)
from rebalance import ABSENT, Bools, Int64, borrowing_kernel, kernel


class GenerationCases(NamedTuple):
    """C cases with m members.

    Attributes
    ----------
    row : int64 (C,)
        Record.
    is_known : bool (C,)
        Whether the generation before is.
    is_by_claims, is_round : bool (C,)
        Whether owners are known by claims, and whether the rebalance is cooperative.
    disagree : int64 (C,)
        Members that claim something else than they had; `ABSENT`: they tell nothing.
    left, resubscribed : int64 (C,)
        Members; 0 if the generation before is not known.
    round, first : int64 (C,)
        In the episode, and the case that it began with.
    end : int64 (C,)
        `GOES_ON` and so on.
    withheld, last_withheld : int64 (C,)
        Partitions: of the episode so far, and in this round.
    unowned, unowned_why : int64 (C,)
        Milliseconds times partitions, so far; `IS_KNOWN` and so on.
    member_at : int64 (C+1,)
    member : int64 (m,)
        As in `Participants`, by member id.
    owner : int64 (m,)
        The same member in the generation before; `ABSENT`: it is new.
    began_as : int64 (m,)
        Place in ``member`` of the same one in the first case, where an episode of
        several rounds ends; `ABSENT`: none.
    missing : int64 (…, 3)
        Generations that are not there: record after them, first, and last.
    """

    row: Int64
    is_known: Bools
    is_by_claims: Bools
    is_round: Bools
    disagree: Int64
    left: Int64
    resubscribed: Int64
    round: Int64
    first: Int64
    end: Int64
    withheld: Int64
    last_withheld: Int64
    unowned: Int64
    unowned_why: Int64
    member_at: Int64
    member: Int64
    owner: Int64
    began_as: Int64
    missing: Int64


def walk_generations(
    groups: Groups, people: Participants, rank: Int64
) -> GenerationCases:
    """Reconstruct the rebalances of groups of which all generations are sound.

    Parameters
    ----------
    rank : int64
        Of each name, among all of them in sorted order.
    """
    count, members = int(np.count_nonzero(groups.kind == GENERATION)), len(people.seat)
    sizes = *[count] * 14, count + 1, members, members, members, (count, 3)
    cases = GenerationCases._make(np.zeros(size, np.int64) for size in sizes)._replace(
        is_known=np.zeros(count, np.bool_),
        is_by_claims=np.zeros(count, np.bool_),
        is_round=np.zeros(count, np.bool_),
        disagree=np.full(count, ABSENT, np.int64),
        round=np.ones(count, np.int64),
        began_as=np.full(members, ABSENT, np.int64),
    )
    case, missed = _walk(groups, people, rank, cases)
    listed = int(cases.member_at[case])
    ends = *[case] * 14, case + 1, listed, listed, listed, missed
    columns = zip(cases, ends, strict=True)
    return GenerationCases._make(column[:end] for column, end in columns)


@kernel
def _walk(
    groups: Groups, people: Participants, rank: Int64, cases: GenerationCases
) -> tuple[int, int]:
    """Write the cases; return how many, and how many numbers are missing."""
    at_seat = np.full(2 * rank.size, ABSENT, np.int64)
    case = missed = START
    for group in range(groups.begin.size):
        before, before_number = NO_ROW, NO_ROW
        has_before = False  # a generation, or a new group
        due = 1  # the next number
        running = NO_ROW  # last case of the unfinished episode
        for row in range(groups.begin[group], groups.end[group]):
            if groups.kind[row] == DELETED:
                running = _leave_open(cases, running)
                has_before, due = True, 1
                before, before_number = ABSENT, 0
            if groups.kind[row] != GENERATION:
                continue
            number = groups.tape[groups.at[row] + NUMBER]
            if number < due - 1:  # of a new group under the same name
                due = 1
            if number > due:
                cases.missing[missed] = row, due, number - 1
                missed += 1
            due = number + 1
            is_known = has_before and before_number == number - 1
            is_same = has_before and before_number == number
            former = before
            has_before, before, before_number = True, row, number
            if is_same:
                continue
            if people.first[row] == people.first[row + 1]:
                running = _leave_open(cases, running)
                continue
            cases.row[case], cases.is_known[case] = row, is_known
            owner = np.full(people.first[row + 1] - people.first[row], ABSENT, np.int64)
            if is_known and former >= 0:
                _find_owners(cases, case, people, former, at_seat, owner)
            _find_ownership(cases, case, groups, people, owner)
            _list_members(cases, case, groups, people, owner, rank)
            running = _add_round(cases, case, groups, people, owner, running)
            case += 1
        _leave_open(cases, running)
    _find_begins(cases, case, people, at_seat)
    return case, missed


@borrowing_kernel
def _leave_open(cases: GenerationCases, running: int) -> int:
    """End the unfinished episode, if there is one; return that there is none."""
    if running >= 0:
        cases.end[running] = LEFT_OPEN
    return ABSENT


@borrowing_kernel
def _find_owners(
    cases: GenerationCases,
    case: int,
    people: Participants,
    former: int,
    at_seat: Int64,
    owner: Int64,
) -> None:
    """Find the members in the generation before, and count those that changed."""
    begin, end = people.first[former], people.first[former + 1]
    for member in range(begin, end):
        at_seat[people.seat[member]] = member
    found = 0
    first = people.first[cases.row[case]]
    for place in range(owner.size):
        owner[place] = at_seat[people.seat[first + place]]
        if owner[place] >= 0:
            found += 1
            is_same = want_the_same(people, first + place, owner[place])
            cases.resubscribed[case] += not is_same
    cases.left[case] = end - begin - found
    for member in range(begin, end):
        at_seat[people.seat[member]] = ABSENT


@borrowing_kernel
def _find_ownership(
    cases: GenerationCases,
    case: int,
    groups: Groups,
    people: Participants,
    owner: Int64,
) -> None:
    """Decide how owners are known, as `ownership.ownership_of` does."""
    row = cases.row[case]
    assignor = groups.tape[groups.at[row] + ASSIGNOR]
    is_cooperative = assignor == IS_COOPERATIVE
    cases.is_round[case] = is_cooperative
    cases.is_by_claims[case] = not cases.is_known[case]
    if not cases.is_known[case]:
        return
    if is_cooperative and is_eager(groups, people, row, owner):
        cases.is_round[case] = False
    elif is_cooperative or assignor == IS_STICKY:
        count = 0
        for place in range(owner.size):
            member = people.first[row] + place
            count += disagrees(groups, people, member, owner[place], is_cooperative)
        cases.disagree[case] = count
        cases.is_by_claims[case] = count > 0


@kernel
def _list_members(
    cases: GenerationCases,
    case: int,
    groups: Groups,
    people: Participants,
    owner: Int64,
    rank: Int64,
) -> None:
    begin, put = people.first[cases.row[case]], cases.member_at[case]
    ranks = np.empty(owner.size, np.int64)
    for place in range(owner.size):
        ranks[place] = rank[groups.tape[people.place[begin + place] + MEMBER_ID]]
    for place in np.argsort(ranks):
        cases.member[put] = begin + place
        cases.owner[put] = owner[place]
        put += 1
    cases.member_at[case + 1] = put


@kernel
def _add_round(
    cases: GenerationCases,
    case: int,
    groups: Groups,
    people: Participants,
    owner: Int64,
    running: int,
) -> int:
    """Add a case to the unfinished episode; return it, `ABSENT` if that has ended."""
    row = cases.row[case]
    cases.first[case] = case
    if running >= 0:
        cases.first[case] = cases.first[running]
        cases.round[case] = cases.round[running] + 1
        cases.withheld[case] = cases.withheld[running]
        # Partitions that the last round withheld had no owner until now.
        last = cases.row[running]
        why = cases.unowned_why[running] or why_unknown(groups, last)
        why = why or why_unknown(groups, row)
        waited = 0 if why else groups.time[row] - groups.time[last]
        cases.unowned_why[case] = why
        cases.unowned[case] = cases.unowned[running]
        cases.unowned[case] += waited * cases.last_withheld[running]
    held_back = 0
    if cases.is_round[case]:
        held_back = withheld(people, row, owner, cases.is_by_claims[case])
    cases.last_withheld[case] = held_back
    cases.withheld[case] += held_back
    if held_back:
        return case
    cases.end[case] = AT_REST
    return ABSENT


@borrowing_kernel
def _find_begins(
    cases: GenerationCases, count: int, people: Participants, at_seat: Int64
) -> None:
    """Find the members of ended episodes in their first cases."""
    for case in range(count):
        if cases.end[case] == GOES_ON or cases.round[case] == 1:
            continue
        first = cases.first[case]
        begin, end = cases.member_at[first], cases.member_at[first + 1]
        for place in range(begin, end):
            at_seat[people.seat[cases.member[place]]] = place
        for place in range(cases.member_at[case], cases.member_at[case + 1]):
            cases.began_as[place] = at_seat[people.seat[cases.member[place]]]
        for place in range(begin, end):
            at_seat[people.seat[cases.member[place]]] = ABSENT
