"""An event loop in a thread of its own, with the server and its coordinator."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

from conformance.clients.answer import Answer
from conformance.clients.patience import Watch
from conformance.wire.catalog import Catalog
from conformance.wire.consumers import WireConsumer
from conformance.wire.leader_coordinator import LeaderCoordinator, Lost, Waiting
from conformance.wire.leader_exchange import LeaderExchange
from conformance.wire.loopback import HOST, LoopbackServer
from rebalance import Topic

_T = TypeVar("_T")


class WireSession:
    """The loop, which serves until `stop`."""

    def __init__(
        self,
        server: LoopbackServer,
        port: int,
        assignor: str | None,
        consumer: WireConsumer | None,
        *,
        settles: bool,
    ) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._server = server
        try:
            self.run(self._server.start(port))
        except OSError:
            self._end_loop()
            raise
        self.port = self._server.port
        flexible = consumer is not None and consumer.flexible
        self.coordinator = LeaderCoordinator(
            Catalog(HOST, self.port, flexible=flexible),
            assignor=assignor,
            settles=settles,
            rehearses=consumer is None or consumer.rehearses,
        )
        self.run(self._server.serve(self.coordinator))

    def start(self, work: Coroutine[Any, Any, _T]) -> Future[_T]:
        """Start a coroutine in the loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def run(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Run a coroutine in the loop and return its result."""
        return self.start(work).result()

    async def joined(self, seconds: float) -> Waiting | None:
        """Wait for a consumer to join."""
        try:
            async with asyncio.timeout(seconds):
                await self.coordinator.has_joined.wait()
        except TimeoutError:
            return None
        return self.coordinator.waiting

    async def show(self, topics: dict[str, Topic]) -> None:
        """Replace the topics in metadata."""
        self.coordinator.catalog.show(topics)

    async def lead(
        self, exchange: LeaderExchange, watch: Watch, *, is_known: bool
    ) -> Answer:
        """Return the leader's answer, or the verdict on a missing one.

        Raises
        ------
        Lost
            If the connection ended before an answer.
        TimeoutError
            If the leader has been told to join again, and is late: it has not been
            asked for the answer that counts.
        """
        if self.coordinator.waiting is None:
            raise Lost
        answer = self.coordinator.ask(exchange, is_known=is_known)
        rejoining = 0.0  # since when it has to join again
        while True:
            done, _ = await asyncio.wait({answer}, timeout=watch.pause)
            if answer.cancelled():
                raise Lost
            if done:
                return watch.answered(answer.result())
            # In a thread: the consumer is served meanwhile.
            ended = await asyncio.to_thread(watch.look)
            if self.coordinator.is_rejoining:
                rejoining = rejoining or self._loop.time()
                if self._loop.time() - rejoining < watch.seconds:
                    continue
                answer.cancel()
                raise TimeoutError
            rejoining = 0.0
            if ended is not None:
                answer.cancel()
                return ended

    async def abandon(self) -> None:
        """End the connection of a leader that has not answered."""
        self.coordinator.abandon()

    def stop(self) -> None:
        """Stop the server and the loop."""
        self.run(self._server.stop())
        self._end_loop()

    def _end_loop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
