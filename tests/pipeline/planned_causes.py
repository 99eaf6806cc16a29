"""Causes of the rebalances of planned events, from the acts of their driver."""

from __future__ import annotations

from typing import NamedTuple

from pipeline.causes import RETURN_MS
from tests.pipeline.planned_acts import Planned

ENDS = ("leave", "kill", "pause")
BEGINS = ("start", "resume")
RESUBSCRIBED = {2: {"payments"}, 3: {"payments", "refunds"}}
"""Topics by which a subscription changed in the group `resubscription`."""


class ClientsCause(NamedTuple):
    """A kind; client ids of its members, and topics."""

    kind: str
    clients: frozenset[str] = frozenset()
    topics: frozenset[str] = frozenset()


def causes_of_log(rebalances: list[Planned]) -> list[set[ClientsCause]]:
    """Return the causes of each rebalance of a group."""
    return [
        _causes(rebalances[:place], rebalance, rebalances[place + 1 :])
        for place, rebalance in enumerate(rebalances)
    ]


def _causes(
    before: list[Planned], rebalance: Planned, after: list[Planned]
) -> set[ClientsCause]:
    """Return the causes that the acts of a rebalance are, next to those of others."""
    if not before:
        return {ClientsCause("started", frozenset(rebalance.clients(*BEGINS)))}
    ended, begun = rebalance.clients(*ENDS), rebalance.clients(*BEGINS)
    missed = {
        client
        for earlier in before
        for client in earlier.clients(*ENDS)
        if rebalance.at - earlier.at <= RETURN_MS
    }
    soon = {
        client
        for later in after
        for client in later.clients(*BEGINS)
        if later.at - rebalance.at <= RETURN_MS
    }
    returned = begun & (ended | missed)
    found = {
        "returned": returned,
        "joined": begun - returned,
        "left-briefly": (ended & soon) - begun,
        "left": ended - soon - begun,
    }
    causes = {
        ClientsCause(kind, frozenset(found[kind])) for kind in found if found[kind]
    }
    causes |= _changes(before[-1], rebalance)
    if not rebalance.acts:
        is_round = rebalance.partitions > before[-1].partitions
        causes.add(ClientsCause("round" if is_round else "restless"))
    return causes


def _changes(before: Planned, rebalance: Planned) -> set[ClientsCause]:
    """Return the causes other than members that join or leave."""
    found = set()
    resubscribed = frozenset(rebalance.clients("subscribe"))
    if resubscribed:
        topics = RESUBSCRIBED[rebalance.case.generation or 0]
        found.add(ClientsCause("resubscribed", resubscribed, frozenset(topics)))
    grown = {act.topic for act in rebalance.acts if act.event == "grow" and act.topic}
    if grown:
        found.add(ClientsCause("partitions-added", topics=frozenset(grown)))
    if rebalance.assignor != before.assignor:
        found.add(ClientsCause("assignor-changed"))
    return found
