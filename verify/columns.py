"""An assignment laid out by partition: who holds each.

Members list their partitions; nearly every rule and figure asks who holds a partition.
Turned around once, a million partitions are compared by a few loops of Python's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, chain
from typing import NamedTuple, cast

from verify.case import Case, Listed

Given = Mapping[str, Listed]  # member -> topic -> partition numbers


class Columns(NamedTuple):
    """Who holds each partition of a case, and the same in two columns of equal length.

    In these, every partition is once per member of the group that holds it; its index
    is that in `Case.all_owners`.
    """

    holders: Mapping[str, Sequence[str | None]]  # by topic: one who holds it, or None
    free: Mapping[str, Sequence[int]]  # by topic: the unassigned partitions, if any
    exact: bool  # whether every assigned partition exists, and is listed once
    indices: Sequence[int]
    members: Sequence[str]


def columns_of(case: Case, given: Given) -> Columns:
    """Return who holds each partition; of several members, any."""
    holders: dict[str, list[str | None]] = {
        topic: [None] * count for topic, count in case.partitions.items()
    }
    names = dict(zip(case.wants, case.wants, strict=True))
    try:
        _fill(holders, names, given)
    except (KeyError, IndexError):  # some partition does not exist
        existing = {member: _existing(case, given[member]) for member in given}
        _fill(holders, names, existing)
    free = {
        topic: [number for number, member in enumerate(members) if member is None]
        for topic, members in holders.items()
        if None in members
    }
    every = list(chain.from_iterable(holders.values()))
    held = len(every) - sum(map(len, free.values()))
    exact = held == sum([len(n) for listed in given.values() for n in listed.values()])
    if not exact or not given.keys() <= case.wants.keys():
        return Columns(holders, free, exact, *_listed(case, given))
    indices: Sequence[int] = range(len(every))
    if free:
        indices = [index for index in indices if every[index] is not None]
        every = [every[index] for index in indices]
    return Columns(holders, free, exact, indices, cast("list[str]", every))


def _fill(
    holders: Mapping[str, list[str | None]], names: Mapping[str, str], given: Given
) -> None:
    for known, listed in given.items():
        member = names.get(known, known)
        for topic, numbers in listed.items():
            members = holders[topic]
            for number in numbers:
                members[number] = member


def _existing(case: Case, listed: Listed) -> dict[str, list[int]]:
    ends = case.partitions
    return {
        topic: [number for number in numbers if number < ends[topic]]
        for topic, numbers in listed.items()
        if topic in ends
    }


def _listed(case: Case, given: Given) -> tuple[list[int], list[str]]:
    """Return the two columns of an assignment that breaks rules."""
    firsts = accumulate(case.partitions.values(), initial=0)
    first = dict(zip(case.partitions, firsts, strict=False))
    indices: list[int] = []
    members: list[str] = []
    for member in given.keys() & case.wants.keys():
        for topic, numbers in _existing(case, given[member]).items():
            once = set(numbers)
            indices.extend(first[topic] + number for number in once)
            members.extend([member] * len(once))
    return indices, members
