"""Topics or partitions as lists of integers: selected, joined, and united."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from rebalance import ABSENT, Int64, borrowing_kernel, kernel

NUMBER_BITS: Final = 32
NUMBER_MASK: Final = (1 << NUMBER_BITS) - 1
_NEGATIVE: Final = 1 << (NUMBER_BITS - 1)


class Keys(NamedTuple):
    """Topics or partitions per row: ``key[at[i] : at[i + 1]]``, ascending.

    Attributes
    ----------
    at : int64 (M+1,)
    key : int64
        Rank of the topic's name, shifted by `NUMBER_BITS`, and the partition's number.
    """

    at: Int64
    key: Int64


def gathered(keys: Keys, source: Int64) -> Keys:
    """Return the keys of some rows; `ABSENT` is a row without keys."""
    sizes = np.where(source == ABSENT, 0, keys.at[source + 1] - keys.at[source])
    at = np.concatenate(([0], np.cumsum(sizes)))
    places = np.repeat(keys.at[source] - at[:-1], sizes) + np.arange(at[-1])
    return Keys(at, keys.key[places])


def ranges(first: Int64, number: Int64) -> Keys:
    """Return the members of some records; those of record i begin at ``first[i]``."""
    return gathered(Keys(first, np.arange(first[-1])), number)


def joined(keys: Keys, other: Keys) -> Keys:
    """Return the rows of both, one after the other."""
    return Keys(
        np.concatenate((keys.at[:-1], keys.at[-1] + other.at)),
        np.concatenate((keys.key[: keys.at[-1]], other.key)),
    )


def largest(keys: Keys) -> Keys:
    """Return the last key of each topic in each row."""
    topic = keys.key >> NUMBER_BITS
    is_last = np.ones(topic.size, np.bool_)
    is_last[:-1] = topic[1:] != topic[:-1]
    is_last[keys.at[1:][np.diff(keys.at) > 0] - 1] = True
    ends = np.concatenate(([0], np.cumsum(is_last)))
    return Keys(ends[keys.at], keys.key[is_last])


@kernel
def united(keys: Keys, source: Int64, at: Int64) -> Keys:
    """Return the keys of several rows together, each once.

    Parameters
    ----------
    source, at : int64
        List i unites rows ``source[at[i] : at[i + 1]]``; `ABSENT` has no keys.
    """
    size = 0
    for row in source:
        size += keys.at[row + 1] - keys.at[row] if row >= 0 else 0
    found = Keys(np.zeros(at.size, np.int64), np.empty(size, np.int64))
    for number in range(at.size - 1):
        begin = put = found.at[number]
        for row in source[at[number] : at[number + 1]]:
            if row >= 0:
                for place in range(keys.at[row], keys.at[row + 1]):
                    found.key[put] = keys.key[place]
                    put += 1
        if put > begin:
            found.key[begin:put].sort()
        found.at[number + 1] = once(found.key, begin, put)
    return Keys(found.at, found.key[: found.at[-1]])


@borrowing_kernel
def once(keys: Int64, begin: int, end: int) -> int:
    """Drop repetitions and negative numbers of sorted keys; return the new end."""
    put = begin
    for place in range(begin, end):
        key = keys[place]
        if not key & _NEGATIVE and (put == begin or keys[put - 1] != key):
            keys[put] = key
            put += 1
    return put


@borrowing_kernel
def is_in(keys: Int64, begin: int, end: int, key: int) -> bool:
    """Return whether a key is in a sorted range."""
    while begin < end:
        middle = (begin + end) // 2
        if keys[middle] < key:
            begin = middle + 1
        elif keys[middle] > key:
            end = middle
        else:
            return True
    return False


@borrowing_kernel
def wants(wanted: Keys, member: int, key: int) -> bool:
    """Return whether a member subscribes to the topic of a partition."""
    begin, end = wanted.at[member], wanted.at[member + 1]
    return is_in(wanted.key, begin, end, key & ~NUMBER_MASK)
