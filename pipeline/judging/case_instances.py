"""Partition counts and log ends of many cases, as of their rebalances: compiled.

The rules are those of `pipeline.judging.instances` and
`pipeline.judging.partition_counts`; tests compare with a statement of them in Python.
"""

from __future__ import annotations

import numpy as np

from pipeline.judging.case_arrays import (
    CaseInstances,
    Cases,
    Evidence,
    Lags,
    Lists,
    Names,
    Sizes,
    Steps,
)
from rebalance import ABSENT, NOT_COMMITTED, Bools, Int64, borrowing_kernel, kernel

LOWER_BOUND, RECORDED, GIVEN = range(3)
"""Places in `partition_counts.CERTAINTY`."""


@kernel
def instances_of_cases(
    cases: Cases, names: Names, evidence: Evidence, max_partitions: int
) -> CaseInstances:
    """Return the partition counts of the instances of cases."""
    n_cases, n_names = cases.at.size, evidence.at_end.size
    is_named, is_small = np.zeros(n_cases, np.bool_), np.zeros(n_cases, np.bool_)
    is_sound = np.zeros(n_cases, np.bool_)
    topic_at = np.zeros(n_cases + 1, np.int64)
    room = cases.topic.size + cases.assigned.topic.size + cases.recorded.topic.size
    topic, count = np.empty(room, np.int64), np.empty(room, np.int64)
    basis, newer = np.full(n_cases, GIVEN, np.int64), np.zeros(n_cases, np.int64)
    last, id_of = _absent(n_names), _absent(n_names)
    least = np.zeros(n_names, np.int64)
    for i in range(n_cases):
        topic_at[i + 1] = topic_at[i]
        is_named[i], are_listed = _has_current_names(cases, names, i, last, id_of)
        if not is_named[i]:
            continue
        listed, is_once = _topics_of(cases, names, i, least, evidence.most_partitions)
        n_partitions = np.int64(0)
        for r in listed:
            topic_id = id_of[r] if last[r] == i else ABSENT
            known, how, more = _count(cases, names, evidence, i, r, least[r], topic_id)
            basis[i], newer[i] = min(basis[i], how), newer[i] + more
            if known != ABSENT:
                topic[topic_at[i + 1]], count[topic_at[i + 1]] = r, known
                topic_at[i + 1] += 1
                n_partitions += known
        is_small[i] = n_partitions <= max_partitions
        is_sound[i] = is_small[i] and are_listed and is_once
    n_topics = topic_at[n_cases]
    topic, count = topic[:n_topics], count[:n_topics]
    return CaseInstances(
        is_named, is_small, is_sound, topic_at, topic, count, basis, newer
    )


@kernel
def read_logs(
    cases: Cases, names: Names, evidence: Evidence, instances: CaseInstances
) -> tuple[Lags, Int64, Int64]:
    """Read log starts and ends, and committed offsets instead of lags.

    A stated lag is that of a log of so many records, of which none is read.

    Returns
    -------
    Lags, int64, int64
        Committed offsets; log starts, and log ends.
    """
    topic_at, n_topics, n_cases = (
        instances.topic_at,
        instances.topic.size,
        cases.at.size,
    )
    at = np.zeros(n_topics + 1, np.int64)
    is_known, is_stated = np.zeros(n_cases, np.bool_), np.zeros(n_cases, np.bool_)
    size = _room_for_logs(cases, evidence, instances)
    start, first, end = _absent(size), _absent(size), _absent(size)
    commit, lag = _absent(evidence.at_end.size), _absent(evidence.at_end.size)
    for i in range(n_cases):
        _note_rows(cases.commits, names, i, commit)
        _note_rows(cases.lags, names, i, lag)
        is_known[i] = topic_at[i + 1] > topic_at[i]
        for t in range(topic_at[i], topic_at[i + 1]):
            r, to, count = instances.topic[t], at[t], instances.partitions[t]
            log, is_read = (start[to:], first[to:], end[to:]), False
            if instances.is_small[i] and not cases.has_lags[i]:
                is_read = _read_log(cases, evidence, i, r, count, commit[r], log)
            if instances.is_small[i] and not is_read:
                is_read = _read_lag(cases, lag[r], count, log)
                is_stated[i] |= is_read
            is_known[i] &= is_read or count == 0
            at[t + 1] = to + (count if is_read else 0)
        _forget_rows(cases.commits, names, i, commit)
        _forget_rows(cases.lags, names, i, lag)
    size = at[n_topics]
    return Lags(at, start[:size], is_known, is_stated), first[:size], end[:size]


