"""A consumer of aiokafka that runs until its input ends.

Arguments: address, group, topic, assignor.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
import traceback
from importlib import import_module
from typing import Any

from aiokafka import AIOKafkaConsumer

PATIENCE_SECONDS = 2.0

ASSIGNORS = {
    "range": "range.RangePartitionAssignor",
    "roundrobin": "roundrobin.RoundRobinPartitionAssignor",
    "sticky": "sticky.sticky_assignor.StickyPartitionAssignor",
}


async def run() -> int:
    """Join the group and poll; return 70 if the client raises."""
    address, group, topic, name = sys.argv[1:]
    ended = threading.Event()
    threading.Thread(target=_await_end, args=(ended,), daemon=True).start()
    consumer = AIOKafkaConsumer(
        bootstrap_servers=address,
        group_id=group,
        partition_assignment_strategy=[_assignor(name)],
        enable_auto_commit=False,
        heartbeat_interval_ms=100,
        retry_backoff_ms=1,
    )
    consumer.subscribe([topic])
    try:
        await consumer.start()
        while not ended.is_set():
            await consumer.getmany(timeout_ms=100)
    except Exception as error:  # noqa: BLE001  # whatever the client raises
        traceback.print_exc()
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        return 70
    return 0


def _await_end(ended: threading.Event) -> None:
    sys.stdin.read()
    ended.set()
    time.sleep(PATIENCE_SECONDS)
    os._exit(0)  # the client does not return, or its event loop is blocked


def _assignor(name: str) -> Any:
    module, _, kind = ASSIGNORS[name].rpartition(".")
    return getattr(import_module(f"aiokafka.coordinator.assignors.{module}"), kind)


if __name__ == "__main__":
    sys.exit(asyncio.run(run()))
