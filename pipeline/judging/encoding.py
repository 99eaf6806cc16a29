"""Codes of the instances of many cases, compiled (`rebalance_code.RebalanceCode`).

Codes do not state capacities, racks of partitions, and names that Java sorts
differently. Nor do they state faults: the reader of documents names them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pipeline.judging.case_arrays import (
    UNSTATED,
    CaseInstances,
    Cases,
    Lags,
    Lists,
    Names,
)
from pipeline.judging.case_instances import is_ascending
from pipeline.judging.rebalance_code import (
    ANSWERED,
    COOPERATIVE,
    GENERATIONS,
    HEADER,
    LAG,
    LAG_KNOWN,
    RACKS,
    UNNAMED_RACK,
)
from rebalance import (
    ABSENT,
    INT64_MAX,
    UNKNOWN_GENERATION,
    Bools,
    Int64,
    argument,
    borrowing_kernel,
    kernel,
)

_OWNED, _BEFORE, _ASSIGNED = map(argument, range(3))
"""Lists of a member: as claimed now, before the episode, and as assigned now."""


class Questions(NamedTuple):
    """Rebalances to evaluate: of cases, and of episodes as one step; Q questions.

    Attributes
    ----------
    case : int64 (Q,)
    is_episode : bool (Q,)
        Whether members own their partitions before the episode.
    is_round : bool (Q,)
        Whether the real answer is judged as a cooperative round.
    is_answered : bool (Q,)
        Whether there is a real answer.
    """

    case: Int64
    is_episode: Bools
    is_round: Bools
    is_answered: Bools


@kernel
def encode_cases(
    cases: Cases,
    names: Names,
    instances: CaseInstances,
    lags: Lags,
    questions: Questions,
    pairs_max: int,
) -> tuple[Int64, Int64]:
    """Encode cases.

    Parameters
    ----------
    lags
        Of the cases.
    pairs_max : int
        Bound on subscription classes times topics.

    Returns
    -------
    int64, int64 (Q+1,)
        The codes, one after another, and where each begins; empty if a code cannot
        state the case.
    """
    n_questions, room = questions.case.size, 0
    for q in range(n_questions):
        room += _room_for(cases, instances, questions.case[q], questions.is_episode[q])
    code, code_at = np.empty(room, np.int64), np.zeros(n_questions + 1, np.int64)
    place = np.full(names.rank.size + 1, ABSENT, np.int64)
    for q in range(n_questions):
        i, to = questions.case[q], code[code_at[q] :]
        listed = instances.topic[instances.topic_at[i] : instances.topic_at[i + 1]]
        for t in range(listed.size):
            place[listed[t]] = t
        size = 0
        is_before_sound = not questions.is_episode[q] or _is_before_sound(cases, i)
        if instances.is_sound[i] and is_before_sound:
            size = _encode(cases, names, instances, lags, questions, q, place, to)
        is_small = size > 0 and to[2] * to[0] <= pairs_max
        code_at[q + 1] = code_at[q] + (size if is_small else 0)
        place[listed] = ABSENT
    return code[: code_at[n_questions]], code_at


@borrowing_kernel
def _is_before_sound(cases: Cases, i: int) -> bool:
    """Return whether each partition that a member owned before is there once."""
    for m in range(cases.member_at[i], cases.member_at[i + 1]):
        row = cases.before_of[m]
        if row != ABSENT and not is_ascending(cases.before, row, 1):
            return False
    return True


@kernel
def _room_for(cases: Cases, instances: CaseInstances, i: int, is_episode: bool) -> int:
    """Return at least the length of a code."""
    topics, begin, end = instances.topic_at, cases.member_at[i], cases.member_at[i + 1]
    if not instances.is_sound[i]:
        return 0
    size = HEADER + instances.partitions[topics[i] : topics[i + 1]].sum()
    size += topics[i + 1] - topics[i] + 7 * (end - begin)
    size += cases.topic_at[end] - cases.topic_at[begin]
    for m in range(begin, end):
        size += _numbers_of(cases.assigned, m)
        if not is_episode:
            size += _numbers_of(cases.owned, m)
        elif cases.before_of[m] != ABSENT:
            size += _numbers_of(cases.before, cases.before_of[m])
    return int(size)


@borrowing_kernel
def _numbers_of(held: Lists, row: int) -> int:
    return int(held.number_at[held.at[row + 1]] - held.number_at[held.at[row]])


@kernel
def _encode(
    cases: Cases,
    names: Names,
    instances: CaseInstances,
    lags: Lags,
    questions: Questions,
    q: int,
    place: Int64,
    code: Int64,
) -> int:
    """Write one code; return its length, 0 if none can state the case.

    ``place`` are the places of names among the topics of the case.
    """
    i, is_episode = questions.case[q], questions.is_episode[q]
    begin, end = cases.member_at[i], cases.member_at[i + 1]
    first, n_topics = (
        instances.topic_at[i],
        instances.topic_at[i + 1] - instances.topic_at[i],
    )
    offsets, at = np.zeros(n_topics + 1, np.int64), HEADER
    for t in range(n_topics):
        offsets[t + 1] = offsets[t] + instances.partitions[first + t]
        code[at], at = instances.partitions[first + t], at + 1
    topics = slice(first, first + n_topics)
    has_lag = lags.at[first + n_topics] > lags.at[first]
    # No code states which topics without partitions have lag.
    is_any_empty = n_topics > 0 and instances.partitions[topics].min() == 0
    if is_any_empty and (has_lag or not cases.is_document[i]):
        return 0
    if has_lag and not _write_lags(instances, lags, topics, code[at:]):
        return 0
    at += offsets[n_topics] if has_lag else 0
    n_stated = cases.topic_at[end] - cases.topic_at[begin]
    listed, ends = np.empty(n_stated, np.int64), np.zeros(end - begin + 1, np.int64)
    at, n_classes, n_listed = _write_classes(
        cases, names, begin, place, listed, ends, code, at
    )
    for m in range(begin, end):
        known = cases.generation[m]
        if is_episode or known == UNSTATED:
            known = np.int64(UNKNOWN_GENERATION)
        if not -1 <= known < GENERATIONS:
            return 0
        code[at], at = known, at + 1
    at, n_racks, least = _write_places(cases.rack[begin:end], code, at)
    at, _, _ = _write_places(cases.instance[begin:end], code, at)
    exists, members = (place, offsets), slice(begin, end)
    owned = _BEFORE if is_episode else _OWNED
    at, n_claims = _write_lists(cases, names, members, owned, exists, code, at)
    at, n_given = _write_lists(cases, names, members, _ASSIGNED, exists, code, at)
    flags = (ANSWERED if questions.is_answered[q] else 0) | (LAG if has_lag else 0)
    flags |= COOPERATIVE if questions.is_round[q] else 0
    flags |= LAG_KNOWN if lags.is_known[i] else 0
    flags |= RACKS if n_racks else 0
    flags |= UNNAMED_RACK if n_racks and least == 0 and cases.has_unnamed_rack else 0
    code[:HEADER] = (
        n_topics,
        end - begin,
        n_classes,
        n_listed,
        n_claims,
        n_given,
        flags,
    )
    return int(at)


@kernel
def _write_lags(
    instances: CaseInstances, lags: Lags, topics: slice, code: Int64
) -> bool:
    """Write lags, 0 where they are not known; False if their sum is too large."""
    at, total = 0, np.int64(0)
    for t in range(topics.start, topics.stop):
        own = code[at : at + instances.partitions[t]]
        own[:] = 0
        if lags.at[t + 1] > lags.at[t]:
            own[:] = lags.records[lags.at[t] : lags.at[t + 1]]
        for behind in own:
            if behind > INT64_MAX - total:
                return False
            total += behind
        at += own.size
    return True


@borrowing_kernel
def _write_classes(
    cases: Cases,
    names: Names,
    begin: int,
    place: Int64,
    listed: Int64,
    ends: Int64,
    code: Int64,
    at: int,
) -> tuple[int, int, int]:
    """Write members' classes, ends and topics of classes; count classes and topics.

    ``listed`` and ``ends`` have room for the topics of all classes, and for their ends.
    """
    n_classes = 0
    for m in range(begin, begin + ends.size - 1):
        first = size = ends[n_classes]
        for s in cases.topic[cases.topic_at[m] : cases.topic_at[m + 1]]:
            if place[names.rank[s]] != ABSENT:
                listed[size], size = place[names.rank[s]], size + 1
        k = 0
        while k < n_classes and not _are_equal(
            listed, ends[k], ends[k + 1], first, size
        ):
            k += 1
        if k == n_classes:
            n_classes, ends[k + 1] = k + 1, size
        code[at], at = k, at + 1
    for k in range(n_classes):
        code[at], at = ends[k + 1], at + 1
    size = ends[n_classes]
    for t in range(size):
        code[at + t] = listed[t]
    return at + size, n_classes, size


@borrowing_kernel
def _are_equal(values: Int64, begin: int, end: int, other: int, after: int) -> bool:
    """Return whether two ranges have the same values."""
    if after - other != end - begin:
        return False
    for place in range(end - begin):
        if values[begin + place] != values[other + place]:
            return False
    return True


@kernel
def _write_places(names: Int64, code: Int64, at: int) -> tuple[int, int, int]:
    """Write places among the names of a case; return how many, and the first name."""
    present = np.unique(names[names != ABSENT])
    for name in names:
        code[at] = ABSENT if name == ABSENT else np.searchsorted(present, name)
        at += 1
    return at, present.size, present[0] if present.size else ABSENT


@borrowing_kernel
def _write_lists(
    cases: Cases,
    names: Names,
    members: slice,
    which: int,
    exists: tuple[Int64, Int64],
    code: Int64,
    at: int,
) -> tuple[int, int]:
    """Write the partitions of members, first the ends; count them.

    Those that do not exist are `ABSENT` in an answer, and are left out of claims.

    Parameters
    ----------
    which
        `_OWNED` and so on.
    exists
        Places of names among the topics of the case, and offsets of these topics.
    """
    place, offsets = exists
    ends, at, size = at, at + members.stop - members.start, 0
    for m in range(members.start, members.stop):
        held, row = cases.owned, m
        if which == _BEFORE:
            held, row = cases.before, cases.before_of[m]
        elif which == _ASSIGNED:
            held = cases.assigned
        begin, end = (0, 0) if row == ABSENT else (held.at[row], held.at[row + 1])
        for e in range(begin, end):
            t = place[names.rank[held.topic[e]]]
            n_known = 0 if t == ABSENT else offsets[t + 1] - offsets[t]
            for number in held.number[held.number_at[e] : held.number_at[e + 1]]:
                if number < n_known:
                    code[at + size], size = offsets[t] + number, size + 1
                elif which == _ASSIGNED:
                    code[at + size], size = ABSENT, size + 1
        code[ends + m - members.start] = size
    return at + size, size
