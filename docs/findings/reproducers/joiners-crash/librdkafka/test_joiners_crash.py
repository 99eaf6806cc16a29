"""Members of single topics join an owner of several topics: the leader's process ends.

librdkafka 2.16.1 through confluent-kafka, assignor cooperative-sticky: crash. All members
are real consumers; the cluster is librdkafka's own mock cluster, whose topics have four
partitions each. A member subscribes to t1 and t2 and owns all eight partitions; then four
members of t2 and one of t1 join. Run it with

    pip install confluent-kafka==2.16.1 pytest && python -m pytest test_joiners_crash.py
"""

import os
import subprocess
import sys
import time

JOINERS = ["t2", "t2", "t2", "t2", "t1"]
ALONE, TOGETHER = 9.0, 25.0  # seconds


def cluster() -> None:
    """Serve the topics until the test ends."""
    from confluent_kafka import Producer

    producer = Producer({"test.mock.num.brokers": 1})
    for topic in ("t1", "t2"):
        producer.produce(topic, b"record")
    producer.flush(10)
    (broker,) = producer.list_topics(timeout=10).brokers.values()
    print(f"{broker.host}:{broker.port}", flush=True)
    time.sleep(ALONE + TOGETHER + 30)


def consume(servers: str, *topics: str) -> None:
    from confluent_kafka import Consumer

    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": "g",
            "partition.assignment.strategy": "cooperative-sticky",
            "session.timeout.ms": 10000,
            "heartbeat.interval.ms": 1000,
        }
    )
    consumer.subscribe(list(topics))
    end = time.monotonic() + ALONE + TOGETHER + 30
    while time.monotonic() < end:
        consumer.poll(0.2)
    os._exit(0)


def start(*arguments: str) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, __file__, *arguments], stdout=subprocess.PIPE, text=True
    )


def test_the_leader_survives_the_joiners() -> None:
    started = [start("cluster")]
    try:
        servers = started[0].stdout.readline().strip()
        leader = start(servers, "t1", "t2")
        started.append(leader)
        time.sleep(ALONE)
        assert leader.poll() is None
        started += [start(servers, topic) for topic in JOINERS]
        end = time.monotonic() + TOGETHER
        while leader.poll() is None and time.monotonic() < end:
            time.sleep(0.5)
        code = leader.poll()
        assert code is None, f"finding: crash: the leader ended with {code}"
    finally:
        for process in reversed(started):
            process.kill()
            process.wait()


if __name__ == "__main__":
    cluster() if sys.argv[1] == "cluster" else consume(*sys.argv[1:])
