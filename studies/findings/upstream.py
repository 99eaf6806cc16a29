"""Statuses, and what a search of the trackers has found, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from conformance.findings import Definition
from studies.findings.prose import item, wrapped

STATUS: Final = {
    "open": "open",
    "fixed": "fixed",
    "by-design": "by design",
    "withdrawn": "withdrawn",
}
REPOSITORIES: Final = {
    "aiokafka": "aio-libs/aiokafka",
    "franz-go": "twmb/franz-go",
    "kafka-clients": "apache/kafka",
    "kafka-go": "segmentio/kafka-go",
    "kafka-python": "dpkp/kafka-python",
    "kafkajs": "tulios/kafkajs",
    "librdkafka": "confluentinc/librdkafka",
    "platformatic-kafka": "platformatic/kafka",
    "sarama": "IBM/sarama",
}


def status_in_words(definition: Definition) -> str:
    """Return the status, and those of clients that differ or have repaired it."""
    if definition.status == "fixed":
        parts = [
            f"{status.client} {status.first_fixed}" for status in definition.statuses
        ]
        return f"fixed in {', '.join(parts)}"
    others = [
        f"{STATUS[status.status]} for {status.client}"
        if status.first_fixed is None
        else f"fixed in {status.client} {status.first_fixed}"
        for status in definition.statuses
    ]
    return "; ".join([STATUS[definition.status], *others])


def status_of_client(definition: Definition, client: str) -> str:
    """Return the status for one client, in words."""
    fixed = {status.client: status.first_fixed for status in definition.statuses}
    status = definition.status_of(client)
    if status == "fixed":
        return f"fixed in {fixed[client]}"
    return STATUS[status]


def notes_of(definition: Definition) -> Iterator[str]:
    """Yield an item per client whose status is its own."""
    for status in definition.statuses:
        words = status_of_client(definition, status.client)
        yield item(f"**{status.client}: {words}.** {' '.join(status.note.split())}")


def searched_in_words(definition: Definition, clients: Sequence[str]) -> str:
    """Return where and when threads were searched, and what this leaves open."""
    names = [REPOSITORIES[client] for client in clients if client in REPOSITORIES]
    where = ", ".join(names) or "the clients that it was about"
    jira = (
        " Kafka's own tickets are in Jira, which was not searched: they are named as "
        "pull requests name them."
        if "kafka-clients" in clients
        else ""
    )
    found = (
        "What was found:"
        if definition.threads
        else "No public thread about this mechanism was found."
    )
    return wrapped(
        f"Issues and pull requests of {where} were searched on "
        f"{definition.searched.date}, in an archive: threads can be newer, or have "
        f"been closed since.{jira} {definition.searched.note} {found}"
    )
