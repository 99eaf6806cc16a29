"""A consumer's program ends with its input, even if the client does not return."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from conformance.consumer_programs import RequestedConsumer, python_consumer

BLOCKED = """
import sys
class Blocked:
    def __init__(self, *arguments, **settings):
        print("blocked", flush=True)
        while True:
            pass
KafkaConsumer = AIOKafkaConsumer = Consumer = Blocked
ConsumerRebalanceListener = object
Message = KafkaException = RuntimeError
"""


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("client", "package"),
    [
        ("kafka-python", "kafka"),
        ("aiokafka", "aiokafka"),
        ("librdkafka", "confluent_kafka"),
    ],
)
def test_bug_a_blocked_consumer_outlived_its_parent(
    tmp_path: Path, client: str, package: str
) -> None:
    assignors = tmp_path / package / "coordinator" / "assignors"
    assignors.mkdir(parents=True)
    (tmp_path / package / "__init__.py").write_text(BLOCKED)
    (assignors / "range.py").write_text("RangePartitionAssignor = object\n")
    requested = RequestedConsumer(assignors=["range"], topics=["topic"])
    with subprocess.Popen(
        python_consumer(client, requested),
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,  # the program has all output there but events
    ) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        assert process.stderr.readline() == b"blocked\n"
        process.stdin.close()
        try:
            assert process.wait(60) == 0
        finally:
            process.kill()
