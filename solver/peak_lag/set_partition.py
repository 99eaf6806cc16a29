"""Least peak lag of at most 60 partitions: set partition over enumerated subsets.

Within a peak, a member holds at most its cap, and at least its cap minus the *slack*:
the sum of all caps minus the sum of all lags. Near the lower bound the slack is small,
so few subsets of partitions qualify. They are listed by meet in the middle; a search
in depth chooses one per member, so that no partition is in two and the parts of the
slack that they leave free add up. Members with few subsets choose first; those of the
last group cover one given partition each.

Follows Knuth, *Dancing links*, 2000 (algorithm X), with bit masks for the items.
"""

from __future__ import annotations

from math import comb, prod
from typing import Final, NamedTuple

import numpy as np

from rebalance import INT64_MAX, Int32, Int64, always_compiled
from solver.peak_lag.feasible_region import (
    FeasibleRegion,
    cells_of,
    interchangeable_members,
    peak_lag_of,
)
from solver.peak_lag.subset_sum import list_sums
from solver.peak_lag.work import Work

PARTITIONS_MAX: Final = 60
"""Partitions that a mask of 64 bits can hold, with a margin."""

ENUMERATION: Final = "enumeration"
"""Name of this search in proofs."""

_SUBSETS_MAX: Final = 500_000
_HALF_MAX: Final = 1 << 22
"""Subsets listed per group of members, and subsets of one half of its partitions."""

_VISITS_MAX: Final = 200_000_000
_STEPS_PER_VISIT: Final = 4


class _Choices(NamedTuple):
    """Subsets that some interchangeable members can hold, and the slack each leaves."""

    members: list[int]
    mask: Int64
    slack: Int64


