"""The case of a reproducer: a rebalance, an assignor, and the outcome that is wrong."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, cast

import verify
from conformance.clients import ClientAssignor, client_assignor
from conformance.runs import Category, Finding
from conformance.runs.optimum import proved_optimum
from rebalance import OracleError, plain_of

Document = dict[str, Any]
UNKNOWN_GENERATION: Final = -1


class NoReproducerError(OracleError, ValueError):
    """A finding that no template can show."""


@dataclass(frozen=True, kw_only=True)
class ReproducerCase:
    """A finding, as far as a reproducer needs it.

    Attributes
    ----------
    name : str
        Identifies the finding; becomes part of file names.
    title : str
        The finding in one sentence.
    about : str
        The outcome in words, or empty.
    assignor : ClientAssignor
        Of the registry.
    cooperative : bool
        Whether the rebalance is played in rounds (KIP-429).
    category : Category
        The outcome that is wrong.
    instance : dict
        A rebalance/1 document.
    earlier : tuple of dict
        Rebalances that the leader has led before, and remembers.
    """

    name: str
    title: str
    assignor: ClientAssignor
    cooperative: bool
    category: Category
    instance: Document
    about: str = ""
    earlier: tuple[Document, ...] = ()

    @property
    def slug(self) -> str:
        """The name, reduced to lower-case letters, digits, and hyphens."""
        reduced = re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-")
        return reduced if reduced[:1].isalpha() else f"finding-{reduced}".strip("-")

    @property
    def topics(self) -> dict[str, int]:
        """Topics that exist, by name: the number of partitions."""
        known = self.instance["topics"].items()
        return {name: t["partitions"] for name, t in sorted(known) if t["partitions"]}

    @property
    def racks(self) -> dict[str, list[list[str]]]:
        """Racks of the replicas of each partition, of topics that state them."""
        known = sorted(self.instance["topics"].items())
        return {name: t["racks"] for name, t in known if t.get("racks")}

    @property
    def members(self) -> list[tuple[str, Document]]:
        """Members by id; the first is the leader."""
        return sorted(self.instance["members"].items())

    @property
    def before(self) -> list[list[tuple[str, Document]]]:
        """Members of the earlier rebalances, by id."""
        return [sorted(rebalance["members"].items()) for rebalance in self.earlier]

    @property
    def owners(self) -> dict[str, dict[str, list[int]]]:
        """Partitions whose claim is accepted (KIP-341), by member and topic."""
        held: dict[str, dict[str, list[int]]] = {}
        for (member, topic), numbers in sorted(
            verify.case_of(self.instance).owned.items()
        ):
            held.setdefault(member, {})[topic] = sorted(numbers)
        return held

    @property
    def coordinator_owners(self) -> dict[str, dict[str, list[int]]]:
        """The target assignment of a coordinator, which has one owner per partition.

        As in the adapter: a claim by a subscriber goes first, then the newer one; a tie
        leaves no owner. Claims on topics that were left are part of it.
        """
        best: dict[tuple[str, int], tuple[tuple[bool, int], list[str]]] = {}
        for member, document in self.members:
            for topic, numbers in sorted(document.get("owned", {}).items()):
                rank = (
                    topic in document["subscription"],
                    document.get("generation", -1),
                )
                for n in numbers if topic in self.topics else ():
                    if n >= self.topics[topic]:
                        continue
                    other, rivals = best.get((topic, n), (rank, []))
                    if rank > other:
                        rivals = []
                    if rank >= other:
                        best[topic, n] = (rank, [*rivals, member])
        held: dict[str, dict[str, list[int]]] = {}
        for (topic, n), (_, (owner, *others)) in sorted(best.items()):
            if not others:
                held.setdefault(owner, {}).setdefault(topic, []).append(n)
        return held

    @cached_property
    def optimum(self) -> Document:
        """Figures of the optimum, which the exact core has proved."""
        return cast("Document", proved_optimum(self.instance)["figures"])


def case_of(finding: Finding, *, name: str, title: str | None = None) -> ReproducerCase:
    """Return the case of a record: its shrunk instance, if it has one.

    Raises
    ------
    NoReproducerError
        If its subject is not a client of the registry, or its answer is only slow, or
        only differs from another one.
    """
    client = finding.subject.client
    if client is None:
        raise NoReproducerError(f"{finding.subject.name}: not a client of the registry")
    if finding.category == Category.SLOW.value:
        raise NoReproducerError("how long an answer takes depends on the machine")
    if finding.category == Category.NONDETERMINISTIC.value:
        raise NoReproducerError("a single run of a test does not show a difference")
    smallest = finding.shrunk or finding
    kind = " ".join(part for part in (finding.category, finding.detail) if part)
    return ReproducerCase(
        name=name,
        title=title or f"{finding.subject.name}: {kind}",
        about=smallest.reason or "",
        assignor=client_assignor(finding.subject.name),
        cooperative=finding.cooperative,
        category=Category(finding.category),
        instance=plain_of(smallest.instance),
    )
