"""Swarm testing: each configuration draws with a random subset of the features.

A feature that is always present can hide faults that need its absence (Groce et al.,
"Swarm testing", 2012): a client that rejects missing topics, for example, is tested on
nothing else if each draw has one.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, Final

from conformance.random_rebalances import (
    change_subscriptions,
    claim_again,
    claim_faithfully,
    claim_over_generations,
    date_claims,
    disturb_claims,
    draw_different,
    place_in_racks,
    some_of,
)
from conformance.runs.family_draws import RACKS
from conformance.runs.history_draws import (
    DENSE,
    MIDDLE,
    NEWCOMERS,
    SMALL,
    WIDE,
    share_out,
)

Document = dict[str, Any]
Feature = Callable[[Random, Document], None]

CONFIGURATIONS: Final = 64
"""Draw i has configuration i modulo this."""


def configure_swarm(rng: Random) -> Callable[[Random], Document]:
    """Return the draw of one configuration: a size, a past, and some features."""
    limits = rng.choice((SMALL, MIDDLE, DENSE, WIDE))
    past = rng.choice(PASTS)
    features = [feature for feature in USUAL if rng.randrange(2)]
    features += [feature for feature in UNUSUAL if rng.randrange(4) == 0]

    def draw(rng: Random) -> Document:
        rebalance = draw_different(rng, limits, group="swarm")
        past(rng, rebalance)
        for feature in features:
            feature(rng, rebalance)
        return rebalance

    return draw


def _share(rng: Random, rebalance: Document) -> None:
    share_out(rng, rebalance, newcomers=NEWCOMERS)


def _date(rng: Random, rebalance: Document) -> None:
    claim_over_generations(rng, rebalance, generations=rng.randint(2, 3), strangers=0.2)


def _own(rng: Random, rebalance: Document) -> None:
    claim_faithfully(rng, _counts(rebalance), rebalance["members"])
    date_claims(rebalance["members"])


def _begin(_rng: Random, _rebalance: Document) -> None:
    """Nobody claims anything."""


def _disturb(rng: Random, rebalance: Document) -> None:
    disturb_claims(rng, rebalance, most=3)


def _switch(rng: Random, rebalance: Document) -> None:
    change_subscriptions(rng, rebalance, share=0.3)


def _grow(rng: Random, rebalance: Document) -> None:
    for topic in some_of(rng, sorted(rebalance["topics"]), least=1):
        rebalance["topics"][topic]["partitions"] += rng.randint(1, 3)


def _replace(rng: Random, rebalance: Document) -> None:
    """Let a member be gone; its partitions are claimed by nobody."""
    members = rebalance["members"]
    if len(members) > 1:
        del members[rng.choice(sorted(members))]


def _claim_twice(rng: Random, rebalance: Document) -> None:
    claim_again(rng, _counts(rebalance), rebalance["members"])


def _place(rng: Random, rebalance: Document) -> None:
    place_in_racks(rng, rebalance, racks=RACKS, replicas=rng.randint(1, 2))


def _identify(rng: Random, rebalance: Document) -> None:
    """Let members be static, under ids in another order."""
    names = sorted(rebalance["members"])
    for number, name in enumerate(rng.sample(names, len(names))):
        if rng.randrange(4):
            rebalance["members"][name]["instance_id"] = f"i{number:02}"


def _forget_dates(rng: Random, rebalance: Document) -> None:
    for _, member in sorted(rebalance["members"].items()):
        if rng.randrange(3) == 0:
            member.pop("generation", None)


def _miss(rng: Random, rebalance: Document) -> None:
    """Let a member subscribe to a topic that does not exist."""
    name = rng.choice(sorted(rebalance["members"]))
    rebalance["members"][name]["subscription"].append("missing")


def _delete(rng: Random, rebalance: Document) -> None:
    """Take a topic away, to which members subscribe, and which they can claim."""
    topics = rebalance["topics"]
    if len(topics) > 1:
        del topics[rng.choice(sorted(topics))]


def _unsubscribe(rng: Random, rebalance: Document) -> None:
    """Let a member subscribe to nothing."""
    member = rebalance["members"][rng.choice(sorted(rebalance["members"]))]
    member["subscription"] = []
    if rng.randrange(2):
        member.pop("owned", None)


def _counts(rebalance: Document) -> dict[str, int]:
    return {t: about["partitions"] for t, about in rebalance["topics"].items()}


PASTS: Final = (_share, _share, _date, _own, _begin)
USUAL: Final[tuple[Feature, ...]] = (_grow, _replace, _disturb, _switch)
"""Each is in half of the configurations; later ones build on earlier ones."""
UNUSUAL: Final[tuple[Feature, ...]] = (
    _claim_twice,
    _forget_dates,
    _delete,
    _miss,
    _unsubscribe,
    _identify,
    _place,
)
"""Each is in a quarter of the configurations."""
