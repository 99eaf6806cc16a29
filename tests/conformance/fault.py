"""A known fault of a client, and the shapes of rebalances that cause such faults.

A fault explains an answer if it is one of its client's, the rebalance has the shape
that causes it, and the verdict and reason are those of the fault.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

from conformance.clients import Answer, ClientAssignor, Verdict
from tests.shapes import Document


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
    claims = [(topic, number) for _, topic, number in _claims(document)]
    return len(set(claims)) < len(claims)


def has_older_claims(document: Document) -> bool:
    """Return whether claims date from different generations."""
    members = document["members"].values()
    return len({one.get("generation", -1) for one in members if one.get("owned")}) > 1


def is_large(document: Document) -> bool:
    partitions = sum(int(t["partitions"]) for t in document["topics"].values())
    return len(document["members"]) * partitions > 1_000_000


def has_left_claims(document: Document) -> bool:
    """Return whether a member claims a partition of a topic that it has left."""
    members = document["members"]
    return any(
        topic not in members[m]["subscription"] for m, topic, _ in _claims(document)
    )


def has_lost_claims(document: Document) -> bool:
    """Return whether a member claims a partition that does not exist."""
    counts = {t: about["partitions"] for t, about in document["topics"].items()}
    return any(number >= counts.get(t, 0) for _, t, number in _claims(document))


def has_idle_member(document: Document) -> bool:
    """Return whether a member subscribes to nothing."""
    return not all(one["subscription"] for one in document["members"].values())


def is_idle(document: Document) -> bool:
    """Return whether nobody subscribes to anything."""
    return not any(one["subscription"] for one in document["members"].values())


def _claims(document: Document) -> Iterator[tuple[str, str, int]]:
    for name, one in document["members"].items():
        for topic, numbers in one.get("owned", {}).items():
            for number in numbers:
                yield name, topic, number
