"""A server on the loopback interface that hands frames to a coordinator.

Everything is bounded: the number of connections, the size of a frame, the time from its
first byte to its last, the time that a connection can be silent, and the time that a
peer can leave a response unread.
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from conformance.wire.broker_messages import (
    HEAD_BYTES,
    LARGEST_FRAME,
    check_size,
    request_name,
)
from conformance.wire.closings import Closings
from conformance.wire.leader_coordinator import LeaderCoordinator
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


class TooSlowError(Exception):
    """A peer has used up its time."""


class LoopbackServer:
    """The server; `start` binds a free port, `stop` ends every connection."""

    def __init__(self, limits: LoopbackLimits, closings: Closings) -> None:
        self.limits = limits
        self.closings = closings
        self.port = 0
        self._coordinator: LeaderCoordinator | None = None
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

    async def serve(self, coordinator: LeaderCoordinator) -> None:
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
            self.closings.note(f"it is beyond {self.limits.connections} connections")
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
        link, why = _StreamLink(writer), ""
        try:
            await self._serve(self._coordinator, link, reader, writer)
        except (asyncio.IncompleteReadError, OSError):
            pass  # the peer has ended it
        except WireError as error:
            why = self.closings.note(error.reason)
        except TooSlowError as error:
            why = self.closings.note(str(error))
        finally:
            self._coordinator.forget(link, why)

    async def _serve(
        self,
        coordinator: LeaderCoordinator,
        link: _StreamLink,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        wait = self.limits.first
        while True:
            frame = await self._frame(reader, wait)
            wait = self.limits.silent
            coordinator.receive(link, frame)
            limit = self.limits.frame
            unread = f"{request_name(frame)}: response not read in {limit:g} s"
            async with _within(limit, unread):
                await writer.drain()

    async def _frame(self, reader: asyncio.StreamReader, wait: float) -> bytes:
        """Read a frame; its length and its API are checked before it is buffered."""
        async with _within(wait, f"no request in {wait:g} s"):
            first = await reader.readexactly(1)
        limit, clock = self.limits.frame, asyncio.get_running_loop().time
        begun = clock()
        async with _within(limit, f"a request not complete in {limit:g} s"):
            (length,) = _LENGTH.unpack(first + await reader.readexactly(3))
            if not HEAD_BYTES <= length <= LARGEST_FRAME:
                raise WireError(f"a frame of {length} bytes", offset=0)
            head = await reader.readexactly(HEAD_BYTES)
        check_size(head, length)
        cut = f"{request_name(head)}: not all of {length} bytes in {limit:g} s"
        async with _within(limit - (clock() - begun), cut):
            return head + await reader.readexactly(length - HEAD_BYTES)


@asynccontextmanager
async def _within(seconds: float, reason: str) -> AsyncIterator[None]:
    """Limit the time of an exchange with a peer.

    Raises
    ------
    TooSlowError
        If it is used up; the message has the reason.
    """
    try:
        async with asyncio.timeout(seconds) as limit:
            yield
    except TimeoutError:
        if not limit.expired():
            raise  # by the network: the connection has ended
        raise TooSlowError(reason) from None
