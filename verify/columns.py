"""An assignment laid out by topic: who holds each partition, in columns.

Members list their partitions; nearly every rule and figure asks for those of a topic.
Turned around once, a million partitions are compared by a few loops of Python's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, cast

from verify.case import Case, Listed

Given = Mapping[str, Listed]  # member -> topic -> partition numbers


class Column(NamedTuple):
    """Assigned partitions of one topic, and the member that holds each."""

    numbers: Sequence[int]
    members: Sequence[str]


Columns = Mapping[str, Column]  # by topic


class Layout(NamedTuple):
    """Every partition of the case, and whether that is all that is assigned."""

    holders: Mapping[str, Sequence[str | None]]  # by topic: one who holds it, or None
    exact: bool  # whether what is assigned exists, and is listed once


def lay_out(case: Case, given: Given) -> Layout:
    """Return who holds each partition; of several members, any."""
    holders: dict[str, list[str | None]] = {
        topic: [None] * count for topic, count in case.partitions.items()
    }
    names = {name: name for name in case.wants}
    named = {names.get(member, member): listed for member, listed in given.items()}
    try:
        _fill(holders, named)
    except (KeyError, IndexError):  # some partition does not exist
        _fill(holders, {m: _existing(case, listed) for m, listed in named.items()})
    assigned = sum(sum(map(len, listed.values())) for listed in given.values())
    held = sum(len(members) - members.count(None) for members in holders.values())
    return Layout(holders, assigned == held)


def columns_of(case: Case, given: Given, layout: Layout | None = None) -> Columns:
    """Select what exists and what members of the group hold, once per member.

    ``layout`` is that of `lay_out`, if it is known.
    """
    holders, exact = lay_out(case, given) if layout is None else layout
    if exact and given.keys() <= case.wants.keys():
        return {topic: _held(members) for topic, members in holders.items()}
    found: dict[str, tuple[list[int], list[str]]] = {t: ([], []) for t in holders}
    for member in given.keys() & case.wants.keys():
        for topic, numbers in _existing(case, given[member]).items():
            once = set(numbers)
            found[topic][0].extend(once)
            found[topic][1].extend([member] * len(once))
    return {topic: Column(*both) for topic, both in found.items()}


def _fill(holders: Mapping[str, list[str | None]], given: Given) -> None:
    for member, listed in given.items():
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


def _held(holders: Sequence[str | None]) -> Column:
    if None not in holders:
        return Column(range(len(holders)), cast("Sequence[str]", holders))
    pairs = [(n, member) for n, member in enumerate(holders) if member is not None]
    return Column([n for n, _ in pairs], [member for _, member in pairs])
