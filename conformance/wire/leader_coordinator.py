"""A group coordinator whose only real member is the leader; no input or output.

The consumer's JoinGroup waits until there is an instance. Its response makes the
consumer the leader of the instance's members, and its SyncGroup has the answer. The
response to SyncGroup is REBALANCE_IN_PROGRESS, so that the consumer joins again at
once, or with ``settles`` success without partitions, and REBALANCE_IN_PROGRESS for the
next heartbeat.

Some leaders assign with the metadata that they have, and join again when that of other
members' topics arrives. So an answer counts only if the client has requested the
metadata of the instance's topics, and with ``rehearses`` only if this was before it
joined: the first answer is then a rehearsal.
"""

from __future__ import annotations

from asyncio import Event, Future, get_running_loop
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

from conformance.clients.answer import Answer, Verdict
from conformance.wire.broker_messages import (
    HEARTBEAT,
    JOIN_GROUP,
    LEAVE_GROUP,
    METADATA,
    SYNC_GROUP,
    Request,
    UnknownVersionError,
    decode_request,
    encode_response,
)
from conformance.wire.catalog import NO_ERROR, Catalog
from conformance.wire.dialects import written_version
from conformance.wire.group_responses import (
    CONSUMER,
    REBALANCE_IN_PROGRESS,
    leadership,
    refusal,
    synced,
)
from conformance.wire.leader_exchange import LeaderExchange
from rebalance import WireError

UNSUPPORTED_VERSION: Final = 35
INCONSISTENT_PROTOCOL: Final = 23
GROUP_IS_FULL: Final = 81
HOLD_SECONDS: Final = 2.0  # for a leader to request metadata
MOST_JOINS: Final = 3  # of one instance: clients retry some errors of an assignor


class Link(Protocol):
    """A connection, as the coordinator uses it."""

    def send(self, frame: bytes) -> None:
        """Send a frame that has its length."""
        ...

    def close(self) -> None:
        """End the connection."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A consumer that waits for the response to its JoinGroup.

    Attributes
    ----------
    link : Link
    request : Request
    protocol : str
        Name of the assignor that is used.
    version : int
        Version of the consumer's own subscription.
    is_short : bool
        Whether it lacks the owned partitions of version 1, as kafka-go's does.
    """

    link: Link
    request: Request
    protocol: str
    version: int
    is_short: bool


@dataclass(slots=True, kw_only=True)
class _PendingInstance:
    """An instance that the leader has received."""

    exchange: LeaderExchange
    waiting: Waiting
    answer: Future[Answer]
    missing: set[str]  # topics of which the client has not requested the metadata
    is_rehearsal: bool
    joins: int = 0  # responses to JoinGroup
    held: Request | None = None  # the SyncGroup of a leader without the metadata
    is_rejoining: bool = False  # after a rehearsal; over another connection, too
    has_left: bool = False  # without another connection until now


class Lost(Exception):  # noqa: N818  # an outcome, which the caller explains
    """The leader's connection ended before it answered.

    ``why`` is the reason if the coordinator closed it, and empty otherwise.
    """

    def __init__(self, why: str = "") -> None:
        super().__init__(why)
        self.why = why


