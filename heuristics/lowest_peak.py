"""Lower bound on peak lag where counts are balanced within each topic."""

from __future__ import annotations

import numpy as np

from rebalance import Instance, Int64


def lowest_peak(instance: Instance, lag: Int64, least: Int64, wanted: Int64) -> int:
    """Return a lower bound on the peak lag, in records.

    It is at least the mean. The member with the largest lag of a topic also has the
    least count of that topic, and of each topic to which all members subscribe: at
    least the smallest lags of these.

    Parameters
    ----------
    instance : Instance
    lag : int64 (P,)
    least : int64 (T,)
        Partitions that each subscriber of a topic has at least.
    wanted : int64 (T,)
        Subscribers of each topic.
    """
    is_served = (wanted > 0) & (instance.topic_sizes > 0)
    if not is_served.any():
        return 0
    ascending = lag[np.lexsort((lag, instance.partition_topic))]
    until = np.r_[0, np.cumsum(ascending)]
    first = instance.topic_offsets[:-1][is_served]
    last = instance.topic_offsets[1:][is_served]
    n_members = len(instance.members)
    mean = -(-int((until[last] - until[first]).sum()) // n_members)
    smallest = until[first + least[is_served]] - until[first]
    everywhere = np.where(wanted[is_served] == n_members, smallest, 0)
    more = np.maximum(least[is_served] - 1, 0)
    at_largest = ascending[last - 1] + until[first + more] - until[first]
    return max(mean, int((at_largest - everywhere).max() + everywhere.sum()))
