"""Why the optimum is one, from what the judge found: a chain, or sums that meet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import verify
from oracle.against import Document, Optimum
from verify import kept_bound


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """One transfer of a chain."""

    giver: str
    taker: str
    topic: str
    partition: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """Transfers in a row that make an assignment more even: why it was not."""

    hops: tuple[Hop, ...]
    giver_load: int
    taker_load: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """What no assignment as even as the optimum can exceed, and who says so.

    ``kept`` of the optimum equals ``kept_bound``, the sum that its certificate gives;
    ``proved`` tells that the judge added it up, balance included.
    """

    owned: int
    kept: int
    kept_bound: int
    moves: int
    proved: bool


def chain_of(
    instance: Document, assignment: Document, verdict: Document
) -> Chain | None:
    """Return the chain that refutes the balance of an assignment; None: none does."""
    members = verdict["evidence"].get("dec_min_balanced")
    if not members:
        return None
    given = assignment["members"]
    hops = tuple(
        _hop(instance, given, giver, taker) for giver, taker in pairwise(members)
    )
    return Chain(
        hops=hops,
        giver_load=_load(given, members[0]),
        taker_load=_load(given, members[-1]),
    )


def bound_of(instance: Document, best: Optimum, claim_rule: str) -> Bound:
    """Return what the optimum's certificate proves about keeping partitions."""
    case = verify.understand(instance, claim_rule=claim_rule)
    certificate = best.assignment["certificate"]
    figures = best.verdict["figures"]
    return Bound(
        owned=figures["kept"] + figures["moves"],
        kept=figures["kept"],
        kept_bound=kept_bound(case, certificate),
        moves=figures["moves"],
        proved=best.is_proved,
    )


def _hop(instance: Document, given: Mapping[str, Any], giver: str, taker: str) -> Hop:
    """Find a partition of the giver that the taker may have; the chain says one is."""
    wanted = set(instance["members"][taker]["subscription"])
    held = given.get(giver, {})
    topic = min(name for name in held if name in wanted and held[name])
    return Hop(giver=giver, taker=taker, topic=topic, partition=min(held[topic]))


def _load(given: Mapping[str, Any], member: str) -> int:
    return sum(map(len, given.get(member, {}).values()))
