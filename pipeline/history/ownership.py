"""Owners at the start of a rebalance, and how they are known.

Usually, members own the assignment of the generation before. There are two exceptions:

- That generation is not in the source (compacted, or never completed).
- A member reports something else. Members of the two sticky assignors report the
  partitions that they own. A member that did not complete the last rebalance did not
  receive its assignment, and Java's consumers reject an assignment that does not match
  a subscription that has changed meanwhile. Such members still own and report their
  earlier partitions.

In these cases, the members' reports are used, and the column ``owned_from`` states
this. A cooperative group is a special case: consumers that also support an eager
assignor revoke everything before they join (KIP-429), so a round in which no member
reports anything is eager.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from pipeline.cases import CLAIMS, PREVIOUS, Held
from pipeline.history.generations import (
    COOPERATIVE,
    STICKY,
    Generation,
    Participant,
    Seat,
    reports,
    wanted,
)

REPORTING: Final = (STICKY, COOPERATIVE)


class Standing(NamedTuple):
    """A group after a generation: subscription, partitions, and member per seat."""

    generation: int
    member: dict[Seat, str]
    subscription: dict[Seat, list[str]]
    held: dict[Seat, Held]


class Ownership(NamedTuple):
    """Owned partitions by member id, with the generation from which they date."""

    owned_from: str
    owned: dict[str, Held]
    generation: dict[str, int]
    cooperative: bool
    claims_disagree: int | None


def standing_of(generation: Generation) -> Standing:
    """Return the state to remember for the next generation."""
    people = generation.participants
    return Standing(
        generation=generation.generation,
        member={p.seat: p.member_id for p in people},
        subscription={p.seat: p.subscription for p in people},
        held={p.seat: p.held for p in people},
    )


def ownership_of(generation: Generation, before: Standing | None) -> Ownership:
    """Determine the partitions that the members of a generation owned when it began."""
    cooperative = generation.assignor == COOPERATIVE
    if before is None or before.generation != generation.generation - 1:
        return _by_claims(generation, cooperative=cooperative, disagree=None)
    if cooperative and _is_eager(generation, before):
        return _by_standing(generation, before, cooperative=False, disagree=None)
    disagree = None
    if generation.assignor in REPORTING:
        people = generation.participants
        disagree = sum(_disagrees(p, before, generation.assignor) for p in people)
    if disagree:
        return _by_claims(generation, cooperative=cooperative, disagree=disagree)
    return _by_standing(generation, before, cooperative=cooperative, disagree=disagree)


def _is_eager(generation: Generation, before: Standing) -> bool:
    """Return whether all members that owned partitions report that they own none.

    A member that dates this from an older generation did not revoke its partitions: it
    missed the generation before, and has lost its partitions (KIP-429). This happens
    when a group leaves the new protocol before its members have reached the last
    target.
    """
    is_eager = False
    for p in generation.participants:
        if _still_held(p, before):
            if p.claimed or 0 <= p.claim.generation < before.generation:
                return False
            is_eager = True
    return is_eager


def _still_held(participant: Participant, before: Standing) -> Held:
    held = before.held.get(participant.seat, {})
    return wanted(held, participant.subscription)


def _disagrees(participant: Participant, before: Standing, assignor: str) -> bool:
    """Return whether a member of the generation before reports something else.

    A static member that has restarted reports nothing, but keeps its partitions
    (KIP-345). In a cooperative group, they are free at once, because no member has to
    revoke them.
    """
    if participant.seat not in before.held:
        return False
    if not reports(assignor, participant.claim):
        return False
    came_back = before.member[participant.seat] != participant.member_id
    if came_back and assignor != COOPERATIVE:
        return False
    if participant.claimed == before.held[participant.seat]:
        return False
    claimed = wanted(participant.claimed, participant.subscription)
    return claimed != _still_held(participant, before)


def _by_claims(
    generation: Generation, *, cooperative: bool, disagree: int | None
) -> Ownership:
    people = generation.participants
    return Ownership(
        owned_from=CLAIMS,
        owned={p.member_id: p.claimed for p in people},
        generation={p.member_id: p.claim.generation for p in people},
        cooperative=cooperative,
        claims_disagree=disagree,
    )


def _by_standing(
    generation: Generation,
    before: Standing,
    *,
    cooperative: bool,
    disagree: int | None,
) -> Ownership:
    there = [p for p in generation.participants if p.seat in before.held]
    return Ownership(
        owned_from=PREVIOUS,
        owned={p.member_id: before.held[p.seat] for p in there},
        generation={p.member_id: before.generation for p in there},
        cooperative=cooperative,
        claims_disagree=disagree,
    )