class LeaderCoordinator:
    """The state of the group. All methods run in one event loop.

    Parameters
    ----------
    catalog : Catalog
    assignor : str or None
        The protocol to use among those that the consumer offers; None: its first.
    settles : bool
        Whether each generation becomes stable before the next begins.
    rehearses : bool
        Whether a leader can compute its answer before the response to a request of
        metadata that it sends before the answer, as kafka-clients can.
    """

    def __init__(
        self,
        catalog: Catalog,
        *,
        assignor: str | None = None,
        settles: bool = False,
        rehearses: bool = True,
    ) -> None:
        self.catalog = catalog
        self.assignor = assignor
        self.settles = settles
        self.rehearses = rehearses
        self.has_joined = Event()
        self.refused: str | None = None  # why the last JoinGroup was refused
        self._waiting: Waiting | None = None
        self._pending: _PendingInstance | None = None
        self._dismissed: Link | None = None  # it has answered and must join again
        self.gave_up = False  # the last consumer has then left

    @property
    def waiting(self) -> Waiting | None:
        """The consumer that waits for an instance."""
        return self._waiting

    @property
    def is_rejoining(self) -> bool:
        """Return whether the leader has been told to join again for the instance."""
        return self._pending is not None and self._pending.is_rejoining

    @property
    def has_left(self) -> bool:
        """Return whether the leader has ended its connection instead."""
        return self._pending is not None and self._pending.has_left

    def ask(
        self, exchange: LeaderExchange, *, is_known: bool = False
    ) -> Future[Answer]:
        """Make the waiting consumer the leader; the result is its answer.

        The result raises `Lost` if the consumer's connection ends. ``is_known`` states
        that the consumer was started with the topics of the instance.

        Raises
        ------
        RuntimeError
            If no consumer waits.
        """
        waiting = self._waiting
        if waiting is None:
            raise RuntimeError("no consumer has joined")
        self._waiting = None
        self.has_joined.clear()
        self.catalog.show(exchange.topics)
        answer: Future[Answer] = get_running_loop().create_future()
        missing = set() if is_known else set(exchange.needed)
        self._pending = _PendingInstance(
            exchange=exchange,
            waiting=waiting,
            answer=answer,
            missing=missing,
            is_rehearsal=self.rehearses and bool(missing),
        )
        self._lead(self._pending)
        return answer

    def abandon(self) -> None:
        """End the connection of a leader that has not answered."""
        if self._pending is not None:
            link, answer = self._pending.waiting.link, self._pending.answer
            self._pending = None
            answer.cancel()
            link.close()

    def receive(self, link: Link, frame: bytes) -> None:
        """Respond to a frame without its length, now or later.

        Raises
        ------
        WireError
            If it is not a request of this protocol; the connection must then end.
        """
        try:
            request = decode_request(frame)
        except UnknownVersionError as unknown:
            old = Request(key=18, version=0, correlation=unknown.correlation, body=None)
            link.send(self.catalog.versions(old, UNSUPPORTED_VERSION))
            return
        response = self.catalog.respond(request)
        if response is None:
            response = self._of_group[request.key](self, link, request)
        if response is not None:
            link.send(response)
        if request.key == METADATA:
            self._note_metadata(request)

    def forget(self, link: Link, why: str = "") -> None:
        """Note that a connection has ended, and why if this side closed it."""
        if self._waiting is not None and self._waiting.link is link:
            self._waiting = None
            self.has_joined.clear()
        if link is self._dismissed:
            self._dismissed, self.gave_up = None, True
        pending = self._pending
        if pending is not None and pending.waiting.link is link:
            if pending.is_rejoining and not why:
                pending.has_left = True  # some clients join over a new connection
                return
            self._pending = None
            if not pending.answer.done():
                pending.answer.set_exception(Lost(why))

    def _join(self, link: Link, request: Request) -> bytes | None:
        """Let the consumer wait, or repeat the instance that it did not answer."""
        chosen = self._choose(link, request)
        if isinstance(chosen, bytes):
            return chosen
        pending = self._pending
        if pending is not None and (
            pending.is_rejoining or pending.waiting.link is link
        ):
            pending.waiting, pending.has_left = chosen, False
            if pending.joins < MOST_JOINS:
                self._lead(pending)
                return None
            self._pending = None
            reason = f"joined {pending.joins} times without an assignment"
            _resolve(pending, Answer(verdict=Verdict.ERROR, reason=reason))
        self._waiting, self._dismissed, self.gave_up = chosen, None, False
        self.has_joined.set()
        return None

    def _choose(self, link: Link, request: Request) -> Waiting | bytes:
        pending = self._pending
        present = pending.waiting if pending else self._waiting
        is_free = present is None or (pending is not None and pending.is_rejoining)
        if not is_free and present is not None and present.link is not link:
            return refusal(request, GROUP_IS_FULL)
        protocols = request.body.protocols or ()  # the library accepts null
        offered = {
            protocol.name or "": bytes(protocol.metadata or b"")
            for protocol in protocols
        }
        names = list(offered)
        wanted = self.assignor or (names[0] if names else None)
        if wanted not in offered or request.body.protocol_type != CONSUMER:
            self.refused = f"it offers {', '.join(names) or 'nothing'}, not {wanted}"
            return refusal(request, INCONSISTENT_PROTOCOL)
        self.refused = None
        try:
            version, is_short = written_version(offered[wanted])
        except WireError as error:
            reason = f"{request.name}: subscription for {wanted!r}: {error}"
            raise WireError(reason, offset=error.offset) from None
        return Waiting(
            link=link,
            request=request,
            protocol=wanted,
            version=version,
            is_short=is_short,
        )

    def _note_metadata(self, request: Request) -> None:
        """Let a leader that assigned without the metadata join again with it.

        In a real group, it does so by itself when the metadata arrives.
        """
        pending = self._pending
        if pending is not None:
            pending.missing.difference_update(self.catalog.wanted(request))
            if pending.held is not None and not pending.missing:
                held, pending.held = pending.held, None
                pending.waiting.link.send(self._rehearsed(pending, held))

    def _expire(self, pending: _PendingInstance) -> None:
        """Accept the assignment of a leader that requests no metadata."""
        if pending is self._pending and pending.held is not None:
            pending.missing.clear()
            pending.is_rehearsal = False
            held, pending.held = pending.held, None
            pending.waiting.link.send(self._sync(pending.waiting.link, held) or b"")

    def _lead(self, pending: _PendingInstance) -> None:
        """Respond to the JoinGroup that waits."""
        pending.joins += 1
        pending.is_rejoining = False
        request = pending.waiting.request
        pending.waiting.link.send(leadership(request, pending.exchange))

    def _rehearsed(self, pending: _PendingInstance, request: Request) -> bytes:
        """Let the leader join again; its next answer counts."""
        pending.is_rehearsal = False
        pending.is_rejoining = True
        pending.joins = 0
        return synced(request, pending.exchange.protocol, settles=self.settles)

    def _sync(self, link: Link, request: Request) -> bytes | None:
        pending, body, settles = self._pending, request.body, False
        if pending is not None and pending.waiting.link is link:
            if pending.missing:
                pending.held = request
                get_running_loop().call_later(HOLD_SECONDS, self._expire, pending)
                return None
            if pending.is_rehearsal:
                return self._rehearsed(pending, request)
            given = [
                (assignment.member_id or "", bytes(assignment.assignment or b""))
                for assignment in body.assignments or ()
            ]
            answer = pending.exchange.read(given)
            self._pending = None
            _resolve(pending, answer)
            self._dismissed, settles = link, self.settles
        protocol = body.protocol_name or (pending.exchange.protocol if pending else "")
        return synced(request, protocol, settles=settles)

    def _heartbeat(self, link: Link, request: Request) -> bytes:
        """Make a member that has settled join again; it is alive while it leads."""
        pending = self._pending
        leads = pending is not None and pending.waiting.link is link
        if pending is not None and pending.is_rejoining:
            leads = False
        error = NO_ERROR if leads else REBALANCE_IN_PROGRESS
        return encode_response(request, error_code=error)

    def _leave(self, _: Link, request: Request) -> bytes:
        return encode_response(request, error_code=NO_ERROR)

    _of_group: Final[
        dict[int, Callable[[LeaderCoordinator, Link, Request], bytes | None]]
    ] = {
        JOIN_GROUP: _join,
        SYNC_GROUP: _sync,
        HEARTBEAT: _heartbeat,
        LEAVE_GROUP: _leave,
    }


def _resolve(pending: _PendingInstance, answer: Answer) -> None:
    if not pending.answer.done():
        pending.answer.set_result(answer)
