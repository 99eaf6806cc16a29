"""Coordinator of a classic group: members, generations, and commits.

Follows ``ClassicGroup`` and ``GroupMetadataManager`` (Kafka 4.0): JoinGroup, SyncGroup,
LeaveGroup, the three timeouts, offset commits, static members (KIP-345: replaced
without a rebalance while assignor and topics stay the same; kept through a rebalance
that they miss, until the session times out; the old process is fenced) and the leader
that skips its assignment (KIP-814). That topics count there is our own rule: see
`Safeguards`.

Omitted: a first rebalance that waits for more members, the two-step joining of
KIP-394, group size limits, loading and moving of coordinators, transactions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from heuristics.group.messages import (
    NOTHING,
    JoinMetadata,
    JoinResponse,
    Partitions,
    Refusal,
)
from heuristics.group.protocol_choice import candidates, selected


class GroupState(Enum):
    """States of ``ClassicGroupState``; a dead group is out of scope."""

    EMPTY = "empty"
    PREPARING = "preparing"  # waits for members to join
    COMPLETING = "completing"  # waits for the leader's assignment
    STABLE = "stable"


@dataclass(slots=True, kw_only=True)
class _KnownMember:
    """State of a member, as the coordinator knows it."""

    subscription: JoinMetadata
    joined: bool = False  # a JoinGroup of it waits for the generation to begin
    synced: bool = True  # nothing is awaited of it
    assigned: Partitions = NOTHING

    @property
    def is_static(self) -> bool:
        return self.subscription.instance_id is not None


class Coordinator:
    """The coordinator of one group. Members are identified by member id.

    Parameters
    ----------
    heeds_new_topics : bool
        See `Safeguards`.
    """

    def __init__(self, *, heeds_new_topics: bool = True) -> None:
        self._heeds_new_topics = heeds_new_topics
        self.state = GroupState.EMPTY
        self.generation = 0
        self.strategy: str | None = None
        self.leader: str | None = None
        self._entries: dict[str, _KnownMember] = {}
        self._responses: dict[str, JoinResponse] = {}

    @property
    def members(self) -> tuple[str, ...]:
        """Member ids, in order of arrival."""
        return tuple(self._entries)

    def refusal(
        self, member_id: str, generation: int, instance_id: str | None = None
    ) -> Refusal | None:
        """Return the error of a heartbeat, if any."""
        if member_id not in self._entries:
            if self._of_instance(instance_id) is not None:
                return Refusal.FENCED_INSTANCE_ID
            return Refusal.UNKNOWN_MEMBER_ID
        if generation != self.generation:
            return Refusal.ILLEGAL_GENERATION
        if self.state is GroupState.PREPARING:
            return Refusal.REBALANCE_IN_PROGRESS
        return None

    def takes_commit(self, member_id: str | None, generation: int) -> bool:
        """Whether an offset commit would be accepted now."""
        return (
            member_id in self._entries
            and generation == self.generation
            and self.state in (GroupState.PREPARING, GroupState.STABLE)
        )

    # Joining.

    def join(self, member_id: str, subscription: JoinMetadata) -> Refusal | None:
        """Process the JoinGroup of a member that is in the group."""
        entry = self._entries.get(member_id)
        if entry is None:
            return self.refusal(
                member_id, subscription.generation, subscription.instance_id
            )
        is_news = subscription != entry.subscription
        entry.subscription = subscription
        if self.state is GroupState.COMPLETING:
            restart = is_news
        else:
            restart = is_news or member_id == self.leader
        self._enter(member_id, restart=restart)
        return None

    def enter(self, member_id: str, subscription: JoinMetadata) -> Refusal | None:
        """Process the first JoinGroup of a process, under the id it is given."""
        lists = [e.subscription.strategies for e in self._entries.values()]
        if not candidates([*lists, subscription.strategies]):
            return Refusal.INCONSISTENT_GROUP_PROTOCOL
        old = self._of_instance(subscription.instance_id)
        if old is None:
            self._entries[member_id] = _KnownMember(subscription=subscription)
            self._enter(member_id, restart=True)
            return None
        topics = self._entries[old].subscription.topics
        is_news = self._heeds_new_topics and topics != subscription.topics
        self._replace(old, member_id, subscription)
        is_other = self.strategy != self._vote()
        restart = is_news or is_other or self.state is not GroupState.STABLE
        self._enter(member_id, restart=restart)
        return None

    def _of_instance(self, instance_id: str | None) -> str | None:
        if instance_id is None:
            return None
        entries = self._entries.items()
        same = (m for m, e in entries if e.subscription.instance_id == instance_id)
        return next(same, None)

    def _replace(self, old: str, new: str, subscription: JoinMetadata) -> None:
        """Give a static member's place to its new process; the old id is unknown."""
        entry = self._entries[old]
        entry.subscription = subscription
        self._entries = {
            (new if m == old else m): entry for m, entry in self._entries.items()
        }
        self._responses.pop(old, None)
        if self.leader == old:
            self.leader = new

    def _enter(self, member_id: str, *, restart: bool) -> None:
        if self.state is GroupState.PREPARING:
            self._entries[member_id].joined = True
        elif restart:
            self._prepare()
            self._entries[member_id].joined = True
        else:
            self._responses[member_id] = self._response(member_id)
        self._complete_if_all_joined()

    def _prepare(self) -> None:
        self.state = GroupState.PREPARING
        for entry in self._entries.values():
            entry.joined = False

    def _complete_if_all_joined(self) -> None:
        if self.state is not GroupState.PREPARING:
            return
        if all(entry.joined for entry in self._entries.values()):
            self._begin_generation()

    def _vote(self) -> str:
        return selected(e.subscription.strategies for e in self._entries.values())

    def _begin_generation(self) -> None:
        """Begin the next generation with those who joined, and static members."""
        self.generation += 1
        if not self._entries:
            self.state, self.strategy, self.leader = GroupState.EMPTY, None, None
            return
        joined = [m for m, entry in self._entries.items() if entry.joined]
        if self.leader not in joined:
            self.leader = joined[0]
        self.strategy = self._vote()
        self.state = GroupState.COMPLETING
        for entry in self._entries.values():
            entry.synced = entry.joined = False
            entry.assigned = NOTHING
        for m in joined:
            self._responses[m] = self._response(m)

    def _response(self, member_id: str) -> JoinResponse:
        """Return a JoinGroup's answer; a leader that must assign gets all members."""
        leads = member_id == self.leader and self.state is GroupState.COMPLETING
        entries = self._entries.items() if leads else ()
        members = {m: entry.subscription for m, entry in entries}
        return JoinResponse(
            generation=self.generation,
            strategy=self.strategy or "",
            leader=self.leader or "",
            members=members,
        )

    def response(self, member_id: str) -> JoinResponse | None:
        """Return the answer that waits for a member."""
        return self._responses.get(member_id)

    def take_response(self, member_id: str) -> JoinResponse:
        """Deliver or lose the answer that waits for a member."""
        return self._responses.pop(member_id)

    # Syncing.

    def sync(
        self, member_id: str, assigned: Mapping[str, Partitions] | None
    ) -> Partitions:
        """Process a SyncGroup without `refusal`; the leader's has all assignments.

        A follower syncs once the leader's assignment is present: it would only wait.
        """
        if self.state is GroupState.COMPLETING and assigned is not None:
            for m, entry in self._entries.items():
                entry.assigned = assigned.get(m, NOTHING)
            self.state = GroupState.STABLE
        entry = self._entries[member_id]
        entry.synced = True
        return entry.assigned

    # Leaving, by will or by clock.

    def remove(self, member_id: str) -> None:
        """Drop a member that left or whose session timed out."""
        if self._entries.pop(member_id, None) is None:
            return
        self._responses.pop(member_id, None)
        if self.state in (GroupState.STABLE, GroupState.COMPLETING):
            self._prepare()
        self._complete_if_all_joined()

    @property
    def awaits_join(self) -> bool:
        """Whether the rebalance timeout would change anything: a member has joined."""
        waiting = [entry.joined for entry in self._entries.values()]
        dynamic = any(not (e.joined or e.is_static) for e in self._entries.values())
        return self.state is GroupState.PREPARING and (any(waiting) or dynamic)

    def end_joining(self) -> None:
        """End the join phase by timeout: members that did not join are dropped.

        Static members are kept. If only static members are left and none of them
        joined, the wait continues.
        """
        self._entries = {
            m: entry
            for m, entry in self._entries.items()
            if entry.joined or entry.is_static
        }
        if not self._entries or any(e.joined for e in self._entries.values()):
            self._begin_generation()

    @property
    def awaits_sync(self) -> tuple[str, ...]:
        """Members that have not synced since the generation began."""
        if self.state not in (GroupState.STABLE, GroupState.COMPLETING):
            return ()
        return tuple(m for m, entry in self._entries.items() if not entry.synced)

    def end_syncing(self) -> None:
        """End the sync phase by timeout: members that did not sync are dropped."""
        late = self.awaits_sync
        for member_id in late:
            del self._entries[member_id]
            self._responses.pop(member_id, None)
        if late:
            self._prepare()
            self._complete_if_all_joined()
