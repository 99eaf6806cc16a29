"""Where rebalances are drawn: plain ``rebalance/1`` documents.

One generator, ``draw_rebalance(rng)``, serves both ways of drawing. Under
hypothesis (``rebalances()``) every choice it makes is recorded and shrinks;
with ``random.Random(seed)`` (``seeded_rebalance(seed)``) it is fast enough for
tens of thousands of instances in a run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from hypothesis import strategies as st

from tests.shapes import Document, rebalance

Subscriptions = dict[str, list[str]]

HOSTILE = ("<script>", "\u00e9", "\U0001f600", "\ufffd", "a b", '"', "__proto__", "-1")
INT64_MAX = 2**63 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How large a drawn rebalance may be; ``partitions`` is a topic's."""

    members: int = 4
    topics: int = 4
    partitions: int = 3


TINY = Limits(members=3, topics=3, partitions=2)
SMALL = Limits()
LARGER = Limits(members=12, topics=10, partitions=8)


def rebalances(limits: Limits = SMALL) -> st.SearchStrategy[Document]:
    """Draw a ``rebalance/1`` document within ``limits``."""
    return st.builds(lambda rng: draw_rebalance(rng, limits), _randoms())


def rebalances_with_assignments(
    limits: Limits = SMALL, *, valid: bool = True
) -> st.SearchStrategy[tuple[Document, Document]]:
    """Draw a rebalance and an ``assignment/1`` for it, valid or of any sort."""
    deal = draw_assignment if valid else draw_any_assignment

    def pair(rng: Random) -> tuple[Document, Document]:
        document = draw_rebalance(rng, limits)
        return document, deal(rng, document)

    return st.builds(pair, _randoms())


def seeded_rebalance(seed: int, limits: Limits = SMALL) -> Document:
    """Return the rebalance of ``seed``: the same on every machine."""
    return draw_rebalance(Random(seed), limits)  # noqa: S311


def _randoms() -> st.SearchStrategy[Random]:
    return st.randoms(use_true_random=False, note_method_calls=False)


def draw_rebalance(rng: Random, limits: Limits = SMALL) -> Document:
    """Return one document: a frame of subscriptions, then claims and the rest."""
    counts, subscriptions = rng.choice(FRAMES)(rng, limits)
    counts, subscriptions = _renamed(rng, counts, subscriptions)
    members: dict[str, Document] = {
        name: {"subscription": wanted} for name, wanted in subscriptions.items()
    }
    rng.choice(CLAIMS)(rng, counts, members)
    rng.choice(GENERATIONS)(rng, members)
    topics: dict[str, Document] = {t: {"partitions": n} for t, n in counts.items()}
    if rng.randrange(2):
        _lag(rng, topics)
    if rng.randrange(3) == 0:
        _racks(rng, topics, members)
    if rng.randrange(4) == 0:
        for one in members.values():
            one["capacity"] = rng.randint(1, 5)
    if members and rng.randrange(4) == 0:
        members[min(members)]["instance_id"] = "static-1"
    more = {"id": f"r{rng.randrange(3)}"} if rng.randrange(3) == 0 else {}
    return rebalance(dict(topics), members, **more)


# Frames: partition counts and subscriptions.

Frame = tuple[dict[str, int], Subscriptions]


def _scattered(rng: Random, limits: Limits) -> Frame:
    """Any member wants any topics, some of them missing, some members none."""
    counts = {
        f"t{i}": rng.randint(0, limits.partitions)
        for i in range(rng.randint(0, limits.topics))
    }
    wanted = [*counts, "gone"]
    members = range(rng.randint(0, limits.members))
    return counts, {f"m{i}": _some(rng, wanted) for i in members}


def _equal(rng: Random, limits: Limits) -> Frame:
    """All members want the same topics."""
    counts = {
        f"t{i}": rng.randint(0, limits.partitions)
        for i in range(rng.randint(1, limits.topics))
    }
    wanted = _some(rng, list(counts)) or list(counts)
    members = range(rng.randint(1, limits.members))
    return counts, {f"m{i}": rng.sample(wanted, len(wanted)) for i in members}


def _ladder(rng: Random, limits: Limits) -> Frame:
    """Member i shares a topic with member i + 1 alone: only chains can even it.

    Half of the ladders are staircases: no topic has more than the one before or
    less by two. With every topic held by the first who wants it, neighbours differ
    by one at most, and the chain to the last, who holds nothing, is long.
    """
    longest = max(1, min(limits.members - 1, limits.topics))
    rungs = rng.choice((longest, rng.randint(1, longest)))
    stairs = rng.randrange(2)
    counts = {"t0": rng.randint(1, max(1, limits.partitions))}
    for i in range(1, rungs):
        above = counts[f"t{i - 1}"]
        least, most = (max(1, above - 1), above) if stairs else (0, limits.partitions)
        counts[f"t{i}"] = rng.randint(least, most)
    subscriptions = {
        f"m{i}": [f"t{j}" for j in (i - 1, i) if 0 <= j < rungs]
        for i in range(rungs + 1)
    }
    return counts, subscriptions


