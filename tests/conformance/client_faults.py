"""Known faults of clients, by version, each with a small rebalance that shows it.

Versions of a client that are not named do not have the fault.
"""

from __future__ import annotations

from typing import Final

from conformance.clients import Verdict
from rebalance import rebalance_of
from tests.conformance.corpus.scenes import SCENARIOS
from tests.conformance.fault import (
    Fault,
    has_idle_member,
    has_left_claims,
    has_lost_claims,
    has_older_claims,
    has_rival_claims,
    is_idle,
    is_large,
    is_mixed,
    misses_topic,
)
from tests.support.shapes import Document, member, rebalance

KAFKA = "4.4.0 3.9.2"
KAFKA_PYTHON = "3.0.12 2.3.3 2.0.6"
SARAMA = "1.61.1 1.43.3"
INVALID, ERROR = Verdict.INVALID, Verdict.ERROR


def first_of(name: str) -> Document:
    """Return the first rebalance of a scenario of the corpus."""
    return SCENARIOS[name].steps[0].rebalance


def is_endless(document: Document) -> bool:
    """Return whether it is the rebalance of the scenario ``sticky-endless``."""
    theirs = rebalance_of(ENDLESS)
    mine = rebalance_of(document)
    return bool(mine.topics == theirs.topics and mine.members == theirs.members)


MIXED = rebalance({"t": 2, "u": 1}, {"a": member(["t"]), "b": member(["u"])})
MISSING = rebalance({"t": 1}, {"a": member(["t", "gone"]), "b": member(["t"])})
OLDER = rebalance(
    {"t": 2},
    {
        "a": member(["t"]),
        "b": member(["t"], {"t": [0]}, 1),
        "c": member(["t"], {"t": [1]}, 2),
    },
)
ENDLESS = first_of("sticky-endless")


EARLY = rebalance(
    {"t": 3, "u": 1},
    {
        "a": member(["t", "u"], {"t": [0, 1, 2]}, 1),
        "b": member(["t"], {"t": [0]}, 1),
        "c": member(["u"], None, 1),
    },
)
LEFT = rebalance(
    {"t": 1, "u": 1}, {"a": member(["u"], {"t": [0]}, 1), "b": member(["t"], None, 1)}
)
LEFT_EARLIER = rebalance(
    {"t": 4, "u": 2},
    {
        "a": member(["t"], {"t": [0, 1, 2, 3]}, 5),
        "b": member(["t"], None, 5),
        "c": member(["u"], {"t": [0]}, 4),
        "d": member(["u"], None, 5),
    },
)
LEFT_EARLIER_ALONE = LEFT_EARLIER | {
    "members": {m: LEFT_EARLIER["members"][m] for m in "abc"}
}
SHRUNKEN = rebalance(
    {"t": 2}, {"a": member(["t"], {"t": [2]}, 1), "b": member(["t"], {"t": [0]}, 1)}
)
SHRUNKEN_MIXED = rebalance(
    {"t": 1, "u": 1}, {"a": member(["t"], {"t": [0, 1]}, 1), "b": member(["u"])}
)
IDLE = rebalance({"t": 2}, {"m1": member([]), "m2": member(["t"])})


def _endless(about: str, versions: str) -> Fault:
    """Sticky in Java and what was derived from it; see docs/upstream.md."""
    return Fault(
        name=f"{about} is endless",
        about=about,
        versions=versions,
        applies=is_endless,
        verdict=Verdict.HANG,
        reason="",
        shown_by=ENDLESS,
    )


def _slow(about: str, versions: str) -> Fault:
    """Quadratic time and worse, where KIP-615 has linear passes."""
    return Fault(
        name=f"{about} is slow",
        about=about,
        versions=versions,
        applies=is_large,
        verdict=Verdict.HANG,
        reason="",
        shown_by=None,
    )


def _unrevoked(about: str, versions: str, shown_by: Document) -> Fault:
    """Of two claims on a partition, one is ignored although its member reads it."""
    return Fault(
        name=f"{about} passes on what another claims",
        about=about,
        versions=versions,
        applies=has_rival_claims,
        verdict=INVALID,
        reason="unrevoked",
        shown_by=shown_by,
    )


def _leaders_topics(about: str, versions: str, reason: str) -> Fault:
    """The leader assigns the topics that it subscribes to itself."""
    return Fault(
        name=f"{about} assigns the leader's topics",
        about=about,
        versions=versions,
        applies=is_mixed,
        verdict=INVALID,
        reason=reason,
        shown_by=MIXED,
    )


def _returned(
    about: str, versions: str, verdict: Verdict, reason: str, shown_by: Document
) -> Fault:
    """A member that has left a topic is given back what it claims of it."""
    return Fault(
        name=f"{about} returns what was left ({verdict.value})",
        about=about,
        versions=versions,
        applies=lambda document: (
            has_left_claims(document) and has_older_claims(document)
        ),
        verdict=verdict,
        reason=reason,
        shown_by=shown_by,
    )


