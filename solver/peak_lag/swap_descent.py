"""Bring the lag of every member under its cap by moves and swaps that keep most owners.

Steepest descent: the member furthest above its cap swaps one partition with another
member, so that the lag above the caps falls most per partition that leaves its owner.
Where no swap helps, its largest partition is handed to another member that can hold it.
From the stickiest assignment, a few swaps usually suffice, and nearly all is kept.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from rebalance import Bools, Int32, Int64, always_compiled
from solver.peak_lag.exchange import SearchState, excess_of
from solver.peak_lag.feasible_region import (
    END,
    FeasibleRegion,
    MemberLists,
    cell_of,
    member_lists,
    reassign,
    topic_position,
)
from solver.peak_lag.lag_instance import LagInstance
from solver.peak_lag.work import Work

_STEPS: Final = 20_000_000
"""Pairs of partitions that a descent compares, relocations included."""

_STEPS_PER_LOOKUP: Final = 10
"""Steps that count for the position of a topic among those of a member."""

_CYCLE_STEPS: Final = 5_000_000
"""Steps of a descent for cycles of three swaps, where a swap does not help."""

_PAIRS: Final = 2_000_000
"""Pairs compared for one swap; of more, every n-th partition is tried."""


def descend(
    lag_instance: LagInstance, start: Int32, peak: int, work: Work
) -> tuple[Int32, bool]:
    """Swap from a feasible assignment towards a peak lag, with few moves.

    Returns
    -------
    int32 (P,) and bool
        Holders, and whether they are within the peak.
    """
    region = lag_instance.region
    cap = np.minimum(peak // region.unit, int(region.lag.sum()))
    lists, left = member_lists(region, start), _STEPS
    order = np.argsort(region.lag, kind="stable")
    excess, spent = swap_down(_state(lag_instance, lists, cap), order, END, left)
    while excess > 0 and spent < left and work.exceeded() is None:
        work.spend(2 * spent)
        left -= spent
        found, lists, excess, spent = relocate(
            _state(lag_instance, lists, cap), order, excess, left
        )
        if not found:
            break
    work.spend(2 * spent)
    return lists.holder, excess == 0


def _state(lag_instance: LagInstance, lists: MemberLists, cap: Int64) -> SearchState:
    rng = np.zeros(1, np.uint64)  # nothing is drawn
    return SearchState(lag_instance.region, lists, lag_instance.owner, cap, rng)


@always_compiled
def swap_down(
    state: SearchState, order: Int64, fixed: int, effort: int
) -> tuple[int, int]:
    """Swap while that helps; return the lag above the caps, summed up, and the steps.

    ``order`` sorts the partitions by lag; ``fixed`` stays where it is. A member that no
    swap helps is passed over until another swap changes something.
    """
    cap, lists = state.cap, state.lists
    is_stuck = np.zeros(cap.size, np.bool_)
    # With counts by topic, a cycle within one topic would do no more than a swap.
    spent, cycles = 0, 0 if state.region.by_topic else _CYCLE_STEPS
    while spent < effort:
        c = _furthest_above(state, is_stuck)
        if c == END:
            break
        spent += cap.size + lists.load[c] * lists.holder.size
        p, q, gain = _best_swap(state, c, fixed, spent)
        moved, to, gain_of_move = _best_move(state, c, fixed)
        if moved != END and gain_of_move >= gain:
            reassign(state.region, lists, moved, to)
            is_stuck[:] = False
            continue
        if p != END:
            reassign(state.region, lists, p, lists.holder[q])
            reassign(state.region, lists, q, c)
            is_stuck[:] = False
            continue
        p, q, r, steps = _best_cycle(
            state, order, c, fixed, min(cycles, effort - spent)
        )
        spent, cycles = spent + steps, cycles - steps
        if r == END:
            is_stuck[c] = True
            continue
        d, e = lists.holder[r], lists.holder[q]
        reassign(state.region, lists, p, d)
        reassign(state.region, lists, r, e)
        reassign(state.region, lists, q, c)
        is_stuck[:] = False
    return excess_of(state, np.arange(cap.size)), spent


@always_compiled
def _furthest_above(state: SearchState, is_stuck: Bools) -> int:
    """Return the member furthest above its cap; END if there is none."""
    found, most = END, 0
    for c in range(state.cap.size):
        above = state.lists.total[c] - state.cap[c]
        if above > most and not is_stuck[c]:
            found, most = c, above
    return found


@always_compiled
def _best_swap(
    state: SearchState, c: int, fixed: int, turn: int
) -> tuple[int, int, float]:
    """Return the partition of c to give, the one to receive, and the gain ÷ cost.

    END if none helps.
    """
    region, lists, cap = state.region, state.lists, state.cap
    mine = lists.total[c] - cap[c]
    size = region.lag.size
    stride = max(1, lists.load[c] * size // _PAIRS)
    best_p, best_q, best = END, END, 0.0
    p = lists.head[c]
    while p != END:
        for q in range(turn % stride, size if p != fixed else 0, stride):
            less, d = region.lag[p] - region.lag[q], lists.holder[q]
            if less <= 0 or d == c:
                continue
            theirs = lists.total[d] - cap[d]
            gain = _gain(mine, theirs, less)
            if gain <= best:  # a swap that costs no move at all counts once
                continue
            score = gain / _cost(state, p, q)
            if score > best and _can_swap(region, p, c, q, d):
                best_p, best_q, best = p, q, score
        p = lists.after[p]
    return best_p, best_q, best


@always_compiled
def _gain(mine: int, theirs: int, less: int) -> int:
    """Return the decrease of lag above two caps, from the lag above each before."""
    after = max(mine - less, 0) + max(theirs + less, 0)
    return mine + max(theirs, 0) - after


@always_compiled
def _best_move(state: SearchState, c: int, fixed: int) -> tuple[int, int, float]:
    """Return the partition of c to give to a member, and the gain ÷ cost, as above.

    Counts have to allow that c holds one less, and the other one more.
    """
    region, lists, cap = state.region, state.lists, state.cap
    mine = lists.total[c] - cap[c]
    best_p, best_d, best = END, END, 0.0
    p = lists.head[c]
    while p != END:
        t, cost = region.topic[p], 1 + int(state.owner[p] == c)
        cell = cell_of(region, t, c)
        can_give = p != fixed and lists.counts[cell] > region.least[cell]
        for d in range(cap.size if can_give else 0):
            gain = _gain(mine, lists.total[d] - cap[d], region.lag[p])
            if d == c or gain <= best * cost or topic_position(region, t, d) < 0:
                continue
            other = cell_of(region, t, d)
            if lists.counts[other] < region.most[other]:
                best_p, best_d, best = p, d, gain / cost
        p = lists.after[p]
    return best_p, best_d, best


@always_compiled
def _best_cycle(
    state: SearchState, order: Int64, c: int, fixed: int, effort: int
) -> tuple[int, int, int, int]:
    """Return p, q and r so that c gives p to the holder of r, who gives r to that of q.

    The one that lowers the lag of c most, and keeps the others under their caps. END if
    there is none, or once the effort is spent; then the steps.
    """
    region, lists = state.region, state.lists
    best_p, best_q, best_r = END, END, END
    best, spent = 0, 0
    p = lists.head[c]
    while p != END and spent < effort:
        takers = _takers(state, p)
        spent += state.cap.size * _STEPS_PER_LOOKUP
        for q in order[: order.size if takers.size and p != fixed else 0]:
            less = region.lag[p] - region.lag[q]
            if less <= best or spent >= effort:
                break
            spent += _STEPS_PER_LOOKUP
            is_mine = lists.holder[q] == c
            if is_mine or topic_position(region, region.topic[q], c) < 0:
                continue
            r, steps = _between(state, takers, p, q)
            spent += steps
            if r != END:
                best_p, best_q, best_r, best = p, q, r, less
                break
        p = lists.after[p]
    return best_p, best_q, best_r, spent


@always_compiled
def _takers(state: SearchState, p: int) -> Int64:
    """Return the members that can take p, if they give their largest partition."""
    region, lists, cap = state.region, state.lists, state.cap
    found, end = np.empty(cap.size, np.int64), 0
    for d in range(cap.size):
        if d == lists.holder[p] or topic_position(region, region.topic[p], d) < 0:
            continue
        largest = _largest(state, d, d)
        rest = lists.total[d] - (0 if largest == END else region.lag[largest])
        if largest != END and rest + region.lag[p] <= cap[d]:
            found[end] = d
            end += 1
    return found[:end]


@always_compiled
def _between(state: SearchState, takers: Int64, p: int, q: int) -> tuple[int, int]:
    """Return a partition whose holder can take p, and which that of q can; the steps.

    One that does not leave its owner if possible.
    """
    region, lists, cap = state.region, state.lists, state.cap
    e = lists.holder[q]
    most = cap[e] - lists.total[e] + region.lag[q]
    found, spent = END, 0
    for d in takers:
        spent += lists.load[d] * _STEPS_PER_LOOKUP
        least = lists.total[d] + region.lag[p] - cap[d]
        r = lists.head[d] if d != e else END
        while r != END:
            is_owned = state.owner[r] == d
            fits = least <= region.lag[r] <= most and (found == END or not is_owned)
            if fits and topic_position(region, region.topic[r], e) >= 0:
                found = r
                if not is_owned:
                    return found, spent
            r = lists.after[r]
    return found, spent


@always_compiled
def _cost(state: SearchState, p: int, q: int) -> int:
    """Return 1 for each partition that leaves its owner, and 1 for the swap."""
    owner, c, d = state.owner, state.lists.holder[p], state.lists.holder[q]
    leaves = int(owner[p] == c) + int(owner[q] == d)
    returns = int(owner[p] == d) + int(owner[q] == c)
    return 1 + max(leaves - returns, 0)


@always_compiled
def _can_swap(region: FeasibleRegion, p: int, c: int, q: int, d: int) -> bool:
    t, u = region.topic[p], region.topic[q]
    if region.by_topic and t != u:
        return False
    is_mine_held = topic_position(region, t, d) >= 0
    return is_mine_held and topic_position(region, u, c) >= 0


@always_compiled
def relocate(
    state: SearchState, order: Int64, excess: int, effort: int
) -> tuple[bool, MemberLists, int, int]:
    """Hand the largest partition of the member furthest above its cap to another.

    Each member is tried whose smallest
    partitions would leave room for it; the first after which swaps leave less above
    the caps is taken.

    Returns
    -------
    bool, MemberLists, int and int
        Whether one was found; the lists then; the lag above the caps; the steps.
    """
    region, lists, cap = state.region, state.lists, state.cap
    spent = 0
    c = _furthest_above(state, np.zeros(cap.size, np.bool_))
    p = _largest(state, c, c)
    for d in range(cap.size):
        if spent >= effort:
            break
        if d == c or p == END or topic_position(region, region.topic[p], d) < 0:
            continue
        spent += order.size
        if region.lag[p] + _least_rest(state, order, p, d) > cap[d]:
            continue
        q = _largest(state, d, c)
        if q == END or not _can_swap(region, p, c, q, d):
            continue
        trial = _copy(lists)
        reassign(region, trial, p, d)
        reassign(region, trial, q, c)
        changed = SearchState(region, trial, state.owner, cap, state.rng)
        left, steps = swap_down(changed, order, p, effort - spent)
        spent += steps
        if left < excess:
            return True, trial, left, spent
    return False, lists, excess, spent


@always_compiled
def _largest(state: SearchState, member: int, other: int) -> int:
    """Return the largest partition of a member that another can hold; END if none."""
    region, lists = state.region, state.lists
    found, p = END, lists.head[member]
    while p != END:
        can_hold = topic_position(region, region.topic[p], other) >= 0
        if can_hold and (found == END or region.lag[p] > region.lag[found]):
            found = p
        p = lists.after[p]
    return found


@always_compiled
def _least_rest(state: SearchState, order: Int64, p: int, member: int) -> int:
    """Return the least lag that a member can hold next to p."""
    region, least = state.region, int(state.lists.load[member])
    if not region.by_topic:
        least = int(region.least[region.cell[member]])
    left = least - 1
    total = 0
    for q in order:
        if left <= 0:
            break
        if q != p and topic_position(region, region.topic[q], member) >= 0:
            total += region.lag[q]
            left -= 1
    return total


@always_compiled
def _copy(lists: MemberLists) -> MemberLists:
    return MemberLists(
        lists.holder.copy(),
        lists.head.copy(),
        lists.after.copy(),
        lists.before.copy(),
        lists.total.copy(),
        lists.load.copy(),
        lists.counts.copy(),
    )
