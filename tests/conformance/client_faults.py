"""Known faults of clients: who has them, when, and a small rebalance that shows each.

A fault explains an answer if it is one of its client's, the rebalance has the shape
that causes it, and the verdict and reason are those of the fault.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from conformance.clients import Answer, ClientAssignor, Verdict
from conformance.corpus import corpus
from rebalance import rebalance_of
from tests.shapes import Document, member, rebalance


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A fault of some versions of a client.

    Attributes
    ----------
    about : str
        Pattern of the assignors to which it could apply.
    versions : str
        Versions that have it; the client's others do not.
    applies : callable
        Whether a rebalance has the shape that causes it.
    reason : str
        Pattern of the verdict's reason.
    shown_by : document or None
        None if it depends on the machine whether it is seen.
    """

    name: str
    about: str
    versions: str
    applies: Callable[[Document], bool]
    verdict: Verdict
    reason: str
    shown_by: Document | None

    def is_about(self, one: ClientAssignor) -> bool:
        return fnmatchcase(f"{one.client}/{one.assignor}", self.about)

    def applies_to(self, one: ClientAssignor, document: Document) -> bool:
        is_theirs = self.is_about(one) and one.version in self.versions.split()
        return is_theirs and self.applies(document)

    def is_seen_in(self, answer: Answer) -> bool:
        found = re.search(self.reason, answer.reason or "")
        return answer.verdict is self.verdict and found is not None

    def explains(self, one: ClientAssignor, document: Document, answer: Answer) -> bool:
        return self.applies_to(one, document) and self.is_seen_in(answer)

    def specs(self, every: Iterable[ClientAssignor]) -> set[str]:
        """Return who has it."""
        versions = self.versions.split()
        return {
            one.spec for one in every if self.is_about(one) and one.version in versions
        }


def is_mixed(document: Document) -> bool:
    """Return whether subscriptions differ."""
    wanted = {frozenset(one["subscription"]) for one in document["members"].values()}
    return len(wanted) > 1


def misses_topic(document: Document) -> bool:
    """Return whether somebody subscribes to a topic that does not exist."""
    there = {t for t, about in document["topics"].items() if about["partitions"]}
    members = document["members"].values()
    return any(not there.issuperset(one["subscription"]) for one in members)


def has_rival_claims(document: Document) -> bool:
    """Return whether two members claim one partition."""
    claims = [
        (topic, number)
        for one in document["members"].values()
        for topic, numbers in one.get("owned", {}).items()
        for number in numbers
    ]
    return len(set(claims)) < len(claims)


def has_older_claims(document: Document) -> bool:
    """Return whether claims date from different generations."""
    members = document["members"].values()
    return len({one.get("generation", -1) for one in members if one.get("owned")}) > 1


def is_large(document: Document) -> bool:
    partitions = sum(int(t["partitions"]) for t in document["topics"].values())
    return len(document["members"]) * partitions > 1_000_000


def first_of(name: str) -> Document:
    """Return the first rebalance of a scenario of the corpus."""
    (found,) = (one for one in corpus() if one.name == name)
    return found.steps[0].rebalance


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
        verdict=Verdict.INVALID,
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
        verdict=Verdict.INVALID,
        reason=reason,
        shown_by=MIXED,
    )


FAULTS: Final = (
    _endless("kafka-clients/*sticky", "4.4.0 3.9.2"),
    _endless("sarama/*sticky", "1.61.1 1.43.3"),
    _endless("kafka-python/sticky", "2.3.3 2.0.6"),
    _endless("aiokafka/sticky", "0.14.0 0.12.0"),
    _slow("sarama/*sticky", "1.61.1 1.43.3"),
    _slow("kafka-python/*sticky", "3.0.12 2.3.3 2.0.6"),
    _slow("aiokafka/sticky", "0.14.0 0.12.0"),
    _unrevoked(
        "kafka-clients/cooperative-sticky", "4.4.0 3.9.2", first_of("kafka-15106-123")
    ),
    _unrevoked(
        "franz-go/cooperative-sticky", "1.22.2 1.15.4", first_of("kafka-12984-b")
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
        verdict=Verdict.INVALID,
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
        verdict=Verdict.ERROR,
        reason="KeyError",
        shown_by=MIXED,
    ),
    Fault(
        name="kafka-go assigns nothing if a topic does not exist",
        about="kafka-go/*",
        versions="0.4.51 0.4.42",
        applies=misses_topic,
        verdict=Verdict.INVALID,
        reason="unassigned",
        shown_by=MISSING,
    ),
    Fault(
        name="sarama fails if a topic does not exist",
        about="sarama/*",
        versions="1.61.1 1.43.3",
        applies=misses_topic,
        verdict=Verdict.ERROR,
        reason="does not exist",
        shown_by=MISSING,
    ),
    Fault(
        name="platformatic-kafka fails if a topic does not exist",
        about="platformatic-kafka/*",
        versions="2.12.1 1.31.0",
        applies=misses_topic,
        verdict=Verdict.ERROR,
        reason="not available",
        shown_by=MISSING,
    ),
)
