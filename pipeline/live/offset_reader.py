"""Committed offsets of groups and log ends of topics, through the Admin API."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from kafka import TopicPartition
from kafka.admin import OffsetSpec
from kafka.errors import KafkaError

from pipeline.live.cluster_state import Offsets, Topics

_T = TypeVar("_T")


class OffsetReader:
    """Reads offsets; ``failures`` names the groups and topics whose are unknown."""

    def __init__(self, admin: Any) -> None:
        self._admin = admin
        self.failures: list[str] = []

    def committed(self, groups: Sequence[str]) -> dict[str, Offsets]:
        """Return the committed offsets of each group for which they can be read."""
        found = self._all_or_each(
            lambda some: self._admin.list_group_offsets(dict.fromkeys(some)),
            groups,
            "committed offsets of group",
        )
        return {name: _by_topic(offsets) for name, offsets in found.items()}

    def with_ends(self, topics: Topics) -> Topics:
        """Add the log ends of each topic for which they can be read."""

        def ends(names: Sequence[str], at: Any) -> Offsets:
            requests = {
                TopicPartition(name, number): at
                for name in names
                for number in range(topics[name].partitions)
            }
            return _by_topic(
                self._admin.list_partition_offsets(requests) if requests else {}
            )

        found = self._all_or_each(
            lambda some: {
                name: (first.get(name, {}), last.get(name, {}))
                for first, last in [
                    (ends(some, OffsetSpec.EARLIEST), ends(some, OffsetSpec.LATEST))
                ]
                for name in some
            },
            list(topics),
            "log ends of topic",
        )
        return {
            name: replace(topic, ends=_paired(topic.partitions, *found[name]))
            if name in found
            else topic
            for name, topic in topics.items()
        }

    def _all_or_each(
        self,
        ask: Callable[[Sequence[str]], dict[str, _T]],
        names: Sequence[str],
        what: str,
    ) -> dict[str, _T]:
        """Ask for all names at once; if that fails, for each of them."""
        if not names:
            return {}
        try:
            return ask(names)
        except KafkaError:
            found: dict[str, _T] = {}
            for name in names:
                try:
                    found |= ask([name])
                except KafkaError as error:
                    self.failures.append(f"{what} {name}: {error}")
            return found


def _by_topic(offsets: Mapping[Any, Any]) -> Offsets:
    """Convert a mapping of (topic, partition); an offset below 0 means none."""
    found: Offsets = defaultdict(dict)
    for (topic, number), offset in offsets.items():
        if offset.offset >= 0:
            found[topic][number] = offset.offset
    return dict(found)


def _paired(
    count: int, earliest: Mapping[int, int], latest: Mapping[int, int]
) -> tuple[tuple[int, int], ...] | None:
    """Return both ends of each partition; None if one is unknown."""
    if any(number not in earliest or number not in latest for number in range(count)):
        return None
    return tuple((earliest[number], latest[number]) for number in range(count))
