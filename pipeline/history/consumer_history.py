"""Reconstruction of a group of the new protocol (KIP-848), record by record.

The coordinator numbers each change of members, subscriptions, or topics with a *group
epoch*. It computes the target assignment of the latest one; several changes can share a
target. A target is complete with the record of its epoch. Epochs follow one another
without a gap, so a gap shows that records are not in the source: the topic was
compacted, or the source is a part of it. Members and targets are then incomplete, and
no target is judged until one that covers all members has been read.

A classic group becomes one of the new protocol, and back, with members, epoch, and
assignment (``convertToConsumerGroup``, ``convertToClassicGroup`` of Kafka's group
coordinator). Such a copy of the last assignment is not a rebalance.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pipeline.cases import Case
from pipeline.history.commits import Commits
from pipeline.history.consumer_state import (
    ConsumerState,
    Roster,
    seat_of,
    subscription_of,
)
from pipeline.history.lasting import GroupStates
from pipeline.history.missing import Missing
from pipeline.history.reconciliation import Reconciliation
from pipeline.history.target_case import (
    Assigned,
    PreviousTarget,
    Target,
    case_of_target,
    previous_of,
)
from pipeline.records import (
    ConsumerGroupCurrentMemberAssignment,
    ConsumerGroupMemberMetadata,
    ConsumerGroupMetadata,
    ConsumerGroupPartitionMetadata,
    ConsumerGroupRecord,
    ConsumerGroupRegularExpression,
    ConsumerGroupTargetAssignmentMember,
    ConsumerGroupTargetAssignmentMetadata,
    ConsumerGroupTombstone,
)
from pipeline.records.place import Place
from pipeline.sightings import GroupSightings

NOT_IN_SOURCE: Final = "group epochs that are not in the source"
NO_PREVIOUS: Final = "the assignment before this epoch is not in the source"
NO_MEMBERS: Final = "records of members of this epoch are not in the source"
_FIRST: Final = 2
"""First epoch of a new group since the time of a target is recorded (Kafka 4.3).

