"""Responses that need no group: versions, metadata, the coordinator, offsets.

The one node of the cluster has no rack. Each rack of an instance is another node, which
no consumer has a reason to connect to. It has the same address, but under another name,
because kafkajs confuses nodes with the one that it has connected to first.
"""

from __future__ import annotations

from typing import Any, Final

from conformance.wire.broker_messages import (
    API_VERSIONS,
    APIS,
    FETCH,
    FIND_COORDINATOR,
    LIST_OFFSETS,
    METADATA,
    OFFSET_COMMIT,
    OFFSET_FETCH,
    Request,
    encode_response,
    part,
)
from rebalance import Topic

NODE: Final = 0
RACK_HOST: Final = "localhost"
NO_ERROR: Final = 0
UNKNOWN_TOPIC: Final = 3
BASE_TOPIC: Final = "wire"
"""The topic to which the consumer under test subscribes."""


class Catalog:
    """Topics of the present instance and nodes of the cluster.

    Parameters
    ----------
    host : str
    port : int
        Address of the coordinator.
    flexible : bool
        Whether flexible versions are offered.
    """

    def __init__(self, host: str, port: int, *, flexible: bool = False) -> None:
        self.host = host
        self.port = port
        self.flexible = flexible
        self._base = {BASE_TOPIC: Topic(partitions=1)}
        self._topics: dict[str, Topic] = self._base
        self._racks: dict[str, int] = {}

    def show(self, topics: dict[str, Topic]) -> None:
        """Replace the topics by those of an instance.

        The base topic still exists for a client that names it.
        """
        self._topics = topics
        for topic in topics.values():
            for racks in topic.racks or ():
                for rack in racks:
                    self._racks.setdefault(rack, len(self._racks) + 1)

    def respond(self, request: Request) -> bytes | None:
        """Return a response; None if the request concerns the group."""
        respond = {
            API_VERSIONS: self.versions,
            METADATA: self._metadata,
            FIND_COORDINATOR: self._coordinator,
            OFFSET_FETCH: _committed,
            OFFSET_COMMIT: _commit,
            LIST_OFFSETS: _offsets,
            FETCH: _nothing,
        }.get(request.key)
        return None if respond is None else respond(request)

    def versions(self, request: Request, error: int = NO_ERROR) -> bytes:
        """Return the versions that are offered."""
        keys = [
            part(
                request,
                "ApiVersion",
                api_key=key,
                min_version=api.least,
                max_version=api.newest_offered(flexible=self.flexible),
            )
            for key, api in sorted(APIS.items())
        ]
        return encode_response(request, error_code=error, api_keys=keys)

    def wanted(self, request: Request) -> list[str]:
        """Return the topics that a metadata request names, or all."""
        wanted = request.body.topics
        if wanted is None or (request.version == 0 and not wanted):
            return [name for name, topic in self._topics.items() if topic.partitions]
        return list(dict.fromkeys(topic.name or "" for topic in wanted))

    def _metadata(self, request: Request) -> bytes:
        racks = ((node, RACK_HOST, rack) for rack, node in self._racks.items())
        nodes = [(NODE, self.host, None), *racks]
        brokers = [
            part(
                request,
                "MetadataResponseBroker",
                node_id=node,
                host=host,
                port=self.port,
                rack=rack,
            )
            for node, host, rack in nodes
        ]
        return encode_response(
            request,
            brokers=brokers,
            cluster_id="wire",
            controller_id=NODE,
            topics=[self._topic(request, name) for name in self.wanted(request)],
        )

    def _topic(self, request: Request, name: str) -> Any:
        """Describe a topic; Kafka has no topics without partitions."""
        topic = self._topics.get(name) or self._base.get(name)
        if topic is None or not topic.partitions:
            unknown = UNKNOWN_TOPIC
            return part(request, "MetadataResponseTopic", name=name, error_code=unknown)
        kind = part(request, "MetadataResponseTopic").MetadataResponsePartition
        partitions = []
        for number in range(topic.partitions):
            racks = topic.racks[number] if topic.racks else ()
            nodes = [self._racks[rack] for rack in racks] or [NODE]
            partitions.append(
                kind(
                    version=request.version,
                    error_code=NO_ERROR,
                    partition_index=number,
                    leader_id=nodes[0],
                    leader_epoch=0,
                    replica_nodes=nodes,
                    isr_nodes=nodes,
                )
            )
        return part(
            request,
            "MetadataResponseTopic",
            name=name,
            error_code=NO_ERROR,
            partitions=partitions,
        )

    def _coordinator(self, request: Request) -> bytes:
        place = {
            "node_id": NODE,
            "host": self.host,
            "port": self.port,
            "error_code": NO_ERROR,
        }
        if request.version < 4:
            return encode_response(request, **place)
        keys = request.body.coordinator_keys or ()
        found = [part(request, "Coordinator", key=key, **place) for key in keys]
        return encode_response(request, coordinators=found)


