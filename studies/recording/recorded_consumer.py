"""One consumer as a process: started, resubscribed, ordered to leave, or killed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from conformance.consumer_programs import (
    ConsumerProcess,
    Property,
    RequestedConsumer,
    java_consumer,
    python_consumer,
)
from rebalance import OutsideError
from studies.recording.event_log import Event, Events

JAVA: Final = "java"
COMMIT_MS: Final = 1000
HEARTBEAT_MS: Final = 200
POLL_MS: Final = {"kafka-python": 500}
"""A join that many shorter polls interrupt can stay without its answer (3.0.12)."""
SHORT_POLL_MS: Final = 50
END_SECONDS: Final = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerDescription:
    """The description of a consumer: client library and settings.

    Attributes
    ----------
    library : str
    address, group : str
    client_id : str
    topics, assignors : list of str
    instance : str or None
        Of a static member (KIP-345).
    protocol : str
        ``classic`` or ``consumer``.
    session_ms : int
    settings : mapping
        Further properties of the client, by Kafka's names.
    """

    library: str
    address: str
    group: str
    client_id: str
    topics: list[str]
    assignors: list[str]
    instance: str | None
    protocol: str
    session_ms: int
    settings: Mapping[str, Property] = field(default_factory=dict)

    @property
    def is_classic(self) -> bool:
        """Return whether it uses the classic protocol."""
        return self.protocol == "classic"

    def command(self) -> Sequence[str]:
        """Return the command line."""
        if self.library == JAVA:
            return java_consumer(self._requested())
        return python_consumer(self.library, self._requested())

    def _requested(self) -> RequestedConsumer:
        return RequestedConsumer(
            settings=self._settings(),
            assignors=self.assignors,
            topics=self.topics,
            poll_ms=POLL_MS.get(self.library, SHORT_POLL_MS),
        )

    def _settings(self) -> dict[str, Property]:
        settings: dict[str, Property] = {
            "bootstrap.servers": self.address,
            "group.id": self.group,
            "client.id": self.client_id,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": True,
            "auto.commit.interval.ms": COMMIT_MS,
        }
        if self.instance is not None:
            settings["group.instance.id"] = self.instance
        if self.is_classic:
            settings["session.timeout.ms"] = self.session_ms
            settings["heartbeat.interval.ms"] = HEARTBEAT_MS
        else:
            settings["group.protocol"] = self.protocol
        return settings | dict(self.settings)


class RecordedConsumer(ConsumerProcess):
    """A running consumer, whose orders and callbacks are events of the recording."""

    def __init__(self, consumer: ConsumerDescription, events: Events) -> None:
        self.consumer = consumer
        self.topics = list(consumer.topics)
        self._recorded = events
        self._record(
            "start",
            topics=self.topics,
            library=consumer.library,
            protocol=consumer.protocol,
            assignors=consumer.assignors,
            instance=consumer.instance,
            session_ms=consumer.session_ms,
        )
        super().__init__(consumer.command(), heard=self._add)

    @property
    def name(self) -> str:
        """The client id."""
        return self.consumer.client_id

    @property
    def assigned(self) -> int:
        """How often it has been called back for an assignment."""
        return sum(event["event"] == "assign" for event in self.events)

    def subscribe(self, topics: Sequence[str]) -> None:
        """Change the subscription."""
        self.topics = list(topics)
        self._record("subscribe", topics=self.topics)
        self.order("subscribe", self.name, topics=self.topics)

    def pause(self) -> None:
        """Let it not poll."""
        self._record("pause")
        self.order("pause", self.name)

    def resume(self) -> None:
        """Let it poll again."""
        self._record("resume")
        self.order("resume", self.name)

    def leave(self) -> None:
        """Let it close, and wait until it has ended.

        Raises
        ------
        OutsideError
            If it fails, or does not end in time.
        """
        self._record("leave")
        self.order("leave", self.name)
        code = self.wait(END_SECONDS)
        if code is None:
            self._record("kill")
            raise OutsideError(f"{self.name} does not leave: {self.end_at_once()}")
        cause = self.end()
        if code != 0:
            raise OutsideError(f"{self.name} ended with {cause}")

    def die(self) -> None:
        """End it at once, as ``kill -9`` does: it neither reports nor leaves."""
        self._record("kill")
        self.end_at_once()

    def _record(self, event: str, **details: Any) -> None:
        consumer = self.consumer
        self._recorded.driver(consumer.group, consumer.client_id, event, **details)

    def _add(self, told: Event) -> None:
        """Add an event; in a recording, ``member`` is the member id, if it is known."""
        if "partitions" not in told:  # an error, which standard error has, too
            return
        said: Event = {
            "group": self.consumer.group,
            "client": self.name,
            "event": told["event"],
            "ms": told["ms"],
        }
        if told["id"]:
            said["member"] = told["id"]
        if told["generation"] >= 0:
            said["generation"] = told["generation"]
        self._recorded.add(said | {"partitions": told["partitions"]})
