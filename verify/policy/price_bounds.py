"""Lower bounds on moves and rack mismatches: by partition, by prices.

`verify.certificate` shows why prices bound a weighted sum of moves and mismatches. The
same argument holds where objectives before the balance leave each partition only the
members that are best for it (`verify.policy.best_alone`); and where each topic is even
by itself: there prices go by topic and member.

The bound says a*moves + b*mismatches >= B. Of all pairs of counts that this leaves, the
first in the policy's order is one that no assignment beats, level by level.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any

from verify.case import Case
from verify.certificate import cost_bound
from verify.policy.best_alone import (
    Values,
    added_values,
    counts,
    separate_values,
)
from verify.policy.feasible_region import Region
from verify.policy.notation import LOAD, Level, Policy
from verify.policy.objectives import Tally, value_of
from verify.policy.pigeonhole import compared
from verify.policy.work import Work

Weights = Mapping[str, int]
KINDS = frozenset({"separate", "prices"})


def is_linear(level: Level) -> bool:
    """Return whether a level counts moves and rack mismatches only."""
    return {"stickiness", "rack"}.issuperset(objective for _, objective in level)


def split(policy: Policy) -> tuple[list[str], list[str]]:
    """Return the sums of moves and mismatches before and after balance is settled.

    Balance is settled by ``load``, or by dec-min from the start; a level of another
    sort ends both lists.
    """

    def is_settled(of: str) -> bool:
        return policy.levels[of] == LOAD or is_linear(policy.levels[of])

    settled = list(takewhile(is_settled, policy.levels))
    if policy.balance == "dec-min":
        return [], [of for of in settled if of != "load"]
    at = settled.index("load") if "load" in settled else len(settled)
    return settled[:at], settled[at + 1 :]


def priced_term_fails(
    case: Case,
    policy: Policy,
    region: Region,
    tally: Tally,
    of: str,
    term: Mapping[str, Any],
    work: Work,
) -> dict[str, Any] | None:
    """Return why a term of moves and mismatches does not prove its bound, or None.

    ``separate``: the costs of partitions alone; ``prices``: by prices, under per-topic.
    A level after others is bounded for assignments as good in these, or else by itself.
    """
    level = policy.levels[of]
    if not is_linear(level) or (
        term["kind"] == "prices" and policy.balance != "per-topic"
    ):
        return {"fails": "kind"}
    names = [name for name, level in policy.levels.items() if is_linear(level)]
    levels = [policy.levels[name] for name in names[: names.index(of) + 1]]
    by_rack = (
        counts("rack", levels)
        if term["kind"] == "separate"
        else term.get("weight", {}).get("rack", 0) > 0
    )
    refused = work.refuse_passes(case, 1 + len(levels), by_rack=by_rack)
    if refused is not None:
        return refused
    found = _bounds(case, policy, region, term, levels)
    before = tuple(value_of(case, tally, level) for level in levels[:-1])
    if found is None or found[:-1] != before:
        found = _bounds(case, policy, region, term, [level])
    if found is None:
        return {"fails": "budget"}
    return compared(term, found[-1])


def _bounds(
    case: Case,
    policy: Policy,
    region: Region,
    term: Mapping[str, Any],
    levels: Sequence[Level],
) -> Values | None:
    """Return the least values of levels by a term; None: none that it leaves."""
    if term["kind"] == "separate":
        return separate_values(case, levels)
    prices, weights = term.get("price", {}), term.get("weight", {})
    priced = [(pool, prices.get(pool.topics[0], {})) for pool in region.pools]
    bound = cost_bound(case, priced, weights)
    return least_values(case, levels, weights, bound, policy.max_moves)


def level_bounds(
    case: Case, policy: Policy, tally: Tally, weights: Weights, bound: int
) -> dict[str, int]:
    """Return the bounds by level from a bound on weighted moves and mismatches.

    Each level after balance is bounded for assignments as good in the levels before;
    from the first in which this one is not, each level is bounded by itself. Nothing is
    proved where no assignment is within the budget.
    """

    def bounds(names: Sequence[str]) -> dict[str, int]:
        levels = [policy.levels[of] for of in names]
        least = least_values(case, levels, weights, bound, policy.max_moves)
        return {} if least is None else dict(zip(names, least, strict=True))

    found: dict[str, int] = {}
    if policy.balance == "dec-min":
        for of, level in policy.levels.items():
            found |= bounds([of]) if is_linear(level) else {}
    for of, value in bounds(split(policy)[1]).items():
        found[of] = value
        if value != value_of(case, tally, policy.levels[of]):
            break
    return found


def least_values(
    case: Case,
    levels: Sequence[Level],
    weights: Weights,
    bound: int,
    max_moves: int | None = None,
) -> Values | None:
    """Return the first in order of all pairs of counts that a bound leaves.

    Moves are at most those owned and the budget, mismatches at most one per partition.
    More mismatches make no level less, so the fewest are enough for each number of
    moves; and so are the fewest moves where mismatches do not depend on them.
    """
    per_move, per_mismatch = weights.get("stickiness", 0), weights.get("rack", 0)
    partitions = sum(case.partitions.values())
    most = case.owned_count if max_moves is None else min(case.owned_count, max_moves)
    best: Values | None = None
    short = bound - per_mismatch * partitions
    first = max(0, -(-short // per_move)) if per_move else 0
    for moves in range(first, most + 1):
        missing = bound - per_move * moves
        mismatches = max(0, -(-missing // per_mismatch)) if per_mismatch else 0
        if missing <= per_mismatch * mismatches and mismatches <= partitions:
            found = added_values(levels, moves, mismatches)
            best = found if best is None else min(best, found)
        if missing <= 0 or not per_move:
            break
    return best
