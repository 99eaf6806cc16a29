"""Where rebalances are drawn: plain ``rebalance/1`` documents.

One generator, ``draw_rebalance(rng)`` of `conformance.random_rebalances`, serves both
ways of drawing. Under hypothesis (``rebalances()``) every choice it makes is recorded
and shrinks. That takes longer than most tests: in the profile ``fixed``, of CI, only
the seed is drawn, and ``ORACLE_PROFILE=thorough`` shrinks what fails there. With
``random.Random(seed)`` (``seeded_rebalance(seed)``) it is fast enough for tens of
thousands of instances in a run.
"""

from __future__ import annotations

from random import Random

from hypothesis import settings
from hypothesis import strategies as st

from conformance import random_rebalances
from conformance.random_rebalances import HOSTILE_NAMES as HOSTILE
from conformance.random_rebalances import DrawLimits as Limits
from rebalance import INT64_MAX
from tests.support import last_drawn
from tests.support.shapes import Document

__all__ = [
    "HOSTILE",
    "INT64_MAX",
    "LARGER",
    "SMALL",
    "TINY",
    "Limits",
    "draw_any_assignment",
    "draw_assignment",
    "draw_rebalance",
    "generators",
    "rebalances",
    "rebalances_with_assignments",
    "seeded_rebalance",
]

TINY = Limits(members=3, topics=3, partitions=2)
SMALL = Limits()
LARGER = Limits(members=12, topics=10, partitions=8)


def draw_rebalance(
    rng: Random, limits: Limits = SMALL, *, seed: object = None
) -> Document:
    """Draw a ``rebalance/1`` document, and note it for a failure (`last_drawn`)."""
    document: Document = random_rebalances.draw_rebalance(rng, limits)
    last_drawn.note(document, seed)
    return document


def generators() -> st.SearchStrategy[Random]:
    """Draw generators of random numbers: recorded ones, or in CI seeded ones."""
    if settings.get_current_profile_name() == "fixed":
        return st.integers(0, 2**32 - 1).map(Random)
    return st.randoms(use_true_random=False, note_method_calls=False)


def rebalances(limits: Limits = SMALL) -> st.SearchStrategy[Document]:
    """Draw a ``rebalance/1`` document within ``limits``."""
    return st.builds(lambda rng: draw_rebalance(rng, limits), generators())


def rebalances_with_assignments(
    limits: Limits = SMALL, *, valid: bool = True
) -> st.SearchStrategy[tuple[Document, Document]]:
    """Draw a rebalance and an ``assignment/1`` for it, valid or of any sort."""
    deal = draw_assignment if valid else draw_any_assignment

    def pair(rng: Random) -> tuple[Document, Document]:
        document = draw_rebalance(rng, limits)
        return document, deal(rng, document)

    return st.builds(pair, generators())


def seeded_rebalance(seed: int, limits: Limits = SMALL) -> Document:
    """Return the rebalance of ``seed``: the same on every machine."""
    return draw_rebalance(Random(seed), limits, seed=seed)  # noqa: S311


# Assignments.


def draw_assignment(rng: Random, document: Document) -> Document:
    """Return a valid ``assignment/1``: every partition with one subscriber.

    Drawn freely, or kept by who claims it, or whole topics to the first who wants
    them: what single transfers cannot even out comes from the latter.
    """
    given: Document = {name: {} for name in document["members"]}
    habit = rng.choice(("free", "sticky", "first", "first"))
    for topic, about in document["topics"].items():
        takers = _subscribers(document, topic)
        for number in range(about["partitions"] if takers else 0):
            owners = [m for m in takers if _claims(document, m, topic, number)]
            choices = owners if habit == "sticky" and owners else takers
            taker = choices[0] if habit == "first" else rng.choice(choices)
            given[taker].setdefault(topic, []).append(number)
    return {"format": "assignment/1", "members": given}


def draw_any_assignment(rng: Random, document: Document) -> Document:
    """Return a readable ``assignment/1`` that may break any rule."""
    answer = draw_assignment(rng, document)
    given = answer["members"]
    for _ in range(rng.randint(0, 3)):
        member = rng.choice([*document["members"], "stranger"])
        topic = rng.choice([*document["topics"], "gone"])
        numbers = given.setdefault(member, {}).setdefault(topic, [])
        if numbers and rng.randrange(2):
            numbers.pop(rng.randrange(len(numbers)))
        else:
            numbers.append(rng.randint(0, 3))
    if given and rng.randrange(6) == 0:
        del given[rng.choice(sorted(given))]
    return answer


def _subscribers(document: Document, topic: str) -> list[str]:
    members = document["members"].items()
    return [name for name, member in members if topic in member["subscription"]]


def _claims(document: Document, member: str, topic: str, number: int) -> bool:
    owned = document["members"][member].get("owned", {})
    return number in owned.get(topic, ())
