"""A consumer of aiokafka that runs until its input ends.

Arguments: address, group, topic, assignor.
"""

from __future__ import annotations

import asyncio
import sys
import traceback
from importlib import import_module
from typing import Any

from aiokafka import AIOKafkaConsumer

ASSIGNORS = {
    "range": "range.RangePartitionAssignor",
    "roundrobin": "roundrobin.RoundRobinPartitionAssignor",
    "sticky": "sticky.sticky_assignor.StickyPartitionAssignor",
}


async def run() -> int:
    """Join the group and poll; return 70 if the client raises."""
    address, group, topic, name = sys.argv[1:]
    consumer = AIOKafkaConsumer(
        bootstrap_servers=address,
        group_id=group,
        partition_assignment_strategy=[_assignor(name)],
        enable_auto_commit=False,
        heartbeat_interval_ms=100,
        retry_backoff_ms=1,
    )
    consumer.subscribe([topic])
    ended = asyncio.ensure_future(asyncio.to_thread(sys.stdin.read))
    try:
        await consumer.start()
        while not ended.done():
            await consumer.getmany(timeout_ms=100)
    except Exception as error:  # noqa: BLE001  # whatever the client raises
        traceback.print_exc()
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        return 70
    return 0


def _assignor(name: str) -> Any:
    module, _, kind = ASSIGNORS[name].rpartition(".")
    return getattr(import_module(f"aiokafka.coordinator.assignors.{module}"), kind)


if __name__ == "__main__":
    sys.exit(asyncio.run(run()))