@kernel
def _room_for_logs(cases: Cases, evidence: Evidence, instances: CaseInstances) -> int:
    """Return at least the number of partitions of which the lag is known."""
    size = 0
    for i in range(cases.at.size):
        has_lags = cases.lags.at[i + 1] > cases.lags.at[i]
        for t in range(instances.topic_at[i], instances.topic_at[i + 1]):
            r, count = instances.topic[t], instances.partitions[t]
            has_log = evidence.log_at[r + 1] - evidence.log_at[r] >= count
            if instances.is_small[i] and (has_lags or has_log):
                size += count
    return int(size)


@borrowing_kernel
def _note_rows(held: Lists, names: Names, i: int, row: Int64) -> None:
    """Note the entry of each topic of a case, by rank."""
    for e in range(held.at[i], held.at[i + 1]):
        if names.rank[held.topic[e]] != ABSENT:
            row[names.rank[held.topic[e]]] = e


@borrowing_kernel
def _forget_rows(held: Lists, names: Names, i: int, row: Int64) -> None:
    for e in range(held.at[i], held.at[i + 1]):
        if names.rank[held.topic[e]] != ABSENT:
            row[names.rank[held.topic[e]]] = ABSENT


@kernel
def _absent(size: int) -> Int64:
    return np.full(size, ABSENT, np.int64)


@kernel
def _has_current_names(
    cases: Cases, names: Names, i: int, last: Int64, id_of: Int64
) -> tuple[bool, bool]:
    """Return whether partitions are of names alone, or of ids with different names.

    ``id_of`` becomes the id of a name, and ``last`` the last case that has one. Also
    return whether the partitions of each topic are there, and ascending.
    """
    kinds, are_listed = np.zeros(2, np.bool_), True
    for s in cases.commits.topic[cases.commits.at[i] : cases.commits.at[i + 1]]:
        if names.is_id[s]:
            return False, False
    for m in range(cases.member_at[i], cases.member_at[i + 1]):
        for s in cases.topic[cases.topic_at[m] : cases.topic_at[m + 1]]:
            if names.is_id[s]:
                return False, False
        for held in (cases.assigned, cases.owned, cases.claimed):
            if not _is_named(held, m, names, i, last, id_of, kinds):
                return False, False
        are_listed &= is_ascending(cases.assigned, m, 0)
        are_listed &= is_ascending(cases.owned, m, 1)
        row = cases.before_of[m]
        if row == ABSENT:
            continue
        if not _is_named(cases.before, row, names, i, last, id_of, kinds):
            return False, False
    return not kinds.all(), are_listed


@borrowing_kernel
def _is_named(
    held: Lists,
    row: int,
    names: Names,
    i: int,
    last: Int64,
    id_of: Int64,
    kinds: Bools,
) -> bool:
    """Do so for one row."""
    for e in range(held.at[row], held.at[row + 1]):
        s = held.topic[e]
        r = names.rank[s]
        if r == ABSENT:
            return False
        kinds[1 if names.is_id[s] else 0] = True
        if names.is_id[s]:
            if last[r] != i:
                last[r], id_of[r] = i, s
            if id_of[r] != s:
                return False
    return True


