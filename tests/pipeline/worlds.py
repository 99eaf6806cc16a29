"""What is known besides the cases, with partition counts that hold at all times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline.judging.instances import World
from pipeline.judging.partition_counts import CountSources
from pipeline.known_counts import KnownCounts


def always(counts: Mapping[str, int]) -> KnownCounts:
    """Return counts that hold since 1970."""
    return KnownCounts({topic: ((0, count),) for topic, count in counts.items()})


def world(given: Mapping[str, int], **more: Any) -> World:
    """Return a world in which partition counts are given for all times."""
    return World(counts=CountSources(dated=always(given), at_end=given), **more)


def shown(counts: Mapping[str, int], **more: Any) -> World:
    """Return a world in which records show partitions since 1970."""
    return World(counts=CountSources(shown=always(counts)), **more)
