"""Records of ``__consumer_offsets``, read from a running cluster with librdkafka.

A read covers the offsets that exist when it begins: one range per partition, which
tasks read independently of one another. Transactional offset commits count once they
are committed (``isolation.level=read_committed``), as they do for the coordinator.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias

import confluent_kafka
from confluent_kafka import KafkaError, KafkaException, TopicPartition

from pipeline.live.client_properties import ClientSettings
from pipeline.records import OFFSETS_TOPIC
from rebalance import OutsideError

ANSWER_SECONDS: Final = 15.0
"""Time for the broker to answer a question about the topic."""
SILENCE_SECONDS: Final = 60.0
"""Time without records or the end of the range after which a read fails."""
_MESSAGES: Final = 1_000
_POLL_SECONDS: Final = 1.0

_PASSING: Final = (
    KafkaError._ALL_BROKERS_DOWN,
    KafkaError._TRANSPORT,
    KafkaError._RESOLVE,
)
"""Errors of the network: librdkafka goes on trying, until the silence is too long."""

MakeConsumer: TypeAlias = Callable[[dict[str, Any]], Any]


class LogRecord(NamedTuple):
    """One record; ``at`` is in milliseconds since 1970, None if unknown."""

    partition: int
    offset: int
    at: int | None
    key: bytes | None
    value: bytes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRange:
    """Offsets of one partition: ``start`` up to, but without, ``end``."""

    partition: int
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetsLog:
    """The topic at a cluster; can be passed between processes.

    ``make`` makes a consumer from its settings; None: librdkafka's class, which cannot
    be pickled.
    """

    server: str
    settings: ClientSettings
    silence_seconds: float = SILENCE_SECONDS
    make: MakeConsumer | None = None

    def ranges(self) -> list[LogRange]:
        """Return the offsets of each partition that exist now; none is empty.

        Raises
        ------
        OutsideError
            As `bounds`.
        """
        return [bound for bound in self.bounds() if bound.start < bound.end]

    def bounds(self) -> list[LogRange]:
        """Return the offsets of every partition, also of those without records.

        The end is the last stable offset: later records belong to a transaction that is
        still open, or come after its records, and cannot be read yet.

        Raises
        ------
        OutsideError
            If no broker answers, or the topic cannot be read.
        """
        with self._consumer() as consumer:
            topic = consumer.list_topics(OFFSETS_TOPIC, ANSWER_SECONDS).topics.get(
                OFFSETS_TOPIC
            )
            if topic is None or not topic.partitions:
                raise OutsideError(f"{self.server}: no topic {OFFSETS_TOPIC}")
            found = []
            for partition in sorted(topic.partitions):
                place = TopicPartition(OFFSETS_TOPIC, partition)
                start, end = consumer.get_watermark_offsets(place, ANSWER_SECONDS)
                found.append(LogRange(partition=partition, start=start, end=end))
            return found

    def records(self, within: LogRange) -> Iterator[LogRecord]:
        """Yield the records of a range in order of their offsets.

        Offsets can be missing: the log is compacted, and contains control records. An
        end of the log before that of the range is waited for: after a change of the
        partition's leader, the new one can state an earlier end for a moment.

        Raises
        ------
        OutsideError
            If the cluster rejects the read, or is silent for too long.
        """
        with self._consumer() as consumer:
            consumer.assign(
                [TopicPartition(OFFSETS_TOPIC, within.partition, within.start)]
            )
            heard = time.monotonic()
            while True:
                for message in _next_messages(consumer):
                    error = message.error()
                    if error is None and message.offset() < within.end:
                        heard = time.monotonic()
                        yield _record(message)
                    elif error is None:
                        return
                    elif _is_end(error):
                        if message.offset() >= within.end:
                            return
                    elif not (error.retriable() or error.code() in _PASSING):
                        raise self._failure(error)
                if time.monotonic() - heard > self.silence_seconds:
                    reason = f"nothing more of partition {within.partition}"
                    silence = f"for {self.silence_seconds:g} s"
                    raise OutsideError(f"{self.server}: {reason} {silence}")

    @contextmanager
    def _consumer(self) -> Iterator[Any]:
        """Open a consumer that is in no group; convert its errors."""
        given = {
            "bootstrap.servers": self.server,
            "group.id": "assignor-oracle",  # required, but never joined
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "isolation.level": "read_committed",
            "auto.offset.reset": "error",
            "fetch.wait.max.ms": 50,  # the end of a partition is reported after this
            "log_level": 0,
        }
        try:
            make = self.make or confluent_kafka.Consumer
            consumer = make(given | self.settings.for_librdkafka())
        except KafkaException as error:
            raise self._failure(error.args[0]) from error
        try:
            yield consumer
        except KafkaException as error:
            raise self._failure(error.args[0]) from error
        finally:
            consumer.close()

    def _failure(self, error: Any) -> OutsideError:
        return OutsideError(f"{self.server}: {error.str()}")


def _next_messages(consumer: Any) -> list[Any]:
    """Wait for a message, and take those that are there with it.

    A single call for many would wait its whole time, also at the end of the log.
    """
    first: list[Any] = consumer.consume(1, _POLL_SECONDS)
    return first + consumer.consume(_MESSAGES, 0) if first else []


def _is_end(error: Any) -> bool:
    return bool(error.code() == KafkaError._PARTITION_EOF)


def _record(message: Any) -> LogRecord:
    kind, at = message.timestamp()
    is_known = kind != confluent_kafka.TIMESTAMP_NOT_AVAILABLE
    return LogRecord(
        partition=message.partition(),
        offset=message.offset(),
        at=at if is_known else None,
        key=message.key(),
        value=message.value(),
    )
