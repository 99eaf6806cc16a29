"""A consumer's program ends with its input, even if the client does not return."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.wire.consumers import PROGRAMS

BLOCKED = """
import sys
class Blocked:
    def __init__(self, *arguments, **settings):
        print("blocked", flush=True)
        while True:
            pass
KafkaConsumer = AIOKafkaConsumer = Consumer = Blocked
KafkaException = RuntimeError
"""


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("program", "package"),
    [
        ("kafka_python_consumer.py", "kafka"),
        ("aiokafka_consumer.py", "aiokafka"),
        ("librdkafka_consumer.py", "confluent_kafka"),
    ],
)
def test_bug_a_blocked_consumer_outlived_its_parent(
    tmp_path: Path, program: str, package: str
) -> None:
    assignors = tmp_path / package / "coordinator" / "assignors"
    assignors.mkdir(parents=True)
    (tmp_path / package / "__init__.py").write_text(BLOCKED)
    (assignors / "range.py").write_text("RangePartitionAssignor = object\n")
    arguments = ["127.0.0.1:1", "group", "topic", "range"]
    with subprocess.Popen(
        [sys.executable, str(PROGRAMS / program), *arguments],
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == b"blocked\n"
        process.stdin.close()
        try:
            assert process.wait(60) == 0
        finally:
            process.kill()
