"""Repeated answers: what differs, and what it depends on."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import permutations
from pathlib import Path

import pytest

from conformance.campaign import Campaign, CampaignPlan, Shrinking
from conformance.clients import Answer, Verdict
from conformance.runs import (
    Category,
    Dependence,
    OutOfTimeError,
    Repeatable,
    Repeating,
    Requirement,
    RunPlan,
    Subject,
    drive_twice,
    examined,
    external_command,
    leader_of,
    reordered,
    run_families,
    until,
)
from conformance.wire import wired_command
from tests.conformance.subjects import answered, failed, optimal
from tests.support.shapes import Document, member, rebalance

VARYING = Path(__file__).with_name("varying_adapter.py")
TWO = rebalance(
    {"t": {"partitions": 3}, "u": {"partitions": 2}},
    {"a": member(["t", "u"]), "b": member(["u", "t"]), "c": member(["t"])},
)


@dataclass(frozen=True)
class Request:
    """What an answer can depend on."""

    document: Document
    hash_seed: int
    process: int
    before: int  # rebalances that the process was asked before


@dataclass
class Process:
    """A process that is pretended."""

    reply: Callable[[Request], Answer]
    hash_seed: int
    process: int
    name: str = "pretended"
    answered: int = 0
    is_closed: bool = False

    def answer(self, line: bytes) -> Answer:
        request = Request(json.loads(line), self.hash_seed, self.process, self.answered)
        self.answered += 1
        return self.reply(request)

    def cut(self) -> None:
        pass

    def close(self) -> None:
        self.is_closed = True


@dataclass
class Pretended:
    """A source of such processes."""

    reply: Callable[[Request], Answer]
    started: list[Process] = field(default_factory=list)

    def start(self) -> Subject:
        return self.start_other(0)

    def start_impatient(self, seconds: float) -> Subject:  # noqa: ARG002
        return self.start_other(0)

    def start_other(self, hash_seed: int) -> Subject:
        process = Process(self.reply, hash_seed, len(self.started))
        self.started.append(process)
        return process

    def leading(self) -> Pretended:
        return Pretended(self.reply)


def repeatable(reply: Callable[[Request], Answer]) -> Repeatable:
    subject = Repeating(source=Pretended(reply)).start()
    assert isinstance(subject, Repeatable)
    return subject


def rotated(document: Document, by: int) -> Answer:
    """Return a valid answer: round robin, from another member on."""
    given: dict[str, dict[str, list[int]]] = {m: {} for m in document["members"]}
    for topic, about in document["topics"].items():
        wanting = sorted(
            name
            for name, member in document["members"].items()
            if topic in member["subscription"]
        )
        for number in range(about["partitions"] if wanting else 0):
            to = wanting[(number + by) % len(wanting)]
            given[to].setdefault(topic, []).append(number)
    return answered(given)


def rank(document: Document) -> int:
    """Return a number that depends on the order of the members."""
    order = tuple(document["members"])
    return list(permutations(sorted(order))).index(order)


BY: dict[Dependence | None, list[Callable[[Request], int]]] = {
    None: [lambda _: 0],
    Dependence.PROCESS: [
        lambda request: request.process,
        lambda request: request.process + request.hash_seed + rank(request.document),
    ],
    Dependence.HASH_SEED: [
        lambda request: request.hash_seed,
        lambda request: request.hash_seed + rank(request.document) + request.before,
    ],
    Dependence.ORDER: [
        lambda request: rank(request.document),
        lambda request: list(request.document["topics"]).index("t"),
        lambda request: request.document["members"]["b"]["subscription"].index("t"),
        lambda request: rank(request.document) + request.before,
    ],
    Dependence.HISTORY: [lambda request: request.before],
}


def test_what_a_leader_remembers_is_not_repeated() -> None:
    source = Repeating(source=Pretended(lambda request: optimal(request.document)))
    leader = leader_of(source)
    assert isinstance(leader, Pretended)
    assert not isinstance(leader.start(), Repeatable)


@pytest.mark.parametrize(
    ("dependence", "by"),
    [(dependence, by) for dependence, each in BY.items() for by in each],
)
def test_a_dependence_is_named(
    dependence: Dependence | None, by: Callable[[Request], int]
) -> None:
    """What decides first does, in the order of the examination."""
    subject = repeatable(lambda request: rotated(request.document, by(request)))
    seen = [drive_twice(subject, TWO) for _ in range(12)]
    assert all(outcome.is_repeated for outcome in seen)
    differing = [outcome.difference for outcome in seen if outcome.difference]
    assert bool(differing) == (dependence is not None)
    for difference in differing[:3]:
        known = examined(subject, difference)
        assert known.dependence is dependence
        first, second = known.first.answer.assignment, known.second.answer.assignment
        assert first is not None
        assert second is not None
        assert first.members != second.members
        assert known.detail == (dependence or Dependence.ORDER).value
        assert ", or to " in known.reason


def test_an_answer_is_compared_by_what_members_have() -> None:
    def answer(request: Request) -> Answer:
        """Write the same in another order, and with topics without partitions."""
        given = rotated(request.document, 0).assignment
        assert given is not None
        held = {
            name: {topic: given.members[name].get(topic, [])[::-1] for topic in "tu"}
            for name in request.document["members"]
        }
        return answered(held if request.process else given.members)

    outcome = drive_twice(repeatable(answer), TWO)
    assert (outcome.is_repeated, outcome.difference) == (True, None)


def test_the_twin_has_other_hash_seeds_and_histories() -> None:
    source = Pretended(lambda request: rotated(request.document, 0))
    subject = Repeating(source=source).start()
    for _ in range(30):
        drive_twice(subject, TWO)
    first, *twins = source.started
    assert first.answered == 30
    assert [twin.answered for twin in twins] == [1, 5, 21, 3]
    assert [twin.hash_seed for twin in twins] == [1, 2, 3, 4]
    assert [twin.is_closed for twin in twins] == [True] * 3 + [False]
    subject.close()
    assert all(process.is_closed for process in source.started)


@pytest.mark.parametrize(
    ("twin", "category", "detail"),
    [
        (failed(Verdict.ERROR, "KeyError: 'b'"), Category.ERROR, "KeyError"),
        (failed(Verdict.CRASH, "SIGSEGV"), Category.CRASH, "SIGSEGV"),
        (answered({"a": {}, "b": {}, "c": {}}), Category.INVALID, "unassigned"),
    ],
)
def test_a_fault_of_the_twin_is_the_outcome(
    twin: Answer, category: Category, detail: str
) -> None:
    subject = repeatable(lambda request: twin if request.process else optimal(TWO))
    outcome = drive_twice(subject, TWO)
    assert (outcome.category, outcome.detail) == (category, detail)
    assert (outcome.hash_seed, outcome.held) == (1, None)
    assert outcome.rounds[0].rebalance == reordered(TWO)


def test_what_is_late_is_not_compared() -> None:
    slow = failed(Verdict.SLOW, "no answer in 1 s")
    subject = repeatable(lambda request: slow if request.process else optimal(TWO))
    outcome = drive_twice(subject, TWO)
    assert (outcome.category, outcome.is_repeated) == (Category.OPTIMAL, False)


def test_a_fault_of_the_twin_is_shrunk_with_its_hash_seed() -> None:
    def answer(request: Request) -> Answer:
        if request.hash_seed and "c" in request.document["members"]:
            return failed(Verdict.ERROR, "KeyError: 'c'")
        return optimal(request.document)

    (found,) = shrunk(answer, TWO)
    assert found.shrunk is not None
    assert found.shrunk.is_minimal
    assert found.shrunk.outcome.category is Category.ERROR
    small = found.shrunk.outcome.rounds[0].rebalance
    assert list(small["members"]) == ["c"]


@pytest.mark.parametrize("dependence", [Dependence.HASH_SEED, Dependence.ORDER])
def test_a_difference_is_shrunk(dependence: Dependence) -> None:
    """Two members and one partition are enough for two answers."""
    (by, *_) = BY[dependence]
    (found,) = [
        finding
        for finding in shrunk(
            lambda request: rotated(request.document, by(request)), TWO
        )
        if finding.sighting.outcome.category is Category.NONDETERMINISTIC
    ]
    assert found.sighting.outcome.detail == dependence.value
    assert found.shrunk is not None
    outcome = found.shrunk.outcome
    assert found.shrunk.is_minimal
    assert (outcome.category, outcome.detail) == (
        Category.NONDETERMINISTIC,
        dependence.value,
    )
    small = outcome.rounds[0].rebalance
    assert len(small["members"]) == 2
    assert [topic["partitions"] for topic in small["topics"].values()] == [1]
    assert outcome.difference is not None
    assert outcome.difference.first.is_new
    assert outcome.difference.second.is_new


def test_a_state_is_not_shrunk() -> None:
    given = [TWO] * 3
    found = shrunk(lambda request: rotated(request.document, request.before), *given)
    (finding,) = [
        finding
        for finding in found
        if finding.sighting.outcome.category is Category.NONDETERMINISTIC
    ]
    assert finding.sighting.outcome.detail == "history"
    assert finding.shrunk is not None
    assert not finding.shrunk.is_minimal
    assert finding.shrunk.outcome.rounds[0].rebalance == TWO


def shrunk(reply: Callable[[Request], Answer], *given: Document) -> list[Shrinking]:
    source = Repeating(source=Pretended(reply))
    plan = CampaignPlan(draws=RunPlan(), given=given, shrink_seconds=60)
    events = Campaign(source=source, plan=plan).run()
    return [event for event in events if isinstance(event, Shrinking)]


def test_an_order_is_a_function_of_the_rebalance() -> None:
    many = rebalance(
        {f"t{number}": {"partitions": 1} for number in range(9)},
        {f"m{number}": member(["t1", "t0", "t2"]) for number in range(9)},
    )
    orders = [reordered(many, number) for number in range(3)]
    assert orders == [reordered(many, number) for number in range(3)]
    assert list(orders[0]["members"]) == list(many["members"])[::-1]
    assert list(orders[0]["topics"]) == list(many["topics"])[::-1]
    assert orders[0]["members"]["m3"]["subscription"] == ["t2", "t0", "t1"]
    assert len({json.dumps(order) for order in (many, *orders)}) == 4
    for order in orders:
        for entry in order["members"].values():
            entry["subscription"].sort()
        for entry in many["members"].values():
            entry["subscription"].sort()
        assert order == many  # objects without order


def test_differences_are_counted_in_addition() -> None:
    subject = Repeating(
        source=Pretended(lambda request: rotated(request.document, rank_of(request)))
    )
    plan = RunPlan(families=("fresh",), count=30)
    (counts,) = run_families(subject, plan).values()
    differing = counts.outcomes[Category.NONDETERMINISTIC]
    assert 0 < differing < counts.repeated == counts.rebalances == 30
    assert sum(counts.outcomes.values()) == 30 + differing
    assert counts.mechanisms[Category.NONDETERMINISTIC, "", ""] == differing
    assert all(
        requirement.is_met_by(Category.NONDETERMINISTIC) for requirement in Requirement
    )


def rank_of(request: Request) -> int:
    """Return whether members are reordered, of groups of an odd number."""
    names = list(request.document["members"])
    return int(len(names) % 2 == 1 and names[0] != min(names))


@pytest.mark.heavy
@pytest.mark.parametrize("dependence", [None, *Dependence])
def test_programs_vary_as_they_state(dependence: Dependence | None) -> None:
    name = dependence.value if dependence else "none"
    external = external_command(f"{sys.executable} -S {VARYING} {name}", seconds=60)
    subject = Repeating(source=external).start()
    assert isinstance(subject, Repeatable)
    try:
        seen = [drive_twice(subject, TWO).difference for _ in range(12)]
        differing = [difference for difference in seen if difference is not None]
        assert bool(differing) == (dependence is not None)
        for difference in differing[:1]:
            assert examined(subject, difference).dependence is dependence
    finally:
        subject.close()


@pytest.mark.heavy
def test_a_deadline_ends_other_processes() -> None:
    command = f"{sys.executable} -S {VARYING} sleeps-by-seed"
    external = external_command(command, seconds=600)
    subject = Repeating(source=external).start()
    start = time.monotonic()
    plan = CampaignPlan(draws=RunPlan(families=("fresh",), count=9), deadline=start + 2)
    campaign = Campaign(source=Repeating(source=external), plan=plan)
    for event in campaign.run():  # of the subject's own answer
        assert event.sighting.outcome.category is not Category.NONDETERMINISTIC
    counts = campaign.counts["fresh"]
    assert (counts.rebalances, counts.repeated) == (1, 0)
    with until(subject, start) as timed:  # its time is over
        assert isinstance(timed, Repeatable)
        with pytest.raises(OutOfTimeError):
            timed.ask_new(b"{}", 1)
    subject.close()


def test_a_consumer_on_the_wire_is_not_repeated() -> None:
    assert not wired_command(f"{sys.executable} -c pass", seconds=1).can_repeat
    assert external_command(f"{sys.executable} -c pass", seconds=1).can_repeat
