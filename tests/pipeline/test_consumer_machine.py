"""Drawn groups of the new protocol, whose coordinator keeps books of its own.

It notes each target assignment with what members had, and whether all of them reached
it. The books share no code with the reconstruction.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.cases import Case, CaseMember
from pipeline.records import ConsumerGroupCurrentMemberAssignment
from tests.pipeline.consumer_groups import rebuild
from tests.pipeline.drawn_consumer import Coordinator
from tests.pipeline.recorded import Pairs, pairs
from tests.pipeline.records.consumer_writers import AnyRecord
from tests.support.strategies import generators

EVENTS = ("changed", "come_back", "empty", *("move",) * 5, *("changed",) * 2)
STEPS = st.lists(st.sampled_from(EVENTS), min_size=1, max_size=40)


class Told(NamedTuple):
    """A member of a target assignment."""

    owned: Pairs
    target: Pairs
    had: Pairs
    topics: list[str]


@dataclass
class Noted:
    """A target assignment as the coordinator knows it."""

    epoch: int
    members: dict[str, Told]
    is_reached: bool = False


@dataclass
class Bookkeeper(Coordinator):
    """A coordinator that notes what it does."""

    notes: list[Noted] = field(default_factory=list)
    is_revoking: dict[str, bool] = field(default_factory=dict)

    def retarget(self) -> Iterator[AnyRecord]:
        people = [*self.people.values()]
        before = [frozenset(person.target or ()) for person in people]
        yield from super().retarget()
        owned = {id(person): held for person, held in zip(people, before, strict=True)}
        told = {
            name: Told(
                owned=owned[id(person)],
                target=frozenset(person.target or ()),
                had=frozenset(person.has or ()),
                topics=sorted(self.subscription(person)),
            )
            for name, person in self.people.items()
        }
        if told:
            self.notes.append(Noted(self.epoch, told))

    def happen(self, event: str) -> Iterator[AnyRecord]:
        """Yield the records of an event; members move once their target is there."""
        if event == "move" and self.computed < self.epoch:
            event = "retarget"
        if self.people or event == "changed":
            for record in getattr(self, event)():
                if isinstance(record, ConsumerGroupCurrentMemberAssignment):
                    self.is_revoking[record.member_id] = bool(record.revoking)
                yield record
        if self.notes and self.notes[-1].epoch == self.epoch:
            self.notes[-1].is_reached |= all(map(self.is_at_target, self.people))

    def is_at_target(self, name: str) -> bool:
        person = self.people[name]
        has_all = (person.has or set()) == (person.target or set())
        return has_all and not self.is_revoking.get(name)


def told_of(member: CaseMember) -> Told:
    owned, target, had = map(pairs, (member.owned, member.assigned, member.claimed))
    return Told(owned, target, had, member.subscription)


def noted(case: Case) -> Noted:
    people = {name: told_of(member) for name, member in (case.members or {}).items()}
    return Noted(case.generation or 0, people, case.reached_ms is not None)


@pytest.mark.heavy
@given(STEPS, generators())
def test_every_target_is_reconstructed(steps: list[str], rng: Random) -> None:
    group = Bookkeeper(rng, chaos=0.0, epoch=1, is_dated=True)
    records = [record for step in ["changed", *steps] for record in group.happen(step)]
    found = rebuild(*records)
    assert found.quarantined == []
    assert [noted(case) for case in found.cases] == group.notes
    episodes = [case.episode for case in found.cases if case.episode is not None]
    assert sum(episode.rounds for episode in episodes) == len(found.cases)