@borrowing_kernel
def is_ascending(held: Lists, row: int, step: int) -> bool:
    """Return whether each topic of a row has partitions, ``step`` apart at least."""
    for e in range(held.at[row], held.at[row + 1]):
        before = np.int64(-step)
        for number in held.number[held.number_at[e] : held.number_at[e + 1]]:
            if number < before + step:
                return False
            before = np.int64(number)
        if held.number_at[e] == held.number_at[e + 1]:
            return False
    return True


@kernel
def _topics_of(
    cases: Cases, names: Names, i: int, least: Int64, most_partitions: int
) -> tuple[Int64, bool]:
    """Return the topics that members subscribe to or have partitions of, sorted.

    Those of a document are the recorded ones. ``least`` becomes the least count that
    the assignment shows of each. False: a subscription has a topic twice.
    """
    topics, assigned = cases.topic_at, cases.assigned
    begin, end = cases.member_at[i], cases.member_at[i + 1]
    room = topics[end] - topics[begin] + assigned.at[end] - assigned.at[begin]
    found, size, is_sound = np.empty(room, np.int64), 0, True
    for m in range(begin, end):
        before = ABSENT
        for s in cases.topic[topics[m] : topics[m + 1]]:
            r = names.rank[s]
            is_sound &= r > before
            found[size], least[r], before = r, 0, r
            size += 1
    for s in assigned.topic[assigned.at[begin] : assigned.at[end]]:
        found[size], least[names.rank[s]] = names.rank[s], 0
        size += 1
    for e in range(assigned.at[begin], assigned.at[end]):
        r = names.rank[assigned.topic[e]]
        for number in assigned.number[
            assigned.number_at[e] : assigned.number_at[e + 1]
        ]:
            if number < most_partitions:
                least[r] = max(least[r], np.int64(number) + 1)
    if cases.is_document[i]:
        rows = slice(cases.recorded.at[i], cases.recorded.at[i + 1])
        found = names.rank[cases.recorded.topic[rows]].astype(np.int64)
    return np.unique(found), is_sound


@borrowing_kernel
def _count(
    cases: Cases,
    names: Names,
    evidence: Evidence,
    i: int,
    r: int,
    assigned: int,
    topic_id: int,
) -> tuple[int, int, int]:
    """Return a topic's count (`ABSENT`: not known), its basis, and newer partitions."""
    recorded = _size_of(cases.recorded, names, i, r, ABSENT)
    if recorded != ABSENT:
        return recorded, GIVEN if cases.is_document[i] else RECORDED, 0
    if cases.has_least[i]:
        if evidence.at_end[r] != ABSENT:
            return int(evidence.at_end[r]), GIVEN, 0
        return _size_of(cases.least, names, i, r, ABSENT), LOWER_BOUND, 0
    at, is_dated = cases.counted_at[i], cases.is_counted[i]
    age = evidence.metadata_max_age
    most, settled = _known_at(evidence.dated, r, at, is_dated, age)
    if most:
        count = min(most, max(settled, assigned))
        return count, GIVEN, most - count
    most, settled = _known_at(evidence.shown, r, at, is_dated, age)
    end = evidence.at_end[r]
    if end != ABSENT and is_dated and not _is_deleted_after(evidence.shown, r, at):
        most, settled = min(most, end), min(settled, end)
    undated = max(0, _size_of(cases.undated, names, i, r, topic_id))
    count = max(assigned, settled, undated)
    newer = max(0, most - count)
    if end == count and not newer:
        return count, GIVEN, 0
    return (count or ABSENT), LOWER_BOUND, newer


@borrowing_kernel
def _size_of(sizes: Sizes, names: Names, i: int, r: int, topic_id: int) -> int:
    """Return the largest count that a case states by name, or by ``topic_id``."""
    found = np.int64(ABSENT)
    for row in range(sizes.at[i], sizes.at[i + 1]):
        s = sizes.topic[row]
        if names.rank[s] == r and (s == topic_id or not names.is_id[s]):
            found = max(found, sizes.partitions[row])
    return int(found)


