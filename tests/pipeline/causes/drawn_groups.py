"""Draw groups' rebalances as rows of the tables, and make them by hand.

A `Group` has members and a state; each step changes some of it, and writes the rows of
the rebalance that follows, or none: then it is missing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pyarrow as pa

from pipeline.causes import OF_MEMBER, OF_REBALANCE, OF_TOPICS
from pipeline.tables import SCHEMAS

Row = dict[str, Any]
BEGIN = datetime(2026, 11, 24, 8, tzinfo=UTC)
TOPICS = ("t", "u", "v")
PAUSES = (0, 1, 20, 40, 59, 60, 61, 300)


@dataclass(kw_only=True)
class Person:
    """A member of a group."""

    member_id: str
    client_id: str | None = "app"
    client_host: str | None = "/10.0.0.1"
    instance_id: str | None = None
    topics: tuple[str, ...] = ("t",)
    assigned: dict[str, list[int]] = field(default_factory=dict)
    owned: dict[str, list[int]] = field(default_factory=dict)

    @property
    def seat(self) -> tuple[bool, str]:
        """The instance id, or the member id."""
        return bool(self.instance_id), self.instance_id or self.member_id


Seats = dict[tuple[bool, str], tuple[str, ...]]
"""Topics by the seat of a member."""


def _changes(before: Seats | None, seats: Seats) -> dict[str, int | None]:
    """Count the members that changed; None if those before are not known."""
    if before is None:
        return dict.fromkeys(("joined", "left", "resubscribed"))
    return {
        "joined": len(seats.keys() - before.keys()),
        "left": len(before.keys() - seats.keys()),
        "resubscribed": sum(
            sorted(before[seat]) != sorted(seats[seat])
            for seat in seats.keys() & before.keys()
        ),
    }


@dataclass(kw_only=True)
class Group:
    """A group that rebalances; ``rows`` and ``members`` are those of the tables."""

    name: str = "g"
    protocol: str = "classic"
    assignor: str | None = "range"
    leader: str | None = None
    people: dict[str, Person] = field(default_factory=dict)
    generation: int = 0
    offset: int = 0
    at: datetime | None = BEGIN
    before: Seats | None = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    members: list[Row] = field(default_factory=list)

    def rebalance(self, seconds: float = 1, **columns: Any) -> str:
        """Write a rebalance, so many seconds after the one before; return its id."""
        self._next(seconds)
        seats = {person.seat: person.topics for person in self.people.values()}
        known = self.before
        rebalance_id = f"{self.name}/{self.offset}"
        wanted = {topic for topics in seats.values() for topic in topics}
        self.rows.append(
            dict.fromkeys(OF_REBALANCE)
            | {
                "rebalance_id": rebalance_id,
                "group_id": self.name,
                "generation": self.generation,
                "at": self.at,
                "source_kind": "consumer-offsets",
                "source_partition": 3,
                "source_offset": self.offset,
                "protocol": self.protocol,
                "client_assignor": self.assignor,
                "leader": self.leader,
                "cooperative": False,
                "round": 1,
                "members": len(seats),
                "topics": len(wanted),
                "partitions": 0,
                **_changes(known, seats),
                **columns,
            }
        )
        for person in self.people.values():
            joined = None if known is None else person.seat not in known
            self.members.append(_member_row(rebalance_id, person, joined=joined))
        self.before = seats
        return rebalance_id

    def miss(self, seconds: float = 1) -> None:
        """Pass a rebalance that is not in the source."""
        self._next(seconds)
        self.before = None

    def empty(self, seconds: float = 1) -> None:
        """Become empty: a generation without a row."""
        self.people.clear()
        self._next(seconds)
        if self.rows and self.before is not None:
            self.rows[-1] |= {"until": self.at, "ended": "empty"}
        self.before = {}

    def add(self, *names: str, **columns: Any) -> None:
        """Add members."""
        for name in names:
            self.people[name] = Person(member_id=name, **columns)

    def remove(self, *names: str) -> None:
        """Remove members."""
        for name in names:
            del self.people[name]

    def _next(self, seconds: float) -> None:
        self.generation += 1
        self.offset += 1
        if self.at is not None:
            self.at += timedelta(seconds=seconds)


def tables_of(*groups: Group) -> tuple[pa.Table, pa.Table]:
    """Return the rows of groups as tables."""
    rebalances = [row for group in groups for row in group.rows]
    members = [row for group in groups for row in group.members]
    return (
        _table("rebalances", OF_REBALANCE, rebalances),
        _table("members", (*OF_MEMBER, *OF_TOPICS[1:]), members),
    )


def drawn_group(rng: Random, name: str, steps: int) -> Group:
    """Draw a group with changes of all kinds, often several at once, and gaps."""
    group = Group(name=name, protocol=rng.choice(("classic", "classic", "consumer")))
    sizes = dict.fromkeys(TOPICS, 2)
    for number in range(steps):
        _change(rng, group, number)
        while rng.random() < 0.3:
            _change(rng, group, number)
        if rng.random() < 0.1:
            group.miss(rng.choice(PAUSES))
        elif rng.random() < 0.1:
            group.empty(rng.choice(PAUSES))
        if rng.random() < 0.1:
            sizes[rng.choice(TOPICS)] += 1
        if group.people:
            _assign(rng, group, sizes)
            _rebalance(rng, group, sizes)
    return group


def _rebalance(rng: Random, group: Group, sizes: dict[str, int]) -> None:
    if group.leader not in group.people or rng.random() < 0.1:
        group.leader = rng.choice([*group.people, None])
    pause = rng.choice(PAUSES) if rng.random() < 0.95 else -5
    wanted = {topic for p in group.people.values() for topic in p.topics}
    columns: Row = {"partitions": sum(sizes[topic] for topic in wanted)}
    if group.assignor == "cooperative-sticky" and rng.random() < 0.7:
        columns |= {"cooperative": True, "round": rng.choice((1, 2))}
    if rng.random() < 0.05:
        columns["at"] = None
    if rng.random() < 0.05:  # a rebalance of which the one before failed
        columns["left"] = 1
    group.rebalance(pause, **columns)


def _change(rng: Random, group: Group, number: int) -> None:
    change = rng.choice(
        ("join", "join", "leave", "subscribe", "restart", "rest", "set")
    )
    names = [*group.people]
    if change == "join":
        _join(rng, group, f"{rng.choice('abc')}{number}-{rng.randrange(99)}")
    elif change == "set" and rng.random() < 0.3:
        group.assignor = rng.choice(("range", "cooperative-sticky", None))
    elif change == "leave" and names:
        group.remove(*rng.sample(names, rng.choice((1, 1, len(names)))))
    elif change == "subscribe" and names:
        group.people[rng.choice(names)].topics = _topics(rng)
    elif change == "restart" and names:
        person = group.people.pop(rng.choice(names))
        person.member_id += "'"
        group.people[person.member_id] = person


def _join(rng: Random, group: Group, name: str) -> None:
    person = Person(
        member_id=name,
        client_id=rng.choice(("app", "app", "other", "", None)),
        client_host=rng.choice(("/10.0.0.1", "/10.0.0.1", "/10.0.0.2", None)),
        topics=_topics(rng),
    )
    if rng.random() < 0.4:
        person.instance_id = rng.choice(("i0", "i1", "i2", ""))
    if person.seat not in {other.seat for other in group.people.values()}:
        group.people[name] = person


def _topics(rng: Random) -> tuple[str, ...]:
    return tuple(sorted(rng.sample(TOPICS, rng.choice((1, 2, 3)))))


def _assign(rng: Random, group: Group, sizes: dict[str, int]) -> None:
    """Assign most topics to their subscribers, and sometimes withhold."""
    unknown = {topic for topic in TOPICS if rng.random() < 0.1}
    for person in group.people.values():
        person.owned = person.assigned if rng.random() < 0.8 else {}
        person.assigned = {}
    for topic in sorted(sizes.keys() - unknown):
        wanting = [p for p in group.people.values() if topic in p.topics]
        for number in range(sizes[topic]):
            if wanting and rng.random() < 0.95:
                person = rng.choice(wanting)
                person.assigned.setdefault(topic, []).append(number)


def _member_row(rebalance_id: str, person: Person, *, joined: bool | None) -> Row:
    return {
        "rebalance_id": rebalance_id,
        "member_id": person.member_id,
        "instance_id": person.instance_id,
        "client_id": person.client_id,
        "client_host": person.client_host,
        "subscription": [*person.topics],
        "joined": joined,
        "assigned": _held(person.assigned),
        "owned": _held(person.owned),
        "claimed": None,
    }


def _held(partitions: dict[str, list[int]]) -> list[Row]:
    return [
        {"topic": topic, "partitions": sorted(partitions[topic])}
        for topic in sorted(partitions)
    ]


def _table(name: str, columns: tuple[str, ...], rows: list[Row]) -> pa.Table:
    schema = pa.schema([SCHEMAS[name].field(column) for column in columns])
    return pa.Table.from_pylist(rows, schema)
