"""The rules of validity: each yields its violations as (topic, partition, member).

What a rule does not name is "", -1 or None. No row of the assignment is empty.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from heapq import nsmallest
from itertools import chain, count
from typing import Any

from verify.case import Case, Row

Violation = dict[str, Any]
Given = Mapping[str, Mapping[str, Sequence[int]]]
Lists = dict[str, list[Sequence[int]]]  # topic -> partitions of each row
Held = dict[str, set[int]]  # topic -> assigned partitions, of whatever member
Culprits = Iterator[tuple[Any, ...]]  # topic, partition, member; maybe a claimant

LISTED_MAX = 1000  # violations per rule, the first by topic, partition and member


def violations(
    case: Case, given: Given, rows: Sequence[Row], *, cooperative: bool
) -> tuple[list[Violation], dict[str, int]]:
    """Return the first violations of each rule, and how many more it has, if any."""
    lists = _lists_by_topic(rows)
    held = {topic: set(chain.from_iterable(one)) for topic, one in lists.items()}
    rules: dict[str, Culprits] = {
        "assigned-twice": assigned_twice(case, rows, lists, held),
        "missing-member": (("", -1, m) for m in case.wants.keys() - given.keys()),
        "unassigned": unassigned(case, held, cooperative=cooperative),
        "unknown-member": (("", -1, m) for m in given.keys() - case.wants.keys()),
        "unknown-partition": unknown_partition(case, rows, held),
        "unrevoked": unrevoked(case, rows if cooperative else ()),
        "unsubscribed": unsubscribed(case, rows),
    }
    found: list[Violation] = []
    more: dict[str, int] = {}
    for rule, culprits in rules.items():
        first = next(culprits, None)
        if first is None:  # mostly; the selection below would cost more than the rule
            continue
        counter = count()
        every = chain((first,), culprits)
        counted = (one for one, _ in zip(every, counter, strict=False))
        found += [_violation(rule, one) for one in nsmallest(LISTED_MAX, counted)]
        unlisted = next(counter) - LISTED_MAX
        if unlisted > 0:
            more[rule] = unlisted
    return found, more


def rows_of(given: Given) -> list[Row]:
    """Return the assignment as rows, without the empty ones."""
    return [
        (member, topic, numbers)
        for member, held in given.items()
        for topic, numbers in held.items()
        if numbers
    ]


def unknown_partition(case: Case, rows: Sequence[Row], assigned: Held) -> Culprits:
    """Yield assigned partitions that do not exist."""
    if all(max(held) < case.partitions.get(t, 0) for t, held in assigned.items()):
        return  # mostly; a topic has fewer sets than rows
    for member, topic, numbers in rows:
        end = case.partitions.get(topic, 0)
        if max(numbers) >= end:
            yield from ((topic, n, member) for n in set(numbers) if n >= end)


def unsubscribed(case: Case, rows: Sequence[Row]) -> Culprits:
    """Yield partitions of topics to which their member does not subscribe."""
    for member, topic, numbers in rows:
        wanted = case.wants.get(member)
        if wanted is not None and topic not in wanted:
            end = case.partitions.get(topic, 0)
            yield from ((topic, n, member) for n in set(numbers) if n < end)


def assigned_twice(
    case: Case, rows: Sequence[Row], lists: Lists, assigned: Held
) -> Culprits:
    """Yield partitions that another member holds, earlier by name, or that repeat."""
    if all(sum(map(len, lists[t])) == len(held) for t, held in assigned.items()):
        return  # mostly; the order that names culprits takes longer to establish
    seen: dict[str, set[int]] = {}
    for member, topic, numbers in sorted(rows):
        once, known = set(numbers), seen.setdefault(topic, set())
        twice = once & known
        if len(once) < len(numbers):
            twice |= {number for number, n in Counter(numbers).items() if n > 1}
        end = case.partitions.get(topic, 0)
        yield from ((topic, n, member) for n in twice if n < end)
        known |= once


def unassigned(case: Case, assigned: Held, *, cooperative: bool) -> Culprits:
    """Yield partitions that no member holds although some member subscribes.

    In a cooperative round they may wait until a claimant revokes them: `withheld`.
    """
    for topic, subscribers in case.subscribers.items():
        held = assigned.get(topic, set())
        if cooperative:
            held = held | _revocable(case, topic)
        numbers = range(case.partitions[topic] if subscribers else 0)
        if not held.issuperset(numbers):
            yield from ((topic, n, None) for n in numbers if n not in held)


def unrevoked(case: Case, rows: Sequence[Row]) -> Culprits:
    """Yield partitions that a newest claimant, other than the member, still holds."""
    for member, topic, numbers in rows:
        claimed = case.claimants.get(topic, {})
        for number in set(numbers):
            others = [rival for rival in claimed.get(number, ()) if rival != member]
            if others:
                yield topic, number, member, others[0]


def withheld(case: Case, rows: Sequence[Row]) -> int:
    """Count claimed partitions that no member holds until a claimant revokes them."""
    lists = _lists_by_topic(rows)
    topics = case.claims.keys() | case.left.keys()
    return sum(len(_revocable(case, t).difference(*lists.get(t, ()))) for t in topics)


def _revocable(case: Case, topic: str) -> set[int]:
    """Return the partitions that may wait in a cooperative round, and in no other.

    Not only a subscriber's claims: a member that has left the topic reads it until it
    revokes, as its claim states. Real members revoke before they join (KIP-429), so
    that another may have it at once, too: `unrevoked` asks subscribers alone. Whatever
    waited is claimed by nobody in the next round, and cannot wait again.
    """
    claimed = (numbers for _, numbers in case.claims.get(topic, ()))
    return case.left.get(topic, set()).union(*claimed)


def _lists_by_topic(rows: Sequence[Row]) -> Lists:
    lists: Lists = {}
    for _, topic, numbers in rows:
        lists.setdefault(topic, []).append(numbers)
    return lists


def _violation(rule: str, culprit: tuple[Any, ...]) -> Violation:
    topic, number, member, *claimant = culprit
    return {
        "rule": rule,
        **({} if member is None else {"member": member}),
        **({} if number < 0 else {"topic": topic, "partition": number}),
        **({"claimant": claimant[0]} if claimant else {}),
    }
