"""A known fault of a client, and the shapes of rebalances that cause such faults.

A fault explains an answer if it is one of its client's, the rebalance has the shape
that causes it, and the verdict and reason are those of the fault.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from conformance import SHAPES
from conformance.clients import Answer, ClientAssignor, Verdict
from tests.support.shapes import Document


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

    def is_about(self, assignor: ClientAssignor) -> bool:
        return fnmatchcase(f"{assignor.client}/{assignor.assignor}", self.about)

    def applies_to(self, assignor: ClientAssignor, document: Document) -> bool:
        is_theirs = (
            self.is_about(assignor) and assignor.version in self.versions.split()
        )
        return is_theirs and self.applies(document)

    def is_seen_in(self, answer: Answer) -> bool:
        found = re.search(self.reason, answer.reason or "")
        return answer.verdict is self.verdict and found is not None

    def explains(
        self, assignor: ClientAssignor, document: Document, answer: Answer
    ) -> bool:
        return self.applies_to(assignor, document) and self.is_seen_in(answer)

    def specs(self, every: Iterable[ClientAssignor]) -> set[str]:
        """Return who has it."""
        versions = self.versions.split()
        return {
            assignor.spec
            for assignor in every
            if self.is_about(assignor) and assignor.version in versions
        }


is_mixed = SHAPES["mixed"]
misses_topic = SHAPES["missing-topic"]
has_rival_claims = SHAPES["double-claims"]
has_older_claims = SHAPES["older-claims"]
has_left_claims = SHAPES["left-claims"]
has_lost_claims = SHAPES["lost-claims"]
has_idle_member = SHAPES["idle-member"]
has_racks = SHAPES["racks"]


def is_large(document: Document) -> bool:
    partitions = sum(int(t["partitions"]) for t in document["topics"].values())
    return len(document["members"]) * partitions > 1_000_000


def is_idle(document: Document) -> bool:
    """Return whether nobody subscribes to anything."""
    return not any(member["subscription"] for member in document["members"].values())
