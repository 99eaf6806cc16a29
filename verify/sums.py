"""Terms for moves, rack mismatches and their sums, level by level.

``separate``. No assignment costs less than all partitions do when each is alone.

``prices``. Where each topic is even by itself, prices by topic and member bound what
weighted moves and mismatches come to (`verify.prices`).

Both speak of several levels in their order: what a later one cannot be below is said of
who is as good in those before. So they are asked about all levels up to one while the
answer is as good as they say, and from there on about that level alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from verify.case import Case
from verify.objectives import Tally, value_of
from verify.policy import Level, Policy
from verify.prices import (
    LINEAR,
    least_values,
    priced_topics_bound,
    separate_values,
)

Reason = dict[str, Any]
Term = Mapping[str, Any]
Least = Callable[[Sequence[Level]], tuple[int, ...] | None]

KINDS = frozenset({"separate", "prices"})


def sum_term_fails(
    case: Case, policy: Policy, tally: Tally, of: str, term: Term
) -> Reason | None:
    """Return why a term of these kinds does not prove its bound, or None."""
    if not _is_linear(policy.levels[of]):
        return {"fails": "kind"}
    if term["kind"] == "separate":
        found = _least_in_order(
            case, policy, tally, of, lambda levels: separate_values(case, levels)
        )
    else:
        odd = _odd_prices(case, policy, term)
        if odd is not None:
            return odd
        weights, price = term.get("weight", {}), term.get("price", {})
        bound = priced_topics_bound(case, price, weights)
        found = _least_in_order(
            case,
            policy,
            tally,
            of,
            lambda levels: least_values(case, levels, weights, bound, policy.max_moves),
        )
    if found is None:
        return {"fails": "budget"}
    return None if term["bound"] <= found else {"fails": "bound", "found": found}


def _odd_prices(case: Case, policy: Policy, term: Term) -> Reason | None:
    """Return what of prices means nothing: where, of what, or for what topic."""
    if policy.balance != "per-topic":
        return {"fails": "balance"}
    for name in term.get("weight", ()):
        if name not in LINEAR:
            return {"fails": "weight", "objective": name}
    for topic, prices in term.get("price", {}).items():
        if topic not in case.partitions or isinstance(prices, int):
            return {"fails": "price", "topic": topic}
    return None


def _least_in_order(
    case: Case, policy: Policy, tally: Tally, of: str, least: Least
) -> int | None:
    level, before = policy.levels[of], []
    for name, one in policy.levels.items():
        if name == of:
            break
        before += [one] if _is_linear(one) else []
    found = least([*before, level])
    reached = tuple(value_of(case, tally, one) for one in before)
    if found is None or found[:-1] != reached:
        found = least([level])
    return None if found is None else found[-1]


def _is_linear(level: Level) -> bool:
    return LINEAR.issuperset(objective for _, objective in level)
