"""The objectives of a policy, counted exactly, in integers.

Loads and lags are divided by the capacity of their member. Nothing is rounded: values
are in units of 1 / scale, and ``scale // capacity`` is an integer. Less is better for
all of them; ``load``, a list, is compared lexicographically.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import lcm
from typing import Final

from verify.case import Case
from verify.columns import Columns
from verify.figures import count_kept, of_held, rack_mismatches
from verify.policy.notation import LOAD, Level, Policy
from verify.schema import Unreadable

Value = int | list[int]
Pair = tuple[str, str]  # member, topic

SCALE_BITS: Final = 10_000
"""Bits of a scale, at most: 3,011 digits, where Python converts up to 4,300 to text."""


@dataclass(frozen=True, kw_only=True)
class Tally:
    """All that objectives and constraints need of an assignment.

    Most policies need neither loads nor lags of pairs, of which there can be a million.
    """

    count_loads: Callable[[], Mapping[Pair, int]]
    count_lags: Callable[[], Mapping[Pair, int]]
    of_members: Mapping[str, int] | None = None  # loads, if they are known
    moves: int  # owned partitions that do not stay with their owner
    mismatches: int  # partitions whose member's rack has no replica of them

    @cached_property
    def loads(self) -> Mapping[Pair, int]:
        """Partitions, for pairs with any."""
        return self.count_loads()

    @cached_property
    def lags(self) -> Mapping[Pair, int]:
        """Records, for the same pairs."""
        return self.count_lags()


def tally_of(
    case: Case,
    columns: Columns,
    counted: Mapping[str, int] | None = None,
    loads: Mapping[str, int] | None = None,
) -> Tally:
    """Count an assignment without repeated partitions; take existing counts.

    That can be its figures, and the loads of members.
    """
    if counted is None:
        counted = {
            "moves": case.owned_count - count_kept(case, columns),
            "rack_mismatches": rack_mismatches(case, columns),
        }
    return Tally(
        count_loads=lambda: Counter(_pairs(case, columns)),
        count_lags=lambda: _pair_lags(case, columns),
        of_members=loads,
        moves=counted["moves"],
        mismatches=counted["rack_mismatches"],
    )


def _pair_lags(case: Case, columns: Columns) -> dict[Pair, int]:
    found: dict[Pair, int] = {}
    lags = of_held(case.all_lags, columns)
    for pair, lag in zip(_pairs(case, columns), lags, strict=True):
        found[pair] = found.get(pair, 0) + lag
    return found


def _pairs(case: Case, columns: Columns) -> Iterator[Pair]:
    return zip(columns.members, of_held(case.all_topics, columns), strict=True)


def value_of(case: Case, tally: Tally, level: Level) -> Value:
    """Return the value of a level in units of 1 / `scale_of` it."""
    if level == LOAD:
        return load_vector(case, tally)
    whole = scale_of(case, level)
    return sum(
        weight * (whole // _scale(case, objective)) * _COUNTS[objective](case, tally)
        for weight, objective in level
    )


def scale_of(case: Case, level: Level) -> int:
    """Return the denominator of a level's value."""
    return lcm(*(_scale(case, objective) for _, objective in level))


def check_scales(case: Case, policy: Policy) -> None:
    """Check that the scale of every level, and of a spread, has few enough bits.

    Raises
    ------
    Unreadable
        If not: the capacities in play have no common multiple below 2^10,000.
    """
    objectives = {
        objective for level in policy.levels.values() for _, objective in level
    }
    if policy.balance != "spread" and not any(map(_divides, objectives)):
        return
    common = 1
    for capacity in {case.capacity[name] for name in case.in_play}:
        common = lcm(common, capacity)
        if common.bit_length() > SCALE_BITS:
            reason = f"capacities have no common multiple below 2^{SCALE_BITS}"
            raise Unreadable(f"{reason}, and the policy divides by them", ("members",))


