"""Shared functions that run heuristics."""

from __future__ import annotations

import json
from collections import Counter

from hypothesis import strategies as st

from heuristics import ASSIGNORS, Assignor
from rebalance import ClaimRule, Instance, document_of, instance_of, parse_rebalance
from tests.references.heuristics import Held, size, wants
from tests.support.shapes import SHAPES, Document
from tests.support.strategies import INT64_MAX, SMALL, Limits, rebalances

LAYABLE = [
    shape
    for shape in SHAPES.values()
    if sum(sum(t.get("lag", ())) for t in shape["topics"].values()) <= INT64_MAX
]


def instance(
    document: Document, claim_rule: ClaimRule = ClaimRule.NEWEST_CLAIM
) -> Instance:
    return instance_of(parse_rebalance(json.dumps(document)), claim_rule=claim_rule)


def assigned(
    name: str, document: Document, claim_rule: ClaimRule = ClaimRule.NEWEST_CLAIM
) -> Held:
    """Return the assignor's answer as an assignment/1 document."""
    return held_by(ASSIGNORS[name], document, claim_rule)


def held_by(
    assignor: Assignor,
    document: Document,
    claim_rule: ClaimRule = ClaimRule.NEWEST_CLAIM,
) -> Held:
    """Return what this assignor gives, registered or not."""
    laid_out = instance(document, claim_rule)
    assignment = assignor.assign(laid_out)
    return document_of(laid_out, assignment, assignor=assignor.name).members


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


def faults(document: Document, held: Held) -> list[str]:
    """Check that partitions have one subscriber each, using only the document."""
    found = [] if held.keys() == document["members"].keys() else ["members differ"]
    times = Counter((t, n) for mine in held.values() for t in mine for n in mine[t])
    for topic in document["topics"]:
        is_wanted = any(wants(document, m, topic) for m in document["members"])
        found += [
            f"{topic}:{number} not given once, or given unwanted"
            for number in range(size(document, topic))
            if times.pop((topic, number), 0) != int(is_wanted)
        ]
    found += [f"{topic}:{number} does not exist" for topic, number in times]
    found += [
        f"{member} does not want {topic}"
        for member, mine in held.items()
        for topic in mine
        if not wants(document, member, topic)
    ]
    return found


def load(held: dict[str, list[int]]) -> int:
    return sum(len(numbers) for numbers in held.values())
