"""A running cluster as a source of an audit: its log of groups, and its topics.

Addresses do not show which cluster, and which log of groups, it is: its ids do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from pipeline.live.client_properties import ClientSettings
from pipeline.live.cluster_reader import connected, topic_state
from pipeline.live.offset_reader import OffsetReader
from pipeline.live.offsets_log import LogRange, LogRecord, OffsetsLog
from pipeline.records import OFFSETS_TOPIC
from pipeline.rows import Row, bytes_row, keyed
from pipeline.side_files.sidecars import Logs
from pipeline.topic_ids import text_of_id

OFFSETS_PER_TASK: Final = 500_000
"""Offsets that one task reads, with a connection of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveSource:
    """Records that exist when an audit begins; later records are not read.

    ``ranges`` are parts of the log, one per task. ``counts`` are partition counts by
    topic, ``names`` those of topic ids (`pipeline.topic_ids`), and ``ends`` the log
    ends that are known; ``notes`` state which could not be read, and why.
    """

    log: OffsetsLog
    ranges: tuple[LogRange, ...]
    counts: dict[str, int]
    names: dict[str, str]
    ends: Logs
    notes: tuple[str, ...]

    @property
    def records(self) -> int:
        """Number of offsets; compaction has removed some of the records."""
        return sum(range_.end - range_.start for range_ in self.ranges)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterIdentity:
    """Ids of the cluster and of its topic ``__consumer_offsets``.

    ``topic`` is as in `pipeline.topic_ids`; None before Kafka 2.8, and if there is no
    such topic. A topic that is deleted and created again has a new one.
    """

    cluster: str
    topic: str | None


def read_identity(log: OffsetsLog) -> ClusterIdentity:
    """Ask a cluster for its identity; errors as in `find_live_source`."""
    with connected(log.server, log.settings) as admin:
        cluster = str(admin.describe_cluster()["cluster_id"])
        described = admin.describe_topics([OFFSETS_TOPIC])
    found = [_topic_id_of(topic) for topic in described if not topic["error_code"]]
    return ClusterIdentity(cluster=cluster, topic=found[0] if found else None)


def find_live_source(server: str, settings: ClientSettings) -> LiveSource:
    """Look at a cluster: first at the end of its log of groups, then at its topics.

    Raises
    ------
    SourceError
        If the server is not ``host:port``.
    OutsideError
        If no broker answers, or the cluster rejects a request.
    """
    log = OffsetsLog(server=server, settings=settings)
    with connected(server, settings) as admin:
        ranges = tuple(piece for range_ in log.ranges() for piece in pieces(range_))
        return _with_topics(admin, log, ranges)


def _with_topics(
    admin: Any, log: OffsetsLog, ranges: tuple[LogRange, ...]
) -> LiveSource:
    reader = OffsetReader(admin)
    described = [
        topic for topic in admin.describe_topics(None) if not topic["error_code"]
    ]
    topics = {
        topic["name"]: topic_state(topic["partitions"], {}) for topic in described
    }
    topics = reader.with_ends(topics)
    return LiveSource(
        log=log,
        ranges=ranges,
        counts={name: topic.partitions for name, topic in topics.items()},
        names={  # brokers before 2.8 have no ids
            topic_id: topic["name"]
            for topic in described
            if (topic_id := _topic_id_of(topic)) is not None
        },
        ends={
            name: dict(enumerate(topic.ends))
            for name, topic in topics.items()
            if topic.ends is not None
        },
        notes=tuple(reader.failures),
    )


def row_of_record(record: LogRecord) -> Row:
    """Return a record as a row; one without a key is quarantined."""
    return keyed(bytes_row(OFFSETS_TOPIC, **record._asdict()))


def pieces(whole: LogRange, most: int = OFFSETS_PER_TASK) -> Iterator[LogRange]:
    """Divide a range into parts of at most ``most`` offsets."""
    for start in range(whole.start, whole.end, most):
        end = min(start + most, whole.end)
        yield LogRange(partition=whole.partition, start=start, end=end)


def _topic_id_of(described: dict[str, Any]) -> str | None:
    """Return the id in the description of a topic, as text; None if it has none."""
    topic_id = described.get("topic_id")
    if topic_id is None:
        return None
    known = topic_id if isinstance(topic_id, UUID) else UUID(str(topic_id))
    return text_of_id(known.bytes) if known.int else None
