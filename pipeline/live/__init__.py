"""State and history of a running cluster's groups. Does not import Spark."""

from pipeline.live.client_properties import ClientSettings, read_client_properties
from pipeline.live.cluster_reader import NO_SUCH_GROUP, read_cluster
from pipeline.live.cluster_state import ClusterState, LiveGroup
from pipeline.live.group_snapshots import GroupSnapshot, snapshots_of
from pipeline.live.live_source import (
    ClusterIdentity,
    LiveSource,
    find_live_source,
    read_identity,
    row_of_record,
)
from pipeline.live.offsets_log import LogRange, LogRecord, OffsetsLog

__all__ = [
    "NO_SUCH_GROUP",
    "ClientSettings",
    "ClusterIdentity",
    "ClusterState",
    "GroupSnapshot",
    "LiveGroup",
    "LiveSource",
    "LogRange",
    "LogRecord",
    "OffsetsLog",
    "find_live_source",
    "read_client_properties",
    "read_cluster",
    "read_identity",
    "row_of_record",
    "snapshots_of",
]