def _committed(request: Request) -> bytes:
    """Respond that nothing is committed."""
    nothing = {"committed_offset": -1, "committed_leader_epoch": -1, "metadata": ""}
    response, version = APIS[request.key].response, request.version
    if version < 8:
        kinds = ("OffsetFetchResponseTopic", "OffsetFetchResponsePartition")
        named = request.body.topics
        topics = _for_each_partition(response, kinds, version, named, nothing)
        return encode_response(request, error_code=NO_ERROR, topics=topics)
    kinds = ("OffsetFetchResponseTopics", "OffsetFetchResponsePartitions")
    groups = []
    for group in request.body.groups or ():
        kind = response.OffsetFetchResponseGroup
        topics = _for_each_partition(kind, kinds, version, group.topics, nothing)
        group_id = group.group_id
        groups.append(
            kind(version=version, group_id=group_id, topics=topics, error_code=NO_ERROR)
        )
    return encode_response(request, groups=groups)


def _commit(request: Request) -> bytes:
    """Accept commits without storing them."""
    return _for_all(
        request, ("OffsetCommitResponseTopic", "OffsetCommitResponsePartition"), {}
    )


def _offsets(request: Request) -> bytes:
    """Respond that every partition is empty."""
    empty = {"timestamp": -1, "offset": 0, "leader_epoch": 0}
    return _for_all(
        request, ("ListOffsetsTopicResponse", "ListOffsetsPartitionResponse"), empty
    )


def _for_all(request: Request, kinds: tuple[str, str], values: dict[str, Any]) -> bytes:
    """Respond with equal values for each partition that a request names."""
    response, version = APIS[request.key].response, request.version
    named = request.body.topics
    topics = _for_each_partition(response, kinds, version, named, values)
    return encode_response(request, topics=topics)


def _for_each_partition(
    parent: Any, kinds: tuple[str, str], version: int, topics: Any, values: Any
) -> list[Any]:
    """Return topics, of which each partition that a request names has equal values.

    ``kinds`` are the names of a topic's structure, in ``parent``, and of a partition's.
    """
    of_topic = getattr(parent, kinds[0])
    of_partition = getattr(of_topic, kinds[1])
    return [
        of_topic(
            version=version,
            name=topic.name,
            partitions=[
                of_partition(
                    version=version,
                    partition_index=number,
                    error_code=NO_ERROR,
                    **values,
                )
                for number in _numbers(topic)
            ],
        )
        for topic in topics or ()
    ]


def _numbers(topic: Any) -> list[int]:
    """Return the partitions of a topic in a request; OffsetFetch has a list of them."""
    if hasattr(topic, "partition_indexes"):
        return list(topic.partition_indexes or ())
    return [partition.partition_index for partition in topic.partitions or ()]


def _nothing(request: Request) -> bytes:
    """Respond to a fetch without records."""
    return encode_response(request, error_code=NO_ERROR, responses=[])
