"""Check of an answer against the expectations of a scenario."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from conformance.scenario import Expectation, Held
from rebalance import AssignmentDocument, Rebalance


def unmet(
    expectation: Expectation,
    rebalance: Rebalance,
    assignment: AssignmentDocument,
    figures: Mapping[str, object],
) -> Iterator[str]:
    """Yield each expectation that is not met, in words.

    Validity, the claim rule, and the subject are checked by the caller.

    Parameters
    ----------
    expectation : Expectation
    rebalance : Rebalance
        The instance that the assignor received.
    assignment : AssignmentDocument
        A valid answer.
    figures : mapping
        Figures of the answer, named as in verdict/1.
    """
    held = assignment.members
    if expectation.refused:
        yield "answered, expected to refuse"
    yield from _figures(expectation, figures)
    yield from _exactly(expectation, held)
    yield from _holds(expectation, held)
    yield from _loads(expectation, held)
    yield from _per_topic(expectation, rebalance, held)
    yield from _together(expectation, rebalance, held)


def _figures(expectation: Expectation, figures: Mapping[str, object]) -> Iterator[str]:
    if expectation.figures is None:
        return
    expected = expectation.figures.model_dump(exclude_none=True)
    for name, value in expected.items():
        if figures.get(name) != value:
            yield f"{name} {figures.get(name)}, expected {value}"


def _exactly(expectation: Expectation, held: Held) -> Iterator[str]:
    if expectation.assignment is None:
        return
    found, expected = _normalized(held), _normalized(expectation.assignment)
    for member_id in sorted(found.keys() | expected.keys()):
        mine, due = found.get(member_id, {}), expected.get(member_id, {})
        if mine != due:
            yield f"{member_id} holds {mine}, expected {due}"


def _holds(expectation: Expectation, held: Held) -> Iterator[str]:
    for member_id, topic, number in _listed(expectation.holds):
        if number not in held.get(member_id, {}).get(topic, []):
            yield f"{member_id} lacks {topic}:{number}"


def _loads(expectation: Expectation, held: Held) -> Iterator[str]:
    if expectation.loads_within is None:
        return
    least, largest = expectation.loads_within
    for member_id, mine in held.items():
        load = sum(len(numbers) for numbers in mine.values())
        if not least <= load <= largest:
            yield f"{member_id} has {load}, expected {least} to {largest}"


def _per_topic(
    expectation: Expectation, rebalance: Rebalance, held: Held
) -> Iterator[str]:
    for topic, expected in (expectation.per_topic or {}).items():
        subscribers = [
            member_id
            for member_id, member in rebalance.members.items()
            if topic in member.subscription
        ]
        loads = [len(held.get(m, {}).get(topic, [])) for m in subscribers]
        if sorted(loads, reverse=True) != expected:
            yield f"{topic} over {sorted(loads, reverse=True)}, expected {expected}"


def _together(
    expectation: Expectation, rebalance: Rebalance, held: Held
) -> Iterator[str]:
    holder = {(t, n): m for m, t, n in _listed(held)}
    for first, *others in expectation.together or []:
        for number in range(rebalance.topics[first].partitions):
            apart = [
                topic
                for topic in others
                if holder.get((topic, number)) != holder.get((first, number))
            ]
            if apart:
                yield f"{first}:{number} apart from {number} of {', '.join(apart)}"


def _listed(held: Held | None) -> Iterator[tuple[str, str, int]]:
    for member_id, mine in (held or {}).items():
        for topic, numbers in mine.items():
            for number in numbers:
                yield member_id, topic, number


def _normalized(held: Held) -> dict[str, dict[str, list[int]]]:
    """Remove empty entries; sort the numbers."""
    full = {
        member_id: {topic: sorted(ns) for topic, ns in mine.items() if ns}
        for member_id, mine in held.items()
    }
    return {member_id: mine for member_id, mine in full.items() if mine}
