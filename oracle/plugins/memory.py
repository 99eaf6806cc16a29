"""State that a member keeps between rebalances and reports when it joins."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from oracle.plugins.protocol_modes import Mode
from rebalance.protocol import (
    UNKNOWN_GENERATION,
    Partitions,
    StickyUserData,
    Subscription,
    encode_generation,
    encode_sticky_user_data,
)

VERSION: Final = 3  # of the subscription, as Java and librdkafka write it today


@dataclass(slots=True, kw_only=True)
class Memory:
    """Last assignment of this member, and its generation.

    Attributes
    ----------
    held : Partitions or None
        Sorted by topic and number; None before the first rebalance.
    generation : int
        -1 if the client does not report it.
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
        """Return this member's subscription and claims.

        In the eager mode, user data contains the claims as the ``sticky`` assignors
        write them: version 1 (KIP-341) with the generation, version 0 (KIP-54) if it is
        unknown, and nothing before the first rebalance. In the cooperative mode, the
        owned partitions of the subscription are the claims, without topics that are no
        longer subscribed to, and user data contains the generation, as in Java's
        ``cooperative-sticky``.
        """
        wanted = tuple(sorted(set(topics)))
        held, generation = self.held or (), self.generation
        is_eager = mode is Mode.EAGER
        return Subscription(
            version=VERSION,
            topics=wanted,
            user_data=self._sticky() if is_eager else encode_generation(generation),
            owned=() if is_eager else tuple(pair for pair in held if pair[0] in wanted),
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
