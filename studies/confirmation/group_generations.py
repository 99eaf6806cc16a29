"""Requests and assignment of each generation of a group, as stored.

The coordinator writes every generation that a leader has assigned to the topic
``__consumer_offsets``: the data that each member sent, and that it received.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import verify
from pipeline.live import ClientSettings, OffsetsLog
from pipeline.records import GroupMetadata, decode_record
from rebalance.protocol import decode_assignment, decode_subscription, member_claim
from studies.confirmation.observation import Observation

UNREVOKED: Final = "unrevoked"

Document = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredGeneration:
    """One generation of a group.

    Attributes
    ----------
    number : int
    protocol : str
        Name of the assignor.
    members : dict
        By client id: ``subscription``, ``owned``, and ``generation`` as in rebalance/1.
    held : dict
        By client id, the leader's assignment: topic -> partitions.
    """

    number: int
    protocol: str
    members: dict[str, Document]
    held: dict[str, dict[str, list[int]]]

    def rebalance(self, sizes: dict[str, int]) -> Document:
        """Return the leader's view, as rebalance/1."""
        return {
            "format": "rebalance/1",
            "group": "g",
            "topics": {name: {"partitions": n} for name, n in sizes.items()},
            "members": self.members,
        }


def stored_generations(address: str, group: str) -> list[StoredGeneration]:
    """Return the generations of a group that have members, in their order.

    Raises
    ------
    OutsideError
        If the topic cannot be read to its end.
    WireError
        If a record cannot be decoded.
    """
    log = OffsetsLog(server=address, settings=ClientSettings())
    records = (record for within in log.ranges() for record in log.records(within))
    decoded = (decode_record(record.key or b"", record.value) for record in records)
    return [
        generation_of(stored)
        for stored in decoded
        if isinstance(stored, GroupMetadata)
        and stored.group_id == group
        and stored.members
    ]


def generation_of(stored: GroupMetadata) -> StoredGeneration:
    """Decode the data that the members of a group have sent and received.

    Raises
    ------
    WireError
        If it cannot be decoded.
    """
    protocol = stored.protocol or ""
    given = {
        member.client_id: decode_assignment(member.assignment)
        for member in stored.members
    }
    return StoredGeneration(
        number=stored.generation,
        protocol=protocol,
        members={
            member.client_id: _member(member.subscription, protocol)
            for member in stored.members
        },
        held={
            name: {topic: sorted(numbers) for topic, numbers in assigned.partitions}
            for name, assigned in given.items()
        },
    )


def unrevoked_in(
    generations: list[StoredGeneration], sizes: dict[str, int]
) -> Observation:
    """Judge each generation as a cooperative round; return the first violation."""
    for generation in generations:
        document = generation.rebalance(sizes)
        answer = {"format": "assignment/1", "members": generation.held}
        verdict = verify.judge(document, answer, cooperative=True)
        for violation in verdict["violations"]:
            if violation["rule"] == UNREVOKED:
                outcome = _in_words(generation, violation)
                return Observation(category=UNREVOKED, outcome=outcome)
    last = "; ".join(_claims(generation) for generation in generations[-2:])
    outcome = f"No generation assigns what another member still holds. {last}"
    return Observation(category="no fault", outcome=outcome.strip())


def _member(metadata: bytes, protocol: str) -> Document:
    subscription = decode_subscription(metadata)
    claim = member_claim(subscription, protocol)
    owned = {topic: list(numbers) for topic, numbers in claim.partitions}
    dated = {"generation": claim.generation} if claim.generation >= 0 else {}
    wanted = sorted(set(subscription.topics))
    return {"subscription": wanted, **({"owned": owned} if owned else {}), **dated}


def _in_words(generation: StoredGeneration, violation: Document) -> str:
    place = f"{violation['topic']}:{violation['partition']}"
    receiver, holder = violation["member"], violation["claimant"]
    return (
        f"In generation {generation.number}, {receiver} receives {place}, while "
        f"{holder} holds it and has not revoked it. {_claims(generation)}"
    )


def _claims(generation: StoredGeneration) -> str:
    """Return the claims of the members of a generation, in a sentence."""
    parts = [
        f"{name} claims {_owned(m)}" for name, m in sorted(generation.members.items())
    ]
    return f"Claims of generation {generation.number}: {', '.join(parts)}."


def _owned(member: Document) -> str:
    owned = member.get("owned") or {}
    if not owned:
        return "nothing"
    places = [f"{topic}:{n}" for topic, numbers in owned.items() for n in numbers]
    dated = member.get("generation", -1)
    when = f"of generation {dated}" if dated >= 0 else "without a generation"
    return f"{' and '.join(places)} {when}"
