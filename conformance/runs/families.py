"""Families of instances: named, seeded generators with one idea each.

Draw i of a family depends only on the seed, the family, and i; under churn, a later
step also depends on the answer before it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from random import Random
from types import MappingProxyType
from typing import Any, Final

from conformance.random_rebalances import (
    UNEVEN_FRAMES,
    DrawLimits,
    change_group,
    claim_again,
    claim_as_first,
    claim_faithfully,
    date_claims,
    document_of_frame,
    draw_frame,
    some_of,
)
from conformance.runs.optimum import claim_optimum
from conformance.runs.rounds import next_round

Document = dict[str, Any]
RACKS: Final = ("a", "b", "c")

SMALL: Final = DrawLimits(
    members=5,
    topics=4,
    partitions=4,
    block_partitions=9,
    hostile_names=False,
    gaps=False,
)
MODERATE: Final = replace(
    SMALL, members=16, topics=10, partitions=12, block_partitions=21
)
LARGE: Final = replace(SMALL, members=100, topics=40, partitions=1000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A named generator of rebalances.

    Attributes
    ----------
    name : str
    idea : str
        What distinguishes its instances, in words.
    draw : callable
        Returns a rebalance/1 document.
    steps : int
        Rebalances per draw; after the first, the group changes, and every member claims
        what the last answer gave it.
    share : int
        A run takes one draw of it for so many of the others: large ones take long.
    """

    name: str
    idea: str
    draw: Callable[[Random], Document]
    steps: int = 1
    share: int = 1

    def first(self, seed: int, index: int) -> Document:
        """Return the first rebalance of a draw."""
        return _in_order(self.draw(self._rng(seed, index, 0)))

    def after(
        self,
        rebalance: Document,
        held: Mapping[str, Mapping[str, Any]],
        *,
        seed: int,
        index: int,
        step: int,
    ) -> Document:
        """Return a later rebalance: the answer before becomes the claim."""
        claimed = next_round(rebalance, held)
        return _in_order(change_group(self._rng(seed, index, step), claimed))

    def _rng(self, seed: int, index: int, step: int) -> Random:
        return Random(f"{seed}/{self.name}/{index}/{step}")  # noqa: S311


def _in_order(rebalance: Document) -> Document:
    """Sort topics, members, subscriptions, and claims."""
    members = {}
    for name, member in sorted(rebalance["members"].items()):
        members[name] = member | {"subscription": sorted(member["subscription"])}
        if "owned" in member:
            owned = sorted(member["owned"].items())
            members[name]["owned"] = {topic: sorted(ns) for topic, ns in owned}
    topics = dict(sorted(rebalance["topics"].items()))
    return rebalance | {"topics": topics, "members": members}


def _drawn(rng: Random, family: str) -> Document:
    return document_of_frame(draw_frame(rng, _draw_limits(rng)), group=family)


def _draw_limits(rng: Random) -> DrawLimits:
    """Draw small limits in three of four draws, because small findings are read."""
    return MODERATE if rng.randrange(4) == 0 else SMALL


def _claimed(rng: Random, family: str) -> Document:
    """Draw a rebalance in which one subscriber at most claims each partition."""
    rebalance = _drawn(rng, family)
    _claim(rng, rebalance)
    return rebalance


def _claim(rng: Random, rebalance: Document) -> None:
    claim_faithfully(rng, _counts(rebalance), rebalance["members"])
    date_claims(rebalance["members"])


def _counts(rebalance: Document) -> dict[str, int]:
    return {t: about["partitions"] for t, about in rebalance["topics"].items()}


def _fresh(rng: Random) -> Document:
    return _drawn(rng, "fresh")


def _churn(rng: Random) -> Document:
    rebalance = _drawn(rng, "churn")
    claim_optimum(rebalance)
    return change_group(rng, rebalance)


def _joiners(rng: Random) -> Document:
    rebalance = _drawn(rng, "joiners")
    members, topics = rebalance["members"], rebalance["topics"]
    owner = members[rng.choice(sorted(members))]
    if rng.randrange(2):
        owner["subscription"] = sorted(topics)
    for topic in owner["subscription"]:
        owner.setdefault("owned", {})[topic] = list(range(topics[topic]["partitions"]))
    date_claims(members)
    return rebalance


def _claims(rng: Random) -> Document:
    return _claimed(rng, "claims")


def _stale(rng: Random) -> Document:
    rebalance = _claimed(rng, "stale")
    claim_again(rng, _counts(rebalance), rebalance["members"])
    return rebalance


def _empty(rng: Random) -> Document:
    rebalance = _claimed(rng, "empty")
    for member in rebalance["members"].values():
        kind = rng.randrange(4)
        if kind == 0:
            member["subscription"] = []
        elif kind == 1:
            member["subscription"] = ["missing"]
        if kind < 2:
            member.pop("owned", None)
    if rng.randrange(3) == 0:
        rebalance["topics"][rng.choice(sorted(rebalance["topics"]))]["partitions"] = 0
        _forget_missing(rebalance)
    return rebalance


