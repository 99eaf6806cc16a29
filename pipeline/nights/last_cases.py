"""The last episode of each group: the rebalances that later records can change.

The case of a rebalance is final once a later episode of its group has begun. Until
then, its episode can go on, members can reach the target, and the time until the next
rebalance grows. Only its causes can change later (`pipeline.nights.cause_context`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeAlias

import pyarrow as pa

from pipeline.nights.case_digests import LASTED, as_value, digests_of
from pipeline.nights.needed_records import EVERYTHING, GroupKey
from pipeline.rows import OPENED, Row

_PLACE: Final = (
    "group_id",
    "source_partition",
    "protocol",
    "source_offset",
    "episode_id",
    "rebalance_id",
    *LASTED,
)
_PROTOCOLS: Final = ("classic", "consumer")
_BEFORE: Final = 2
"""Rebalances before the open ones from whose records on all are needed: the members
and the assignment before the first open one are then complete."""

ByProtocol: TypeAlias = tuple[str, int | None, str | None]
"""A group, its partition, and a protocol, each of which can have an open episode."""


class OpenCase(NamedTuple):
    """A case that can change; ``lasted`` are its fields `LASTED`."""

    offset: int
    episode_id: str | None
    rebalance_id: str
    lasted: tuple[Any, ...]
    digest: int


@dataclass(slots=True)
class _GroupCases:
    """The offsets of a group's cases, and those of its cases that can change."""

    offsets: list[int] = field(default_factory=list)
    recent: list[OpenCase] = field(default_factory=list)

    def add(self, case: OpenCase) -> None:
        self.offsets.append(case.offset)
        if self.recent and self.recent[-1].episode_id != case.episode_id:
            self.recent.clear()
        self.recent.append(case)


class LastCases:
    """Cases of all groups, of which those that can change are kept."""

    def __init__(self) -> None:
        self._groups: dict[ByProtocol, _GroupCases] = {}

    def note(self, cases: pa.Table, known: Mapping[str, bytes]) -> dict[str, int]:
        """Note cases of the reconstruction, in their order.

        Returns
        -------
        dict
            The digests, by name, of the cases that can change, and of those ``known``.
        """
        groups: dict[ByProtocol, _GroupCases] = {}
        place_of: dict[str, int] = {}
        columns = (cases[name].to_pylist() for name in _PLACE)
        for place, values in enumerate(zip(*columns, strict=True)):
            group, partition, protocol, offset, episode_id, name, *lasted = values
            of_group = self._of_protocol((group, partition, protocol))
            groups[group, partition, protocol] = of_group
            of_group.add(OpenCase(offset or 0, episode_id, name, tuple(lasted), 0))
            place_of[name] = place
        wanted = {case.rebalance_id for of in groups.values() for case in of.recent}
        wanted |= place_of.keys() & known.keys()
        places = sorted(place_of[name] for name in wanted if name in place_of)
        found = cases.take(pa.array(places, pa.int64()))
        digests = dict(
            zip(
                found["rebalance_id"].to_pylist(),
                digests_of(found).tolist(),
                strict=True,
            )
        )
        for of_group in groups.values():
            of_group.recent = [
                case._replace(digest=digests.get(case.rebalance_id, case.digest))
                for case in of_group.recent
            ]
        return digests

    def keys(self) -> set[GroupKey]:
        """Return the groups that have cases."""
        return {(group, partition) for group, partition, _ in self._groups}

    def cases(self, key: GroupKey) -> list[tuple[str | None, OpenCase]]:
        """Return the cases of a group that can change, each with its protocol."""
        return [
            (protocol, case)
            for protocol, group in self._of(key).items()
            for case in group.recent
        ]

    def base(self, key: GroupKey) -> int:
        """Return the offset from which on all records of a group are needed."""
        return min(map(_base, self._of(key).values()))

    def _of_protocol(self, key: ByProtocol) -> _GroupCases:
        found = self._groups.get(key)
        if found is None:
            found = self._groups[key] = _GroupCases()
        return found

    def _of(self, key: GroupKey) -> dict[str | None, _GroupCases]:
        """Return the protocols of a group, without one that it left long ago."""
        known = {name: self._groups.get((*key, name)) for name in _PROTOCOLS}
        found = {name: group for name, group in known.items() if group is not None}
        latest = max(map(_base, found.values()), default=EVERYTHING)
        return {
            name: group for name, group in found.items() if group.offsets[-1] >= latest
        }


def opened_row(key: GroupKey, protocol: str | None, case: OpenCase) -> Row:
    """Return a row that names a case that later records can change."""
    group, partition = key
    return {
        "what": OPENED,
        "group_id": group,
        "source_partition": partition,
        "source_offset": case.offset,
        "value": as_value(case.digest),
        "record": case.rebalance_id,
        "reason": protocol,
    }


def _base(group: _GroupCases) -> int:
    place = len(group.offsets) - len(group.recent) - _BEFORE
    return group.offsets[place] if place >= 0 else EVERYTHING
