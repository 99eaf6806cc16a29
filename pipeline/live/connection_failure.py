"""Why no broker can be reached, as librdkafka reports it.

kafka-python tries again until its time is up, even after a wrong password, and then
reports the time only.
"""

from __future__ import annotations

from typing import Final

import confluent_kafka
from confluent_kafka import KafkaError, KafkaException

from pipeline.live.client_properties import ClientSettings

SECONDS: Final = 5.0


def connection_failure(server: str, settings: ClientSettings) -> str | None:
    """Try to connect; return the first error that is about one broker, if any."""
    errors: list[KafkaError] = []
    consumer = confluent_kafka.Consumer(
        {
            "bootstrap.servers": server,
            "group.id": "assignor-oracle",  # required, but never joined
            "error_cb": errors.append,
            "log_level": 0,
        }
        | settings.for_librdkafka()
    )
    try:
        consumer.list_topics(timeout=SECONDS)
        consumer.poll(0)  # calls back
    except KafkaException as error:
        consumer.poll(0)
        errors.append(error.args[0])
    finally:
        consumer.close()
    known = (error for error in errors if error.code() != KafkaError._ALL_BROKERS_DOWN)
    first = next(known, None)
    return None if first is None else first.str()
