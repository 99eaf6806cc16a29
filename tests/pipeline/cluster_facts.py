"""Facts of a cluster in which partition counts hold at all times, and settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline.judging.instances import ClusterFacts
from pipeline.judging.partition_counts import CountSources
from pipeline.judging.settings import Settings
from pipeline.known_counts import KnownCounts
from rebalance import ClaimRule

UNKNOWN = ClusterFacts()
"""No count, no lag, and no name of a topic."""


def always(counts: Mapping[str, int]) -> KnownCounts:
    """Return counts that hold since 1970."""
    return KnownCounts({topic: ((0, count),) for topic, count in counts.items()})


def facts(given: Mapping[str, int], **more: Any) -> ClusterFacts:
    """Return facts in which partition counts are given for all times."""
    return ClusterFacts(counts=CountSources(dated=always(given), at_end=given), **more)


def shown(counts: Mapping[str, int], **more: Any) -> ClusterFacts:
    """Return facts in which records show partitions since 1970."""
    return ClusterFacts(counts=CountSources(shown=always(counts)), **more)


def usual_settings(
    facts: ClusterFacts = UNKNOWN,
    *,
    claim_rule: ClaimRule = ClaimRule.NEWEST_CLAIM,
    **more: Any,
) -> Settings:
    """Return the settings of an audit of the cluster ``c``."""
    return Settings(cluster="c", facts=facts, claim_rule=claim_rule, **more)
