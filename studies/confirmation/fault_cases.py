"""Every hang and crash that is known of a client, as a case with real consumers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from conformance.clients import ClientAssignor, client_assignor
from studies.confirmation.confirmed import (
    ALL_REAL,
    Members,
    RecordReference,
)
from studies.confirmation.histories import (
    DELETED,
    ENDLESS,
    MANY_JOIN,
    NO_MATCH,
    NO_TOPIC,
    OTHER_PATTERN,
    OTHER_SHARES,
    RETURN,
    STALE,
    ClientHistory,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultCase:
    """A finding, a client, and a history after which the fault is expected.

    Attributes
    ----------
    expected : str
        ``hang``, ``crash``, ``unrevoked``, or ``no fault`` for a version without the
        fault.
    record : RecordReference or None
        The stored finding whose rebalance the group sees.
    way : str or None
        How a record is played (`replay_plan.Way`); None: by a history of its own.
    """

    finding: str
    client: ClientAssignor
    history: ClientHistory
    expected: str
    members: Members = ALL_REAL
    record: RecordReference | None = None
    way: str | None = None

    @property
    def name(self) -> str:
        """Finding, client, and the record or who the members are."""
        if self.way is not None and self.record is not None:
            place = f"{self.record.family} {self.record.index}/{self.record.step}"
            return f"{self.finding} {self.client.spec}, {place}"
        how = "" if self.members == ALL_REAL else ", crafted members"
        return f"{self.finding} {self.client.spec}{how}"


def _cases(
    finding: str, expected: str, histories: list[ClientHistory], specs: str
) -> list[FaultCase]:
    return [
        FaultCase(
            finding=finding,
            client=client_assignor(spec),
            history=history,
            expected=expected,
        )
        for spec in specs.split()
        for history in histories
    ]


CASES: Final = (
    *_cases(
        "sticky-endless",
        "hang",
        [ENDLESS],
        "kafka-clients@4.4.0/sticky kafka-clients@4.4.0/cooperative-sticky "
        "kafka-clients@3.9.2/sticky kafka-clients@3.9.2/cooperative-sticky "
        "sarama@1.61.1/sticky sarama@1.61.1/cooperative-sticky sarama@1.43.3/sticky "
        "aiokafka@0.14.0/sticky aiokafka@0.13.0/sticky "
        "kafka-python@2.3.3/sticky kafka-python@2.0.6/sticky",
    ),
    *_cases("sticky-endless", "no fault", [ENDLESS], "kafka-python@3.0.12/sticky"),
    *_cases("sticky-endless", "no fault", [OTHER_SHARES], "franz-go@1.22.2/sticky"),
    *_cases(
        "double-claims-panic",
        "crash",
        [STALE],
        "franz-go@1.15.4/sticky franz-go@1.15.4/cooperative-sticky",
    ),
    *_cases("double-claims-panic", "no fault", [STALE], "franz-go@1.22.2/sticky"),
    *_cases(
        "joiners-crash",
        "crash",
        [MANY_JOIN],
        "librdkafka@2.16.1/cooperative-sticky",
    ),
    *_cases(
        "no-subscription",
        "crash",
        [NO_MATCH, NO_TOPIC, OTHER_PATTERN, DELETED],
        "librdkafka@2.16.1/cooperative-sticky",
    ),
    *_cases(
        "unrevoked-double-claims",
        "unrevoked",
        [RETURN],
        "franz-go@1.15.4/cooperative-sticky kafka-clients@4.4.0/cooperative-sticky "
        "kafka-python@3.0.12/cooperative-sticky",
    ),
    *_cases(
        "unrevoked-double-claims",
        "no fault",
        [RETURN],
        "franz-go@1.22.2/cooperative-sticky",
    ),
)
