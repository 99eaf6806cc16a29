"""Random claims of members: none, faithful, uneven, rival, or contradictory."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

from conformance.random_rebalances.subscription_frames import MISSING_TOPIC, Document


def draw_claims(rng: Random, counts: dict[str, int], members: Document) -> None:
    """Add ``owned`` and ``generation`` to members that have neither.

    Parameters
    ----------
    counts : dict
        Number of partitions per topic.
    members : dict
        The members of a rebalance/1 document, changed in place.
    """
    rng.choice(CLAIMS)(rng, counts, members)
    rng.choice(GENERATIONS)(rng, members)


def _no_claims(rng: Random, _counts: dict[str, int], members: Document) -> None:
    """No member claims anything; some state an empty claim."""
    for member in members.values():
        if rng.randrange(4) == 0:
            member["owned"] = {}


def claim_faithfully(rng: Random, counts: dict[str, int], members: Document) -> None:
    """Each partition is claimed by at most one of its topic's subscribers."""
    for topic, count in counts.items():
        subscribers = [m for m in members.values() if topic in m["subscription"]]
        for number in range(count if subscribers else 0):
            if rng.randrange(8):
                owned = rng.choice(subscribers).setdefault("owned", {})
                owned.setdefault(topic, []).append(number)


def claim_as_first(rng: Random, counts: dict[str, int], members: Document) -> None:
    """Each topic is claimed whole by its first subscriber: chains stay unbalanced."""
    del rng  # nothing is random here
    for topic, count in counts.items():
        subscribers = [m for m in members.values() if topic in m["subscription"]]
        if subscribers and count:
            subscribers[0].setdefault("owned", {})[topic] = list(range(count))


def claim_again(rng: Random, counts: dict[str, int], members: Document) -> None:
    """Add second claims of subscribers, and date claims from different generations."""
    for topic, count in counts.items():
        subscribers = [m for m in members.values() if topic in m["subscription"]]
        for number in range(count if subscribers else 0):
            if rng.randrange(3) == 0:
                owned = rng.choice(subscribers).setdefault("owned", {})
                owned[topic] = [*{*owned.get(topic, ()), number}]
    oldest = rng.choice((-1, 0, 5))
    for member in members.values():
        member["generation"] = rng.randint(oldest, oldest + 2)
        if rng.randrange(8) == 0:
            del member["generation"]


def _contradictory(rng: Random, counts: dict[str, int], members: Document) -> None:
    """Claim partitions twice, of topics not subscribed to, or that do not exist."""
    for member in members.values():
        for topic, count in [*counts.items(), (MISSING_TOPIC, 1)]:
            numbers = range(count + rng.randrange(2))
            claimed = rng.sample(numbers, rng.randint(0, len(numbers)))
            if claimed and rng.randrange(2):
                member.setdefault("owned", {})[topic] = claimed


def date_claims(members: Document, generation: int = 1) -> None:
    """Date all claims from one generation; who claims nothing is new."""
    for member in members.values():
        if "owned" in member:
            member["generation"] = generation


CLAIMS: Final[tuple[Callable[[Random, dict[str, int], Document], None], ...]] = (
    _no_claims,
    claim_faithfully,
    claim_faithfully,
    claim_as_first,
    _contradictory,
)


def _same_generation(rng: Random, members: Document) -> None:
    generation = rng.randint(-1, 5)
    for member in members.values():
        member["generation"] = generation


def _different_generations(rng: Random, members: Document) -> None:
    for member in members.values():
        if rng.randrange(5):
            member["generation"] = rng.randint(-1, 2)


def _unknown_generation(_rng: Random, _members: Document) -> None:
    """Omit every generation."""


GENERATIONS: Final[tuple[Callable[[Random, Document], None], ...]] = (
    _same_generation,
    _different_generations,
    _unknown_generation,
)
