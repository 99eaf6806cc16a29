"""Member of a classic group: the partitions it holds, revokes, loses, and commits.

Follows ``ConsumerCoordinator`` and ``AbstractCoordinator`` (Kafka 4.0): partitions that
are revoked before a JoinGroup and after a SyncGroup, ``onPartitionsLost`` on a reset
generation, commits only between a SyncGroup's answer and the next JoinGroup. The
dynamic choice of the protocol is KIP-726's: a member follows the assignor selected
last. No release contains it. We used the KIP's proposed changes without their
discussion, so how a member returns to EAGER while it holds partitions is our
interpretation (`Safeguards`).

Omitted: auto-commit and its failures, callbacks that throw or that never return,
changes of subscription and of topics, heartbeat threads (a heartbeat is an event).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from heuristics.group.messages import (
    NO_GENERATION,
    NOTHING,
    JoinMetadata,
    JoinResponse,
    Partitions,
    Refusal,
)
from heuristics.group.protocol_choice import (
    GroupError,
    ProtocolChoice,
    RebalanceProtocol,
    Strategy,
    static_protocol,
)
from heuristics.group.safeguards import Safeguards


class Phase(Enum):
    """State of a member: ``AbstractCoordinator.MemberState`` and two final states."""

    OUTSIDE = "outside"  # a JoinGroup is due
    JOINING = "joining"  # it waits for a JoinGroup's answer
    SYNCING = "syncing"  # a SyncGroup is due
    STABLE = "stable"
    GONE = "gone"  # crashed, closed, fenced or refused


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """Configuration of a process.

    Raises
    ------
    GroupError
        If there is no strategy, or one name twice.
    """

    strategies: tuple[Strategy, ...]
    topics: frozenset[str]
    choice: ProtocolChoice = ProtocolChoice.DYNAMIC
    instance_id: str | None = None

    def __post_init__(self) -> None:
        """Reject an empty list and a repeated name."""
        static_protocol(self.strategies)
        if len(set(self.names)) < len(self.strategies):
            raise GroupError("an assignor twice", subject=self.names)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the strategies, in order of preference."""
        return tuple(strategy.name for strategy in self.strategies)

    def strategy(self, name: str) -> Strategy:
        """Return a strategy by name."""
        return next(s for s in self.strategies if s.name == name)


class Member:
    """One process of a member; a restart creates another process.

    Attributes
    ----------
    held : frozenset of (topic, number)
        Partitions that it reads, including `revoking`.
    revoking : frozenset
        Partitions to be revoked: the callback runs and can commit.
    generation : int
        Generation of the last JoinGroup's answer; -1: none.
    lost : int
        Partitions given up without a commit, so far.
    response : JoinResponse or None
        The last JoinGroup's answer.
    owes_follow_up : bool
        It is the leader, and partitions are or may be withheld.
    """

    def __init__(
        self, name: str, configuration: Configuration, safeguards: Safeguards
    ) -> None:
        self.name = name
        self.configuration = configuration
        self.phase = Phase.OUTSIDE
        self.member_id: str | None = None
        self.generation = NO_GENERATION
        self.held = NOTHING
        self.revoking = NOTHING
        self.lost = 0
        self.response: JoinResponse | None = None
        self.owes_follow_up = False
        self.protocol = RebalanceProtocol.EAGER
        if configuration.choice is ProtocolChoice.STATIC:
            self.protocol = static_protocol(configuration.strategies)
        self._safeguards = safeguards
        self._assigned = NOTHING
        self._assigned_generation = NO_GENERATION

    @property
    def is_alive(self) -> bool:
        """Whether the process runs."""
        return self.phase is not Phase.GONE

    @property
    def wants_commits(self) -> bool:
        """Whether it would send an offset commit now (``generationIfStable``)."""
        return self.phase is Phase.STABLE

    @property
    def must_assign(self) -> bool:
        """Whether the last JoinGroup's answer made it the leader of its generation."""
        return self.response is not None and bool(self.response.members)

    @property
    def identity(self) -> str:
        """The instance id, which persists over processes, else the process id."""
        return self.configuration.instance_id or self.name

    def prepare_to_join(self) -> JoinMetadata:
        """Revoke as the protocol demands, and return the partitions still held."""
        if self.generation == NO_GENERATION:
            self._lose_all()
        elif self.protocol is RebalanceProtocol.EAGER:
            self.held = NOTHING
        self.phase = Phase.JOINING
        return JoinMetadata(
            topics=self.configuration.topics,
            strategies=self.configuration.names,
            owned=self.held,
            generation=self.generation,
            instance_id=self.configuration.instance_id,
            remembered=self._assigned,
            remembered_generation=self._assigned_generation,
        )

    def joined(self, response: JoinResponse) -> None:
        """Record generation and assignor; lose partitions that others may own."""
        missed = NO_GENERATION < self.generation < response.generation - 1
        if missed and self._safeguards.loses_when_missed:
            self._lose_all()
        if self.configuration.choice is ProtocolChoice.DYNAMIC:
            self._follow(self.configuration.strategy(response.strategy))
        self.generation = response.generation
        self.response = response
        # A static leader that returns skips the assignment (KIP-814), so it does not
        # know which partitions its previous process withheld.
        returns = response.leader == self.member_id and not response.members
        self.owes_follow_up = returns and self.protocol is RebalanceProtocol.COOPERATIVE
        self.phase = Phase.SYNCING

    def _follow(self, strategy: Strategy) -> None:
        self.protocol = strategy.highest
        is_eager = self.protocol is RebalanceProtocol.EAGER
        if is_eager and self._safeguards.loses_to_eager:
            self._lose_all()

    def synced(self, assigned: Partitions) -> None:
        """Apply the assignment; held partitions that are not in it must be revoked."""
        self.revoking = self.held - assigned
        self.held |= assigned
        if any(strategy.remembers for strategy in self.configuration.strategies):
            self._assigned, self._assigned_generation = assigned, self.generation
        self.phase = Phase.STABLE

    def revoked(self) -> None:
        """End the callback; a member that revoked joins again."""
        self.held -= self.revoking
        self.revoking = NOTHING
        self.phase = Phase.OUTSIDE

    def refused(self, refusal: Refusal) -> None:
        """Process an error: join again, reset the generation, or end."""
        fatal = (Refusal.FENCED_INSTANCE_ID, Refusal.INCONSISTENT_GROUP_PROTOCOL)
        if refusal in fatal:
            self.stop()
            return
        if refusal is not Refusal.REBALANCE_IN_PROGRESS:
            self.generation = NO_GENERATION
        if refusal is Refusal.UNKNOWN_MEMBER_ID:
            self.member_id = None
        self.revoking = NOTHING
        self.phase = Phase.OUTSIDE

    def stop(self) -> None:
        """End the process."""
        self.held = self.revoking = NOTHING
        self.phase = Phase.GONE

    def _lose_all(self) -> None:
        self.lost += len(self.held)
        self.held = self.revoking = NOTHING
