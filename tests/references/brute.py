"""The best that a policy can get, by looking at everything: for tiny rebalances.

Assignments that are equal in all that policies ask are one *tally*, dealt by brute
force of the judge (`tests.verify.policy.test_brute_force` compares it with a list).
The definitions tell the allowed assignments, not chains or certificates.

Reaches into `verify.policy` for the judge's own values: the engines share none of it.
"""

from __future__ import annotations

from typing import Any

from verify import Case, TooLarge, case_of
from verify.policy.enumeration import states_of
from verify.policy.notation import Policy, read_policy
from verify.policy.objectives import (
    Tally,
    Value,
    common_capacity,
    load_vector,
    scaled,
    value_of,
)

TALLIES_MAX = 50_000
ALL = ("loads", "lags", "moves", "racks", "topics")


class Brute:
    """All assignments of one rebalance, counted once and compared under many policies.

    Raises
    ------
    TooLarge
        If more than ``TALLIES_MAX`` differ, or dealing them takes too many steps.
    """

    def __init__(
        self, document: dict[str, Any], *, claim_rule: str = "newest-claim"
    ) -> None:
        self.case = case_of(document, claim_rule=claim_rule)
        self._topics = [
            topic for topic, names in self.case.subscribers.items() if names
        ]
        self.tallies = states_of(self.case, ALL)
        if len(self.tallies) > TALLIES_MAX:
            raise TooLarge(f"more than {TALLIES_MAX} tallies")
        self._allowed: dict[str, list[Tally]] = {}
        self._even = {
            topic: min(self._topic_vector(topic, tally) for tally in self.tallies)
            for topic in self._topics
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
                    self._topic_vector(topic, tally) == self._even[topic]
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

    def _topic_vector(self, topic: str, tally: Tally) -> list[int]:
        common = common_capacity(self.case)
        return sorted(
            (
                tally.loads.get((name, topic), 0) * common // self.case.capacity[name]
                for name in self.case.subscribers[topic]
            ),
            reverse=True,
        )


def best_values(
    document: dict[str, Any], policy_text: str, claim_rule: str = "newest-claim"
) -> list[Value] | None:
    """Return the best values of one policy; see `Brute` for many."""
    return Brute(document, claim_rule=claim_rule).best(policy_text)


def _is_kip54(case: Case, tally: Tally) -> bool:
    loads = dict.fromkeys(case.wants, 0)
    for (member, _), count in tally.loads.items():
        loads[member] += count
    return all(
        loads[member] - loads[other] <= 1
        for member, topic in tally.loads
        for other in case.subscribers[topic]
    )