def partition_exactly(
    region: FeasibleRegion, bound: int, peak: int, work: Work
) -> tuple[Int32 | None, int]:
    """Search upwards from the bound, in growing steps, for a peak below ``peak``.

    Returns
    -------
    int32 (P,) or None
        An assignment with less than ``peak``, if one is found.
    int
        The new bound; the least peak if the search came to its end.
    """
    best, step = None, 0
    while bound < peak and work.exceeded() is None:
        target = min(bound + step, (bound + peak) // 2)
        holder, is_complete = _partition_within(region, target, work)
        if holder is not None:
            best, peak = holder, int(peak_lag_of(region, holder))
        elif is_complete:
            bound, step = target + 1, 2 * step + 1
        else:
            break
    return best, bound


def _partition_within(
    region: FeasibleRegion, peak: int, work: Work
) -> tuple[Int32 | None, bool]:
    """Return an assignment within a peak, and whether None proves that none exists."""
    cap = peak // region.unit
    slack = sum(cap.tolist()) - sum(region.lag.tolist())  # of any size
    listed, is_complete = [], True
    for group in interchangeable_members(region):
        high = int(cap[group[0]])
        low = max(high - slack, 0)
        choices, is_whole = _list_choices(region, group, low, high, work)
        is_complete &= is_whole
        if choices is None or not choices.mask.size:
            return None, is_complete
        listed.append(choices)
    chosen, visits = _disjoint(region, listed, slack)
    work.spend(_STEPS_PER_VISIT * visits)
    if chosen is None:
        return None, is_complete and visits < _VISITS_MAX
    return chosen, True


def _disjoint(
    region: FeasibleRegion, listed: list[_Choices], slack: int
) -> tuple[Int32 | None, int]:
    """Return an assignment of disjoint subsets within the slack, and the visits."""
    listed.sort(key=lambda options: options.mask.size)
    least = [int(options.slack.min()) for options in listed]
    slack -= sum(
        n * len(options.members) for n, options in zip(least, listed, strict=True)
    )
    mask = np.concatenate([options.mask for options in listed])
    left = np.concatenate(
        [options.slack - n for n, options in zip(least, listed, strict=True)]
    )
    if slack > INT64_MAX:  # it excludes nothing
        left, slack = np.zeros_like(left), 0
    members = [c for options in listed for c in options.members]
    sizes = [options.mask.size for options in listed]
    times = [len(options.members) for options in listed]
    # The last group branches by partition: its subsets lie in the order of their first.
    first, last = sum(sizes[:-1]), listed[-1].mask
    bits = np.int64(1) << np.arange(region.lag.size)
    chosen, visits = _choose(
        mask,
        left,
        np.repeat(np.cumsum([0, *sizes[:-1]]), times),
        np.repeat(np.cumsum(sizes), times),
        first + np.searchsorted(last & -last, bits),
        first + np.searchsorted(last & -last, bits, side="right"),
        len(members) - times[-1],
        slack,
    )
    if not chosen.size:
        return None, int(visits)
    holder, bit = np.zeros(region.lag.size, np.int32), _bits(region)
    for member, subset in zip(members, mask[chosen].tolist(), strict=True):
        holder[(bit & subset) != 0] = member
    return holder, int(visits)


def _bits(region: FeasibleRegion) -> Int64:
    """Return the bit of each partition, the lowest for the largest lag."""
    bit = np.empty(region.lag.size, np.int64)
    bit[np.argsort(-region.lag, kind="stable")] = 1 << np.arange(region.lag.size)
    return bit


def _list_choices(
    region: FeasibleRegion, group: list[int], low: int, high: int, work: Work
) -> tuple[_Choices | None, bool]:
    """List the sets that a member can hold with a lag from ``low`` to ``high``.

    Returns
    -------
    _Choices or None
        None if there are too many. Sorted by first partition, then slack.
    bool
        Whether no subset is left out.
    """
    k = region.member_class[group[0]]
    topics = region.class_topics[region.class_offsets[k] : region.class_offsets[k + 1]]
    rows = np.flatnonzero(np.isin(region.topic, topics))
    cell = np.searchsorted(topics, region.topic[rows]) * int(region.by_topic)
    cells = cells_of(region, group[0])
    least = region.least[cells].copy()
    most = np.minimum(region.most[cells], rows.size)
    is_complete = _is_listable(cell, most)
    if not is_complete:  # then look only at counts near the mean
        share = region.lag.size // region.unit.size
        least, most = np.maximum(least, share - 1), np.minimum(most, share + 1)
        if region.by_topic or not _is_listable(cell, most):
            return None, False
    chosen, total, steps = list_sums(
        region.lag[rows], cell, least, most, low, high, _SUBSETS_MAX
    )
    work.spend(int(steps))
    if total.size == _SUBSETS_MAX:
        return None, False
    mask = np.zeros(total.size, np.int64)
    for i, bit in enumerate(_bits(region)[rows].tolist()):
        mask |= ((chosen >> i) & 1) * bit
    order = np.lexsort((-total, mask & -mask))
    return _Choices(group, mask[order], high - total[order]), is_complete


def _is_listable(cell: Int64, most: Int64) -> bool:
    """Return whether both halves have few enough subsets within the counts."""
    middle = cell.size // 2
    return all(
        prod(
            sum(comb(n, k) for k in range(min(n, limit) + 1))
            for n, limit in zip(
                np.bincount(half, minlength=most.size).tolist(),
                most.tolist(),
                strict=True,
            )
        )
        <= _HALF_MAX
        for half in (cell[:middle], cell[middle:])
    )


@always_compiled
def _choose(
    mask: Int64,
    slack: Int64,
    starts: Int64,
    ends: Int64,
    first_starts: Int64,
    first_ends: Int64,
    by_partition: int,
    left: int,
) -> tuple[Int64, int]:
    """Choose a subset per member, disjoint, within the slack that is left.

    Parameters
    ----------
    mask, slack : int64 (N,)
    starts, ends : int64 (M,)
        Range of each member's subsets.
    first_starts, first_ends : int64 (P,)
        Range of the last group's subsets whose first partition is p.
    by_partition : int
        First member that covers the first partition not yet covered.

    Returns
    -------
    int64 (M,), or empty
    int
        Subsets visited; less than the limit if the search came to its end.
    """
    members, partitions = starts.size, first_starts.size
    chosen = np.empty(members, np.int64)
    place = np.empty(members + 1, np.int64)
    end = np.zeros(members + 1, np.int64)
    used, depth, visits, is_new = 0, 0, 0, True
    while visits < _VISITS_MAX:
        visits += 1
        if is_new:
            place[depth] = 0  # after the last member there is nothing to choose
            first = _first_free(used, partitions)
            if depth == members and first == partitions:
                return chosen, visits
            if by_partition <= depth < members and first < partitions:
                place[depth], end[depth] = first_starts[first], first_ends[first]
            elif depth < members:
                place[depth], end[depth] = starts[depth], ends[depth]
                if 0 < depth < by_partition and starts[depth - 1] == starts[depth]:
                    place[depth] = chosen[depth - 1]  # interchangeable: in order
        s = place[depth]
        is_new = s < end[depth] and slack[s] <= left and mask[s] & used == 0
        if is_new:
            chosen[depth] = s
            used |= mask[s]
            left -= slack[s]
            depth += 1
            continue
        if s == end[depth] or (depth >= by_partition and slack[s] > left):
            if depth == 0:
                break
            depth -= 1
            used ^= mask[chosen[depth]]
            left += slack[chosen[depth]]
        place[depth] += 1
    return chosen[:0], visits


@always_compiled
def _first_free(used: int, partitions: int) -> int:
    """Return the first partition that is not used."""
    p = 0
    while p < partitions and (used >> p) & 1:
        p += 1
    return p
