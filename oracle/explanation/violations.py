"""Violated rules: the claims that led there, the effects, and the known finding.

Claims are those of the documents, whatever became of them. A finding (docs/findings) is
named if the rebalance and the violation have its pattern, whichever client assigned.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final

from oracle.explanation.explained_case import ExplainedCase, Members, Verdict, require
from oracle.explanation.improvement_records import Violated
from oracle.explanation.statement_records import ClaimRecord
from oracle.explanation.statements import Statements

LISTED: Final = 20
"""Claims and holders of a violation."""

_NO_GENERATION: Final = -1

Document = Mapping[str, Any]


def add_violations(
    about: ExplainedCase,
    found: Statements,
    rebalance: Document,
    members: Members,
    verdict: Verdict,
) -> None:
    """State the first violation of each rule, and how many there are."""
    counts: dict[str, int] = dict(verdict.get("more_violations", {}))
    firsts: dict[str, Document] = {}
    places: dict[str, set[tuple[str, int]]] = defaultdict(set)
    for violation in verdict["violations"]:
        if "topic" in violation:
            places[violation["rule"]].add((violation["topic"], violation["partition"]))
        counts[violation["rule"]] = counts.get(violation["rule"], 0) + 1
        firsts.setdefault(violation["rule"], violation)
    for rule, first in firsts.items():
        with found.checking():
            place = _ViolationPlace(about, rebalance, members, first)
            record = Violated.model_validate(
                {
                    "text": "",
                    **first,
                    "count": counts[rule],
                    "partitions": len(places[rule]),
                    "has_more": rule in verdict.get("more_violations", {}),
                    **place.fields(),
                }
            )
            _check(about, members, record)
            found.add(record)


class _ViolationPlace:
    """The first place of a violated rule: who claims the partition, who has it."""

    def __init__(
        self,
        about: ExplainedCase,
        rebalance: Document,
        members: Members,
        violation: Document,
    ) -> None:
        self.about, self.members, self.group = about, members, rebalance["members"]
        self.rule: str = violation["rule"]
        self.member: str | None = violation.get("member")
        self.topic: str = violation.get("topic", "")
        self.partition: int = violation.get("partition", -1)
        self.claims = sorted(
            (-int(member.get("generation", _NO_GENERATION)), name)
            for name, member in self.group.items()
            if self.partition in member.get("owned", {}).get(self.topic, ())
        )
        self.holders = sorted(
            name
            for name, held in members.items()
            if self.partition in held.get(self.topic, ())
        )

    def fields(self) -> dict[str, Any]:
        """Return the record's fields on the place."""
        if self.partition < 0:
            return {"claims": [], "holders": [], "readers": []}
        finding = self.finding()
        return {
            "claims": [
                ClaimRecord(member=name, generation=-generation)
                for generation, name in self.claims[:LISTED]
            ],
            "holders": self.holders[:LISTED],
            "readers": [name for name in self.holders if self._reads(name)][:LISTED],
            **({} if finding is None else {"finding": finding}),
        }

    def finding(self) -> str | None:
        """Return the finding whose pattern this is, or None."""
        claimants = {name for _, name in self.claims}
        match self.rule:
            case "unsubscribed" if not self.group[self.member]["subscription"]:
                found = "empty-subscription"
            case "unsubscribed" if self.member in claimants:
                found = "left-topic-claims"
            case "unknown-partition" if self.member in claimants:
                found = "missing-partition-claims"
            case "assigned-twice" | "unassigned" if len(claimants) > 1:
                found = "double-claims-assigned-twice"
            case "unassigned" if self._misses_topic():
                found = "missing-topic"
            case "unsubscribed" | "unassigned" if self._only_topics_of_one():
                found = "leader-topics-only"
            case _:
                return None
        return found

    def _reads(self, name: str) -> bool:
        """Return whether a holder subscribes, and the partition exists."""
        case = self.about.case
        exists = self.partition < case.partitions.get(self.topic, 0)
        return exists and self.topic in case.wants.get(name, ())

    def _misses_topic(self) -> bool:
        """Return whether nothing is assigned, and a topic does not exist."""
        known = self.about.case.partitions
        wanted = {t for member in self.group.values() for t in member["subscription"]}
        return not any(map(any, self.members.values())) and not wanted <= known.keys()

    def _only_topics_of_one(self) -> bool:
        """Return whether exactly the topics of one member are assigned, not of all."""
        known = self.about.case.partitions
        assigned = {t for held in self.members.values() for t, n in held.items() if n}
        wanted = [
            {*member["subscription"]} & known.keys() for member in self.group.values()
        ]
        every = set[str]().union(*wanted)
        return assigned != every and assigned in [topics for topics in wanted if topics]


def _check(about: ExplainedCase, members: Members, record: Violated) -> None:
    """Compare the consequence with the instance and the assignment."""
    if record.partition is None or record.topic is None:
        return
    case, topic = about.case, record.topic
    for name in record.holders:
        require(record.partition in members[name].get(topic, ()), "it is assigned")
    for name in record.readers:
        require(topic in case.wants[name], "a reader subscribes")
    newest = case.claimants.get(topic, {}).get(record.partition, ())
    claimants = {claim.member for claim in record.claims}
    if len(record.claims) < LISTED:
        require(claimants.issuperset(newest), "the newest claims are among them")
    if record.rule == "unassigned":
        require(not record.holders, "no member has it")