def _deleted(rng: Random) -> Document:
    rebalance = _claimed(rng, "deleted")
    topics = rebalance["topics"]
    for topic in some_of(rng, sorted(topics), least=1):
        if rng.randrange(2):
            del topics[topic]  # still subscribed to, and claimed
        else:
            topics[topic]["partitions"] //= 2
    return rebalance


def _left(rng: Random) -> Document:
    rebalance = _claimed(rng, "left")
    for member in rebalance["members"].values():
        if rng.randrange(2):
            kept = some_of(rng, member["subscription"])
            member["subscription"] = sorted(kept)  # the claims stay
    return rebalance


def _racks(rng: Random) -> Document:
    rebalance = _drawn(rng, "racks")
    for topic in rebalance["topics"].values():
        most = rng.randint(1, len(RACKS))
        numbers = range(topic["partitions"])
        topic["racks"] = [sorted(rng.sample(RACKS, most)) for _ in numbers]
    everyone = rng.randrange(2) == 0
    for member in rebalance["members"].values():
        if everyone or rng.randrange(4):
            member["rack"] = rng.choice(RACKS)
    if rng.randrange(2):
        _claim(rng, rebalance)
    return rebalance


def _static(rng: Random) -> Document:
    rebalance = _drawn(rng, "static")
    names = sorted(rebalance["members"])
    ids = dict(zip(names, rng.sample(range(len(names)), len(names)), strict=True))
    for name in names:
        if rng.randrange(4):
            rebalance["members"][name]["instance_id"] = f"i{ids[name]}"
    kind = rng.randrange(3)
    if kind == 1:
        claim_optimum(rebalance)
    elif kind == 2:
        _claim(rng, rebalance)
    return rebalance


def _chains(rng: Random) -> Document:
    frame = draw_frame(rng, _draw_limits(rng), UNEVEN_FRAMES)
    rebalance = document_of_frame(frame, group="chains")
    if rng.randrange(4) == 0:
        _claim(rng, rebalance)
    else:
        claim_as_first(rng, _counts(rebalance), rebalance["members"])
        date_claims(rebalance["members"])
    return rebalance


def _large(rng: Random) -> Document:
    """Draw about 100 members and 1,000 partitions, after a change of an optimum."""
    n_topics = rng.randint(5, LARGE.topics)
    counts = {f"t{i}": LARGE.partitions // n_topics for i in range(n_topics)}
    is_equal = rng.randrange(2) == 0
    least = n_topics if is_equal else 1
    subscriptions = {
        f"m{i}": sorted(some_of(rng, list(counts), least=least))
        for i in range(LARGE.members)
    }
    rebalance = document_of_frame((counts, subscriptions), group="large")
    claim_optimum(rebalance)
    for _ in range(rng.randint(1, 5)):
        rebalance = change_group(rng, rebalance)
    return rebalance


def _forget_missing(rebalance: Document) -> None:
    counts = _counts(rebalance)
    for member in rebalance["members"].values():
        owned = member.get("owned", {}).items()
        kept = {t: [n for n in ns if n < counts[t]] for t, ns in owned}
        member["owned"] = {t: numbers for t, numbers in kept.items() if numbers}


_ALL: Final = (
    Family(name="fresh", idea="a new group: nobody claims anything", draw=_fresh),
    Family(
        name="churn",
        idea="an optimal state, then joins, leaves, subscription changes, and more "
        "partitions; the last answer is the next claim",
        draw=_churn,
        steps=4,
    ),
    Family(
        name="joiners", idea="one member owns all, others have joined", draw=_joiners
    ),
    Family(name="claims", idea="any owners, of any loads", draw=_claims),
    Family(
        name="stale",
        idea="stale and double claims, of several generations",
        draw=_stale,
    ),
    Family(
        name="empty",
        idea="members that subscribe to nothing or to topics that do not exist, and "
        "topics without partitions",
        draw=_empty,
    ),
    Family(
        name="deleted",
        idea="claims on deleted topics and on partitions that are gone",
        draw=_deleted,
    ),
    Family(name="left", idea="claims on topics that their member left", draw=_left),
    Family(name="racks", idea="racks of members and replicas", draw=_racks),
    Family(name="static", idea="static members, under other ids", draw=_static),
    Family(
        name="chains",
        idea="ladders and blocks of equal level, which only long chains even out",
        draw=_chains,
    ),
    Family(
        name="large",
        idea="about 100 members and 1,000 partitions, after some changes",
        draw=_large,
        steps=2,
        share=20,
    ),
)
FAMILIES: Final[Mapping[str, Family]] = MappingProxyType(
    {family.name: family for family in _ALL}
)
