"""Evidence for the optimum: a chain that refutes balance, and a bound that is met."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from verify import Case, kept_bound

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """One transfer of a chain."""

    giver: str
    taker: str
    topic: str
    partition: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """Successive transfers that make an assignment more balanced."""

    hops: tuple[Hop, ...]
    giver_load: int
    taker_load: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """Upper bound on kept partitions for dec-min assignments, and its proof.

    ``kept`` of the optimum equals ``kept_bound``, the sum of its certificate;
    ``proved`` means that the judge recomputed it, balance included.
    """

    owned: int
    kept: int
    kept_bound: int
    moves: int
    proved: bool


def chain_of(
    instance: Document, assignment: Document, verdict: Document
) -> Chain | None:
    """Return the chain that refutes an assignment's balance; None if there is none."""
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


def bound_of(case: Case, optimum: Document, verdict: Document) -> Bound:
    """Return the proof by the optimum's certificate about keeping partitions."""
    figures, proved = verdict["figures"], verdict["proved"]
    return Bound(
        owned=figures["kept"] + figures["moves"],
        kept=figures["kept"],
        # The judge found the sum to be the number kept, if it proves that.
        kept_bound=figures["kept"]
        if proved["stickiness"]
        else kept_bound(case, optimum["certificate"]),
        moves=figures["moves"],
        proved=bool(proved["dec_min"] and proved["stickiness"]),
    )


def _hop(instance: Document, given: Mapping[str, Any], giver: str, taker: str) -> Hop:
    """Return a partition of the giver that the receiver can receive."""
    wanted = set(instance["members"][taker]["subscription"])
    held = given.get(giver, {})
    topic = min(name for name in held if name in wanted and held[name])
    return Hop(giver=giver, taker=taker, topic=topic, partition=min(held[topic]))


def _load(given: Mapping[str, Any], member: str) -> int:
    return sum(map(len, given.get(member, {}).values()))
