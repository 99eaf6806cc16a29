"""A consumer of kafka-python that polls until its input ends.

Arguments: address, group, topic, assignor. It subscribes to all topics whose names
begin with the topic's first letter: this client's leader assigns with the partitions of
all topics that it knows, and so knows only those of the instance.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import traceback
from importlib import import_module
from typing import Any

from kafka import KafkaConsumer

PATIENCE_SECONDS = 2.0

ASSIGNORS = {
    "range": "range.RangePartitionAssignor",
    "roundrobin": "roundrobin.RoundRobinPartitionAssignor",
    "sticky": "sticky.sticky_assignor.StickyPartitionAssignor",
    "cooperative-sticky": "cooperative_sticky.CooperativeStickyAssignor",
}


def main() -> int:
    """Join the group and poll; return 70 if the client raises."""
    address, group, topic, name = sys.argv[1:]
    ended = threading.Event()
    threading.Thread(target=_await_end, args=(ended,), daemon=True).start()
    try:
        consumer = KafkaConsumer(
            bootstrap_servers=address,
            group_id=group,
            partition_assignment_strategy=[_assignor(name)],
            enable_auto_commit=False,
            heartbeat_interval_ms=100,
            retry_backoff_ms=1,
        )
        consumer.subscribe(pattern=f"^{topic[0]}")
        while not ended.is_set():
            consumer.poll(timeout_ms=100)
    except Exception as error:  # noqa: BLE001  # whatever the client raises
        traceback.print_exc()
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        return 70
    return 0


def _assignor(name: str) -> Any:
    module, _, kind = ASSIGNORS[name].rpartition(".")
    return getattr(import_module(f"kafka.coordinator.assignors.{module}"), kind)


def _await_end(ended: threading.Event) -> None:
    sys.stdin.read()
    ended.set()
    time.sleep(PATIENCE_SECONDS)
    os._exit(0)  # the client does not return


if __name__ == "__main__":
    sys.exit(main())
