"""The best that a policy can get, by looking at everything: for tiny rebalances.

Assignments that are equal in all that policies ask are one *hand*. Each topic is dealt
by itself, partition by partition; every way to join hands of all topics is a hand of
the group. What is allowed is told by the definitions, not by chains or certificates.

Reaches into `verify.policy` for the judge's own values: the engines share none of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any

from verify import Case, TooLarge, case_of
from verify.policy.notation import Policy, read_policy
from verify.policy.objectives import (
    Pair,
    Tally,
    Value,
    common_capacity,
    load_vector,
    scaled,
    value_of,
)

HANDS_MAX = 50_000

# Of one topic: partitions and lag of each subscriber, moves, mismatches.
Hand = tuple[tuple[int, ...], tuple[int, ...], int, int]


class Brute:
    """All assignments of one rebalance, counted once and compared under many policies.

    Raises
    ------
    TooLarge
        If more than ``HANDS_MAX`` differ.
    """

    def __init__(
        self, document: dict[str, Any], *, claim_rule: str = "newest-claim"
    ) -> None:
        self.case = case_of(document, claim_rule=claim_rule)
        self._topics = [
            topic for topic, names in self.case.subscribers.items() if names
        ]
        dealt = [sorted(_hands(self.case, topic)) for topic in self._topics]
        self.tallies = list(self._joined(dealt))
        self._allowed: dict[str, list[Tally]] = {}
        self._even = {
            topic: min(_vector(self.case, topic, hand) for hand in hands)
            for topic, hands in zip(self._topics, dealt, strict=True)
        }

    def best(self, policy_text: str) -> list[Value] | None:
        """Return the lexicographically least values; None: nothing is allowed."""
        policy = read_policy(policy_text)
        left = [
            tally
            for tally in self.balanced(policy)
            if policy.max_moves is None or tally.moves <= policy.max_moves
        ]
        if not left:
            return None
        values: list[Value] = []
        for level in policy.levels.values():
            found = [value_of(self.case, tally, level) for tally in left]
            least: Any = min(found)
            left = [t for t, value in zip(left, found, strict=True) if value == least]
            values.append(least)
        return values

    def balanced(self, policy: Policy) -> list[Tally]:
        """Return what meets the balance of a policy, whatever it moves."""
        key = f"{policy.balance}={policy.most}"
        if key not in self._allowed:
            self._allowed[key] = [t for t in self.tallies if self.meets(policy, t)]
        return self._allowed[key]

    def meets(self, policy: Policy, tally: Tally) -> bool:
        """Return whether an assignment meets the balance, by its definition."""
        case = self.case
        match policy.balance:
            case "dec-min":
                return load_vector(case, tally) == self._least_vector()
            case "kip54":
                return _is_kip54(case, tally)
            case "per-topic":
                return all(
                    _topic_vector(case, topic, tally) == self._even[topic]
                    for topic in self._topics
                )
            case "spread":
                assert policy.most is not None
                loads = scaled(case, tally.loads).values()
                width = max(loads, default=0) - min(loads, default=0)
                return width <= policy.most * common_capacity(case)
        return True

    def _least_vector(self) -> list[int]:
        if not hasattr(self, "_least"):
            self._least = min(load_vector(self.case, t) for t in self.tallies)
        return self._least

    def _joined(self, dealt: list[list[Hand]]) -> Iterator[Tally]:
        ways = 1
        for hands in dealt:
            ways *= len(hands)
        if ways > HANDS_MAX:
            raise TooLarge(f"more than {HANDS_MAX} hands")
        for joined in product(*dealt):
            loads: dict[Pair, int] = {}
            lags: dict[Pair, int] = {}
            for topic, (counts, behind, _, _) in zip(self._topics, joined, strict=True):
                for place, name in enumerate(self.case.subscribers[topic]):
                    if counts[place]:
                        loads[name, topic] = counts[place]
                        lags[name, topic] = behind[place]
            yield Tally(
                count_loads=partial(dict, loads),
                count_lags=partial(dict, lags),
                moves=sum(hand[2] for hand in joined),
                mismatches=sum(hand[3] for hand in joined),
            )


def best_values(
    document: dict[str, Any], policy_text: str, claim_rule: str = "newest-claim"
) -> list[Value] | None:
    """Return the best values of one policy; see `Brute` for many."""
    return Brute(document, claim_rule=claim_rule).best(policy_text)


def _hands(case: Case, topic: str) -> set[Hand]:
    """Enumerate the assignments of one topic."""
    takers = case.subscribers[topic]
    nothing = (0,) * len(takers)
    hands: set[Hand] = {(nothing, nothing, 0, 0)}
    for number in range(case.partitions[topic]):
        hands = {
            _dealt(case, hand, place, name, topic, number)
            for hand in hands
            for place, name in enumerate(takers)
        }
        if len(hands) > HANDS_MAX:
            raise TooLarge(f"more than {HANDS_MAX} hands of one topic")
    return hands


def _dealt(
    case: Case, hand: Hand, place: int, name: str, topic: str, number: int
) -> Hand:
    counts, lags, moves, mismatches = hand
    behind = case.lag[topic][number] if topic in case.lag else 0
    owners = [m for (m, t), own in case.owned.items() if t == topic and number in own]
    replicas = case.replica_racks[topic][number] if topic in case.replica_racks else ()
    rack = case.member_rack.get(name)
    return (
        _plus(counts, place, 1),
        _plus(lags, place, behind),
        moves + (owners not in ([], [name])),
        mismatches + (rack is not None and len(replicas) > 0 and rack not in replicas),
    )


def _plus(values: tuple[int, ...], at: int, more: int) -> tuple[int, ...]:
    return (*values[:at], values[at] + more, *values[at + 1 :])


def _vector(case: Case, topic: str, hand: Hand) -> list[int]:
    if not case.partitions[topic]:
        return []
    common = common_capacity(case)
    weights = [common // case.capacity[name] for name in case.subscribers[topic]]
    scaled_counts = [n * w for n, w in zip(hand[0], weights, strict=True)]
    return sorted(scaled_counts, reverse=True)


def _topic_vector(case: Case, topic: str, tally: Tally) -> list[int]:
    names = case.subscribers[topic]
    counts = tuple(tally.loads.get((name, topic), 0) for name in names)
    return _vector(case, topic, (counts, (), 0, 0))


def _is_kip54(case: Case, tally: Tally) -> bool:
    loads = dict.fromkeys(case.wants, 0)
    for (member, _), count in tally.loads.items():
        loads[member] += count
    return all(
        loads[member] - loads[other] <= 1
        for member, topic in tally.loads
        for other in case.subscribers[topic]
    )
