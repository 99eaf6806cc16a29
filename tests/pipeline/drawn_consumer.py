"""Draw histories of groups of the new protocol, most of them as a coordinator does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from pipeline.records import (
    ConsumerGroupCurrentMemberAssignment,
    ConsumerGroupMemberMetadata,
    ConsumerGroupMetadata,
    ConsumerGroupRegularExpression,
    ConsumerGroupTargetAssignmentMember,
    ConsumerGroupTargetAssignmentMetadata,
    TopicIdPartitions,
)
from pipeline.topic_ids import text_of_id
from tests.pipeline.consumer_groups import (
    CLASSIC,
    IDS,
    complete,
    ended,
    epoch,
    gone,
    has,
    matches,
    new_member,
    sizes,
    target,
    tombstone,
)
from tests.pipeline.drawn_classic import Pair, classic_history
from tests.pipeline.drawn_logs import commits, some
from tests.pipeline.records.consumer_writers import AnyRecord

TOPICS = tuple(IDS)
COUNTS = {"t": 4, "u": 3, "v": 1}
REGEXES = ("t.*", "u|v", ".*")
OF_MEMBERS = (
    ConsumerGroupTargetAssignmentMember,
    ConsumerGroupCurrentMemberAssignment,
    ConsumerGroupMemberMetadata,
)


@dataclass
class Person:
    """A member as its coordinator knows it."""

    member: ConsumerGroupMemberMetadata
    target: set[Pair] | None = None
    has: set[Pair] | None = None
    written: set[Pair] | None = None  # the target


@dataclass
class Coordinator:
    """A group of the new protocol; ``chaos`` is the probability of unusual choices."""

    rng: Random
    chaos: float
    epoch: int
    is_dated: bool
    people: dict[str, Person] = field(default_factory=dict)
    regexes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    names: int = 0
    computed: int = 9  # epoch of the latest target; at first, that of none

    def is_odd(self) -> bool:
        return self.rng.random() < self.chaos

    def drawn(self, name: str, instance: str | None) -> ConsumerGroupMemberMetadata:
        rng = self.rng
        topics = some(rng, TOPICS, 0.4)
        if self.is_odd():
            topics += [rng.choice(("t", "", text_of_id(IDS["t"])))]
        regex = rng.choice((None, "", "", *REGEXES))
        assignor = rng.choice((None, None, "", "uniform", "range", "mine"))
        return new_member(
            name,
            topics if topics or self.is_odd() else ["t"],
            instance_id=instance,
            regex=regex,
            assignor=assignor,
            rack=rng.choice((None, "", "r")),
            classic=CLASSIC if rng.random() < 0.2 else None,
        )

    def subscription(self, person: Person) -> set[str]:
        matched = self.regexes.get(person.member.regex or "", ())
        return {*person.member.topics, *matched}

    def join(self) -> Iterator[AnyRecord]:
        """Add a member."""
        rng, name = self.rng, self.name()
        instance = rng.choice((None, None, "", f"i{rng.randrange(4)}", "m1"))
        taken = {participant.member.instance_id for participant in self.people.values()}
        if instance in taken and not self.is_odd():
            instance = None
        self.people[name] = Person(self.drawn(name, instance))
        yield self.people[name].member

    def name(self) -> str:
        self.names += 1
        name = self.rng.choice((f"m{self.names}", f"{self.names}m"))
        if self.is_odd() and self.rng.random() < 0.2:
            return self.rng.choice(("", "i1", ".*"))
        return name if self.rng.random() < 0.97 else 100 * name

    def come_back(self) -> Iterator[AnyRecord]:
        """Let a static member return under another id, if there is one."""
        rng, name = self.rng, self.name()
        static = [
            name
            for name, participant in self.people.items()
            if participant.member.instance_id
        ]
        if not static:
            return
        former = rng.choice(static)
        person = self.people.pop(former)
        yield from gone(former) if not self.is_odd() else some(rng, gone(former))
        person.member = person.member._replace(member_id=name)
        self.people[name] = person
        yield person.member
        if person.target is not None and not self.is_odd():
            yield target(name, held_of(person.target))
        if person.has is not None and not self.is_odd():
            yield has(name, held_of(person.has), number=rng.choice((0, self.epoch)))

    def leave(self) -> Iterator[AnyRecord]:
        name = self.rng.choice(list(self.people))
        del self.people[name]
        yield from gone(name) if not self.is_odd() else some(self.rng, gone(name))

    def change(self) -> Iterator[AnyRecord]:
        """Change members, subscriptions, and what expressions match."""
        rng = self.rng
        if not self.people or rng.random() < 0.4:
            yield from self.join()
        if len(self.people) > 1 and rng.random() < 0.25:
            yield from self.leave()
        if rng.random() < 0.2:
            yield from self.come_back()
        if self.people and rng.random() < 0.2:
            name, person = rng.choice(list(self.people.items()))
            instance = person.member.instance_id
            if self.is_odd():
                instance = rng.choice((None, "i0", "i1"))
            person.member = self.drawn(name, instance)
            yield person.member
        if rng.random() < 0.3:
            regex = rng.choice(REGEXES)
            self.regexes[regex] = tuple(some(rng, TOPICS))
            yield matches(regex, *self.regexes[regex])
        if self.regexes and rng.random() < 0.15:
            regex = rng.choice(list(self.regexes))
            del self.regexes[regex]
            yield tombstone(ConsumerGroupRegularExpression, regex)
        if self.is_odd() and rng.random() < 0.05:
            yield sizes(t=rng.randrange(1, 5))
        self.epoch += 1
        if self.is_odd():
            self.epoch += rng.choice((-1, -2, 1, 3, -1 - self.epoch))
        yield epoch(self.epoch)

    def retarget(self) -> Iterator[AnyRecord]:
        """Compute a target; write what has changed, and its epoch."""
        rng = self.rng
        if rng.random() < 0.1:
            yield from self.come_back()
        topics = some(rng, TOPICS, 0.95)  # others are deleted
        owners = {
            pair: name
            for name, participant in self.people.items()
            for pair in participant.target or ()
        }
        found: dict[str, set[Pair]] = {name: set() for name in self.people}
        for topic in topics:
            takers = [
                name
                for name, participant in self.people.items()
                if topic in self.subscription(participant)
            ]
            for pair in ((topic, number) for number in range(COUNTS[topic])):
                if takers and not self.is_odd():
                    taker = owners.get(pair, "")
                    if taker not in takers or rng.random() < 0.4:
                        taker = rng.choice(takers)
                    found[taker].add(pair)
        for name, person in self.people.items():
            if person.target != found[name] or self.is_odd():
                if self.is_odd():
                    yield self.odd_target(name)
                yield target(name, held_of(found[name]))
            person.target = found[name]
        number = self.computed = self.epoch
        if self.is_odd():
            number += rng.choice((-1, -2, 1))
        yield complete(number, computed_at=1 if self.is_dated else 0)

    def odd_target(self, name: str) -> AnyRecord:
        rng = self.rng
        if rng.random() < 0.9:
            return target(name, held_of(set(some(rng, all_pairs()))))
        if rng.random() < 0.5:
            return tombstone(ConsumerGroupTargetAssignmentMember, name)
        number = rng.choice((-1, 0, 1, 1 << 17, (1 << 17) - 1))
        part = TopicIdPartitions(topic_id=IDS["t"], partitions=(number, 1))
        many = TopicIdPartitions(topic_id=IDS["u"], partitions=(*range(200),))
        parts = rng.choice(((part,), (part, part), (many,), (many, part)))
        return target(name, {})._replace(assigned=parts)

    def move(self) -> Iterator[AnyRecord]:
        """Let a member go on to its target: it first revokes."""
        rng = self.rng
        name, person = rng.choice(list(self.people.items()))
        aim = person.target or set()
        former = person.has or set()
        if self.is_odd():
            yield tombstone(ConsumerGroupCurrentMemberAssignment, name)
            person.has = None
            return
        others = {
            pair
            for other, participant in self.people.items()
            if other != name
            for pair in participant.has or ()
        }
        keeps = aim if rng.random() < 0.9 else set(some(rng, aim))  # an earlier one
        if former - keeps and rng.random() < 0.6:
            yield has(
                name,
                held_of(former & keeps),
                revoking=held_of(former - keeps),
                number=self.epoch - 1,
            )
            return
        person.has = (former & aim) | (aim - others if not self.is_odd() else aim)
        if self.is_odd():
            person.has = set(some(rng, all_pairs(), 0.3))
        yield has(name, held_of(person.has), number=rng.choice((0, self.epoch)))

    def end(self) -> Iterator[AnyRecord]:
        """Delete the group; one of the same name can begin."""
        rng, names = self.rng, list(self.people)
        if rng.random() < 0.7:
            yield from ended(*names)
        elif rng.random() < 0.7:
            yield from some(rng, ended(*names), 0.8)
        else:
            yield tombstone(ConsumerGroupMetadata)
        self.people.clear()
        self.regexes.clear()
        self.epoch = self.computed = rng.choice((0, 1))
        self.is_dated = rng.random() < 0.7

    def empty(self) -> Iterator[AnyRecord]:
        """Let all members leave."""
        for name in list(self.people):
            yield from gone(name)
        self.people.clear()
        self.epoch += 1
        yield epoch(self.epoch)
        yield from self.retarget()

    def changed(self) -> Iterator[AnyRecord]:
        """Begin an epoch; in most cases, compute its target at once."""
        yield from self.change()
        if self.is_odd():
            self.epoch -= 1  # once more
            yield from self.change()
        if self.rng.random() < 0.8:
            yield from self.retarget()

    def disturb(self) -> Iterator[AnyRecord]:
        """Write what no coordinator writes at this point."""
        rng = self.rng
        if not self.people or rng.random() < 0.2:
            yield tombstone(ConsumerGroupTargetAssignmentMetadata)
        elif rng.random() < 0.3:
            yield from self.retarget()
        elif rng.random() < 0.1:
            yield from classic_history(rng, "", 2)
        else:
            yield tombstone(rng.choice(OF_MEMBERS), rng.choice(list(self.people)))

    def commit(self) -> Iterator[AnyRecord]:
        yield from commits(self.rng, "", TOPICS)

    def step(self) -> Iterator[AnyRecord]:
        """Yield the records of one event."""
        rng = self.rng
        if self.is_odd() and rng.random() < 0.2:
            return self.disturb()
        if self.computed < self.epoch and rng.random() < 0.2:
            return self.retarget()
        events = {
            self.end: 1,
            self.empty: 1,
            self.commit: 6,
            self.come_back: 4,
            self.changed: 20,
            self.move: 60 if self.people else 0,
        }
        (event,) = rng.choices([*events], [*events.values()])
        return event()


def consumer_history(rng: Random, group_id: str, steps: int) -> list[AnyRecord]:
    """Draw the records of a group of the new protocol."""
    group = Coordinator(
        rng,
        chaos=rng.choice((0.0, 0.03, 0.1, 0.2)),
        epoch=rng.choice((0, 1, 1, 1, 5)),
        is_dated=rng.random() < 0.8,
    )
    records = [
        with_epochs(rng, record)._replace(group_id=group_id)
        for _ in range(2 * steps)
        for record in group.step()
    ]
    if rng.random() < 0.1:  # the source is a part
        del records[: rng.randrange(len(records) + 1)]
    if rng.random() < 0.05:  # a classic group before or after it
        other = classic_history(rng, group_id, 5)
        records = rng.choice((other + records, records + other))
    return records


def with_epochs(rng: Random, record: AnyRecord) -> AnyRecord:
    """Return a record, rarely with the epochs in which partitions were assigned."""
    match record:
        case (
            ConsumerGroupTargetAssignmentMember(assigned=assigned)
            | ConsumerGroupCurrentMemberAssignment(assigned=assigned)
        ) if rng.random() < 0.05:
            return record._replace(
                assigned=tuple(
                    part._replace(epochs=(1,) * len(part.partitions))
                    for part in assigned
                )
            )
    return record


def held_of(pairs: set[Pair]) -> dict[str, list[int]]:
    """Return partitions by topic."""
    found: dict[str, list[int]] = {}
    for topic, number in sorted(pairs):
        found.setdefault(topic, []).append(number)
    return found


def all_pairs() -> list[Pair]:
    return [(topic, number) for topic in TOPICS for number in range(COUNTS[topic])]
