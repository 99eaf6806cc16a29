"""Random groups of the new protocol, written by a second, simple coordinator.

The coordinator below keeps its own books: it writes records as Kafka's does, and notes
each target assignment with what members had and when all of them had reached it. It
shares no code with the reconstruction.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.cases import Case
from tests.pipeline.consumer_groups import (
    AnyRecord,
    complete,
    epoch,
    gone,
    has,
    new_member,
    rebuild,
    target,
)
from tests.pipeline.recorded import Pairs, pairs
from tests.support.strategies import generators

TOPICS = {"t": 4, "u": 3}
STEPS = st.lists(st.sampled_from("jjlssrhhhhhh"), min_size=1, max_size=40)


@dataclass
class Noted:
    """A target assignment as the coordinator knows it."""

    epoch: int
    owned: dict[str, Pairs]
    target: dict[str, Pairs]
    had: dict[str, Pairs]
    topics: dict[str, list[str]]
    reached: bool = False


@dataclass
class Person:
    name: str
    instance: str | None
    topics: list[str]
    has: Pairs = frozenset()
    target: Pairs = frozenset()
    is_known: bool = False  # by a target


@dataclass
class Coordinator:
    """Assigns at random; members then revoke and receive step by step."""

    rng: Random
    records: list[AnyRecord] = field(default_factory=list)
    notes: list[Noted] = field(default_factory=list)
    people: dict[str, Person] = field(default_factory=dict)
    epoch: int = 1
    named: int = 0

    def step(self, what: str) -> None:
        {
            "j": self.join,
            "l": self.leave,
            "s": self.subscribe,
            "r": self.replace,
            "h": self.heartbeat,
        }[what]()

    def join(self) -> None:
        self.named += 1
        static = f"i{self.named}" if self.rng.random() < 0.4 else None
        self._put(Person(f"m{self.named}", static, self._topics()))
        self._bump()
        if self.rng.random() < 0.7:
            self.compute()

    def leave(self) -> None:
        if self.people:
            name = self.rng.choice(sorted(self.people))
            del self.people[name]
            self.records += gone(name)
            self._bump()

    def subscribe(self) -> None:
        if self.people:
            person = self.people[self.rng.choice(sorted(self.people))]
            person.topics = self._topics()
            self._put(person)
            self._bump()
            self.compute()

    def replace(self) -> None:
        """A static member comes back under another id, without an epoch."""
        static = sorted(p.name for p in self.people.values() if p.instance)
        known = [name for name in static if self.people[name].is_known]
        if known:
            old = self.people.pop(self.rng.choice(known))
            self.named += 1
            self.records += gone(old.name)
            old.name = f"m{self.named}"
            self._put(old)
            self.records.append(target(old.name, held(old.target)))
            self.records.append(has(old.name, held(old.has), number=self.epoch))
            self._reached()

    def heartbeat(self) -> None:
        """Let one member revoke or receive; compute a target that is due."""
        if not self.people:
            return
        if self.notes and self.notes[-1].epoch == self.epoch:
            person = self.people[self.rng.choice(sorted(self.people))]
            taken = {
                p
                for participant in self.people.values()
                if participant is not person
                for p in participant.has
            }
            surplus = person.has - person.target
            if surplus:
                person.has = person.has & person.target
            else:
                person.has = person.has | (person.target - taken)
            self.records.append(has(person.name, held(person.has), number=self.epoch))
            self._reached()
        else:
            self.compute()

    def compute(self) -> None:
        owned = {p.name: p.target for p in self.people.values()}
        given: dict[str, set[tuple[str, int]]] = {name: set() for name in self.people}
        for topic, count in TOPICS.items():
            eager = [p.name for p in self.people.values() if topic in p.topics]
            for number in range(count if eager else 0):
                given[self.rng.choice(eager)].add((topic, number))
        for person in self.people.values():
            chosen = frozenset(given[person.name])
            if chosen != person.target or not person.is_known:
                self.records.append(target(person.name, held(chosen)))
            person.target, person.is_known = chosen, True
        self.records.append(complete(self.epoch))
        people = self.people.values()
        self.notes.append(
            Noted(
                epoch=self.epoch,
                owned=owned,
                target={p.name: p.target for p in people},
                had={p.name: p.has for p in people},
                topics={p.name: sorted(p.topics) for p in people},
            )
        )
        self._reached()

    def _put(self, person: Person) -> None:
        self.people[person.name] = person
        static = person.instance
        self.records.append(new_member(person.name, person.topics, instance_id=static))

    def _bump(self) -> None:
        self.epoch += 1
        self.records.append(epoch(self.epoch))

    def _topics(self) -> list[str]:
        return self.rng.choice([["t"], ["u"], ["t", "u"]])

    def _reached(self) -> None:
        """Note that a target is reached, unless one of its members left before."""
        if self.notes and self.notes[-1].epoch == self.epoch:
            last = self.notes[-1]
            last.reached |= all(p.has == p.target for p in self.people.values())


def held(pairs: Pairs) -> dict[str, list[int]]:
    topics = sorted({topic for topic, _ in pairs})
    return {t: sorted(n for topic, n in pairs if topic == t) for t in topics}


@pytest.mark.heavy
@given(STEPS, generators())
def test_every_target_is_reconstructed(steps: list[str], rng: Random) -> None:
    coordinator = Coordinator(rng)
    for what in ["j", *steps]:
        coordinator.step(what)
    found = rebuild(*coordinator.records)
    assert found.quarantined == []
    assert [_seen(case) for case in found.cases] == [
        _expected(note) for note in coordinator.notes
    ]
    stable = [note.epoch for note in coordinator.notes if note.reached]
    assert [c.generation for c in found.cases if c.reached_ms is not None] == stable
    episodes = [c.episode for c in found.cases if c.episode is not None]
    assert sum(episode.rounds for episode in episodes) == len(found.cases)


def _expected(noted: Noted) -> dict[str, Any]:
    return {"epoch": noted.epoch} | {
        name: (
            noted.owned[name],
            noted.target[name],
            noted.had[name],
            noted.topics[name],
        )
        for name in sorted(noted.target)
    }


def _seen(case: Case) -> dict[str, Any]:
    members = case.members or {}
    return {"epoch": case.generation} | {
        name: (
            pairs(member.owned),
            pairs(member.assigned),
            pairs(member.claimed),
            member.subscription,
        )
        for name, member in sorted(members.items())
    }
