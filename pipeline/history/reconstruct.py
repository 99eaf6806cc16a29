"""Reconstruction of a group's history, record by record, as cases to judge.

Kafka's coordinator (``GroupMetadataManager``, Kafka 4.3) stores an empty generation 0
when a group is created, a generation once its leader has sent the assignment, and an
empty generation after the last member has left. A rebalance that begins before the last
one has ended leaves a gap in the numbers. A static member that returns to a stable
group is written into the *same* generation under its new id; this is not a rebalance.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import partial
from typing import Any

from pipeline.cases import Case, CaseMember, Offsets
from pipeline.history.commits import Commits
from pipeline.history.episodes import Episodes
from pipeline.history.generations import (
    Generation,
    Participant,
    Seat,
    decode_generation_of,
    reports,
)
from pipeline.history.lasting import GroupStates
from pipeline.history.ownership import (
    Ownership,
    Standing,
    ownership_of,
    standing_of,
)
from pipeline.records import (
    GroupMetadata,
    GroupTombstone,
    OffsetCommit,
    OffsetTombstone,
)
from pipeline.records.place import Place
from pipeline.sightings import GroupSightings
from rebalance import WireError


class GroupHistory:
    """History of one classic consumer group; takes one partition's records in order."""

    def __init__(
        self,
        group_id: str,
        commits: Commits | None = None,
        sightings: GroupSightings | None = None,
        states: GroupStates | None = None,
    ) -> None:
        self._group_id = group_id
        self._sightings = GroupSightings() if sightings is None else sightings
        self._standing: Standing | None = None
        self._episodes = Episodes()
        self._commits = Commits() if commits is None else commits
        self._states = GroupStates() if states is None else states

    def commit(self, record: OffsetCommit | OffsetTombstone) -> None:
        """Apply a committed offset, or its tombstone."""
        self._commits.apply(record)

    def delete(self, _record: GroupTombstone) -> Iterator[Case]:
        """Apply the group's tombstone; a new group restarts at generation 0."""
        yield from self._episodes.interrupt()
        self._standing = Standing(generation=0, member={}, subscription={}, held={})

    def metadata(self, record: GroupMetadata, place: Place) -> Iterator[Case]:
        """Apply a generation; yield the cases that are now complete.

        Raises
        ------
        WireError
            If a member's message cannot be read. The owned partitions are then unknown
            until the next generation.
        """
        try:
            generation = decode_generation_of(record)
        except WireError:
            yield from self.lost()
            raise
        before, self._standing = self._standing, standing_of(generation)
        topics = {topic for p in generation.participants for topic in p.subscription}
        undated = self._sightings.undated(sorted(topics), place.at)
        self._sightings.assigned(
            (p.assigned for p in generation.participants), place.at
        )
        is_same = before is not None and before.generation == generation.generation
        if not generation.participants:
            self._states.emptied(place)
            if not is_same:
                yield from self._episodes.interrupt()
            return
        if is_same:
            return
        self._states.begin(place)
        ownership = ownership_of(generation, before)
        make = partial(
            self._case,
            generation,
            ownership,
            before,
            place,
            committed=self._commits.of(topics),
            undated_sizes=undated or None,
        )
        yield from self._episodes.add(make, generation, ownership, place)

    def downgraded(self, record: GroupMetadata) -> None:
        """Apply the assignment that a group of the new protocol had (KIP-848).

        Raises
        ------
        WireError
            If a member's message cannot be read.
        """
        self._standing = None
        self._standing = standing_of(decode_generation_of(record))

    def lost(self) -> Iterator[Case]:
        """Reset the group's state after a record that could not be read."""
        self._standing = None
        yield from self._episodes.interrupt()

    def finish(self) -> Iterator[Case]:
        """Yield the last case if its episode is unfinished."""
        yield from self._episodes.interrupt()

    def _case(
        self,
        generation: Generation,
        ownership: Ownership,
        before: Standing | None,
        place: Place,
        *,
        committed: Offsets,
        undated_sizes: dict[str, int] | None,
        **in_episode: Any,
    ) -> Case:
        people = generation.participants
        known = before is not None and before.generation == generation.generation - 1
        seats = before.held.keys() if before is not None and known else None
        return Case(
            rebalance_id=place.name,
            group_id=self._group_id,
            source_kind="consumer-offsets",
            source=place.source,
            source_partition=place.partition,
            source_offset=place.offset,
            generation=generation.generation,
            at=place.at,
            protocol="classic",
            client_assignor=generation.assignor,
            cooperative=ownership.cooperative,
            leader=generation.leader,
            owned_from=ownership.owned_from,
            members=_members(generation, ownership, seats),
            left=None if seats is None else len(seats - {p.seat for p in people}),
            resubscribed=_resubscribed(people, before) if before and known else None,
            claims_disagree=ownership.claims_disagree,
            committed=committed,
            undated_sizes=undated_sizes,
            **in_episode,
        )


def _members(
    generation: Generation, ownership: Ownership, before: Collection[Seat] | None
) -> dict[str, CaseMember]:
    """Return the members; ``before``: the seats of the generation before, if known."""
    return {
        p.member_id: _member(
            p,
            generation.assignor,
            ownership,
            joined=None if before is None else p.seat not in before,
        )
        for p in generation.participants
    }


def _member(
    participant: Participant,
    assignor: str | None,
    ownership: Ownership,
    *,
    joined: bool | None,
) -> CaseMember:
    member_id, claim = participant.member_id, participant.claim
    tells = reports(assignor, claim)
    return CaseMember(
        subscription=participant.subscription,
        owned=ownership.owned.get(member_id, {}),
        generation=ownership.generation.get(member_id),
        assigned=participant.assigned,
        claimed=participant.claimed if tells else None,
        claimed_generation=claim.generation if tells else None,
        rack=participant.rack,
        instance_id=participant.instance_id,
        client_id=participant.client_id,
        client_host=participant.client_host,
        joined=joined,
    )


def _resubscribed(people: list[Participant], before: Standing) -> int:
    wants = before.subscription
    return sum(p.seat in wants and wants[p.seat] != p.subscription for p in people)
