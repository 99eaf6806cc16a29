"""State that a member keeps between rebalances, and reports when it joins."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from oracle.plugins.protocol import Mode
from rebalance.protocol import (
    UNKNOWN_GENERATION,
    Partitions,
    StickyUserData,
    Subscription,
    encode_generation,
    encode_sticky_user_data,
)

VERSION: Final = 3  # of the subscription, what Java and librdkafka write today


@dataclass(slots=True, kw_only=True)
class Memory:
    """Last assignment of this member, and its generation.

    Attributes
    ----------
    held : Partitions or None
        By topic and number, ascending; None before the first rebalance.
    generation : int
        -1 where the client does not tell it.
    """

    held: Partitions | None = None
    generation: int = UNKNOWN_GENERATION

    def remember(
        self, given: Iterable[tuple[str, int]], generation: int = UNKNOWN_GENERATION
    ) -> None:
        """Record this member's assignment."""
        numbers: dict[str, set[int]] = {}
        for topic, number in given:
            numbers.setdefault(topic, set()).add(number)
        self.held = tuple((t, tuple(sorted(numbers[t]))) for t in sorted(numbers))
        self.generation = generation

    def subscription(
        self, topics: Iterable[str], *, mode: Mode, rack: str | None = None
    ) -> Subscription:
        """Say what this member wants and what it claims.

        Eager, the claims go into user data as the ``sticky`` assignors write them:
        version 1 (KIP-341) with the generation, version 0 (KIP-54) where that is not
        known, nothing before the first rebalance. Cooperative, they go into the
        subscription's own field, without topics that are not wanted any more, and
        user data is the generation, as Java's ``cooperative-sticky`` has it.
        """
        wanted = tuple(sorted(set(topics)))
        held, generation = self.held or (), self.generation
        is_eager = mode is Mode.EAGER
        return Subscription(
            version=VERSION,
            topics=wanted,
            user_data=self._sticky() if is_eager else encode_generation(generation),
            owned=() if is_eager else tuple(one for one in held if one[0] in wanted),
            generation=generation,
            rack=rack,
        )

    def _sticky(self) -> bytes | None:
        if self.held is None:
            return None
        version = 0 if self.generation == UNKNOWN_GENERATION else 1
        data = StickyUserData(
            version=version, partitions=self.held, generation=self.generation
        )
        return encode_sticky_user_data(data)
