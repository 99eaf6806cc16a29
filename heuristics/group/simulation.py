"""Simulation of a classic group: each interleaving is a sequence of events.

Events deliver or lose messages and advance clocks. Nothing happens between two events,
so a test controls the order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from heuristics.group.classic_leader import (
    assignment_by,
    must_withhold,
    without_transfers,
)
from heuristics.group.coordinator import Coordinator, GroupState
from heuristics.group.events import FAULTS, PROGRESS, TIMEOUTS, Event, EventKind
from heuristics.group.group_history import History, Step
from heuristics.group.member import Configuration, Member, Phase
from heuristics.group.messages import NOTHING, Partition, Partitions, Refusal
from heuristics.group.protocol_choice import GroupError
from heuristics.group.safeguards import Safeguards

ALL_SAFE = Safeguards()


class Group:
    """Processes, a coordinator, and the history so far.

    Parameters
    ----------
    topics : mapping of str to int
        Partitions of each topic.
    safeguards : Safeguards
        All are enabled, except in a test that must fail.
    """

    def __init__(
        self, topics: Mapping[str, int], *, safeguards: Safeguards = ALL_SAFE
    ) -> None:
        self.topics = dict(topics)
        self.coordinator = Coordinator(heeds_new_topics=safeguards.heeds_new_topics)
        self.processes: dict[str, Member] = {}
        self.history = History()
        self._safeguards = safeguards
        self._starts: dict[str, int] = {}
        self._ids: dict[str, int] = {}
        self._apply = {
            EventKind.JOIN: self._join,
            EventKind.RECEIVE: self._receive,
            EventKind.SYNC: self._sync,
            EventKind.REVOKED: self._revoked,
            EventKind.HEARTBEAT: self._heartbeat,
            EventKind.FOLLOW_UP: self._follow_up,
            EventKind.LOSE_JOIN: self._lose_join,
            EventKind.LOSE_SYNC: self._lose_sync,
            EventKind.REBALANCE_TIMEOUT: lambda _: self.coordinator.end_joining(),
            EventKind.SYNC_TIMEOUT: lambda _: self.coordinator.end_syncing(),
            EventKind.SESSION_TIMEOUT: self.coordinator.remove,
        }

    # From outside.

    def start(self, name: str, configuration: Configuration) -> str:
        """Start a process and return its id, ``name-1`` for the first of a name."""
        self._starts[name] = self._starts.get(name, 0) + 1
        process = f"{name}-{self._starts[name]}"
        self.processes[process] = Member(process, configuration, self._safeguards)
        self._record(Event(EventKind.START, process))
        return process

    def crash(self, process: str) -> None:
        """Kill a process; the coordinator notices by a timeout."""
        self._living(process).stop()
        self._record(Event(EventKind.CRASH, process))

    def leave(self, process: str) -> None:
        """Close a process: it revokes and leaves; a static one sends no LeaveGroup."""
        member = self._living(process)
        member_id = member.member_id
        member.stop()
        if member_id is not None and member.configuration.instance_id is None:
            self.coordinator.remove(member_id)
        self._record(Event(EventKind.LEAVE, process))

    def enforce_rebalance(self, process: str) -> None:
        """Make a stable process join again without contacting the coordinator before.

        Has no effect on a process that is not stable: it joins anyway, or first
        revokes.
        """
        member = self._living(process)
        if member.phase is Phase.STABLE and not member.revoking:
            member.phase = Phase.OUTSIDE
        self._record(Event(EventKind.ENFORCE, process))

    def _living(self, process: str) -> Member:
        member = self.processes.get(process)
        if member is None or not member.is_alive:
            raise GroupError("no such process", subject=process)
        return member

    # Possible events, and applying them.

    def events(self, *, faults: bool = False) -> tuple[Event, ...]:
        """Return the events that can happen now, most usual first.

        With ``faults``, also lost answers and session timeouts of living processes.
        """
        kinds = (*PROGRESS, *TIMEOUTS, EventKind.FOLLOW_UP, *(FAULTS if faults else ()))
        rank = {kind: place for place, kind in enumerate(kinds)}
        possible = [*self._of_processes(), *self._of_clocks(faults=faults)]
        listed = [event for event in possible if event.kind in rank]
        return tuple(sorted(listed, key=lambda e: (rank[e.kind], e.subject)))

    def apply(self, event: Event) -> None:
        """Apply an event.

        Raises
        ------
        GroupError
            If it is not among `events`.
        """
        if event not in self.events(faults=True):
            raise GroupError("cannot happen now", subject=event)
        self._apply[event.kind](event.subject)
        self._record(event)

    def settle(self, *, most: int = 10_000) -> int:
        """Apply the most usual events until none is left.

        Returns
        -------
        int
            Events.

        Raises
        ------
        GroupError
            If the group is not stable after ``most`` events.
        """
        for count in range(most):
            events = self.events()
            if not events:
                return count
            self.apply(events[0])
        raise GroupError("no rest", subject=most)

    def _of_processes(self) -> Iterator[Event]:
        for process, member in self.processes.items():
            if member.is_alive:
                yield from (Event(kind, process) for kind in self._next(member))

    def _next(self, member: Member) -> Iterator[EventKind]:
        """Yield the events that a living member can do next; nothing while it waits."""
        coordinator, member_id = self.coordinator, member.member_id
        if member.phase is Phase.OUTSIDE:
            yield EventKind.JOIN
        elif member.phase is Phase.SYNCING:
            if self._may_sync(member):
                yield from (EventKind.SYNC, EventKind.LOSE_SYNC)
        elif member_id is not None and coordinator.response(member_id) is not None:
            yield from (EventKind.RECEIVE, EventKind.LOSE_JOIN)
        elif self._news(member) is not None:
            yield EventKind.HEARTBEAT
        if member.revoking:
            yield EventKind.REVOKED
        elif self._must_follow_up(member):
            yield EventKind.FOLLOW_UP

    def _of_clocks(self, *, faults: bool) -> Iterator[Event]:
        if self.coordinator.awaits_join:
            yield Event(EventKind.REBALANCE_TIMEOUT)
        if self.coordinator.awaits_sync:
            yield Event(EventKind.SYNC_TIMEOUT)
        alive = {m.member_id for m in self.processes.values() if m.is_alive}
        for member_id in self.coordinator.members:
            if faults or member_id not in alive:
                yield Event(EventKind.SESSION_TIMEOUT, member_id)

    def _record(self, event: Event) -> None:
        self.history.add(
            Step(
                event=event,
                generation=self.coordinator.generation,
                strategy=self.coordinator.strategy,
                owners=self._owner_names(),
            )
        )

    # Actions of members.

    def _join(self, process: str) -> None:
        member = self.processes[process]
        subscription = member.prepare_to_join()
        if member.member_id is None:
            self._ids[process] = self._ids.get(process, 0) + 1
            member.member_id = f"{process}.{self._ids[process]}"
            refusal = self.coordinator.enter(member.member_id, subscription)
        else:
            refusal = self.coordinator.join(member.member_id, subscription)
        if refusal is not None:
            member.refused(refusal)

    def _receive(self, process: str) -> None:
        member = self.processes[process]
        member.joined(self.coordinator.take_response(member.member_id or ""))

    def _lose_join(self, process: str) -> None:
        member = self.processes[process]
        self.coordinator.take_response(member.member_id or "")
        member.phase = Phase.OUTSIDE

    def _may_sync(self, member: Member) -> bool:
        """Return whether a SyncGroup is answered; followers wait for the leader's."""
        is_waiting = self.coordinator.state is GroupState.COMPLETING
        return not is_waiting or member.must_assign or self._refusal(member) is not None

    def _sync(self, process: str) -> None:
        member = self.processes[process]
        answer = self._answer_to_sync(member)
        if isinstance(answer, Refusal):
            member.refused(answer)
        else:
            member.synced(answer)

    def _lose_sync(self, process: str) -> None:
        member = self.processes[process]
        answer = self._answer_to_sync(member)
        if isinstance(answer, Refusal):
            member.refused(answer)
        else:
            member.phase = Phase.OUTSIDE

    def _answer_to_sync(self, member: Member) -> Partitions | Refusal:
        assigned = None
        if member.must_assign and self._refusal(member) is None:
            assigned = self._assign(member)
        refusal = self._refusal(member)
        if refusal is not None:
            return refusal
        return self.coordinator.sync(member.member_id or "", assigned)

    def _assign(self, leader: Member) -> Mapping[str, Partitions]:
        if leader.response is None:
            return {}
        members = leader.response.members
        strategy = leader.configuration.strategy(leader.response.strategy)
        shares = assignment_by(strategy, self.topics, members)
        if not (must_withhold(strategy) and self._safeguards.withholds):
            return shares
        given = without_transfers(shares, members)
        leader.owes_follow_up = given != shares
        return given

    def _revoked(self, process: str) -> None:
        self.processes[process].revoked()

    def _refusal(self, member: Member) -> Refusal | None:
        return self.coordinator.refusal(
            member.member_id or "",
            member.generation,
            member.configuration.instance_id,
        )

    def _news(self, member: Member) -> Refusal | None:
        """Return the news that a heartbeat would report to the member."""
        refusal = self._refusal(member)
        if refusal in (Refusal.UNKNOWN_MEMBER_ID, Refusal.FENCED_INSTANCE_ID):
            return refusal
        waits = member.phase is not Phase.STABLE
        if waits or (refusal is Refusal.REBALANCE_IN_PROGRESS and member.revoking):
            return None
        return refusal

    def _heartbeat(self, process: str) -> None:
        member = self.processes[process]
        refusal = self._news(member)
        if refusal is not None:
            member.refused(refusal)

    def _must_follow_up(self, member: Member) -> bool:
        is_calm = member.phase is Phase.STABLE and self._refusal(member) is None
        leads = member.member_id == self.coordinator.leader
        asks = self._safeguards.leader_follows_up and member.owes_follow_up
        return is_calm and leads and asks

    def _follow_up(self, process: str) -> None:
        self.processes[process].phase = Phase.OUTSIDE

    # Ownership.

    def may_commit(self, process: str) -> bool:
        """Whether an offset commit of the process would be sent and accepted now."""
        member = self.processes[process]
        if not member.wants_commits or not self._safeguards.fences:
            return member.wants_commits
        return self.coordinator.takes_commit(member.member_id, member.generation)

    def owners(self) -> dict[Partition, tuple[str, ...]]:
        """Return the processes that hold a partition and may commit it: never two."""
        found: dict[Partition, tuple[str, ...]] = {
            (topic, n): () for topic, count in self.topics.items() for n in range(count)
        }
        for process, member in self.processes.items():
            for partition in member.held if self.may_commit(process) else NOTHING:
                found[partition] += (process,)
        return found

    def orphans(self) -> Partitions:
        """Return subscribed partitions without an owner; none in a stable state."""
        living = [m for m in self.processes.values() if m.is_alive]
        wanted = {topic for m in living for topic in m.configuration.topics}
        return frozenset(
            p for p, owners in self.owners().items() if p[0] in wanted and not owners
        )

    def _owner_names(self) -> dict[Partition, tuple[str, ...]]:
        """Return owner names; a static member's next process has the same name."""
        return {
            p: tuple(self.processes[o].identity for o in owners)
            for p, owners in self.owners().items()
        }
