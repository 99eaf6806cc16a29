"""The rules of validity: each yields its violations as (topic, partition, member).

A field that a rule does not name is "", -1 or None.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from heapq import nsmallest
from itertools import chain, count
from typing import Any

from verify.case import Case
from verify.columns import Columns, Given

Violation = dict[str, Any]
Culprits = Iterator[tuple[Any, ...]]  # topic, partition, member; maybe a claimant

LISTED_MAX = 1000  # violations per rule, the first by topic, partition and member


def violations(
    case: Case, given: Given, columns: Columns, *, cooperative: bool
) -> tuple[list[Violation], dict[str, int]]:
    """Return the first violations of each rule, and how many more it has, if any."""
    odd = {} if columns.exact else given
    rules: dict[str, Culprits] = {
        "assigned-twice": assigned_twice(case, odd),
        "missing-member": (("", -1, m) for m in case.wants.keys() - given.keys()),
        "unassigned": unassigned(case, columns, cooperative=cooperative),
        "unknown-member": (("", -1, m) for m in given.keys() - case.wants.keys()),
        "unknown-partition": unknown_partition(case, odd),
        "unrevoked": unrevoked(case, given if cooperative else {}),
        "unsubscribed": unsubscribed(case, given),
    }
    found: list[Violation] = []
    more: dict[str, int] = {}
    for rule, culprits in rules.items():
        first = next(culprits, None)
        if first is None:  # mostly; the selection below would cost more than the rule
            continue
        counter = count()
        every = chain((first,), culprits)
        counted = (culprit for culprit, _ in zip(every, counter, strict=False))
        found += [
            _violation(rule, culprit) for culprit in nsmallest(LISTED_MAX, counted)
        ]
        unlisted = next(counter) - LISTED_MAX
        if unlisted > 0:
            more[rule] = unlisted
    return found, more


def unknown_partition(case: Case, given: Given) -> Culprits:
    """Yield assigned partitions that do not exist."""
    for member, topic, numbers in _rows(given):
        end = case.partitions.get(topic, 0)
        yield from ((topic, n, member) for n in set(numbers) if n >= end)


def unsubscribed(case: Case, given: Given) -> Culprits:
    """Yield partitions of topics to which their member does not subscribe."""
    for member, listed in given.items():
        wanted = case.wants.get(member)
        if wanted is None or wanted.issuperset(listed):
            continue
        for topic in listed.keys() - wanted:
            end = case.partitions.get(topic, 0)
            yield from ((topic, n, member) for n in set(listed[topic]) if n < end)


def assigned_twice(case: Case, given: Given) -> Culprits:
    """Yield partitions that another member holds, earlier by name, or that repeat."""
    seen: dict[str, set[int]] = {}
    for member, topic, numbers in sorted(_rows(given)):
        once, known = set(numbers), seen.setdefault(topic, set())
        twice = once & known
        if len(once) < len(numbers):
            twice |= {number for number, n in Counter(numbers).items() if n > 1}
        end = case.partitions.get(topic, 0)
        yield from ((topic, n, member) for n in twice if n < end)
        known |= once


def unassigned(case: Case, columns: Columns, *, cooperative: bool) -> Culprits:
    """Yield partitions that no member holds although some member subscribes.

    In a cooperative round they may wait until a claimant revokes them: `withheld`.
    """
    for topic, free in columns.free.items():
        if case.subscribers[topic]:
            waiting = _revocable(case, topic, free) if cooperative else ()
            yield from ((topic, n, None) for n in free if n not in waiting)


def unrevoked(case: Case, given: Given) -> Culprits:
    """Yield partitions that a newest claimant, other than the member, still holds."""
    for member, topic, numbers in _rows(given):
        owners, rivals = case.owners.get(topic, ()), case.rivals.get(topic, {})
        end = len(owners)
        for number in {n for n in numbers if n < end and owners[n] != member}:
            claimants = rivals.get(number, (owners[number],))
            others = [other for other in claimants if other not in (member, None)]
            if others:
                yield topic, number, member, others[0]


def withheld(case: Case, columns: Columns) -> int:
    """Count claimed partitions that no member holds until a claimant revokes them."""
    waiting = (_revocable(case, topic, free) for topic, free in columns.free.items())
    return sum(map(len, waiting))


def _revocable(case: Case, topic: str, free: Sequence[int]) -> set[int]:
    """Select the partitions that may wait in a cooperative round, and in no other.

    Not only a subscriber's claims: a member that has left the topic reads it until it
    revokes, as its claim states. Real members revoke before they join (KIP-429), so
    that another may have it at once, too: `unrevoked` asks subscribers alone. Whatever
    waited is claimed by nobody in the next round, and cannot wait again.
    """
    owners, left = case.owners[topic], case.left.get(topic, ())
    rivals = case.rivals.get(topic, ())
    return {n for n in free if owners[n] is not None or n in rivals or n in left}


def _rows(given: Given) -> Iterator[tuple[str, str, Sequence[int]]]:
    for member, listed in given.items():
        for topic, numbers in listed.items():
            yield member, topic, numbers


def _violation(rule: str, culprit: tuple[Any, ...]) -> Violation:
    topic, number, member, *claimant = culprit
    return {
        "rule": rule,
        **({} if member is None else {"member": member}),
        **({} if number < 0 else {"topic": topic, "partition": number}),
        **({"claimant": claimant[0]} if claimant else {}),
    }
