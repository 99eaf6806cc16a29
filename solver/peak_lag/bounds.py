"""Lower bounds on peak lag by counting, as terms that a judge can recompute.

docs/bounds.md states each kind of term and proves it: ``average`` is the mean, of all
members or of the densest set of them, and ``crowd`` and ``topic-crowd`` are pigeonhole
bounds from the k largest lags. (``packing`` is in `column_generation`.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
from ortools.graph.python import max_flow

from rebalance import Bools, BoundTerm, Instance, Int64, SearchProof, TermsProof
from solver.peak_lag.feasible_region import (
    FeasibleRegion,
    cells_of,
    interchangeable_members,
)
from solver.peak_lag.lag_instance import LagInstance
from solver.peak_lag.set_partition import ENUMERATION
from solver.peak_lag.work import Work
from solver.result import Proof

_THRESHOLDS: Final = 48
"""Thresholds that are tried where no formula determines the best."""

_PAIRS: Final = 40_000_000
"""Partitions compared, over all thresholds and classes of members."""

_STEPS_PER_PAIR: Final = 50
"""Steps that count for one partition compared."""

_ENTRIES: Final = 5_000_000
"""Partitions kept at a time, over all classes of members."""

_FLOW_SUM: Final = 2**61
"""The maximum flow adds up flows of several arcs in 64 bits."""

_FLOW_ROUNDS: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class PeakLagBound:
    """A lower bound, the largest of its terms."""

    value: int
    terms: tuple[BoundTerm, ...]

    def with_term(self, term: BoundTerm | None) -> PeakLagBound:
        """Return this bound, or with one more term if that is larger."""
        if term is None or term.bound <= self.value:
            return self
        return PeakLagBound(value=term.bound, terms=(*self.terms, term))

    def proof(self, bound: int) -> Proof:
        """Return the proof of a bound: these terms, or the later argument."""
        if bound <= self.value:
            return TermsProof(terms=list(self.terms))
        return SearchProof(engine=ENUMERATION, terms=list(self.terms))


def bound_peak_lag(
    instance: Instance,
    lag_instance: LagInstance,
    work: Work,
    topics: list[str] | None = None,
) -> PeakLagBound:
    """Compute the terms; once a limit is exceeded, no more thresholds are tried.

    ``topics`` are those that the terms are about; None: all.
    """
    # model_construct: an absent field is None here, and left out when written.
    term = partial(BoundTerm.model_construct, topics=topics)
    mean = _mean(lag_instance)
    terms = [term(kind="average", bound=mean)]
    subset = densest_subset(lag_instance, mean)
    if subset is not None:
        bound, numbers = subset
        members = [instance.members[m] for m in lag_instance.members[numbers]]
        terms.append(term(kind="average", bound=bound, members=members))
    terms += [
        term(kind=kind, bound=bound, at_least=at_least)
        for kind, bound, at_least in pigeonhole_bounds(lag_instance.region, work)
    ]
    value = max(term.bound for term in terms)
    return PeakLagBound(value=value, terms=tuple(terms))


def _mean(lag_instance: LagInstance) -> int:
    """Return the total lag ÷ total capacity: ⌈scale · Σ lag ÷ Σ capacity⌉."""
    scale, region = lag_instance.scale, lag_instance.region
    weights = sum(scale // unit for unit in region.unit.tolist())
    total = int(region.lag.sum())
    return -(-scale * total // weights) if weights else 0


def densest_subset(lag_instance: LagInstance, mean: int) -> tuple[int, Int64] | None:
    """Return the members who together must hold most per capacity, and their mean.

    If all members eligible for a set of topics are within a set of members, these share
    that lag. Dinkelbach's method: ask for a flow of lag in which nobody is above the
    bound so far; the topics that a minimum cut leaves on the source side are denser.

    Returns
    -------
    int and int64, or None
        None if no set exceeds ``mean``, that of all members.
    """
    region = lag_instance.region
    topics = region.topic_class_offsets.size - 1
    lag, scale = np.zeros(topics, np.int64), lag_instance.scale
    np.add.at(lag, region.topic, region.lag)
    if region.class_offsets.size <= 2 or int(lag.sum()) * scale >= _FLOW_SUM:
        return None
    capacity = np.zeros(region.class_offsets.size - 1, np.int64)
    np.add.at(capacity, region.member_class, scale // region.unit)
    topic_of_pair = np.repeat(np.arange(topics), np.diff(region.topic_class_offsets))
    found: tuple[int, Int64] | None = None
    bound = mean
    for _ in range(_FLOW_ROUNDS):
        inside = _denser_topics(region, lag * scale, capacity, bound)
        classes = np.zeros(capacity.size, np.bool_)
        classes[region.topic_classes[inside[topic_of_pair]]] = True
        if not classes.any():
            break
        held = int(lag[inside].sum()) * scale
        denser = -(-held // int(capacity[classes].sum()))
        if denser <= bound:
            break
        bound = denser
        found = bound, np.flatnonzero(classes[region.member_class])
    return found


def _denser_topics(
    region: FeasibleRegion, lag: Int64, capacity: Int64, bound: int
) -> Bools:
    """Return the topics whose members cannot hold them within the bound, bool (T,)."""
    topics, classes = lag.size, capacity.size
    source, sink = topics + classes, topics + classes + 1
    total = int(lag.sum())
    topic_of_pair = np.repeat(np.arange(topics), np.diff(region.topic_class_offsets))
    most = [min(bound * w, total) for w in capacity.tolist()]
    flow = max_flow.SimpleMaxFlow()
    class_nodes = topics + np.arange(classes)
    flow.add_arcs_with_capacity(
        np.r_[np.full(topics, source), topic_of_pair, class_nodes].astype(np.int32),
        np.r_[
            np.arange(topics), topics + region.topic_classes, np.full(classes, sink)
        ].astype(np.int32),
        np.r_[lag, np.full(topic_of_pair.size, total), np.array(most)],
    )
    flow.solve(source, sink)
    inside = np.zeros(topics, np.bool_)
    side = np.array(flow.get_source_side_min_cut(), np.int64)
    inside[side[side < topics]] = True
    return inside


def pigeonhole_bounds(region: FeasibleRegion, work: Work) -> list[tuple[str, int, int]]:
    """Return kind, bound, and threshold of the best pigeonhole bounds.

    One threshold at least is tried, whatever limit is exceeded. Where members are of
    many classes only large lags count, which prove nearly as much.

    Returns
    -------
    list of (str, int, int)
        The best ``crowd``, then the best ``topic-crowd`` if it is larger. Empty if
        there are too many classes.
    """
    lags = np.sort(region.lag)[::-1]
    groups = interchangeable_members(region)
    floor = _least_lag(lags, len(groups))
    if floor is None:
        return []
    classes = _lag_classes(region, groups, floor)
    compared = len(classes) * int((lags >= floor).sum())
    thresholds = [x for x in _thresholds(region, lags, classes) if x >= floor]
    thresholds = thresholds[: max(1, _PAIRS // compared)]
    steps = _STEPS_PER_PAIR * compared
    crowd = partial(_crowd, region, classes)
    found = [("crowd", *_best(thresholds, crowd, steps, work))]
    if region.by_topic and region.topic_class_offsets.size > 2:
        ends = np.searchsorted(region.topic, np.arange(1, region.extra.size))
        lags_of_topic = [np.sort(lag) for lag in np.split(region.lag, ends)]
        by_topic = partial(_topic_crowd, region, classes, lags_of_topic)
        bound, threshold = _best(thresholds, by_topic, steps, work)
        if bound > found[0][1]:
            found.append(("topic-crowd", bound, threshold))
    return found


def _best(
    thresholds: list[int], bound_of: Callable[[int], int], steps: int, work: Work
) -> tuple[int, int]:
    """Return the largest bound and its threshold, the first of equal ones.

    Each threshold counts as some steps.
    """
    best = bound_of(thresholds[0]), thresholds[0]
    work.spend(steps)
    for x in thresholds[1:]:
        if work.exceeded() is not None:
            break
        work.spend(steps)
        if (bound := bound_of(x)) > best[0]:
            best = bound, x
    return best


@dataclass(frozen=True, slots=True, kw_only=True)
class _LagClass:
    """Interchangeable members, and the lags that they can hold."""

    unit: int  # weight of one record of lag
    count: int  # members
    least: Int64  # per cell
    most: Int64
    topics: Int64  # that they are eligible for
    is_whole: bool  # whether ``lags`` leaves out no small lag
    lags: Int64  # ascending
    sums: Int64  # of the smallest 0, 1, ... of them


def _least_lag(lags: Int64, classes: int) -> int | None:
    """Return the least lag that counts; None if even the largest are too many."""
    if not lags.size:
        return None
    kept = _ENTRIES // classes
    if lags.size <= kept:
        return int(lags[-1])
    larger = lags[:kept][lags[:kept] > lags[kept]]  # of equal ones all or none
    return int(larger[-1]) if larger.size else None


def _lag_classes(
    region: FeasibleRegion, groups: list[list[int]], floor: int
) -> list[_LagClass]:
    rows = np.flatnonzero(region.lag >= floor)
    rows = rows[np.argsort(region.lag[rows], kind="stable")]
    found = []
    for group in groups:
        k = int(region.member_class[group[0]])
        start, end = region.class_offsets[k : k + 2]
        topics = region.class_topics[start:end].astype(np.int64)
        eligible = np.zeros(region.topic_class_offsets.size - 1, np.bool_)
        eligible[topics] = True
        cells = cells_of(region, group[0])
        lags = region.lag[rows][eligible[region.topic[rows]]]
        found.append(
            _LagClass(
                unit=int(region.unit[group[0]]),
                count=len(group),
                least=region.least[cells],
                most=region.most[cells],
                topics=topics,
                is_whole=rows.size == region.lag.size,
                lags=lags,
                sums=np.r_[0, np.cumsum(lags)],
            )
        )
    return found


def _thresholds(
    region: FeasibleRegion, lags: Int64, classes: list[_LagClass]
) -> list[int]:
    """List thresholds, the most promising first.

    Of m members, the (m·j + 1)-th largest lag makes one hold j + 1 of the largest. They
    are ordered by the bound that they prove if all members are interchangeable.
    """
    members = region.unit.size
    ranks = np.arange(0, lags.size, members)
    sums = np.r_[0, np.cumsum(lags)]
    least = int(sum(class_.least.sum() * class_.count for class_ in classes)) // members
    j = np.arange(1, ranks.size + 1)
    held = sums[ranks + 1] - sums[ranks + 1 - j]
    more = np.clip(least - j, 0, lags.size)
    value = held + sums[-1] - sums[lags.size - more]
    best = np.argsort(-value, kind="stable")[:_THRESHOLDS]
    largest = range(1, min(members, lags.size, _THRESHOLDS // 2))
    order = [0, *ranks[best].tolist(), *largest]
    return list(dict.fromkeys(int(lags[rank]) for rank in order))


def _crowd(region: FeasibleRegion, classes: list[_LagClass], x: int) -> int:
    """Return the bound ``crowd`` of threshold x: K are all partitions with lag ≥ x."""
    values, size = [], int((region.lag >= x).sum())
    for class_ in classes:
        cut = int(np.searchsorted(class_.lags, x))
        # With one class nobody has to hold more than an equal share.
        most = class_.lags.size - cut if len(classes) > 1 else -(-size // class_.count)
        j = np.arange(1, most + 1)
        least = int(class_.least.sum()) if class_.is_whole else 0
        fill = np.clip(least - j, 0, cut)
        held = class_.sums[cut + j] - class_.sums[cut] + class_.sums[fill]
        values.append(held * class_.unit)
    return _value_of_rank(values, classes, size)


def _topic_crowd(
    region: FeasibleRegion,
    classes: list[_LagClass],
    lags_of_topic: list[Int64],
    x: int,
) -> int:
    """Return the bound ``topic-crowd`` of threshold x, with limits per topic.

    For a member and topic let k be the lags of K's partitions of it, ascending, and o
    those of its others, ascending, continued by x; lo and hi are its limits. To hold
    j of K costs at least the lo smallest of o of each topic, and the j smallest steps::

        k[i] - (o[lo - i + 1] if i <= lo else 0)    per topic, i = 1 .. min(hi, |k|)
    """
    values = []
    for class_ in classes:
        base, steps = 0, [np.zeros(0, np.int64)]
        for position, t in enumerate(class_.topics.tolist()):
            lags, least = lags_of_topic[t], int(class_.least[position])
            cut = int(np.searchsorted(lags, x))
            others = lags[: min(cut, least)]
            others = np.r_[others, np.full(least - others.size, x, np.int64)]
            base += int(others.sum())
            step = lags[cut : cut + int(class_.most[position])].copy()
            replaced = min(step.size, least)
            step[:replaced] -= others[::-1][:replaced]
            steps.append(step)
        held = base + np.cumsum(np.sort(np.concatenate(steps)))
        values.append(held * class_.unit)
    return _value_of_rank(values, classes, int((region.lag >= x).sum()))


def _value_of_rank(values: list[Int64], classes: list[_LagClass], rank: int) -> int:
    """Return the ``rank``-th least value, each counted once per member of its class.

    Values ascend within a class.
    """
    counts = [class_.count for class_ in classes]
    every = np.concatenate(values)
    times = np.repeat(counts, [value.size for value in values])
    order = np.argsort(every, kind="stable")
    at = np.searchsorted(np.cumsum(times[order]), rank)
    return int(every[order[at]]) if at < every.size else 0
