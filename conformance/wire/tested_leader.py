"""A consumer under test as a function from rebalances to answers.

The coordinator runs in an event loop in a thread of its own, so that the consumer is
served while the caller computes. A consumer that hangs or dies is started again with
the next rebalance, and costs one.
"""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future, wait
from dataclasses import replace
from types import TracebackType
from typing import Final, Self

from conformance.clients.answer import Answer, Verdict
from conformance.clients.cpu_time import CpuClock
from conformance.clients.ended import cause_of_death
from conformance.clients.patience import Patience, Watch
from conformance.clients.reference_time import size_of_document
from conformance.consumer_programs import ConsumerProcess
from conformance.wire.catalog import BASE_TOPIC
from conformance.wire.closings import Closings
from conformance.wire.consumers import RAISED, WireConsumer, error_in
from conformance.wire.dialects import Dialect, WrittenAs
from conformance.wire.leader_coordinator import Lost, Waiting
from conformance.wire.leader_exchange import (
    INT32_MAX,
    exchange_of,
    newest_generation,
    topic_names,
    topics_of_leader,
)
from conformance.wire.loopback import HOST, LoopbackLimits, LoopbackServer
from conformance.wire.wire_session import WireSession
from rebalance import (
    AssignmentDocument,
    DocumentError,
    OutsideError,
    Rebalance,
    WireError,
    parse_rebalance,
)

GROUP: Final = "wire"
DEATH_SECONDS: Final = 2.0  # from a lost connection to the end of its process
LEFT: Final = "the last consumer left on REBALANCE_IN_PROGRESS"
HINT: Final = "--settles lets each generation settle first"
LOOK_SECONDS: Final = 0.05  # between two looks at a process that has not joined