def at_most(bound: object, limit: object) -> bool:
    """Compare two numbers, or two lists lexicographically; a number is not a list."""
    if isinstance(bound, list) and isinstance(limit, list):
        return bound <= limit
    return isinstance(bound, int) and isinstance(limit, int) and bound <= limit


def common_capacity(case: Case) -> int:
    """Return the least common multiple of the capacities in play."""
    return lcm(*(case.capacity[name] for name in case.in_play))


def load_vector(case: Case, tally: Tally) -> list[int]:
    """Return the loads / capacity of members in play, largest first."""
    return sorted(scaled_loads(case, tally).values(), reverse=True)


def scaled_loads(case: Case, tally: Tally) -> dict[str, int]:
    """Return the loads of members in play, scaled as in `scaled`."""
    common = common_capacity(case)
    loads = _member_loads(case, tally).items()
    return {name: load * (common // case.capacity[name]) for name, load in loads}


def scaled(case: Case, amounts: Mapping[Pair, int]) -> dict[str, int]:
    """Sum amounts per member in play, divided by its capacity, times the scale."""
    common = common_capacity(case)
    totals = _by_member(case, amounts)
    return {name: n * (common // case.capacity[name]) for name, n in totals.items()}


def scaled_by_topic(
    case: Case, amounts: Mapping[Pair, int]
) -> Iterable[tuple[str, dict[str, int]]]:
    """Yield per topic the load of each subscriber, scaled as in `scaled`."""
    common = common_capacity(case)
    unit = {name: common // case.capacity[name] for name in case.in_play}
    for topic, subscribers in case.subscribers.items():
        if subscribers and case.partitions[topic]:
            held = {m: amounts.get((m, topic), 0) * unit[m] for m in subscribers}
            yield topic, held


def _scale(case: Case, objective: str) -> int:
    if objective == "lag-deviation":
        return _all_capacity(case)
    return common_capacity(case) if _divides(objective) else 1


def _divides(objective: str) -> bool:
    """Return whether an objective divides by capacities one by one."""
    return objective not in {"stickiness", "rack", "lag-deviation", "sum-of-squares"}


def _deviation(case: Case, tally: Tally) -> int:
    """Sum |lag - fair share|; the share of a capacity w is all lag * w / W."""
    lags, together = _by_member(case, tally.lags), _all_capacity(case)
    total = sum(lags.values())
    return sum(
        abs(together * lag - total * case.capacity[name]) for name, lag in lags.items()
    )


def _all_capacity(case: Case) -> int:
    return max(1, sum(case.capacity[name] for name in case.in_play))


def _member_loads(case: Case, tally: Tally) -> dict[str, int]:
    if tally.of_members is None:
        return _by_member(case, tally.loads)
    return {name: tally.of_members[name] for name in case.in_play}


def _by_member(case: Case, amounts: Mapping[Pair, int]) -> dict[str, int]:
    totals = dict.fromkeys(case.in_play, 0)
    for (member, _), amount in amounts.items():
        if member in totals:
            totals[member] += amount
    return totals


def _spread(amounts: Mapping[str, int]) -> int:
    return max(amounts.values(), default=0) - min(amounts.values(), default=0)


_COUNTS: Mapping[str, Callable[[Case, Tally], int]] = {
    "stickiness": lambda _, tally: tally.moves,
    "rack": lambda _, tally: tally.mismatches,
    "peak-lag": lambda case, tally: max(scaled(case, tally.lags).values(), default=0),
    "topic-peak-lag": lambda case, tally: sum(
        max(lags.values()) for _, lags in scaled_by_topic(case, tally.lags)
    ),
    "lag-spread": lambda case, tally: _spread(scaled(case, tally.lags)),
    "lag-deviation": _deviation,
    "per-topic-spread": lambda case, tally: sum(
        _spread(loads) for _, loads in scaled_by_topic(case, tally.loads)
    ),
    "sum-of-squares": lambda case, tally: sum(
        load * load for load in _member_loads(case, tally).values()
    ),
}
