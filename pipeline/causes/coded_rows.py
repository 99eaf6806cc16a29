"""Rows of the tables as integers: names as numbers, a subscription as one number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rebalance import ABSENT, Int64

OF_REBALANCE: Final = (
    *("rebalance_id", "group_id", "generation", "at", "until", "ended", "source_kind"),
    *("source_partition", "source_offset", "protocol", "client_assignor", "leader"),
    *(
        "cooperative",
        "round",
        "members",
        "topics",
        "partitions",
        "joined",
        "left",
        "resubscribed",
    ),
)
"""Columns of ``rebalances`` that causes are computed from."""
OF_MEMBER: Final = (
    *("rebalance_id", "member_id", "instance_id", "client_id", "client_host"),
    *("subscription", "joined"),
)
"""Columns of ``members`` that members are compared by."""
HELD: Final = ("assigned", "owned", "claimed")
OF_TOPICS: Final = ("rebalance_id", *HELD)
"""Columns of ``members`` that show the partitions of topics."""

MEMBER_ROWS: Final = pa.schema(
    [
        ("row", pa.int64()),  # of the rebalance, in the order of groups
        ("member", pa.int64()),
        ("seat", pa.int64()),  # the instance of a static member, else the member
        ("identity", pa.int64()),  # the instance, else client id and host
        ("subscription", pa.int64()),
        ("is_joined", pa.bool_()),
    ]
)
TOPIC_ROWS: Final = pa.schema(
    [
        ("row", pa.int64()),
        ("topic", pa.int64()),
        ("assigned", pa.int64()),  # largest partition; ABSENT: none
        ("shown", pa.int64()),  # the same, of those owned or claimed as well
    ]
)

_HALF: Final = 31
_OF_CLIENT: Final = np.int64(1) << 62
_SUBSCRIBED: Final = np.uint64(0x9E3779B97F4A7C15)


class NumberedNames:
    """Numbers of names, in the order in which they first occur."""

    def __init__(self) -> None:
        self._number: dict[str, int] = {}
        self._names: list[str] = []

    def numbers(self, names: pa.Array | pa.ChunkedArray) -> Int64:
        """Return the number of each name; `ABSENT` for null. New names get one."""
        listed, places = _encoded(names)
        for name in listed:
            if name not in self._number:
                self._number[name] = len(self._names)
                self._names.append(name)
        return self._taken(listed, places)

    def known(self, names: pa.Array | pa.ChunkedArray) -> Int64:
        """Return the number of each name; `ABSENT` for null, and for new names."""
        return self._taken(*_encoded(names))

    def names_of(self, numbers: Int64) -> list[str]:
        """Return the names of numbers."""
        return [self._names[number] for number in numbers.tolist()]

    def ranks(self, numbers: Int64) -> Int64:
        """Return the rank of each number's name among all of these, from 0."""
        listed, code = np.unique(numbers, return_inverse=True)
        names = self.names_of(listed)
        rank = np.empty(len(names), np.int64)
        rank[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
        ranks: Int64 = rank[code]
        return ranks

    def _taken(self, listed: Sequence[str], places: Int64) -> Int64:
        found = [self._number.get(name, ABSENT) for name in listed]
        numbers: Int64 = np.array([*found, ABSENT], np.int64)[places]
        return numbers


class Coding:
    """Names and subscriptions by number, of all rows that are compared."""

    def __init__(self) -> None:
        self.rebalances = NumberedNames()
        self.groups = NumberedNames()
        self.members = NumberedNames()
        self.topics = NumberedNames()
        self.assignors = NumberedNames()
        self._instances = NumberedNames()
        self._clients = NumberedNames()
        self._hosts = NumberedNames()
        self._subscriptions: dict[int, Int64] = {}

    def topics_of(self, subscription: int) -> Int64:
        """Return the numbers of the topics of a subscription."""
        return self._subscriptions[subscription]

    def member_rows(self, members: pa.Table, row_of: Int64) -> pa.Table:
        """Return rows of ``members`` as `MEMBER_ROWS`.

        Parameters
        ----------
        members
            Columns `OF_MEMBER`; rows of other rebalances, and of snapshots, are left
            out.
        row_of : int64
            Row of each rebalance by its number; not empty.
        """
        members, row = self._rows(members, row_of)
        member = self.members.numbers(members["member_id"])
        instance = self._instances.numbers(_or_null(members["instance_id"]))
        client = self._clients.numbers(_or_null(members["client_id"]))
        host = self._hosts.numbers(_or_null(members["client_host"]))
        is_static = instance != ABSENT
        has_client = (client != ABSENT) & (host != ABSENT)
        of_client = _OF_CLIENT | (client << _HALF) | host
        seat = np.where(is_static, 2 * instance + 1, 2 * member)
        columns = {
            "row": row,
            "member": member,
            "seat": seat,
            "identity": np.where(is_static | ~has_client, seat, of_client),
            "subscription": self._subscribed(members["subscription"]),
            "is_joined": pc.fill_null(members["joined"], False),
        }
        return pa.table(columns, MEMBER_ROWS)

    def topic_rows(self, members: pa.Table, row_of: Int64) -> pa.Table:
        """Return rows of ``members`` as `TOPIC_ROWS`; columns `OF_TOPICS`."""
        members, row = self._rows(members, row_of)
        found = [
            self._largest(members[name], row, is_assigned=name == "assigned")
            for name in HELD
        ]
        columns = map(np.concatenate, zip(*found, strict=True))
        return largest(pa.table([*columns], schema=TOPIC_ROWS))

    def _rows(self, members: pa.Table, row_of: Int64) -> tuple[pa.Table, Int64]:
        number = self.rebalances.known(members["rebalance_id"])
        if (number == ABSENT).any():
            members = members.filter(pa.array(number != ABSENT))
            number = number[number != ABSENT]
        return members, row_of[number]

    def _subscribed(self, listed: pa.ChunkedArray) -> Int64:
        """Return a number per set of topics: the sum of a hash of each, and the size.

        Two sets have the same number with a probability of 2**-64; then, the count of
        changed subscriptions differs from that of the table, and no member is named.
        """
        values, offsets = _flat(listed)
        topic = self.topics.numbers(values)
        ends = np.zeros(len(topic) + 1, np.uint64)
        np.cumsum(_mixed(topic), out=ends[1:])
        sums = np.diff(ends[offsets]) + np.diff(offsets).astype(np.uint64) * _SUBSCRIBED
        code: Int64 = sums.view(np.int64)
        found, first = np.unique(code, return_index=True)
        for value, place in zip(found.tolist(), first.tolist(), strict=True):
            if value not in self._subscriptions:
                of_list = topic[offsets[place] : offsets[place + 1]]
                self._subscriptions[value] = of_list.copy()
        return code

    def _largest(
        self, held: pa.ChunkedArray, row: Int64, *, is_assigned: bool
    ) -> tuple[Int64, Int64, Int64, Int64]:
        entries, at = _flat(held)
        numbers, number_at = _flat(entries.field("partitions"))
        has_some = np.flatnonzero(np.diff(number_at))
        shown = np.asarray(numbers)[number_at[has_some + 1] - 1].astype(np.int64)
        topic = self.topics.numbers(entries.field("topic"))[has_some]
        rows = np.repeat(row, np.diff(at))[has_some]
        assigned = shown if is_assigned else np.full_like(shown, ABSENT)
        return rows, topic, assigned, shown


def largest(rows: pa.Table) -> pa.Table:
    """Return one of `TOPIC_ROWS` per rebalance and topic, with the largest numbers."""
    row, topic, assigned, shown = map(np.asarray, rows.columns)
    order = np.lexsort((topic, row))
    row, topic = row[order], topic[order]
    is_first = np.ones(len(row), np.bool_)
    is_first[1:] = (row[1:] != row[:-1]) | (topic[1:] != topic[:-1])
    begin = np.flatnonzero(is_first)
    if not len(begin):
        return TOPIC_ROWS.empty_table()
    numbers = (np.maximum.reduceat(of[order], begin) for of in (assigned, shown))
    return pa.table([row[begin], topic[begin], *numbers], schema=TOPIC_ROWS)


def _encoded(names: pa.Array | pa.ChunkedArray) -> tuple[Sequence[str], Int64]:
    """Return distinct names, and the place of each name; -1: null."""
    if isinstance(names, pa.ChunkedArray):
        names = names.combine_chunks()
    encoded = names.dictionary_encode()
    places = pc.fill_null(encoded.indices, ABSENT)
    return encoded.dictionary.to_pylist(), np.asarray(places).astype(np.int64)


def _flat(lists: pa.ListArray | pa.ChunkedArray) -> tuple[Any, Int64]:
    """Return the items of all lists, and where each list begins; null is empty."""
    if isinstance(lists, pa.ChunkedArray):
        lists = lists.combine_chunks()
    sizes = np.asarray(pc.fill_null(pc.list_value_length(lists), 0))
    return lists.flatten(), np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))


def _or_null(names: Any) -> Any:
    """Return names, null where they are empty."""
    return pc.if_else(pc.equal(names, ""), None, names)


def _mixed(numbers: Int64) -> np.typing.NDArray[np.uint64]:
    """Return a hash of numbers (splitmix64; Steele et al., OOPSLA 2014)."""
    z = (numbers.astype(np.uint64) + np.uint64(1)) * _SUBSCRIBED
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