def _blocks(rng: Random, limits: Limits) -> Frame:
    """Blocks of one floor and other remainders, with a bridge here and there."""
    floor = rng.randint(0, max(0, limits.partitions // 2))
    counts: dict[str, int] = {}
    subscriptions: Subscriptions = {}
    while len(subscriptions) < limits.members and len(counts) < limits.topics:
        size = rng.randint(1, min(3, limits.members - len(subscriptions)))
        topic = f"t{len(counts)}"
        supply = floor * size + rng.randint(0, size)
        counts[topic] = min(supply, limits.partitions)
        for _ in range(size):
            bridge = _some(rng, list(counts)[:-1]) if rng.randrange(3) == 0 else []
            subscriptions[f"m{len(subscriptions)}"] = [topic, *bridge]
    return counts, subscriptions


FRAMES: tuple[Callable[[Random, Limits], Frame], ...] = (
    _scattered,
    _equal,
    _ladder,
    _ladder,
    _blocks,
)


def _some(rng: Random, names: list[str]) -> list[str]:
    """Return some of ``names``, none twice, in any order."""
    return rng.sample(names, rng.randint(0, len(names)))


def _renamed(rng: Random, counts: dict[str, int], wants: Subscriptions) -> Frame:
    """Shuffle the names, so that their order is arbitrary; some are hostile."""
    pool = list(HOSTILE) if rng.randrange(5) == 0 else []
    topics = _new_names(rng, list(counts), pool)
    members = _new_names(rng, list(wants), pool)
    return (
        {topics[t]: n for t, n in counts.items()},
        {members[m]: [topics.get(t, t) for t in w] for m, w in wants.items()},
    )


def _new_names(rng: Random, names: list[str], pool: list[str]) -> dict[str, str]:
    fresh = (pool + names)[: len(names)]
    return dict(zip(names, rng.sample(fresh, len(fresh)), strict=True))


# Claims.


def _no_claims(rng: Random, counts: dict[str, int], members: Document) -> None:
    """No member claims anything; some state an empty claim."""
    for one in members.values():
        if rng.randrange(4) == 0:
            one["owned"] = {}


def _faithful(rng: Random, counts: dict[str, int], members: Document) -> None:
    """Each partition is claimed by at most one of its topic's subscribers."""
    for topic, count in counts.items():
        takers = [m for m in members.values() if topic in m["subscription"]]
        for number in range(count if takers else 0):
            if rng.randrange(8):
                owned = rng.choice(takers).setdefault("owned", {})
                owned.setdefault(topic, []).append(number)


def _first_come(rng: Random, counts: dict[str, int], members: Document) -> None:
    """Each topic is claimed whole by the first who wants it: ladders stay uneven."""
    for topic, count in counts.items():
        takers = [m for m in members.values() if topic in m["subscription"]]
        if takers and count:
            takers[0].setdefault("owned", {})[topic] = list(range(count))


def _rough(rng: Random, counts: dict[str, int], members: Document) -> None:
    """Any member claims anything: twice, unsubscribed, vanished."""
    for one in members.values():
        for topic, count in [*counts.items(), ("gone", 1)]:
            numbers = range(count + rng.randrange(2))
            claimed = rng.sample(numbers, rng.randint(0, len(numbers)))
            if claimed and rng.randrange(2):
                one.setdefault("owned", {})[topic] = claimed


CLAIMS: tuple[Callable[[Random, dict[str, int], Document], None], ...] = (
    _no_claims,
    _faithful,
    _faithful,
    _first_come,
    _rough,
)


def _same_generation(rng: Random, members: Document) -> None:
    generation = rng.randint(-1, 5)
    for one in members.values():
        one["generation"] = generation


def _any_generation(rng: Random, members: Document) -> None:
    for one in members.values():
        if rng.randrange(5):
            one["generation"] = rng.randint(-1, 2)


def _unknown_generation(rng: Random, members: Document) -> None:
    """Leave every generation out."""


GENERATIONS: tuple[Callable[[Random, Document], None], ...] = (
    _same_generation,
    _any_generation,
    _unknown_generation,
)


# Lag and racks.


def _lag(rng: Random, topics: dict[str, Document]) -> None:
    # The sum of all lags fits 64 bits, as instances in columns ask.
    most = INT64_MAX // max(1, sum(topic["partitions"] for topic in topics.values()))
    top = rng.choice((1, 3, 10, 100_000, most))
    for topic in topics.values():
        if rng.randrange(5):
            topic["lag"] = [rng.randint(0, top) for _ in range(topic["partitions"])]


def _racks(rng: Random, topics: dict[str, Document], members: Document) -> None:
    racks = ["r0", "r1", "r2"]
    for topic in topics.values():
        if rng.randrange(5):
            topic["racks"] = [_some(rng, racks) for _ in range(topic["partitions"])]
    for one in members.values():
        if rng.randrange(4):
            one["rack"] = rng.choice(racks)


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
    return [name for name, one in members if topic in one["subscription"]]


def _claims(document: Document, member: str, topic: str, number: int) -> bool:
    owned = document["members"][member].get("owned", {})
    return number in owned.get(topic, ())
