"""Shared fixtures for Kafka's own assignors, and the rebalances that they receive."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from itertools import count, islice

from conformance.clients import (
    LINES,
    Adapter,
    Answer,
    KafkaClients,
    install,
    judged,
)
from rebalance import AssignmentDocument
from tests.support import amount
from tests.support.shapes import Document
from tests.support.strategies import LARGER, SMALL, seeded_rebalance

INSTANCES = amount.INSTANCES * 2 // 5
NEWEST = next(iter(LINES))
RUNS = [(line.version, name) for line in LINES.values() for name in line.assignors]
STICKY = [run for run in RUNS if "sticky" in run[1]]
SERVER = [run for run in RUNS if "server" in run[1]]


@cache
def clients(version: str) -> KafkaClients:
    return install(LINES[version])


def running(version: str, assignor: str, *, keeps: bool = False) -> Adapter:
    return Adapter(clients(version).program(assignor, keeps=keeps))


def answer_of(version: str, assignor: str, document: Document) -> Answer:
    """Run one rebalance, and judge the answer."""
    with running(version, assignor) as kafka:
        return judged_answer(kafka, assignor, document)


def judged_answer(kafka: Adapter, assignor: str, document: Document) -> Answer:
    """Run the program on a rebalance, and judge the answer."""
    text = json.dumps(document).encode()
    cooperative = assignor == "cooperative-sticky"
    return judged(kafka.answer(text), text, cooperative=cooperative)


def drawn() -> Iterator[Document]:
    """Draw rebalances of at least one member: no coordinator asks without one."""
    each = (
        seeded_rebalance(seed, LARGER if seed % 10 == 0 else SMALL)
        for seed in count(amount.FIRST_SEED)
    )
    return islice((document for document in each if document["members"]), INSTANCES)


def with_topics_there(document: Document) -> Document:
    """Remove subscriptions to topics without partitions.

    Of members that differ in such topics alone, Kafka's assignors take the path of
    mixed subscriptions and ours that of equal ones.
    """
    there = {t for t, about in document["topics"].items() if about["partitions"]}
    members = {
        m: about | {"subscription": [t for t in about["subscription"] if t in there]}
        for m, about in document["members"].items()
    }
    return document | {"members": members}


def in_order(assignment: AssignmentDocument) -> dict[str, dict[str, list[int]]]:
    return {
        member: {topic: sorted(numbers) for topic, numbers in held.items()}
        for member, held in assignment.members.items()
    }
