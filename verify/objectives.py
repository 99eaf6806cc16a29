"""What an assignment is worth to a policy: each objective counted, in integers.

Loads and lags are divided by the capacity of their member. Nothing is rounded: values
are in units of 1 / scale, and ``scale // capacity`` is a whole number. All are better
when they are less; ``load``, a list, is compared word by word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import lcm

from verify.case import Case, Row
from verify.figures import kept, kip54_score, lags_in, rack_mismatches
from verify.policy import MEASURES, Level

Value = int | list[int]
Pair = tuple[str, str]  # member, topic


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """All that objectives and balances ask of an assignment.

    Attributes
    ----------
    loads : (member, topic) -> partitions, for pairs with any
    lags : (member, topic) -> records behind, for the same pairs
    moves : owned partitions that do not stay with their owner
    mismatches : partitions whose member's rack has no replica of them
    """

    loads: Mapping[Pair, int]
    lags: Mapping[Pair, int]
    moves: int
    mismatches: int


def tally_of(case: Case, rows: Sequence[Row]) -> Tally:
    """Count an assignment, each partition of it once a member."""
    return Tally(
        loads={(member, topic): len(numbers) for member, topic, numbers in rows},
        lags={(row[0], row[1]): lags_in(case, row) for row in rows},
        moves=sum(map(len, case.owned.values())) - kept(case, rows),
        mismatches=rack_mismatches(case, rows),
    )


def value_of(case: Case, tally: Tally, level: Level) -> Value:
    """Return the value of a level in units of 1 / `scale_of` it."""
    if level == ((1, "load"),):
        return load_vector(case, tally)
    whole = scale_of(case, level)
    return sum(
        weight * (whole // _scale(case, objective)) * _count(case, tally, objective)
        for weight, objective in level
    )


def scale_of(case: Case, level: Level) -> int:
    """Return the denominator of a level's value."""
    return lcm(*(_scale(case, objective) for _, objective in level))


def at_most(bound: object, limit: object) -> bool:
    """Compare two numbers, or two lists word by word; a number is no list."""
    if isinstance(bound, list) and isinstance(limit, list):
        return bound <= limit
    return isinstance(bound, int) and isinstance(limit, int) and bound <= limit


def common_capacity(case: Case) -> int:
    """Return the least common multiple of the capacities in play."""
    return lcm(*(case.capacity[name] for name in case.in_play))


def load_vector(case: Case, tally: Tally) -> list[int]:
    """Return the loads / capacity of members in play, largest first."""
    return sorted(scaled(case, tally.loads).values(), reverse=True)


def scaled(case: Case, amounts: Mapping[Pair, int]) -> dict[str, int]:
    """Add amounts up for each member in play and divide by its capacity."""
    common = common_capacity(case)
    totals = _by_member(case, amounts)
    return {name: n * (common // case.capacity[name]) for name, n in totals.items()}


def scaled_by_topic(
    case: Case, amounts: Mapping[Pair, int]
) -> Iterable[tuple[str, dict[str, int]]]:
    """Yield, topic by topic, what each subscriber has of it / its capacity."""
    common = common_capacity(case)
    unit = {name: common // case.capacity[name] for name in case.in_play}
    for topic, subscribers in case.subscribers.items():
        if subscribers and case.partitions[topic]:
            yield (
                topic,
                {m: amounts.get((m, topic), 0) * unit[m] for m in subscribers},
            )


def _count(case: Case, tally: Tally, objective: str) -> int:
    return _COUNTS[objective](case, tally)


def _scale(case: Case, objective: str) -> int:
    if objective in {"stickiness", "rack", *MEASURES}:
        return 1
    if objective == "lag-deviation":
        return _all_capacity(case)
    return common_capacity(case)


def _moves(_: Case, tally: Tally) -> int:
    return tally.moves


def _mismatches(_: Case, tally: Tally) -> int:
    return tally.mismatches


def _peak_lag(case: Case, tally: Tally) -> int:
    return max(scaled(case, tally.lags).values(), default=0)


def _lag_spread(case: Case, tally: Tally) -> int:
    return _apart(scaled(case, tally.lags))


def _topic_peak_lag(case: Case, tally: Tally) -> int:
    return sum(max(lags.values()) for _, lags in scaled_by_topic(case, tally.lags))


def _per_topic_spread(case: Case, tally: Tally) -> int:
    return sum(_apart(loads) for _, loads in scaled_by_topic(case, tally.loads))


def _deviation(case: Case, tally: Tally) -> int:
    """Sum |lag - fair share|; the share of a capacity w is all lag * w / W."""
    lags, together = _by_member(case, tally.lags), _all_capacity(case)
    total = sum(lags.values())
    return sum(
        abs(together * lag - total * case.capacity[name]) for name, lag in lags.items()
    )


def _kip54_score(case: Case, tally: Tally) -> int:
    return kip54_score(_counts(case, tally))


def _sum_of_squares(case: Case, tally: Tally) -> int:
    return sum(load * load for load in _counts(case, tally).values())


def _counts(case: Case, tally: Tally) -> dict[str, int]:
    """Count partitions of all members, with topics or without."""
    totals = dict.fromkeys(case.wants, 0)
    for (member, _), amount in tally.loads.items():
        totals[member] += amount
    return totals


def _all_capacity(case: Case) -> int:
    return max(1, sum(case.capacity[name] for name in case.in_play))


def _by_member(case: Case, amounts: Mapping[Pair, int]) -> dict[str, int]:
    totals = dict.fromkeys(case.in_play, 0)
    for (member, _), amount in amounts.items():
        if member in totals:
            totals[member] += amount
    return totals


def _apart(amounts: Mapping[str, int]) -> int:
    return max(amounts.values(), default=0) - min(amounts.values(), default=0)


_COUNTS: Mapping[str, Callable[[Case, Tally], int]] = {
    "stickiness": _moves,
    "peak-lag": _peak_lag,
    "topic-peak-lag": _topic_peak_lag,
    "lag-spread": _lag_spread,
    "lag-deviation": _deviation,
    "rack": _mismatches,
    "per-topic-spread": _per_topic_spread,
    "kip54-score": _kip54_score,
    "sum-of-squares": _sum_of_squares,
}
