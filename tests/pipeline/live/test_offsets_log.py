"""Reading the topic of groups: from a stand-in for librdkafka, with what can fail."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException

from pipeline.live import ClientSettings, LogRange, OffsetsLog
from rebalance import OutsideError
from tests.pipeline.live.consumers import Consumer, Message, end

LOG = OffsetsLog(server="b:9092", settings=ClientSettings())
IMPATIENT = replace(LOG, silence_seconds=0.01)
ALL = LogRange(partition=3, start=2, end=6)


def log_of(consumer: Consumer) -> OffsetsLog:
    return replace(LOG, make=consumer)


def offsets(consumer: Consumer) -> list[int]:
    return [record.offset for record in replace(IMPATIENT, make=consumer).records(ALL)]


@pytest.mark.parametrize(
    "batches",
    [
        ([Message(2), Message(4)], [], [Message(5), Message(6), Message(7)]),
        ([Message(2), Message(4), Message(5), end()],),
        ([Message(2), Message(4), end(5)], [Message(5), end()]),
    ],
    ids=["past the range", "at the end of the log", "at an end that was too early"],
)
def test_a_range_is_read_to_its_end_despite_gaps(batches: Any) -> None:
    consumer = Consumer(*batches)
    assert offsets(consumer) == [2, 4, 5]
    assert consumer.closed
    assert consumer.given["isolation.level"] == "read_committed"


def test_a_record_has_its_place_time_and_bytes() -> None:
    first, tombstone = log_of(Consumer([Message(2), Message(4), end()])).records(ALL)
    assert first == (3, 2, 1002, b"k", b"v")
    assert tombstone == (3, 4, None, b"k", None)


def test_a_broker_that_disappears_is_an_error_and_not_an_end() -> None:
    gone = Message(-1, KafkaError(KafkaError._ALL_BROKERS_DOWN, "down"))
    consumer = Consumer([Message(2)], [gone])
    with pytest.raises(OutsideError, match="b:9092: "):
        offsets(consumer)
    assert consumer.closed


@pytest.mark.parametrize(
    "batch",
    [[Message(2)], [Message(2), end(5)]],
    ids=["no end", "an end before that of the range"],
)
def test_silence_is_an_error(batch: list[Message]) -> None:
    consumer = Consumer(batch)
    with pytest.raises(OutsideError, match=r"nothing more of partition 3 for 0\.01 s"):
        offsets(consumer)
    assert consumer.closed


def test_ranges_are_those_of_partitions_with_records() -> None:
    consumer = Consumer(marks={2: (0, 0), 0: (5, 9), 1: (0, 1)})
    assert log_of(consumer).ranges() == [
        LogRange(partition=0, start=5, end=9),
        LogRange(partition=1, start=0, end=1),
    ]
    assert consumer.closed


def test_bounds_are_those_of_all_partitions() -> None:
    consumer = Consumer(marks={2: (3, 3), 0: (5, 9)})
    assert log_of(consumer).bounds() == [
        LogRange(partition=0, start=5, end=9),
        LogRange(partition=2, start=3, end=3),
    ]
    # Only what was committed by a transaction is before the end.
    assert consumer.given["isolation.level"] == "read_committed"


def test_a_cluster_without_the_topic_is_named() -> None:
    with pytest.raises(OutsideError, match="b:9092: no topic __consumer_offsets"):
        log_of(Consumer()).ranges()


def test_a_rejected_question_is_an_error() -> None:
    denied = KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED, "denied")
    with pytest.raises(OutsideError, match="b:9092: denied"):
        log_of(Consumer(marks={0: KafkaException(denied)})).ranges()


def test_a_reader_that_stops_early_closes_the_consumer() -> None:
    consumer = Consumer([Message(2), Message(3)])
    found: Iterator[Any] = log_of(consumer).records(ALL)
    next(found)
    found.close()  # type: ignore[attr-defined]
    assert consumer.closed
