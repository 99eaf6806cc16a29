"""The last episode of each group: the rebalances that later records can change.

The case of a rebalance is final once a later episode of its group has begun, and a
member that left in it can no longer return in time. Until then, its episode can go on,
members can reach the target, and the time until the next rebalance grows.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

import pyarrow as pa

from pipeline.case_table import case_at
from pipeline.cases import pack, unpack
from pipeline.causes import RETURN_MS
from pipeline.nights.needed_records import EVERYTHING, GroupKey
from pipeline.sources.rows import CASE, CASES, OPENED, Row
from pipeline.table_bytes import from_bytes

_PLACE: Final = (
    "group_id",
    "source_partition",
    "protocol",
    "source_offset",
    "at",
    "episode_id",
    "rebalance_id",
)
_PROTOCOLS: Final = ("classic", "consumer")
_BEFORE: Final = 2
"""Rebalances before the open ones from whose records on all are needed: the members
and the assignment before the first open one are then complete."""

ByProtocol: TypeAlias = tuple[str, int | None, str | None]
"""A group, its partition, and a protocol, each of which can have an open episode."""


class OpenCase(NamedTuple):
    """A case that can change, packed."""

    offset: int
    rebalance_id: str
    protocol: str | None
    case: bytes


class _Recent(NamedTuple):
    offset: int
    at: int | None
    episode_id: str | None
    rebalance_id: str
    case: bytes | int  # packed, or its place in the table that is read


@dataclass(slots=True)
class _GroupCases:
    """The offsets of a group's cases, and those of its cases that can change."""

    protocol: str | None
    offsets: list[int] = field(default_factory=list)
    latest: int | None = None
    recent: deque[_Recent] = field(default_factory=deque)

    def add(self, case: _Recent) -> None:
        self.offsets.append(case.offset)
        if case.at is not None:
            self.latest = max(case.at, case.at if self.latest is None else self.latest)
        self.recent.append(case)
        while self._is_final(self.recent[0], case.episode_id):
            self.recent.popleft()

    def _is_final(self, case: _Recent, last_episode: str | None) -> bool:
        if case is self.recent[-1] or case.episode_id == last_episode:
            return False
        if case.at is None or self.latest is None:
            return True
        return case.at < self.latest - RETURN_MS


class LastCases:
    """Cases of all groups, of which those that can change are kept."""

    def __init__(self) -> None:
        self._groups: dict[ByProtocol, _GroupCases] = {}

    def note(self, row: Row) -> None:
        """Note the cases of a row of the reconstruction, if it has any."""
        if row["what"] == CASE:
            case = unpack(row["value"])
            key = case.group_id, case.source_partition, case.protocol
            offset = case.source_offset or 0
            found = _Recent(
                offset, case.at, case.episode_id, case.rebalance_id, row["value"]
            )
            self._of_protocol(key).add(found)
        elif row["what"] == CASES:
            self._note_table(from_bytes(row["value"]))

    def keys(self) -> set[GroupKey]:
        """Return the groups that have cases."""
        return {(group, partition) for group, partition, _ in self._groups}

    def cases(self, key: GroupKey) -> list[OpenCase]:
        """Return the cases of a group that can change."""
        return [
            OpenCase(case.offset, case.rebalance_id, group.protocol, case.case)
            for group in self._of(key)
            for case in group.recent
            if isinstance(case.case, bytes)
        ]

    def base(self, key: GroupKey) -> int:
        """Return the offset from which on all records of a group are needed."""
        return min(map(_base, self._of(key)))

    def _of_protocol(self, key: ByProtocol) -> _GroupCases:
        found = self._groups.get(key)
        if found is None:
            found = self._groups[key] = _GroupCases(protocol=key[-1])
        return found

    def _of(self, key: GroupKey) -> list[_GroupCases]:
        """Return the protocols of a group, without one that it left long ago."""
        known = (self._groups.get((*key, protocol)) for protocol in _PROTOCOLS)
        found = [group for group in known if group is not None]
        latest = max(map(_base, found), default=EVERYTHING)
        return [group for group in found if group.offsets[-1] >= latest]

    def _note_table(self, table: pa.Table) -> None:
        columns = (table[name].to_pylist() for name in _PLACE)
        touched: dict[ByProtocol, _GroupCases] = {}
        for place, values in enumerate(zip(*columns, strict=True)):
            group, partition, protocol, offset, at, episode_id, rebalance_id = values
            key = group, partition, protocol
            found = touched[key] = self._of_protocol(key)
            found.add(_Recent(offset, at, episode_id, rebalance_id, place))
        for found in touched.values():
            found.recent = deque(
                case._replace(case=pack(case_at(table, case.case)))
                if isinstance(case.case, int)
                else case
                for case in found.recent
            )


def opened_row(key: GroupKey, case: OpenCase) -> Row:
    """Return a row that names a case that later records can change."""
    group, partition = key
    return {
        "what": OPENED,
        "group_id": group,
        "source_partition": partition,
        "source_offset": case.offset,
        "record": case.rebalance_id,
        "reason": case.protocol,
    }


def _base(group: _GroupCases) -> int:
    place = len(group.offsets) - len(group.recent) - _BEFORE
    return group.offsets[place] if place >= 0 else EVERYTHING
