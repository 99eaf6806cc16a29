"""Iterated local search: bring the lag of every member under its cap, by exchanges.

Follows Lourenço, Martin and Stützle, *Iterated local search*, 2003. The search passes
through feasible assignments and never lets the lag above the caps, summed up, grow, but
for a perturbation when it is stuck. Effort is counted in steps and not in seconds, so
the same seed gives the same assignments; callers check the clock between calls.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from rebalance import Int32, Int64, always_compiled
from solver.peak_lag.exchange import (
    SearchState,
    excess_of,
    exchange,
    random_below,
    release,
)
from solver.peak_lag.feasible_region import END, FeasibleRegion, MemberLists, peak_of

_ITEMS: Final = (12, 18, 24)
"""Partitions that an exchange releases: more of them where fewer did not help."""

_STEPS_PER_EXCHANGE: Final = 4000
"""Steps of an exchange without the subset sum and the search for its members."""

_LARGE_LOAD: Final = 200
"""Load of two members from which on 12 or 18 of their partitions rarely help."""


class LocalOptimum(NamedTuple):
    """Where a local search ended."""

    excess: int  # lag above the caps, summed up, at the end; 0: all caps are met
    peak: int  # least peak among the end and the assignments that were perturbed
    holder: Int32  # (P,): the assignment that has it
    spent: int  # steps


@always_compiled
def search_locally(
    region: FeasibleRegion,
    lists: MemberLists,
    owner: Int32,
    cap: Int64,
    seed: int,
    effort: int,
) -> LocalOptimum:
    """Exchange until nothing is above its cap, or the effort is spent.

    Parameters
    ----------
    region, lists, owner, cap
        As in `SearchState`.
    effort : int
        Steps, of about a nanosecond each.
    """
    rng = np.array([seed], np.uint64)
    state = SearchState(region, lists, owner, cap, rng)
    members = np.arange(region.unit.size)
    excess = excess_of(state, members)
    peak, holder = peak_of(region, lists.total), lists.holder.copy()
    least, idle, spent = excess, 0, 0
    while excess > 0 and spent < effort:
        c = _draw_member(state)
        d = _draw_partner(state, c)
        spent += members.size + _STEPS_PER_EXCHANGE
        if d == END:
            idle += 1
            continue
        load = lists.load[c] + lists.load[d]
        spent += load
        # A phase is about two exchanges per member without a new least excess. Phases 0
        # to 2 release more and more partitions; then perturb.
        phase = idle // (2 * members.size + 10)
        pair = np.array([c, d])
        excess -= excess_of(state, pair)
        items = _ITEMS[2 if load > _LARGE_LOAD else min(phase, 2)]
        spent += _exchange_up_to_cap(state, c, d, items)
        excess += excess_of(state, pair)
        idle += 1
        if excess < least:
            least, idle = excess, 0
        if phase >= len(_ITEMS):
            if peak_of(region, lists.total) < peak:
                peak, holder = peak_of(region, lists.total), lists.holder.copy()
            _perturb(state)
            excess = excess_of(state, members)
            least, idle = excess, 0
    if peak_of(region, lists.total) < peak:
        peak, holder = peak_of(region, lists.total), lists.holder.copy()
    return LocalOptimum(excess, peak, holder, spent)


@always_compiled
def _draw_member(state: SearchState) -> int:
    """Draw a member above its cap, the furthest above or any; one in ten times, any.

    Two members that are both below their caps can pool their remaining room.
    """
    cap = state.cap
    start = random_below(state.rng, cap.size)
    turn = random_below(state.rng, 10)
    if turn == 0:
        return start
    best, most = start, 0
    for i in range(cap.size):
        c = (start + i) % cap.size
        above = state.lists.total[c] - cap[c]
        if above > most:
            best, most = c, above
            if turn < 5:
                return best
    return best


@always_compiled
def _draw_partner(state: SearchState, c: int) -> int:
    """Draw a member eligible for a partition of c: furthest below its cap, or any."""
    region, lists, cap, rng = state.region, state.lists, state.cap, state.rng
    if lists.load[c] == 0:
        d = random_below(rng, cap.size)
        return d if d != c else END
    p = lists.head[c]
    for _ in range(random_below(rng, lists.load[c])):
        p = lists.after[p]
    t = region.topic[p]
    start, end = region.topic_class_offsets[t : t + 2]
    classes = region.topic_classes[start:end]
    if random_below(rng, 2) == 0:
        k = classes[random_below(rng, classes.size)]
        start, end = region.class_member_offsets[k : k + 2]
        d = region.class_members[start + random_below(rng, end - start)]
        return d if d != c else END
    best, most = END, 0
    for k in classes:
        start, end = region.class_member_offsets[k : k + 2]
        for d in region.class_members[start:end]:
            below = cap[d] - lists.total[d]
            if d != c and (best == END or below > most):
                best, most = d, below
    return best


@always_compiled
def _exchange_up_to_cap(state: SearchState, c: int, d: int, items: int) -> int:
    """Exchange between two, one of them up to its cap; return the steps."""
    released = release(state, np.array([c, d]), items)
    cap, total, rng = state.cap, state.lists.total, state.rng
    if random_below(rng, 2) == 0:
        c, d = d, c
    target = cap[c]
    slack = cap[c] - total[c] - total[d] + cap[d]
    if random_below(rng, 4) == 0:
        target -= random_below(rng, abs(slack) + 1)
    exchange(state, released, c, d, target)
    return 8 << ((released.item.size + 1) // 2)


@always_compiled
def _perturb(state: SearchState) -> None:
    """Exchange a few partitions at random three times, whatever the caps."""
    lists, rng = state.lists, state.rng
    for _ in range(3):
        c = random_below(rng, state.cap.size)
        d = _draw_partner(state, c)
        if d == END or lists.load[c] == 0 or lists.load[d] == 0:
            continue
        released = release(state, np.array([c, d]), 4)
        total = lists.total[c] + lists.total[d]
        cap = np.full(state.cap.size, total)
        uncapped = SearchState(state.region, lists, state.owner, cap, rng)
        target = random_below(rng, total)
        exchange(uncapped, released, c, d, target)
