"""Families of instances: named, seeded generators with one idea each.

Draw i of a family depends only on the seed, the family, and i; under churn, a later
step also depends on the answer before it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from types import MappingProxyType
from typing import Any, Final

from conformance.random_rebalances import change_group
from conformance.runs import family_draws, history_draws
from conformance.runs.rounds import next_round
from conformance.runs.swarm import CONFIGURATIONS, configure_swarm

Document = dict[str, Any]
Draw = Callable[[Random], Document]


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A named generator of rebalances.

    Attributes
    ----------
    name : str
    idea : str
        Property that distinguishes its instances, in words.
    configure : callable
        Returns the draw of a configuration, which returns a rebalance/1 document.
    configurations : int
        Draw i has configuration i modulo this.
    steps : int
        Rebalances per draw; after the first, the group changes, and every member claims
        its partitions of the last answer.
    change : callable
        Returns the changed group.
    keeps_leader : bool
        Whether the assignor object of a draw's leader lives from its first step to its
        last, and no longer.
    share : int
        A run takes one draw of it for so many of the others: they take long.
    turns : int
        A guided run takes so much time for it, in units of the others: its target is
        rare.
    """

    name: str
    idea: str
    configure: Callable[[Random], Draw]
    configurations: int = 1
    steps: int = 1
    change: Callable[[Random, Document], Document] = change_group
    keeps_leader: bool = False
    share: int = 1
    turns: int = 1

    def first(self, seed: int, index: int) -> Document:
        """Return the first rebalance of a draw."""
        configuration = index % self.configurations
        place = f"{seed}/{self.name}/configuration {configuration}"
        draw = self.configure(Random(place))  # noqa: S311
        return _in_order(draw(self._rng(seed, index, 0)))

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
        return _in_order(self.change(self._rng(seed, index, step), claimed))

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


def always(draw: Draw) -> Callable[[Random], Draw]:
    """Return the only configuration."""
    return lambda _rng: draw


_ALL: Final = (
    Family(
        name="fresh",
        idea="a new group: nobody claims anything",
        configure=always(family_draws.draw_fresh),
    ),
    Family(
        name="churn",
        idea="an optimal state, then joins, leaves, subscription changes, and more "
        "partitions; the last answer is the next claim",
        configure=always(family_draws.draw_churn),
        steps=4,
    ),
    Family(
        name="joiners",
        idea="one member owns all, others have joined",
        configure=always(family_draws.draw_joiners),
    ),
    Family(
        name="claims",
        idea="any owners, of any loads",
        configure=always(family_draws.draw_claims),
    ),
    Family(
        name="stale",
        idea="stale and double claims, of several generations",
        configure=always(family_draws.draw_stale),
    ),
    Family(
        name="empty",
        idea="members that subscribe to nothing or to topics that do not exist, and "
        "topics without partitions",
        configure=always(family_draws.draw_empty),
    ),
    Family(
        name="deleted",
        idea="claims on deleted topics and on partitions that are gone",
        configure=always(family_draws.draw_deleted),
    ),
    Family(
        name="left",
        idea="claims on topics that their member left",
        configure=always(family_draws.draw_left),
    ),
    Family(
        name="racks",
        idea="racks of members and replicas",
        configure=always(family_draws.draw_racks),
    ),
    Family(
        name="static",
        idea="static members, under other ids",
        configure=always(family_draws.draw_static),
    ),
    Family(
        name="chains",
        idea="ladders and blocks of equal level, which only long chains even out",
        configure=always(family_draws.draw_chains),
    ),
    Family(
        name="large",
        idea="about 100 members and 1,000 partitions, after some changes",
        configure=always(family_draws.draw_large),
        steps=2,
        share=20,
    ),
    Family(
        name="shares",
        idea="near-balanced shares of one generation, different subscriptions, joined "
        "members, and seldom new topics",
        configure=always(history_draws.draw_shares),
        turns=8,
    ),
    Family(
        name="switched",
        idea="near-balanced shares that survive a change of subscription",
        configure=always(history_draws.draw_switched),
    ),
    Family(
        name="generations",
        idea="overlapping claims of two or three generations, some on topics that were "
        "left",
        configure=always(history_draws.draw_generations),
        turns=2,
    ),
    Family(
        name="zones",
        idea="racks with one or two replicas, and different subscriptions",
        configure=always(history_draws.draw_zones),
        turns=2,
    ),
    Family(
        name="restarted",
        idea="generations that start again while the leader lives on",
        configure=always(history_draws.draw_restarted),
        steps=3,
        change=history_draws.restart_generations,
        keeps_leader=True,
        share=20,
    ),
    Family(
        name="swarm",
        idea="a random subset of all these features per configuration",
        configure=configure_swarm,
        configurations=CONFIGURATIONS,
        turns=4,
    ),
)
FAMILIES: Final[Mapping[str, Family]] = MappingProxyType(
    {family.name: family for family in _ALL}
)
