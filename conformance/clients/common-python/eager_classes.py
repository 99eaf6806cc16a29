"""Assignors that are classes with a state in the class, as in kafka-python 1 and 2.

aiokafka is derived from them. A process has one state per assignor, which is that of
its one consumer; here, it is set to each member's before that member's metadata.
"""

from __future__ import annotations

from typing import Any, Protocol

from adapter_lines import UNKNOWN_GENERATION, Held, JoinedMember


class EagerClass(Protocol):
    """An assignor whose methods are class methods."""

    version: int
    member_assignment: Any
    generation: int

    def metadata(self, topics: set[str]) -> Any:
        """Return what a member sends."""
        ...

    def on_assignment(self, assignment: Any) -> None:
        """Remember a member's assignment."""
        ...


def sent_metadata(
    assignor: EagerClass,
    member: JoinedMember,
    assignment_type: Any,
    *,
    passes_generation: bool,
) -> bytes:
    """Return the bytes that one member sends, with the state of that member."""
    assignor.member_assignment = None
    assignor.generation = UNKNOWN_GENERATION
    if member.has_joined_before:
        given = assignment_type(assignor.version, member.owned_by_topic, b"")
        assignor.on_assignment(given)
        if passes_generation and hasattr(assignor, "on_generation_assignment"):
            assignor.on_generation_assignment(member.generation)
    sent = assignor.metadata(set(member.subscription))
    encoded: bytes = sent.encode()  # kafka-python 2 needs the object while it encodes
    return encoded


def held_partitions(given: dict[str, Any]) -> Held:
    """Return an answer by member and topic."""
    held: Held = {}
    for member_id, assignment in given.items():
        held[member_id] = {}
        for topic, numbers in assignment.assignment:
            held[member_id].setdefault(topic, []).extend(numbers)
    return held
