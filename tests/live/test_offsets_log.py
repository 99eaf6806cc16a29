"""Reading the topic of groups: from a stand-in for librdkafka, with what can fail."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException

from pipeline.live import ClientSettings
from pipeline.live.offsets_log import LogRange, OffsetsLog
from pipeline.sources.record_lines import OFFSETS_TOPIC
from rebalance import OutsideError

LOG = OffsetsLog(server="b:9092", settings=ClientSettings())
ALL = LogRange(partition=3, start=2, end=6)


class Message:
    """A record of partition 3, or an error."""

    def __init__(self, offset: int, error: KafkaError | None = None) -> None:
        self._offset, self._error = offset, error

    def error(self) -> KafkaError | None:
        return self._error

    def partition(self) -> int:
        return 3

    def offset(self) -> int:
        return self._offset

    def timestamp(self) -> tuple[int, int]:
        return (1, 1000 + self._offset) if self._offset != 4 else (0, -1)

    def key(self) -> bytes:
        return b"k"

    def value(self) -> bytes | None:
        return None if self._offset == 4 else b"v"


class Consumer:
    """Answers each poll with the next batch, then with nothing."""

    def __init__(self, *batches: list[Message], marks: Any = ()) -> None:
        self._batches = iter(batches)
        self._marks = dict(marks)
        self.closed = False
        self.given: dict[str, Any] = {}

    def __call__(self, given: dict[str, Any]) -> Consumer:
        self.given = given
        return self

    def assign(self, places: list[Any]) -> None:
        (place,) = places
        assert (place.topic, place.partition, place.offset) == (OFFSETS_TOPIC, 3, 2)

    def consume(self, _number: int, _seconds: float) -> list[Message]:
        return next(self._batches, [])

    def list_topics(self, name: str, _seconds: float) -> Any:
        partitions = dict.fromkeys(self._marks)
        found = {name: SimpleNamespace(partitions=partitions)} if partitions else {}
        return SimpleNamespace(topics=found)

    def get_watermark_offsets(self, place: Any, _seconds: float) -> tuple[int, int]:
        marks = self._marks[place.partition]
        if isinstance(marks, Exception):
            raise marks
        return marks  # type: ignore[no-any-return]

    def close(self) -> None:
        self.closed = True


def end() -> Message:
    return Message(-1, KafkaError(KafkaError._PARTITION_EOF))


def offsets(consumer: Consumer) -> list[int]:
    return [one.offset for one in LOG.records(ALL, consumer, silence_seconds=0.01)]


@pytest.mark.parametrize(
    "batches",
    [
        ([Message(2), Message(4)], [], [Message(5), Message(6), Message(7)]),
        ([Message(2), Message(4), Message(5), end()],),
    ],
    ids=["past the range", "at the end of the log"],
)
def test_a_range_is_read_to_its_end_despite_gaps(batches: Any) -> None:
    consumer = Consumer(*batches)
    assert offsets(consumer) == [2, 4, 5]
    assert consumer.closed
    assert consumer.given["isolation.level"] == "read_committed"


def test_a_record_has_its_place_time_and_bytes() -> None:
    first, tombstone = LOG.records(ALL, Consumer([Message(2), Message(4), end()]))
    assert first == (3, 2, 1002, b"k", b"v")
    assert tombstone == (3, 4, None, b"k", None)


def test_a_broker_that_disappears_is_an_error_and_not_an_end() -> None:
    gone = Message(-1, KafkaError(KafkaError._ALL_BROKERS_DOWN, "down"))
    consumer = Consumer([Message(2)], [gone])
    with pytest.raises(OutsideError, match="b:9092: "):
        offsets(consumer)
    assert consumer.closed


def test_silence_is_an_error() -> None:
    consumer = Consumer([Message(2)])
    with pytest.raises(OutsideError, match=r"nothing more of partition 3 for 0\.01 s"):
        offsets(consumer)
    assert consumer.closed


def test_ranges_are_those_of_partitions_with_records() -> None:
    consumer = Consumer(marks={2: (0, 0), 0: (5, 9), 1: (0, 1)})
    assert LOG.ranges(consumer) == [
        LogRange(partition=0, start=5, end=9),
        LogRange(partition=1, start=0, end=1),
    ]
    assert consumer.closed


def test_a_cluster_without_the_topic_is_named() -> None:
    with pytest.raises(OutsideError, match="b:9092: no topic __consumer_offsets"):
        LOG.ranges(Consumer())


def test_a_rejected_question_is_an_error() -> None:
    denied = KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED, "denied")
    with pytest.raises(OutsideError, match="b:9092: denied"):
        LOG.ranges(Consumer(marks={0: KafkaException(denied)}))


def test_a_reader_that_stops_early_closes_the_consumer() -> None:
    consumer = Consumer([Message(2), Message(3)])
    found: Iterator[Any] = LOG.records(ALL, consumer)
    next(found)
    found.close()  # type: ignore[attr-defined]
    assert consumer.closed
