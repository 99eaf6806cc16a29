"""Shared functions that run heuristics."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from heuristics import ASSIGNORS
from rebalance import ClaimRule, document_of
from tests.references.heuristics import Held
from tests.solver.routes import instance
from tests.support.shapes import SHAPES, Document
from tests.support.strategies import INT64_MAX, SMALL, Limits, rebalances
from verify import judge

__all__ = ["instance"]

LAYABLE = [
    shape
    for shape in SHAPES.values()
    if sum(sum(t.get("lag", ())) for t in shape["topics"].values()) <= INT64_MAX
]


def assigned(
    name: str, document: Document, claim_rule: ClaimRule = ClaimRule.NEWEST_CLAIM
) -> Held:
    """Return the assignor's answer as an assignment/1 document."""
    laid_out = instance(document, claim_rule)
    assert ASSIGNORS[name].refuses(laid_out) is None
    assignment = ASSIGNORS[name].assign(laid_out)
    return document_of(laid_out, assignment, assignor=name).members


def layable(limits: Limits = SMALL) -> st.SearchStrategy[Document]:
    """Draw documents whose lags fit 64 bits in sum: all that an instance may be."""
    return rebalances(limits).filter(fits)


def fits(document: Document) -> bool:
    lags = (topic.get("lag", ()) for topic in document["topics"].values())
    return sum(sum(lag) for lag in lags) <= INT64_MAX


def with_lag(document: Document) -> Document:
    """Give one topic a lag of 0 if no topic has lag, so that the instance has lag."""
    topics = document["topics"]
    if topics and not any("lag" in about for about in topics.values()):
        name = min(topics)
        stated = topics[name] | {"lag": [0] * topics[name]["partitions"]}
        return document | {"topics": topics | {name: stated}}
    return document


def without_racks(document: Document) -> Document:
    """Leave out where members and replicas are."""
    plain = document.copy()
    for key, removed in (("topics", "racks"), ("members", "rack")):
        plain[key] = {
            name: {k: v for k, v in about.items() if k != removed}
            for name, about in document[key].items()
        }
    return plain


def with_equal_subscriptions(document: Document) -> Document:
    """Give all members the subscription of the first member; claims are unchanged."""
    members = document["members"]
    wanted = members[min(members)]["subscription"] if members else []
    alike = {m: about | {"subscription": wanted} for m, about in members.items()}
    return document | {"members": alike}


def faults(document: Document, held: Held) -> list[Any]:
    """Return the judge's violations."""
    found: list[Any] = judge(document, {"members": held})["violations"]
    return found


def is_kip54_balanced(document: Document, held: Held) -> bool:
    """Return whether no single transfer evens out two members, by the judge."""
    return bool(judge(document, {"members": held})["figures"]["kip54_balanced"])


def load(held: dict[str, list[int]]) -> int:
    return sum(len(numbers) for numbers in held.values())
