"""The rules of validity: each yields its violations, culprit and all.

Rows are ``(member, topic, numbers)`` as the assignment gives them, none empty.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from verify.case import Case, Row

Violation = dict[str, Any]
Given = Mapping[str, Mapping[str, Sequence[int]]]
Assigned = Mapping[str, Sequence[int]]  # topic -> numbers, of whatever member


def violations(
    case: Case, given: Given, rows: Sequence[Row], *, cooperative: bool
) -> list[Violation]:
    """Return every violation, by rule, then topic, partition and member."""
    assigned = _assigned(rows)
    found = [
        *unknown_member(case, given),
        *missing_member(case, given),
        *unknown_partition(case, rows),
        *unsubscribed(case, rows),
        *assigned_twice(case, rows, assigned),
        *unassigned(case, assigned, cooperative=cooperative),
    ]
    if cooperative:
        found += unrevoked(case, rows)
    return sorted(found, key=_order) if found else found


def rows_of(given: Given) -> list[Row]:
    """Return the assignment as rows, without the empty ones."""
    return [
        (member, topic, numbers)
        for member, held in given.items()
        for topic, numbers in held.items()
        if numbers
    ]


def unknown_member(case: Case, given: Given) -> Iterator[Violation]:
    """Refuse an entry, even an empty one, for who is not in the group."""
    for member in given.keys() - case.wants.keys():
        yield {"rule": "unknown-member", "member": member}


def missing_member(case: Case, given: Given) -> Iterator[Violation]:
    """Ask for an entry, even if it is empty, for every member of the group."""
    for member in case.wants.keys() - given.keys():
        yield {"rule": "missing-member", "member": member}


def unknown_partition(case: Case, rows: Sequence[Row]) -> Iterator[Violation]:
    """Refuse what does not exist."""
    for member, topic, numbers in rows:
        count = case.partitions.get(topic, 0)
        if max(numbers) >= count:
            for number in set(numbers):
                if number >= count:
                    yield _of("unknown-partition", member, topic, number)


def unsubscribed(case: Case, rows: Sequence[Row]) -> Iterator[Violation]:
    """Refuse what a member of the group does not subscribe to."""
    for member, topic, numbers in rows:
        wanted = case.wants.get(member)
        if wanted is not None and topic not in wanted:
            for number in set(numbers):
                if number < case.partitions.get(topic, 0):
                    yield _of("unsubscribed", member, topic, number)


def assigned_twice(
    case: Case, rows: Sequence[Row], assigned: Assigned
) -> Iterator[Violation]:
    """Refuse a second holder of a partition: of two the later one by name."""
    for topic, numbers in assigned.items():
        if len(set(numbers)) == len(numbers):
            continue
        seen: set[int] = set()
        culprits: set[tuple[str, int]] = set()
        for member, _, held in sorted(row for row in rows if row[1] == topic):
            for number in held:
                if number in seen and number < case.partitions.get(topic, 0):
                    culprits.add((member, number))
                seen.add(number)
        for member, number in culprits:
            yield _of("assigned-twice", member, topic, number)


def unassigned(
    case: Case, assigned: Assigned, *, cooperative: bool
) -> Iterator[Violation]:
    """Ask for a holder of every partition that somebody subscribes to.

    In a cooperative round it may wait for a claimant to revoke it: see `withheld`.
    """
    for topic, subscribers in case.subscribers.items():
        if not subscribers:
            continue
        missing = set(range(case.partitions[topic])).difference(assigned.get(topic, ()))
        if missing and cooperative:
            missing -= case.claimants.get(topic, {}).keys()
        for number in missing:
            yield {"rule": "unassigned", "topic": topic, "partition": number}


def unrevoked(case: Case, rows: Sequence[Row]) -> Iterator[Violation]:
    """Refuse what a newest claimant, other than the member itself, still holds."""
    for member, topic, numbers in rows:
        claimed = case.claimants.get(topic, {})
        for number in set(numbers):
            others = [rival for rival in claimed.get(number, ()) if rival != member]
            if others:
                culprit = _of("unrevoked", member, topic, number)
                yield culprit | {"claimant": others[0]}


def withheld(case: Case, rows: Sequence[Row]) -> int:
    """Count what goes to nobody because a claimant is still to revoke it."""
    assigned = _assigned(rows)
    return sum(
        len(claimed.keys() - set(assigned.get(topic, ())))
        for topic, claimed in case.claimants.items()
    )


def _assigned(rows: Sequence[Row]) -> Assigned:
    assigned: dict[str, list[int]] = {}
    for _, topic, numbers in rows:
        assigned.setdefault(topic, []).extend(numbers)
    return assigned


def _of(rule: str, member: str, topic: str, number: int) -> Violation:
    return {"rule": rule, "member": member, "topic": topic, "partition": number}


def _order(violation: Violation) -> tuple[str, str, int, str]:
    number = violation.get("partition", -1)
    topic, member = violation.get("topic", ""), violation.get("member", "")
    return violation["rule"], topic, number, member
