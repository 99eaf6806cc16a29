"""Partition counts and log ends of many cases, as of their rebalances: compiled.

The counterpart of `pipeline.judging.instances` and `pipeline.judging.partition_counts`
for cases of records, which state the rules; tests compare the two. A case of which a
document would state a fault is not sound, and is left to them.
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
    shown_most = evidence.most_partitions
    is_sound = np.zeros(n_cases, np.bool_)
    topic_at = np.zeros(n_cases + 1, np.int64)
    room = cases.topic.size + cases.assigned.topic.size
    topic, count = np.empty(room, np.int64), np.empty(room, np.int64)
    basis, newer = np.full(n_cases, GIVEN, np.int64), np.zeros(n_cases, np.int64)
    last, id_of = _absent(n_names), _absent(n_names)
    least = np.zeros(n_names, np.int64)
    for i in range(n_cases):
        topic_at[i + 1] = topic_at[i]
        if not _has_current_names(cases, names, i, last, id_of):
            continue
        listed, is_shown = _topics_of(cases, names, i, least, shown_most)
        n_partitions, is_sound[i] = 0, is_shown
        for r in listed:
            topic_id = id_of[r] if last[r] == i else ABSENT
            known, how, more = _count(cases, names, evidence, i, r, least[r], topic_id)
            basis[i], newer[i] = min(basis[i], how), newer[i] + more
            if known == ABSENT:
                continue
            topic[topic_at[i + 1]], count[topic_at[i + 1]] = r, known
            topic_at[i + 1] += 1
            n_partitions += known
            is_sound[i] &= known > 0 and n_partitions <= max_partitions
        if not is_sound[i]:
            topic_at[i + 1] = topic_at[i]
    n_topics = topic_at[n_cases]
    return CaseInstances(
        is_sound, topic_at, topic[:n_topics], count[:n_topics], basis, newer
    )


@kernel
def read_logs(
    cases: Cases, names: Names, evidence: Evidence, instances: CaseInstances
) -> tuple[Lags, Int64, Int64]:
    """Read log starts and ends, and committed offsets instead of lags.

    Returns
    -------
    Lags, int64, int64
        Committed offsets; log starts, and log ends.
    """
    topic_at, n_topics, size = instances.topic_at, instances.topic.size, 0
    for t in range(n_topics):
        log = (
            evidence.log_at[instances.topic[t] + 1]
            - evidence.log_at[instances.topic[t]]
        )
        size += instances.partitions[t] if log >= instances.partitions[t] else 0
    at, is_known = np.zeros(n_topics + 1, np.int64), np.zeros(cases.at.size, np.bool_)
    start, first, end = _absent(size), _absent(size), _absent(size)
    row = _absent(evidence.at_end.size)
    for i in range(cases.at.size):
        committed = cases.commits.topic[cases.commits.at[i] : cases.commits.at[i + 1]]
        for e in range(committed.size):
            row[names.rank[committed[e]]] = cases.commits.at[i] + e
        is_known[i] = topic_at[i + 1] > topic_at[i]
        for t in range(topic_at[i], topic_at[i + 1]):
            r, to, count = instances.topic[t], at[t], instances.partitions[t]
            log = (start[to:], first[to:], end[to:])
            is_read = _read_log(cases, evidence, i, r, count, row[r], log)
            is_known[i] &= is_read
            at[t + 1] = to + (count if is_read else 0)
        for s in committed:
            row[names.rank[s]] = ABSENT
    size = at[n_topics]
    return Lags(at, start[:size], is_known), first[:size], end[:size]


@kernel
def _absent(size: int) -> Int64:
    return np.full(size, ABSENT, np.int64)


@kernel
def _has_current_names(
    cases: Cases, names: Names, i: int, last: Int64, id_of: Int64
) -> bool:
    """Return whether partitions are of names alone, or of ids with different names.

    ``id_of`` becomes the id of a name, and ``last`` the last case that has one.
    """
    kinds = np.zeros(2, np.bool_)
    for s in cases.commits.topic[cases.commits.at[i] : cases.commits.at[i + 1]]:
        if names.is_id[s]:
            return False
    for m in range(cases.member_at[i], cases.member_at[i + 1]):
        for s in cases.topic[cases.topic_at[m] : cases.topic_at[m + 1]]:
            if names.is_id[s]:
                return False
        for held in (cases.assigned, cases.owned, cases.claimed):
            if not _is_named(held, m, names, i, last, id_of, kinds):
                return False
        row = cases.before_of[m]
        if row != ABSENT and not _is_named(
            cases.before, row, names, i, last, id_of, kinds
        ):
            return False
    return not kinds.all()


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
    """Do so for one row; its partition numbers must be there, ascending."""
    for e in range(held.at[row], held.at[row + 1]):
        s, before = held.topic[e], np.int64(ABSENT)
        r = names.rank[s]
        if r == ABSENT:
            return False
        kinds[1 if names.is_id[s] else 0] = True
        if names.is_id[s]:
            if last[r] != i:
                last[r], id_of[r] = i, s
            if id_of[r] != s:
                return False
        for number in held.number[held.number_at[e] : held.number_at[e + 1]]:
            if number <= before:
                return False
            before = np.int64(number)
        if before == ABSENT:
            return False
    return True


@kernel
def _topics_of(
    cases: Cases, names: Names, i: int, least: Int64, most_partitions: int
) -> tuple[Int64, bool]:
    """Return the topics that members subscribe to or have partitions of, sorted.

    ``least`` becomes the least count that the assignment shows of each. False: a
    subscription has a topic twice.
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
        shown = np.int64(assigned.number[assigned.number_at[e + 1] - 1]) + 1
        if shown <= most_partitions:
            least[r] = max(least[r], shown)
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
        return recorded, RECORDED, 0
    at, is_dated = cases.at[i], cases.is_dated[i]
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
def member_lags(
    cases: Cases, names: Names, instances: CaseInstances, lags: Lags
) -> Int64:
    """Return the lag of what each member was assigned, int64 (M,); 0 if not known."""
    found, row = np.zeros(cases.generation.size, np.int64), _absent(names.rank.size)
    for i in range(cases.at.size):
        topics = instances.topic[instances.topic_at[i] : instances.topic_at[i + 1]]
        for t in range(topics.size):
            row[topics[t]] = instances.topic_at[i] + t
        for m in range(cases.member_at[i], cases.member_at[i + 1]):
            held = cases.assigned
            for e in range(held.at[m], held.at[m + 1]):
                t = row[names.rank[held.topic[e]]] if instances.is_sound[i] else ABSENT
                if t == ABSENT:
                    continue
                own = lags.records[lags.at[t] : lags.at[t + 1]]
                for number in held.number[held.number_at[e] : held.number_at[e + 1]]:
                    if number < own.size:
                        found[m] += own[number]
        row[topics] = ABSENT
    return found