@borrowing_kernel
def _known_at(
    steps: Steps, r: int, at: int, is_dated: bool, age: int
) -> tuple[int, int]:
    """Return most and settled partitions at a time (`KnownCounts.at`); 0: unknown."""
    begin, end = steps.at[r], steps.at[r + 1]
    last = _last_until(steps, begin, end, at)
    if not is_dated or last < begin or not steps.partitions[last]:
        return 0, 0
    first = last
    while first > begin and steps.partitions[first - 1]:
        first -= 1
    old = _last_until(steps, begin, end, at - age)
    return int(steps.partitions[last]), int(steps.partitions[max(first, old)])


@borrowing_kernel
def _last_until(steps: Steps, begin: int, end: int, at: int) -> int:
    """Return the last of some steps that is not later; ``begin`` - 1 if all are."""
    while begin < end:
        middle = (begin + end) // 2
        if steps.time[middle] > at:
            end = middle
        else:
            begin = middle + 1
    return begin - 1


@borrowing_kernel
def _is_deleted_after(steps: Steps, r: int, at: int) -> bool:
    for step in range(steps.at[r], steps.at[r + 1]):
        if steps.time[step] > at and not steps.partitions[step]:
            return True
    return False


@kernel
def _read_log(
    cases: Cases,
    evidence: Evidence,
    i: int,
    r: int,
    count: int,
    row: int,
    columns: tuple[Int64, Int64, Int64],
) -> bool:
    """Write committed offset, log start and end; False if lag is not known of them."""
    start, first, end = columns
    log = evidence.log_at[r]
    ends = evidence.log_at[r + 1] - log
    if cases.is_dated[i] and (
        evidence.logs_read_at < cases.at[i]
        or _is_deleted_after(evidence.shown, r, cases.at[i])
    ):
        ends = 0
    if not cases.has_commits[i] or ends < count:
        return False
    start[:count] = NOT_COMMITTED
    if row != ABSENT:
        commits = cases.commits
        for place in range(commits.number_at[row], commits.number_at[row + 1]):
            if 0 <= commits.number[place] < count:
                start[commits.number[place]] = cases.offset[place]
    for p in range(count):
        first[p], end[p] = evidence.log_first[log + p], evidence.log_end[log + p]
        if start[p] > end[p]:
            return False
    return True


@kernel
def _read_lag(
    cases: Cases, row: int, count: int, columns: tuple[Int64, Int64, Int64]
) -> bool:
    """Write a stated lag; False if that of a partition is not stated."""
    start, first, end = columns
    if row == ABSENT:
        return False
    end[:count] = ABSENT
    lags = cases.lags
    for place in range(lags.number_at[row], lags.number_at[row + 1]):
        if 0 <= lags.number[place] < count:
            end[lags.number[place]] = cases.behind[place]
    start[:count], first[:count] = 0, 0
    return bool((end[:count] != ABSENT).all())


@kernel
def member_lags(
    cases: Cases, names: Names, instances: CaseInstances, lags: Lags
) -> Int64:
    """Return the lag of each member's assignment, int64 (M,); 0 if not known."""
    found, row = np.zeros(cases.generation.size, np.int64), _absent(names.rank.size)
    for i in range(cases.at.size):
        topics = instances.topic[instances.topic_at[i] : instances.topic_at[i + 1]]
        for t in range(topics.size):
            row[topics[t]] = instances.topic_at[i] + t
        for m in range(cases.member_at[i], cases.member_at[i + 1]):
            held = cases.assigned
            for e in range(held.at[m], held.at[m + 1]):
                r = names.rank[held.topic[e]] if instances.is_named[i] else ABSENT
                t = ABSENT if r == ABSENT else row[r]
                if t == ABSENT:
                    continue
                own = lags.records[lags.at[t] : lags.at[t + 1]]
                for number in held.number[held.number_at[e] : held.number_at[e + 1]]:
                    if 0 <= number < own.size:
                        found[m] += own[number]
        row[topics] = ABSENT
    return found
