"""Draw histories of classic groups, most of them as a coordinator writes them."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from pipeline.records import GroupMember, GroupMetadata, GroupTombstone
from rebalance.protocol import (
    COOPERATIVE_STICKY,
    STICKY,
    MemberAssignment,
    Partitions,
    StickyUserData,
    Subscription,
    encode_assignment,
    encode_generation,
    encode_sticky_user_data,
    encode_subscription,
)
from tests.pipeline.drawn_logs import commits, some
from tests.pipeline.records.consumer_writers import AnyRecord

TOPICS = ("t", "u", "v", "\u00fc\u20ac\U0001d11e")
ASSIGNORS = ("range", STICKY, COOPERATIVE_STICKY, COOPERATIVE_STICKY, "mine", "", None)
NEWEST = 2**31 - 2  # one more can be claimed
Pair = tuple[str, int]


@dataclass
class Person:
    """A member; ``held`` is what it knows to have, since a generation."""

    member_id: str
    instance_id: str | None
    topics: tuple[str, ...]
    held: set[Pair] = field(default_factory=set)
    since: int = -1


@dataclass
class Coordinator:
    """A classic group; ``chaos`` is the probability of each unusual choice."""

    rng: Random
    group_id: str
    chaos: float
    assignor: str | None
    version: int
    generation: int = 0
    people: list[Person] = field(default_factory=list)
    given: dict[str, set[Pair]] = field(default_factory=dict)
    last: GroupMetadata | None = None
    names: int = 0
    sizes: dict[str, int] = field(default_factory=lambda: dict.fromkeys(TOPICS, 3))

    def is_odd(self) -> bool:
        return self.rng.random() < self.chaos

    def join(self) -> None:
        """Add a member, or let a static one return under another id."""
        rng = self.rng
        static = [participant for participant in self.people if participant.instance_id]
        self.names += 1
        name = rng.choice((f"m{self.names}", f"{self.names}m"))
        if rng.random() < 0.03:
            name *= 100
        if static and rng.random() < 0.4:
            back = rng.choice(static)
            back.member_id, back.held, back.since = name, set(), -1
            if rng.random() < 0.2:
                back.topics = self.wanted()
            return
        instance = rng.choice((None, None, "", f"i{rng.randrange(4)}", name))
        if self.is_odd():
            name = rng.choice(
                ("", "i1", "t", *(participant.member_id for participant in self.people))
            )
        taken = {participant.instance_id for participant in static}
        if instance in taken and not self.is_odd():
            instance = None
        self.people.append(Person(name, instance, self.wanted()))

    def wanted(self) -> tuple[str, ...]:
        topics = some(self.rng, TOPICS[:3] if self.rng.random() < 0.9 else TOPICS)
        return tuple(topics) if topics or self.is_odd() else ("t",)

    def change(self) -> None:
        """Change members and subscriptions."""
        rng = self.rng
        if not self.people or rng.random() < 0.4:
            self.join()
        if len(self.people) > 1 and rng.random() < 0.3:
            self.people.remove(rng.choice(self.people))
        if self.people and rng.random() < 0.3:
            rng.choice(self.people).topics = self.wanted()
        if self.is_odd():
            rng.shuffle(self.people)
        if self.is_odd():
            self.assignor = rng.choice(ASSIGNORS)

    def assign(self) -> None:
        """Give partitions out; a cooperative group first takes them from owners."""
        rng = self.rng
        if rng.random() < 0.1:
            self.sizes[rng.choice(TOPICS)] += 1 if rng.random() < 0.9 else 130
        owners = {
            pair: participant.member_id
            for participant in self.people
            for pair in participant.held
        }
        is_cooperative = self.assignor == COOPERATIVE_STICKY
        self.given = {participant.member_id: set() for participant in self.people}
        for topic, size in self.sizes.items():
            takers = [
                participant.member_id
                for participant in self.people
                if topic in participant.topics
            ]
            for pair in ((topic, number) for number in range(size)):
                owner = owners.get(pair)
                if not takers or self.is_odd():
                    continue
                taker = rng.choice(takers)
                if owner in takers and rng.random() < 0.6:
                    taker = owner
                if is_cooperative and owner not in (None, taker) and not self.is_odd():
                    continue  # withheld until its owner has revoked it
                self.given[taker].add(pair)

    def rebalance(self) -> GroupMetadata:
        """Write the next generation."""
        rng = self.rng
        self.generation += 1
        if self.is_odd():
            self.generation += rng.choice((1, 2, 40, -1, -2, -self.generation))
        if self.is_odd() and rng.random() < 0.02:
            self.generation = NEWEST
        self.generation = min(max(self.generation, -1), NEWEST)
        self.assign()
        eager = self.assignor != COOPERATIVE_STICKY or rng.random() < 0.1
        members = tuple(
            self.member(participant, eager=eager) for participant in self.people
        )
        for participant in self.people:
            if not self.is_odd():  # otherwise it misses this generation
                participant.held, participant.since = (
                    self.given[participant.member_id],
                    self.generation,
                )
        return self.written(members)

    def member(self, person: Person, *, eager: bool) -> GroupMember:
        rng = self.rng
        return GroupMember(
            member_id=person.member_id,
            group_instance_id=person.instance_id if self.version >= 3 else None,
            client_id=rng.choice(("c", "", person.member_id)) if self.is_odd() else "c",
            client_host="/127.0.0.1",
            rebalance_timeout=60_000,
            session_timeout=10_000,
            subscription=self.subscription(person, eager=eager),
            assignment=self.assignment(self.given[person.member_id]),
        )

    def subscription(self, person: Person, *, eager: bool) -> bytes:
        """Write what a member sends, in all versions and forms of a claim."""
        rng = self.rng
        held, since = listed(rng, person.held), person.since
        if self.is_odd():
            pairs = {(rng.choice(TOPICS), rng.randrange(-1, 4)) for _ in range(3)}
            held = listed(rng, pairs, self.chaos)
        if self.is_odd():
            since = rng.choice((-1, 0, since - 1, since + 1, -5))
        version = rng.randrange(4) if self.is_odd() else rng.choice((1, 3))
        if eager and self.assignor != STICKY and not self.is_odd():
            held = ()
        user_data = None
        if self.assignor == STICKY:
            user_data = sticky_data(rng, held, since) if person.since >= 0 else None
            held = held if self.is_odd() else ()
        elif self.assignor == COOPERATIVE_STICKY and rng.random() < 0.7:
            user_data = encode_generation(since)
            if self.is_odd():
                user_data = sticky_data(rng, held, since)
        if self.is_odd():
            user_data = rng.choice((b"", b"\x00", b"\x00\x01", bytes(3), bytes(9)))
        is_short = version == 1 and not held and rng.random() < 0.3
        data = encode_subscription(
            Subscription(
                version=version,
                topics=person.topics * (2 if self.is_odd() else 1),
                user_data=user_data,
                owned=held if version else (),
                generation=since if version >= 2 else -1,
                rack=rng.choice((None, "", "r")) if version >= 3 else None,
                is_short=is_short,
            )
        )
        return newer(rng, data) if version == 3 and self.is_odd() else data

    def assignment(self, pairs: set[Pair]) -> bytes:
        rng = self.rng
        if not pairs and rng.random() < 0.5:
            return b""
        part = listed(rng, pairs, self.chaos)
        if self.is_odd() and rng.random() < 0.1:
            part += (("t", (rng.choice((-1, 1 << 17, (1 << 17) - 1, NEWEST)),)),)
        user_data = rng.choice((None, b"", b"x"))
        version = rng.randrange(4)
        data = encode_assignment(
            MemberAssignment(version=version, partitions=part, user_data=user_data)
        )
        return newer(rng, data) if version == 3 and self.is_odd() else data

    def written(self, members: tuple[GroupMember, ...]) -> GroupMetadata:
        rng = self.rng
        kind = "consumer" if members or rng.random() < 0.7 else ""
        if self.is_odd() and rng.random() < 0.1:
            kind = rng.choice(("", "connect"))
        assignor = self.assignor if members or self.is_odd() else None
        if self.is_odd() and rng.random() < 0.05:
            assignor = "stream"
        leader = rng.choice(members).member_id if members else None
        self.last = GroupMetadata(
            group_id=self.group_id,
            version=self.version,
            protocol_type=kind,
            generation=self.generation,
            protocol=assignor,
            leader=rng.choice((None, "", "gone")) if self.is_odd() else leader,
            state_timestamp=0,
            members=members,
        )
        return self.last

    def again(self) -> GroupMetadata | None:
        """Write the same generation: a static member has returned under another id."""
        rng, last = self.rng, self.last
        static = [participant for participant in self.people if participant.instance_id]
        if last is None or not last.members:
            return last
        if not static:
            return last
        back = rng.choice(static)
        self.names += 1
        former, back.member_id = back.member_id, f"b{self.names}"
        if rng.random() < 0.5:
            back.held, back.since = set(), -1
        if former in self.given:
            self.given[back.member_id] = self.given.pop(former)
        members = tuple(
            member._replace(member_id=back.member_id)
            if member.member_id == former
            else member
            for member in last.members
        )
        return self.written(members)

    def records(self, steps: int) -> Iterator[AnyRecord]:
        """Yield the records of a history."""
        rng = self.rng
        if rng.random() < 0.5:
            yield self.written(())
        for _ in range(steps):
            match rng.randrange(20):
                case 0:
                    self.people.clear()
                    self.generation = min(self.generation + 1, NEWEST)
                    yield self.written(())
                case 1 if rng.random() < 0.5:
                    yield GroupTombstone(self.group_id)
                    self.generation, self.last = 0, None
                    self.people = self.people if self.is_odd() else []
                    if rng.random() < 0.5:
                        yield self.written(())
                case 2 | 3:
                    if (record := self.again()) is not None:
                        yield record
                case 4 | 5 | 6 | 7:
                    yield from commits(rng, self.group_id, TOPICS)
                case _:
                    if rng.random() < 0.6 or not self.people:
                        self.change()
                    yield self.rebalance()


def classic_history(rng: Random, group_id: str, steps: int) -> list[AnyRecord]:
    """Draw the records of a classic group."""
    group = Coordinator(
        rng,
        group_id,
        chaos=rng.choice((0.0, 0.03, 0.1, 0.3)),
        assignor=rng.choice(ASSIGNORS),
        version=rng.choice((0, 1, 2, 3, 3, 3, 3, 4, 4)),
    )
    return list(group.records(steps))


def listed(rng: Random, pairs: set[Pair], chaos: float = 0.0) -> Partitions:
    """Return partitions in any order; of a topic twice, or a number twice, rarely."""
    topics = sorted({topic for topic, _ in pairs})
    rng.shuffle(topics)
    found = []
    for topic in topics:
        numbers = sorted(number for of, number in pairs if of == topic)
        rng.shuffle(numbers)
        if rng.random() < chaos:
            numbers.append(numbers[0])
        at = rng.randrange(len(numbers)) if rng.random() < chaos else 0
        found.append((topic, tuple(numbers[at:])))
        if at or rng.random() < chaos:
            found.append((topic, tuple(numbers[:at])))
    return tuple(found)


def sticky_data(rng: Random, held: Partitions, since: int) -> bytes:
    """Write sticky's user data in one of its three forms."""
    version = rng.choice((0, 1, 1))
    data = StickyUserData(
        version=version,
        partitions=held,
        generation=since if version else -1,
        prefixed=version == 1 and rng.random() < 0.3,
    )
    return encode_sticky_user_data(data)


def newer(rng: Random, data: bytes) -> bytes:
    """Return a message of a newer version, which can have more bytes."""
    return struct.pack(">h", rng.choice((4, 9))) + data[2:] + bytes(rng.randrange(3))
