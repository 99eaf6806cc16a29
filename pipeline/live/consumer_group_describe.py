"""``ConsumerGroupDescribe`` (KIP-848, API key 69), which kafka-python 3 lacks.

Java's Admin client and librdkafka have it, but do not pass on the subscriptions.
"""

from __future__ import annotations

from kafka.protocol.api_message import ApiMessage

from pipeline.live import message_schemas


class ConsumerGroupDescribeRequest(ApiMessage, load_json=message_schemas):  # type: ignore[call-arg,misc]
    """Asks the coordinator for groups of the new protocol."""


class ConsumerGroupDescribeResponse(ApiMessage, load_json=message_schemas):  # type: ignore[call-arg,misc]
    """Members with subscriptions, current assignments, and target assignments."""