class Wire:
    """A coordinator on loopback and the consumer that leads its group.

    Parameters
    ----------
    consumer : WireConsumer or None
        A program to start; None: any consumer of the caller that connects to `address`
        and joins `group`.
    seconds : float
        Time from the response to JoinGroup to SyncGroup after which an answer is slow;
        and the time limit for a consumer to join again after a rehearsal.
    start_seconds : float
        Time limit for the consumer to join.
    idle_seconds : float
        Without a call of `answer` for so long, the server stops, and the consumer ends.
    assignor : str or None
        Of an outside consumer: the protocol to use; None: the first that it offers.
    dialect : Dialect or None
        Of an outside consumer: how members write their claims; None: as Java does.
    settles : bool
        Of an outside consumer: see `WireConsumer.settles`.
    port : int
        Port to listen on, 0 for a free one.
    limits : LoopbackLimits

    Notes
    -----
    Each different reason to close a connection is a line on standard error.
    """

    def __init__(  # noqa: PLR0913  # each is an option of a run
        self,
        consumer: WireConsumer | None = None,
        *,
        seconds: float = 20.0,
        start_seconds: float = 60.0,
        idle_seconds: float = 900.0,
        assignor: str | None = None,
        dialect: Dialect | None = None,
        settles: bool = False,
        port: int = 0,
        limits: LoopbackLimits | None = None,
    ) -> None:
        self.consumer = consumer
        self.closings = Closings()
        self.seconds = seconds
        self.patience = Patience()  # of an outside consumer, CPU time is not known
        self.start_seconds = start_seconds
        self.idle_seconds = idle_seconds
        self._assignor = (consumer.assignor if consumer else assignor) or None
        self._dialect = consumer.dialect if consumer else dialect or Dialect()
        self._settles = consumer.settles if consumer else settles
        self._port = port
        self._limits = limits or LoopbackLimits()
        self._session: WireSession | None = None
        self._process: ConsumerProcess | None = None
        self._number = 0
        self._base = 0
        self._topics: list[str] = []  # of a consumer that is started anew
        self._is_cut = False
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None

    @property
    def name(self) -> str:
        """Name of the consumer in tables and records."""
        if self.consumer is not None:
            return self.consumer.name
        return f"wire/{self._assignor}" if self._assignor else "wire"

    @property
    def address(self) -> str:
        """Host and port to which a consumer must connect; starts the server."""
        with self._lock:
            return f"{HOST}:{self._serving().port}"

    @property
    def group(self) -> str:
        """Group that a consumer must join; the name of its topic is `topic`."""
        return GROUP

    @property
    def topic(self) -> str:
        """Topic to which a consumer must subscribe."""
        return BASE_TOPIC

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def wait_for_consumer(self) -> str:
        """Wait until a consumer has joined; return the name of its protocol.

        Raises
        ------
        OutsideError
            If none joins in `start_seconds`.
        """
        with self._lock:
            return self._joined().protocol

    def answer(self, rebalance: bytes) -> Answer:
        """Send one ``rebalance/1`` document and return the outcome.

        A group without members has no leader: the answer is then the empty assignment.

        Raises
        ------
        OutsideError
            If no consumer joins in `start_seconds`, or its program ends before.
        OSError
            If the program cannot be started, or the port is in use.
        """
        try:
            document = parse_rebalance(rebalance)
        except DocumentError as error:
            return Answer(verdict=Verdict.ERROR, reason=str(error))
        if not document.members:
            nothing = AssignmentDocument(group=document.group, members={})
            return Answer(verdict=Verdict.ANSWERED, assignment=nothing)
        with self._lock:
            try:
                return self._answer(document)
            finally:
                self._rest()

    def cut(self) -> None:
        """End the consumer that another thread waits for, without its lock."""
        self._is_cut = True
        process, session = self._process, self._session
        if process is not None:
            process.kill()
        elif session is not None:
            session.run(session.abandon())

    def close(self) -> None:
        """End the consumer and the server; both start again when needed."""
        with self._lock:
            self._stop()

    def _answer(self, rebalance: Rebalance) -> Answer:
        newest = max(newest_generation(rebalance), 0)
        if self._base + newest >= INT32_MAX:  # clients reject a generation below
            self._end_consumer()
            self._base = 0
        self._number += 1
        if self.consumer is not None and self.consumer.is_started_anew:
            self._prepare(rebalance)
        waiting = self._joined()
        written = WrittenAs(
            protocol=waiting.protocol,
            version=waiting.version,
            is_short=waiting.is_short,
            base=self._base,
        )
        try:
            exchange = exchange_of(
                rebalance, number=self._number, dialect=self._dialect, written=written
            )
        except WireError as error:
            return Answer(verdict=Verdict.ERROR, reason=f"cannot be sent: {error}")
        self._base = exchange.generation
        session, closed = self._serving(), self.closings.count
        self._is_cut, watch = False, self._watch(rebalance)
        try:
            is_known = self.consumer is not None and self.consumer.is_started_anew
            lead = session.lead(exchange, watch, is_known=is_known)
            answer = self._awaited(session, session.start(lead))
        except TimeoutError:
            return self._gave_up(f"not in {self.seconds:g} s")
        except Lost as lost:
            late = watch.cut() if self._is_cut else None
            died = self._post_mortem(lost.why)
            return late or died
        if answer.verdict in {Verdict.HANG, Verdict.SLOW}:
            why = self.closings.since(closed)
            self._end_consumer()
            return replace(answer, reason=f"{answer.reason}{_closed(why)}")
        return answer

    def _watch(self, rebalance: Rebalance) -> Watch:
        process = self._process
        return Watch(
            seconds=self.seconds,
            patience=self.patience,
            size=lambda: size_of_document(rebalance),
            used=None if process is None else CpuClock(process.pid).used,
        )

    def _awaited(self, session: WireSession, answer: Future[Answer]) -> Answer:
        """Wait for the answer, or for the end of a program that has left the group.

        Raises
        ------
        Lost
            If the connection ended before an answer.
        TimeoutError
            If the consumer does not join again in `seconds`.
        """
        while not wait([answer], timeout=LOOK_SECONDS).done:
            process = self._process
            if session.coordinator.has_left and process and process.has_ended():
                answer.cancel()
                code = process.wait(DEATH_SECONDS) or 0
                if code < 0:
                    said = self._end_consumer()
                    reason = cause_of_death(code, said)
                    return Answer(verdict=Verdict.CRASH, reason=reason)
                return self._gave_up(f"exit code {code}")
        return answer.result()

    def _gave_up(self, how: str) -> Answer:
        """Explain a consumer that does not join again after a rehearsal.

        The assignor is not at fault: it has not been asked for the answer that counts.
        """
        said = self._end_consumer()
        words = f": {said}" if said else ""
        when = "a heartbeat returned" if self._settles else "SyncGroup returned"
        hint = "" if self._settles else f" ({HINT})"
        reason = f"did not join again after {when} REBALANCE_IN_PROGRESS, {how}{hint}"
        return Answer(verdict=Verdict.ERROR, reason=reason + words)

    def _prepare(self, rebalance: Rebalance) -> None:
        """End the consumer, and show the topics with which it starts again."""
        self._end_consumer()
        names = topic_names(rebalance, self._number)
        shown = {names[name]: topic for name, topic in rebalance.topics.items()}
        session = self._serving()
        session.run(session.show(shown))
        self._topics = topics_of_leader(rebalance, self._number)

    def _joined(self) -> Waiting:
        """Return the waiting consumer; start it if it does not run."""
        session, started = self._serving(), False
        closed = self.closings.count
        deadline = time.monotonic() + self.start_seconds
        while True:
            if self._process is not None and self._process.has_ended():
                said = self._end_consumer()
                if started:
                    why = _closed(self.closings.since(closed))
                    raise OutsideError(f"{self.name} does not join: {said}{why}")
            if self.consumer is not None and self._process is None:
                place = (f"{HOST}:{session.port}", GROUP, BASE_TOPIC)
                command = self.consumer.command(*place, self._topics)
                self._process = ConsumerProcess(command, reports=False)
                started = True
            elif self.consumer is None and session.coordinator.gave_up:
                hint = "" if self._settles else f" ({HINT})"
                self.closings.report(f"{LEFT}{hint}: waiting for another one")
            waiting = session.run(session.joined(LOOK_SECONDS))
            if waiting is not None:
                return waiting
            if time.monotonic() >= deadline:
                refused = session.coordinator.refused
                why = _closed(self.closings.since(closed))
                if session.coordinator.gave_up:
                    why = f"; {LEFT}{why}"
                self._end_consumer()
                reason = refused or f"no consumer joined in {self.start_seconds:g} s"
                raise OutsideError(f"{self.name}: {reason}{why}")

    def _post_mortem(self, why: str) -> Answer:
        """Explain a lost connection; ``why`` if the coordinator has closed it.

        A consumer that has lost its connection to the coordinator has not crashed if it
        ends, unless by a signal.
        """
        process, closed = self._process, f"the coordinator closed the connection: {why}"
        if process is None or self.consumer is None:
            if why:
                return Answer(verdict=Verdict.ERROR, reason=closed)
            reason = "the consumer closed its connection"
            return Answer(verdict=Verdict.CRASH, reason=reason)
        code = process.wait(DEATH_SECONDS)
        said = self._end_consumer()
        if why and (code is None or code >= 0):
            return Answer(verdict=Verdict.ERROR, reason=closed)
        if code is None:
            reason = f"left without an assignment: {said}"
            return Answer(verdict=Verdict.ERROR, reason=reason)
        if code == RAISED:
            return Answer(verdict=Verdict.ERROR, reason=error_in(said))
        return Answer(verdict=Verdict.CRASH, reason=cause_of_death(code, said))

    def _serving(self) -> WireSession:
        if self._session is None:
            server = LoopbackServer(self._limits, self.closings)
            settles = self._settles
            self._session = WireSession(
                server, self._port, self._assignor, self.consumer, settles=settles
            )
            self._port = self._session.port  # the address outlives a restart
            self._rest()
        return self._session

    def _rest(self) -> None:
        """Stop after a time without use."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None
        if self._session is not None:
            self._timer = threading.Timer(self.idle_seconds, self.close)
            self._timer.daemon = True
            self._timer.start()

    def _end_consumer(self) -> str:
        """End the program, or the connection of an outside consumer that hangs."""
        if self._session is not None:
            self._session.run(self._session.abandon())
        if self._process is None:
            return ""
        said = self._process.end_at_once()
        self._process = None
        return said

    def _stop(self) -> None:
        self._end_consumer()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._session is not None:
            self._session.stop()
            self._session = None


def _closed(why: str) -> str:
    """Format the reason of a closed connection as the end of another one."""
    return f"; the coordinator closed a connection: {why}" if why else ""