Kafka 4.0 counts from 1.
"""
_NOTHING: Final = PreviousTarget(epoch=None, subscriptions={})


Found = Iterator[Case | Missing]


class ConsumerHistory:
    """History of one group of the new protocol; takes its records in order."""

    def __init__(
        self,
        group_id: str,
        commits: Commits,
        sightings: GroupSightings,
        states: GroupStates,
    ) -> None:
        self._group_id = group_id
        self._commits = commits
        self._sightings = sightings
        self._states = states
        self._reconciliation = Reconciliation()
        self._begin()
        self._ended: int | None = None

    def _begin(self) -> None:
        self._state = ConsumerState()
        self._rosters: dict[int, Roster] = {}
        self._epoch: int | None = None
        self._previous: PreviousTarget | None = None
        self._upgraded = False
        self._has_gap = False
        self._is_unconfirmed = False

    def upgraded(self) -> None:
        """Note that a classic group ended: it can go on as one of the new protocol."""
        self._begin()
        self._upgraded = True

    def apply(self, record: ConsumerGroupRecord, place: Place) -> Found:
        """Apply a record; yield the cases that are now complete.

        Raises
        ------
        WireError
            If partitions cannot be those of an assignment; see `lost`.
        """
        self._ended = None
        state = self._state
        match record:
            case ConsumerGroupMetadata():
                yield from self._group(record, place)
            case ConsumerGroupTargetAssignmentMetadata():
                yield from self._target(record, place)
            case ConsumerGroupCurrentMemberAssignment(member_id=member_id):
                state.current(record)
                yield from self._moved(member_id, place)
            case ConsumerGroupTargetAssignmentMember():
                state.target(record)
            case ConsumerGroupMemberMetadata():
                state.member(record)
            case ConsumerGroupRegularExpression():
                state.regex(record)
            case ConsumerGroupPartitionMetadata():
                state.topics(record)
            case ConsumerGroupTombstone():
                yield from self._tombstone(record, place)

    def lost(self, tombstone: ConsumerGroupTombstone, place: Place) -> Found:
        """Forget the record that an unreadable one has replaced."""
        self._state.forget(tombstone)
        if tombstone.kind == ConsumerGroupTargetAssignmentMetadata.__name__:
            self._states.replaced(place)
        elif tombstone.kind == ConsumerGroupMetadata.__name__:
            self._note_if_empty(place)
        self._state.new_epoch()
        self._has_gap = True
        self._previous = None
        yield from self._reconciliation.interrupt()

    def take_ended(self) -> int | None:
        """Return the epoch of a group whose tombstone was its last record, once."""
        ended, self._ended = self._ended, None
        return ended

    def finish(self) -> Found:
        """Yield the last case if its target was not reached."""
        yield from self._reconciliation.interrupt()

    def _tombstone(self, record: ConsumerGroupTombstone, place: Place) -> Found:
        if record.kind == ConsumerGroupMetadata.__name__:
            ended = self._epoch
            self._states.emptied(place, is_tombstone=True)
            yield from self._reconciliation.interrupt()
            self._begin()
            self._ended = ended
            return
        self._state.forget(record)
        if record.kind == ConsumerGroupCurrentMemberAssignment.__name__:
            yield from self._moved(record.subject or "", place)

    def _moved(self, member_id: str, place: Place) -> Found:
        state = self._state
        member = state.members.get(member_id)
        yield from self._reconciliation.moved(
            member_id,
            (False, member_id) if member is None else seat_of(member),
            state.present.get(member_id),
            place,
        )

    def _group(self, record: ConsumerGroupMetadata, place: Place) -> Found:
        """Apply a group epoch; report those that are skipped."""
        before, epoch = self._epoch, record.epoch
        if before is None and self._is_new(record):
            self._previous = _NOTHING
            self._is_unconfirmed = epoch == _FIRST and not self._upgraded
        elif before is None and not self._upgraded:
            yield from self._gap(1, epoch - 1, place)
        elif before is not None and epoch not in (before, before + 1):
            yield from self._gap(before + 1, epoch - 1, place)
        self._epoch = epoch
        self._state.new_epoch()
        self._rosters[epoch] = self._state.roster()
        self._note_if_empty(place)
        if not self._state.members:
            yield from self._reconciliation.interrupt()
            if self._previous is not None:
                self._previous = _NOTHING

    def _note_if_empty(self, place: Place) -> None:
        if not self._state.members:
            self._states.emptied(place)

    def _is_new(self, record: ConsumerGroupMetadata) -> bool:
        """Return whether it is a group's first epoch; `_FIRST` must be confirmed."""
        return record.epoch <= _FIRST and not self._state.targets

    def _confirm_first(self, record: ConsumerGroupTargetAssignmentMetadata) -> None:
        """Treat the epochs before `_FIRST` as missing if the broker counts from 1."""
        if self._is_unconfirmed and not record.computed_at:
            self._has_gap, self._previous = True, None
        self._is_unconfirmed = False

    def _gap(self, first: int, last: int, place: Place) -> Found:
        self._has_gap = True
        self._previous = None
        yield from self._reconciliation.interrupt()
        if first <= last:
            yield Missing(first=first, last=last, reason=NOT_IN_SOURCE, place=place)

    def _target(
        self, record: ConsumerGroupTargetAssignmentMetadata, place: Place
    ) -> Found:
        """Apply the epoch that completes a target assignment."""
        self._confirm_first(record)
        epoch, previous, upgraded = record.epoch, self._previous, self._upgraded
        roster = self._rosters.get(epoch)
        people = None if roster is None else self._people(roster)
        self._rosters = {e: roster for e, roster in self._rosters.items() if e > epoch}
        self._upgraded, self._previous = False, None
        if roster is None or people is None:
            self._state.new_epoch()
            yield from self._not_judged(epoch, NO_MEMBERS, place)
            return
        target = Target(
            group_id=self._group_id, epoch=epoch, people=people, roster=roster
        )
        undated = self._undated(people, place.at)
        self._sightings.assigned((member.target for member in people), place.at)
        self._state.new_epoch()
        self._previous = previous_of(target)
        if upgraded and all(
            participant.member.classic is not None for participant in people
        ):
            self._states.converted()
            return
        if previous is None:
            yield from self._not_judged(epoch, NO_PREVIOUS, place)
        elif not people:
            self._states.replaced(place)
        else:
            self._states.begin(place)
            topics = {
                topic for participant in people for topic in participant.subscription
            }
            case = case_of_target(
                target, previous, place, self._commits.of(topics), undated or None
            )
            yield from self._reconciliation.add(case, target, place)

    def _undated(self, people: list[Assigned], at: int | None) -> dict[str, int]:
        """Return counts without a time, of subscribed names and of assigned ids."""
        names = {topic for member in people for topic in member.subscription}
        ids = {
            topic
            for member in people
            for topic in (*member.target, *(member.before or ()))
        }
        return self._sightings.undated(sorted(names | ids), at)

    def _not_judged(self, epoch: int, reason: str, place: Place) -> Found:
        self._states.replaced(place)
        yield from self._reconciliation.interrupt()
        yield Missing(first=epoch, last=epoch, reason=reason, place=place)

    def _people(self, roster: Roster) -> list[Assigned] | None:
        """Return the members of an epoch; None if the source lacks some of them.

        A static member can have returned under another id since.
        """
        state = self._state
        now = {seat_of(member): member for member in state.members.values()}
        members = [now.get(seat_of(member)) for member in roster.members.values()]
        found = [member for member in members if member is not None]
        names = {member.member_id for member in found}
        if len(found) < len(members) or names != state.targets.keys():
            return None
        if self._has_gap and self._is_unsure(roster):
            return None
        return self._assigned(found, roster)

    def _is_unsure(self, roster: Roster) -> bool:
        """Return whether records of members can be missing after a gap.

        Either a member that has partitions is unknown, or the topics that a regular
        expression matches are, or, at the first target, the assigned partitions have
        holes.
        """
        state = self._state
        regexes = {member.regex for member in roster.members.values() if member.regex}
        return (
            not state.present.keys() <= state.members.keys()
            or not regexes <= roster.regexes.keys()
            or (self._previous is None and state.has_holes())
        )

    def _assigned(
        self, members: list[ConsumerGroupMemberMetadata], roster: Roster
    ) -> list[Assigned]:
        state = self._state
        then = {seat_of(member): member for member in roster.members.values()}
        return [
            Assigned(
                member=member,
                subscription=subscription_of(then[seat_of(member)], roster),
                before=state.target_before(member.member_id),
                present=state.present.get(member.member_id),
                target=state.targets[member.member_id],
            )
            for member in sorted(members, key=lambda member: member.member_id)
        ]
