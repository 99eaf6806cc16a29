"""Names on a tape: topics by hash of their bytes, and the claims on them."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from rebalance.claims import Int32, Int64
from rebalance.compiled import borrowing_kernel, kernel
from rebalance.instance import ABSENT
from rebalance.tape.json_tape import ARRAY, INTEGER, STRING, Bytes, Tape

_OFFSET_BASIS: Final = 2166136261
_PRIME: Final = 16777619
_MASK: Final = 2**32 - 1


class Names(NamedTuple):
    """Names by number, and where to find them.

    Attributes
    ----------
    keys : int64 (K,)
        Rows of the tape.
    slots : int32
        Numbers of names by hash, or `ABSENT`; a power of two, over half of them empty.
    """

    keys: Int64
    slots: Int32


@borrowing_kernel
def _hash(text: Bytes, begin: int, end: int) -> int:
    """Return FNV-1a of a part of the text, 32 bits."""
    found = _OFFSET_BASIS
    for at in range(begin, end):
        found = ((found ^ int(text[at])) * _PRIME) & _MASK
    return found


@borrowing_kernel
def _is_same(text: Bytes, left: int, right: int, length: int) -> bool:
    for at in range(length):  # noqa: SIM110 - compiled
        if text[left + at] != text[right + at]:
            return False
    return True


@borrowing_kernel
def _find(tape: Tape, row: int, names: Names) -> int:
    """Return the slot of a name: that of an equal key, or the empty one for it."""
    text, begin, end = tape.text, tape.begin, tape.value
    keys, slots = names.keys, names.slots
    length = end[row] - begin[row]
    slot = _hash(text, begin[row], end[row]) & (slots.size - 1)
    while slots[slot] != ABSENT:
        key = keys[slots[slot]]
        is_as_long = end[key] - begin[key] == length
        if is_as_long and _is_same(text, begin[row], begin[key], length):
            break
        slot = (slot + 1) & (slots.size - 1)
    return slot


def names_at(tape: Tape, keys: Int64) -> Names:
    """Return a hash table of names, which are different strings of a tape."""
    size = 2 << int(keys.size).bit_length()
    names = Names(keys, np.full(size, ABSENT, dtype=np.int32))
    fill_slots(tape, names)
    return names


@borrowing_kernel
def fill_slots(tape: Tape, names: Names) -> None:
    """Write the number of each key into its slot."""
    for number in range(names.keys.size):
        names.slots[_find(tape, names.keys[number], names)] = number


@kernel
def write_subscriptions(
    tape: Tape, arrays: Int64, names: Names, topics: Int32, bounds: Int64
) -> bool:
    """Write the topics of each array of names, ascending.

    Parameters
    ----------
    tape : Tape
    arrays : int64 (K,)
        Rows of arrays.
    names : Names
        Of the topics.
    topics : int32
        Written: topics, array by array.
    bounds : int64 (K+1,)
        Written: where the topics of each array begin.

    Returns
    -------
    bool
        Whether all are names of topics, and none is repeated within an array.
    """
    written = 0
    last = np.full(names.keys.size, ABSENT, dtype=np.int64)  # array that named it
    for number in range(arrays.size):
        first = written
        for row in range(arrays[number] + 1, tape.value[arrays[number]]):
            if tape.kind[row] != STRING:
                return False
            topic = names.slots[_find(tape, row, names)]
            if topic == ABSENT or last[topic] == number:
                return False
            last[topic] = number
            topics[written] = topic
            written += 1
        topics[first:written].sort()
        bounds[number + 1] = written
    return True


@kernel
def write_claims(
    tape: Tape,
    owned: Int64,
    names: Names,
    offsets: Int64,
    claimed: Int32,
    bounds: Int64,
) -> bool:
    """Write the claimed partitions of each member, by topic.

    Parameters
    ----------
    tape : Tape
    owned : int64 (M,)
        Rows of the claims of members, objects; `ABSENT`: none.
    names : Names
        Of the topics.
    offsets : int64 (T+1,)
        First partition of each topic.
    claimed : int32
        Written: partitions, member by member.
    bounds : int64 (M+1,)
        Written: where the claims of each member begin.

    Returns
    -------
    bool
        Whether all are lists of partitions that exist, ascending.
    """
    kind, value = tape.kind, tape.value
    written = 0
    last = np.full(names.keys.size, ABSENT, dtype=np.int64)  # member that named it
    for member in range(owned.size):
        if owned[member] != ABSENT:
            at, end = owned[member] + 1, value[owned[member]]
            in_order, before = True, ABSENT
            first = written
            while at < end:
                topic = names.slots[_find(tape, at, names)]
                if topic == ABSENT or last[topic] == member or kind[at + 1] != ARRAY:
                    return False
                last[topic] = member
                in_order &= topic > before
                before = topic
                stop, least = value[at + 1], offsets[topic]
                for row in range(at + 2, stop):
                    partition = offsets[topic] + value[row]
                    is_next = least <= partition < offsets[topic + 1]
                    if kind[row] != INTEGER or not is_next:
                        return False
                    least = partition + 1
                    claimed[written] = partition
                    written += 1
                at = stop + 1
            if not in_order:  # numbers ascend within a topic
                claimed[first:written].sort()
        bounds[member + 1] = written
    return True
