"""State and history of a running cluster's groups. Does not import Spark."""

from pipeline.live.admin import read_cluster
from pipeline.live.client_properties import ClientSettings, read_client_properties
from pipeline.live.cluster_state import ClusterState, GroupState
from pipeline.live.live_source import LiveSource, find_live_source, rows_of_range
from pipeline.live.offsets_log import OffsetsLog
from pipeline.live.snapshot import GroupSnapshot, snapshots_of

__all__ = [
    "ClientSettings",
    "ClusterState",
    "GroupSnapshot",
    "GroupState",
    "LiveSource",
    "OffsetsLog",
    "find_live_source",
    "read_client_properties",
    "read_cluster",
    "rows_of_range",
    "snapshots_of",
]
