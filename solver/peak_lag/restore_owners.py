"""Return partitions to their owners within a peak lag.

Two assignments are improved, and the better is kept: the one with the least peak, and
the stickiest of all, brought under the peak by swaps, or by local search from where
swaps end. In both, partitions move or swap back to their owners while the peak allows
it.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from rebalance import NOBODY, Int32, always_compiled
from solver.peak_lag.exchange import SearchState
from solver.peak_lag.feasible_region import (
    END,
    cell_of,
    member_lists,
    reassign,
    topic_position,
)
from solver.peak_lag.lag_instance import LagInstance
from solver.peak_lag.local_search import search_locally
from solver.peak_lag.swap_descent import descend
from solver.peak_lag.work import Work

_PIECE_STEPS: Final = 50_000_000
_PIECES: Final = 8
_STEPS_AFTER_SWAPS: Final = 20_000_000
_SCANNED: Final = 5_000_000
"""Partitions scanned between two checks of the limits."""


def restore_owners(
    lag_instance: LagInstance,
    holder: Int32,
    stickiest: Int32 | None,
    peak: int,
    work: Work,
    *,
    by_swaps: bool,
) -> Int32:
    """Return an assignment within the peak that keeps more, or the same.

    Parameters
    ----------
    holder : int32 (P,)
        Within the peak.
    stickiest : int32 (P,) or None
        The feasible assignment that keeps most, whatever its peak.
    by_swaps : bool
        Whether it is brought under the peak by swaps first: in large groups.
    """
    region = lag_instance.region
    cap = np.minimum(peak // region.unit, int(region.lag.sum()))
    starts = [holder]
    if stickiest is not None:
        start = _brought_under(lag_instance, stickiest, peak, work, by_swaps=by_swaps)
        starts += [] if start is None else [start]
    best, most = holder, -1
    for start in starts:
        lists = member_lists(region, start)
        rng = np.zeros(1, np.uint64)  # nothing is drawn
        state = SearchState(region, lists, lag_instance.owner, cap, rng)
        while _restore_all(state, work):
            pass
        kept = int((lists.holder == lag_instance.owner).sum())
        if kept > most:
            best, most = lists.holder, kept
    return best


def _brought_under(
    lag_instance: LagInstance, start: Int32, peak: int, work: Work, *, by_swaps: bool
) -> Int32 | None:
    """Search for an assignment within the peak, by swaps first or by local search."""
    pieces, steps = _PIECES, _PIECE_STEPS
    if by_swaps:
        start, is_within = descend(lag_instance, start, peak, work)
        if is_within:
            return start
        pieces, steps = 1, _STEPS_AFTER_SWAPS
    region = lag_instance.region
    cap = np.minimum(peak // region.unit, int(region.lag.sum()))
    lists = member_lists(region, start)
    piece = steps + 50_000 * cap.size
    for seed in range(pieces):
        if work.exceeded() is not None:
            return None
        found = search_locally(region, lists, np.zeros(0, np.int32), cap, seed, piece)
        work.spend(int(found.spent))
        if found.excess == 0:
            return lists.holder
    return None


def _restore_all(state: SearchState, work: Work) -> int:
    """Pass over the partitions once; return how many more are kept."""
    gained, size = 0, state.owner.size
    load = max(1, size // max(1, state.cap.size))  # the partitions that a swap scans
    step = max(1, _SCANNED // load)
    for start in range(0, size, step):
        if work.exceeded() is not None:
            return 0
        work.spend(min(step, size - start) * load)
        gained += _restore(state, start, min(start + step, size))
    return gained


@always_compiled
def _restore(state: SearchState, start: int, end: int) -> int:
    """Pass over some partitions; return how many more are kept."""
    region, lists, owner = state.region, state.lists, state.owner
    gained = 0
    for p in range(start, end):
        home, here = owner[p], lists.holder[p]
        is_kept, topic = home == here, region.topic[p]
        if home == NOBODY or is_kept or topic_position(region, topic, home) < 0:
            continue
        if _can_move(state, p, home):
            reassign(region, lists, p, home)
            gained += 1
            continue
        other = _find_swap(state, p, home)
        if other != END:
            gained += 2 if owner[other] == here else 1
            reassign(region, lists, p, home)
            reassign(region, lists, other, here)
    return gained


@always_compiled
def _can_move(state: SearchState, p: int, home: int) -> bool:
    """Return whether p can move to its owner and nothing else changes."""
    region, lists = state.region, state.lists
    t = region.topic[p]
    mine, theirs = cell_of(region, t, home), cell_of(region, t, lists.holder[p])
    return bool(
        lists.total[home] <= state.cap[home] - region.lag[p]
        and lists.counts[mine] < region.most[mine]
        and lists.counts[theirs] > region.least[theirs]
    )


@always_compiled
def _find_swap(state: SearchState, p: int, home: int) -> int:
    """Return a partition that the owner of p can give for it, not its own; or -1."""
    region, lists, owner, cap = state.region, state.lists, state.owner, state.cap
    t, here = region.topic[p], lists.holder[p]
    found, q = END, lists.head[home]
    while q != END:
        topic = region.topic[q]
        can_hold = topic == t if region.by_topic else True
        if owner[q] != home and can_hold and topic_position(region, topic, here) >= 0:
            change = region.lag[p] - region.lag[q]
            fits = lists.total[home] <= cap[home] - change
            if fits and lists.total[here] <= cap[here] + change:
                if owner[q] == here:
                    return int(q)
                found = q
        q = lists.after[q]
    return int(found)
