"""Identity of a cluster and of its log of groups, which addresses do not show."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.live.admin import connected
from pipeline.live.live_source import topic_id_of
from pipeline.live.offsets_log import OffsetsLog
from pipeline.sources.record_lines import OFFSETS_TOPIC


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterIdentity:
    """Ids of the cluster and of its topic ``__consumer_offsets``.

    ``topic`` is as in `pipeline.topic_ids`; None before Kafka 2.8, and if there is no
    such topic. A topic that is deleted and created again has a new one.
    """

    cluster: str
    topic: str | None


def read_identity(log: OffsetsLog) -> ClusterIdentity:
    """Ask a cluster for its identity.

    Raises
    ------
    SourceError
        If the server is not ``host:port``.
    OutsideError
        If no broker answers, or the cluster rejects a request.
    """
    with connected(log.server, log.settings) as admin:
        cluster = str(admin.describe_cluster()["cluster_id"])
        described = admin.describe_topics([OFFSETS_TOPIC])
    found = [topic_id_of(one) for one in described if not one["error_code"]]
    return ClusterIdentity(cluster=cluster, topic=found[0] if found else None)
