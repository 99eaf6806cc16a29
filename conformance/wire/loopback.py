"""A server on the loopback interface that hands frames to a coordinator.

Everything is bounded: the number of connections, the size of a frame, the time from its
first byte to its last, the time that a connection can be silent, and the time that a
peer can leave a response unread.
"""

from __future__ import annotations

import asyncio
import struct
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from conformance.wire.coordinator import Coordinator
from conformance.wire.messages import HEAD_BYTES, LARGEST_FRAME, largest_frame
from rebalance import WireError

HOST: Final = "127.0.0.1"
_LENGTH: Final = struct.Struct(">i")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopbackLimits:
    """Bounds of the server.

    Attributes
    ----------
    connections : int
        A further connection is closed at once.
    first : float
        Seconds from a connection to its first frame.
    frame : float
        Seconds from the first byte of a frame to its last, and for a peer to read a
        response.
    silent : float
        Seconds between two frames.
    """

    connections: int = 16
    first: float = 10.0
    frame: float = 30.0
    silent: float = 900.0


class _StreamLink:
    """A connection with buffered output."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    def send(self, frame: bytes) -> None:
        if not self._writer.is_closing():
            self._writer.write(frame)

    def close(self) -> None:
        self._writer.transport.abort()


class LoopbackServer:
    """The server; `start` binds a free port, `stop` ends every connection."""

    def __init__(self, limits: LoopbackLimits) -> None:
        self.limits = limits
        self.port = 0
        self.malformed = 0  # frames that ended their connection
        self.refused = 0  # connections beyond the limit
        self._coordinator: Coordinator | None = None
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self, port: int = 0) -> None:
        """Bind a port of loopback, 0 for a free one, without accepting frames yet.

        Raises
        ------
        OSError
            If the port is in use.
        """
        self._server = await asyncio.start_server(
            self._accept, HOST, port, start_serving=False
        )
        self.port = int(self._server.sockets[0].getsockname()[1])

    async def serve(self, coordinator: Coordinator) -> None:
        """Accept connections."""
        assert self._server is not None  # noqa: S101
        self._coordinator = coordinator
        await self._server.start_serving()

    async def stop(self) -> None:
        """Stop listening, and end every connection."""
        if self._server is not None:
            self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accept(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        if len(self._tasks) >= self.limits.connections:
            self.refused += 1
            writer.transport.abort()
            return
        task = asyncio.current_task()
        assert task is not None  # noqa: S101
        self._tasks.add(task)
        try:
            await self._exchange_frames(reader, writer)
        except asyncio.CancelledError:
            pass  # by stop(); asyncio logs a server's cancelled task as an error
        finally:
            self._tasks.discard(task)
            writer.transport.abort()

    async def _exchange_frames(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        assert self._coordinator is not None  # noqa: S101
        link, wait = _StreamLink(writer), self.limits.first
        try:
            with suppress(asyncio.IncompleteReadError, TimeoutError, OSError):
                while True:
                    frame = await self._frame(reader, wait)
                    wait = self.limits.silent
                    self._coordinator.receive(link, frame)
                    async with asyncio.timeout(self.limits.frame):
                        await writer.drain()
        except WireError:
            self.malformed += 1
        finally:
            self._coordinator.forget(link)

    async def _frame(self, reader: asyncio.StreamReader, wait: float) -> bytes:
        """Read a frame; its length and its API are checked before it is buffered."""
        async with asyncio.timeout(wait):
            first = await reader.readexactly(1)
        async with asyncio.timeout(self.limits.frame):
            (length,) = _LENGTH.unpack(first + await reader.readexactly(3))
            if not HEAD_BYTES <= length <= LARGEST_FRAME:
                raise WireError(f"a frame of {length} bytes", offset=0)
            head = await reader.readexactly(HEAD_BYTES)
            if length > largest_frame(head):
                raise WireError(f"a frame of {length} bytes", offset=0)
            return head + await reader.readexactly(length - HEAD_BYTES)
