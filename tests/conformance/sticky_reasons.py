"""Rebalances for Kafka's sticky assignors, and reasons for differences from ours.

Upstream iterates over members in hash order, which is the order of names if these are
single letters. The remaining differences are ties and faults that our docstrings state.
"""

from __future__ import annotations

from string import ascii_lowercase
from typing import NamedTuple

from heuristics import ASSIGNORS, CooperativeStickyAssignor
from rebalance import document_of
from tests.conformance.jars import in_order
from tests.heuristics.routes import instance
from tests.references.heuristics import Held, flat
from tests.references.sticky import TP, General, is_mixed
from tests.support.shapes import Document


def lettered(document: Document) -> Document:
    """Name the members a, b, c: up to twelve lie in Java's tables in this order."""
    members = document["members"]
    names = dict(zip(sorted(members), ascii_lowercase[:12], strict=False))
    return document | {"members": {names[m]: members[m] for m in sorted(members)}}


def without_faulty_claims(document: Document) -> Document:
    """Remove the causes of known faults of Kafka's sticky assignors.

    Who wants nothing is not there, and a claim is of a partition that exists and is
    wanted. Several may claim one, of whatever generation.
    """
    members: Document = {}
    for name, member in document["members"].items():
        if member["subscription"]:
            members[name] = member
            if "owned" in member:
                owned = {
                    topic: [n for n in numbers if n < _size(document, topic)]
                    for topic, numbers in member["owned"].items()
                    if topic in member["subscription"]
                }
                members[name] = member | {
                    "owned": {t: ns for t, ns in owned.items() if ns}
                }
    return document | {"members": members}


def well_behaved(document: Document) -> Document:
    """Leave out second claims as well: in a round, Kafka transfers these too early."""
    document = without_faulty_claims(document)
    claimed: set[TP] = set()
    members: Document = {}
    for name, member in document["members"].items():
        members[name] = member
        if "owned" in member:
            members[name] = member | {
                "owned": _without({name: member["owned"]}, claimed)[name]
            }
            claimed |= set(flat(members[name]["owned"]))
    return document | {"members": members}


def has_members(document: Document) -> bool:
    return bool(document["members"])


def _size(document: Document, topic: str) -> int:
    return int(document["topics"].get(topic, {"partitions": 0})["partitions"])


def ours(assignor: str, document: Document) -> Held:
    """Answer one rebalance, as the leader of the group does."""
    laid_out = instance(document)
    if assignor == "sticky":
        given = ASSIGNORS["sticky"].assign(laid_out)
    else:
        given = CooperativeStickyAssignor().first_round(laid_out).given
    return in_order(document_of(laid_out, given, assignor=assignor))


class Explained(NamedTuple):
    """The answer that upstream gives instead of ours, and the reason."""

    held: Held
    reasons: set[str]


def explained(assignor: str, document: Document) -> Explained:
    """Return upstream's answer, with the ties and faults that our docstrings state."""
    return (_mixed if is_mixed(document) else _equal)(assignor, document)


def _mixed(assignor: str, document: Document) -> Explained:
    """Walk as upstream does: by hash, and in another's stead whatever it evens out."""
    walk = General(document, as_upstream=True)
    held = walk.build()
    reasons = {*walk.ways, *(["reverted"] if walk.reverted else [])}
    if assignor == "cooperative-sticky":
        claims = _claims(document)
        claimed = set[TP]().union(*claims.values())
        withheld = {
            tp for m in held for tp in flat(held[m]) if tp in claimed - claims[m]
        }
        held = _without(held, withheld)
        reasons.add("given to a claimant while another has it")
    return Explained(held, reasons)


def _equal(assignor: str, document: Document) -> Explained:
    """Void what two of one generation claim, even where a newer one claims it."""
    newest: dict[TP, int] = {}
    void: set[TP] = set()
    for name, claims in sorted(_claims(document).items()):
        generation = document["members"][name].get("generation", -1)
        for tp in claims:
            void |= {tp} if newest.get(tp, -2) == generation else set()
            newest[tp] = max(newest.get(tp, -2), generation)
    members = {
        m: member | {"owned": _without({m: member.get("owned", {})}, void)[m]}
        for m, member in document["members"].items()
    }
    held = ours(assignor, document | {"members": members})
    if assignor == "cooperative-sticky":
        held = _without(held, void)
    return Explained(held, {"newest claim void"} if void else set())


def _claims(document: Document) -> dict[str, set[TP]]:
    members = document["members"].items()
    return {m: set(flat(member.get("owned", {}))) for m, member in members}


def _without(held: Held, withheld: set[TP]) -> Held:
    left = {
        m: {t: sorted(n for n in mine[t] if (t, n) not in withheld) for t in mine}
        for m, mine in held.items()
    }
    return {m: {t: ns for t, ns in mine.items() if ns} for m, mine in left.items()}
