"""Figures of an assignment, counted exactly, in integers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from verify.case import Case, Owned, Row


def tidy(case: Case, rows: Sequence[Row]) -> list[Row]:
    """Select what exists and what members of the group hold, once per member."""
    kept: list[Row] = []
    for member, topic, numbers in rows:
        count = case.partitions.get(topic, 0) if member in case.wants else 0
        held = list({number for number in numbers if number < count})
        if held:
            kept.append((member, topic, held))
    return kept


def loads_of(case: Case, rows: Sequence[Row]) -> dict[str, int]:
    """Return how many partitions each member holds."""
    loads = dict.fromkeys(case.wants, 0)
    for member, _, numbers in rows:
        loads[member] += len(numbers)
    return loads


def count_kept(case: Case, rows: Sequence[Row]) -> int:
    """Count the owned partitions that stay with their owner."""
    owners: Mapping[str, Owned] = {t: case.owners.get(t, {}) for t in case.partitions}
    kept = 0
    for member, topic, numbers in rows:
        owned = owners[topic].get(member, ())
        if owned == numbers:  # mostly, and without a set for each of a million rows
            kept += len(numbers)
        elif owned:
            kept += len(set(owned).intersection(numbers))
    return kept


def kip54_score(loads: Mapping[str, int]) -> int:
    """Compute Kafka's balance score: the sum over pairs of the difference in load.

    With loads in order, smallest first, the i-th of n (from 0) is the larger one in
    i pairs and the smaller one in n - 1 - i.
    """
    below = 1 - len(loads)
    return sum(
        load * (below + 2 * rank) for rank, load in enumerate(sorted(loads.values()))
    )


def lags_of(case: Case, rows: Sequence[Row], lags: Sequence[int]) -> dict[str, int]:
    """Return the total lag of each member, records, from that of each row."""
    total = dict.fromkeys(case.wants, 0)
    for row, lag in zip(rows, lags, strict=True):
        total[row[0]] += lag
    return total


def row_lags(case: Case, rows: Sequence[Row]) -> list[int]:
    """Return the total lag of each row, records; an unstated lag counts 0."""
    lags = []
    for _, topic, numbers in rows:
        listed = case.lag.get(topic)
        if listed is None:
            lags.append(0)
        elif len(numbers) == 1:  # a million such rows take half the time
            lags.append(listed[numbers[0]])
        else:
            lags.append(sum(map(listed.__getitem__, numbers)))
    return lags


def rack_mismatches(case: Case, rows: Sequence[Row]) -> int:
    """Count partitions whose holder's rack has no replica of them (KIP-881)."""
    if not case.replica_racks:
        return 0
    return sum(
        is_far(case, member, case.replica_racks[topic][number])
        for member, topic, numbers in rows
        if topic in case.replica_racks and member in case.member_rack
        for number in numbers
    )


def is_far(case: Case, member: str, racks: Collection[str]) -> bool:
    """Return whether a member's rack is none of some; no rack or racks: it is not."""
    rack = case.member_rack.get(member)
    return bool(racks) and rack is not None and rack not in racks
