"""State and history of a running cluster's groups. Does not import Spark."""

from pipeline.live.client_properties import ClientSettings, read_client_properties
from pipeline.live.cluster_reader import NO_SUCH_GROUP, read_cluster
from pipeline.live.cluster_state import ClusterState, LiveGroup
from pipeline.live.group_snapshots import GroupSnapshot, snapshots_of
from pipeline.live.kept_records import RECORDS, batches_of_records, records_of_batch
from pipeline.live.live_source import (
    ClusterIdentity,
    LiveSource,
    find_live_source,
    kept_live_source,
    read_identity,
    row_of_record,
)
from pipeline.live.offsets_log import LogRange, LogRecord, OffsetsLog
from pipeline.live.stream_offsets import (
    BEGIN_ANEW,
    NextOffsets,
    ReplacedLogError,
    first_offsets,
    latest_offsets,
    packed,
    ranges_between,
)

__all__ = [
    "BEGIN_ANEW",
    "NO_SUCH_GROUP",
    "RECORDS",
    "ClientSettings",
    "ClusterIdentity",
    "ClusterState",
    "GroupSnapshot",
    "LiveGroup",
    "LiveSource",
    "LogRange",
    "LogRecord",
    "NextOffsets",
    "OffsetsLog",
    "ReplacedLogError",
    "batches_of_records",
    "find_live_source",
    "first_offsets",
    "kept_live_source",
    "latest_offsets",
    "packed",
    "ranges_between",
    "read_client_properties",
    "read_cluster",
    "read_identity",
    "records_of_batch",
    "row_of_record",
    "snapshots_of",
]