FAULTS: Final = (
    _returned("kafka-clients/sticky", KAFKA, INVALID, "unsubscribed", LEFT_EARLIER),
    _returned("kafka-clients/*sticky", KAFKA, ERROR, "NullPointer", LEFT_EARLIER_ALONE),
    _returned(
        "kafka-python/sticky", KAFKA_PYTHON, INVALID, "unsubscribed", LEFT_EARLIER
    ),
    _returned(
        "kafka-python/sticky", KAFKA_PYTHON, ERROR, "KeyError", LEFT_EARLIER_ALONE
    ),
    _returned(
        "sarama/sticky", SARAMA, INVALID, "unsubscribed|unassigned", LEFT_EARLIER
    ),
    Fault(
        name="kafka-clients has no room for a partition that does not exist",
        about="kafka-clients/*sticky",
        versions=KAFKA,
        applies=has_lost_claims,
        verdict=ERROR,
        reason="IllegalStateException",
        shown_by=SHRUNKEN,
    ),
    Fault(
        name="kafka-clients assigns a partition that does not exist",
        about="kafka-clients/*sticky",
        versions=KAFKA,
        applies=has_lost_claims,
        verdict=INVALID,
        reason="unknown-partition",
        shown_by=SHRUNKEN_MIXED,
    ),
    Fault(
        name="kafka-clients assigns to a member that subscribes to nothing",
        about="kafka-clients/*sticky",
        versions=KAFKA,
        applies=has_idle_member,
        verdict=INVALID,
        reason="unsubscribed",
        shown_by=IDLE,
    ),
    Fault(
        name="sarama fails if nobody subscribes to anything",
        about="sarama/roundrobin",
        versions=SARAMA,
        applies=is_idle,
        verdict=ERROR,
        reason="not provided",
        shown_by=rebalance({"t": 1}, {"a": member([])}),
    ),
    _unrevoked("kafka-python/cooperative-sticky", "3.0.12", EARLY),
    _endless("kafka-clients/*sticky", KAFKA),
    _endless("sarama/*sticky", SARAMA),
    _endless("kafka-python/sticky", "2.3.3 2.0.6"),
    _endless("aiokafka/sticky", "0.14.0 0.13.0"),
    _slow("sarama/*sticky", SARAMA),
    _slow("kafka-python/*sticky", KAFKA_PYTHON),
    _slow("aiokafka/sticky", "0.14.0 0.13.0"),
    _unrevoked("kafka-clients/cooperative-sticky", KAFKA, first_of("kafka-15106-123")),
    _unrevoked(
        "franz-go/cooperative-sticky", "1.22.3 1.22.2 1.15.4", first_of("kafka-12984-b")
    ),
    _unrevoked("sarama/cooperative-sticky", "1.61.1", first_of("kafka-12984-b-uneven")),
    _unrevoked(
        "platformatic-kafka/cooperative-sticky", "2.12.1", first_of("kafka-15106-123")
    ),
    _leaders_topics("kafkajs/roundrobin", "2.2.4 1.16.0", "unassigned|unsubscribed"),
    _leaders_topics(
        "platformatic-kafka/roundrobin", "2.12.1 1.31.0", "unassigned|unsubscribed"
    ),
    _leaders_topics("platformatic-kafka/cooperative-sticky", "2.12.1", "unassigned"),
    Fault(
        name="platformatic-kafka passes on what was claimed in an earlier generation",
        about="platformatic-kafka/cooperative-sticky",
        versions="2.12.1",
        applies=has_older_claims,
        verdict=INVALID,
        reason="unrevoked",
        shown_by=OLDER,
    ),
    Fault(
        name="franz-go panics at a claim on a topic that nobody wants",
        about="franz-go/*sticky",
        versions="1.15.4",
        applies=is_mixed,
        verdict=Verdict.CRASH,
        reason="exit code 2",
        shown_by=first_of("franz-go-4deed686"),
    ),
    Fault(
        name="kafka-python takes a pair for a member",
        about="kafka-python/roundrobin",
        versions="3.0.12 2.3.3",
        applies=is_mixed,
        verdict=ERROR,
        reason="KeyError",
        shown_by=MIXED,
    ),
    Fault(
        name="kafka-go assigns nothing if a topic does not exist",
        about="kafka-go/*",
        versions="0.4.51 0.4.42",
        applies=misses_topic,
        verdict=INVALID,
        reason="unassigned",
        shown_by=MISSING,
    ),
    Fault(
        name="sarama fails if a topic does not exist",
        about="sarama/*",
        versions=SARAMA,
        applies=misses_topic,
        verdict=ERROR,
        reason="does not exist",
        shown_by=MISSING,
    ),
    Fault(
        name="platformatic-kafka fails if a topic does not exist",
        about="platformatic-kafka/*",
        versions="2.12.1 1.31.0",
        applies=misses_topic,
        verdict=ERROR,
        reason="not available",
        shown_by=MISSING,
    ),
)
