"""Figures of an audit as Prometheus' text format, for node_exporter's text files."""

from __future__ import annotations

from typing import Final

from prometheus_client import CollectorRegistry, Gauge, generate_latest

from oracle.alerting.audit_figures import AuditFigures

_PREFIX: Final = "assignor_oracle_"
_MILLISECONDS: Final = 1000
_OF_GROUP: Final = {
    "group_rebalances": (
        "rebalances",
        1,
        "Judged rebalances: generations and target assignments.",
    ),
    "group_invalid_assignments": (
        "invalid",
        1,
        "Recorded assignments, of rebalances and snapshots, that violate a rule.",
    ),
    "group_unbalanced_assignments": (
        "unbalanced",
        1,
        "Recorded assignments, of whole rebalances and snapshots, without balance.",
    ),
    "group_needless_moves": (
        "needless_moves",
        1,
        "Moves of partitions beyond the fewest of a balanced assignment.",
    ),
    "group_unread_partition_seconds": (
        "unread_partition_ms",
        _MILLISECONDS,
        "Partitions without a reader although members subscribe, times seconds.",
    ),
    "group_shared_partition_seconds": (
        "shared_partition_ms",
        _MILLISECONDS,
        "Partitions that several members read, times seconds.",
    ),
    "group_unknown_durations": (
        "durations_unknown",
        1,
        "Rebalances whose duration is not known; they are not part of the seconds.",
    ),
}
"""Name of a metric: the figure, its units per unit of the metric, and the help."""


def metrics_text(figures: AuditFigures) -> bytes:
    """Return gauges of the last audit, one sample per group or cluster."""
    registry = CollectorRegistry()
    times = {
        "audit_timestamp_seconds": (
            figures.finished,
            "When the audit was complete, seconds since 1970.",
        ),
        "newest_record_timestamp_seconds": (
            figures.newest,
            "Time of the newest record that the audit read, seconds since 1970.",
        ),
    }
    for name, (at, words) in times.items():
        if at is not None:
            gauge = Gauge(_PREFIX + name, words, ["cluster"], registry=registry)
            gauge.labels(figures.cluster).set(at.timestamp())
    for name, (figure, units, words) in _OF_GROUP.items():
        labels = ["cluster", "group"]
        gauge = Gauge(_PREFIX + name, words, labels, registry=registry)
        for row in figures.groups:
            value = row[figure] / units if units != 1 else row[figure]
            gauge.labels(row["cluster"], row["group_id"]).set(value)
    return generate_latest(registry)
