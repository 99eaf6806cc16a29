"""Constrained sticky compared with KIP-615's pseudocode and KAFKA-9987's code.

The three agree in what the KIP guarantees: loads, and the number of kept partitions.
They differ in which partitions move, and to which members. Ours follows the releases.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import example, given

from rebalance import ClaimRule
from tests.heuristics.routes import (
    assigned,
    faults,
    layable,
    load,
    with_equal_subscriptions,
)
from tests.references.constrained import kafka_9987, kip_615
from tests.references.heuristics import Held, believed, flat
from tests.support.examples import shared_by
from tests.support.shapes import Document, member, rebalance
from tests.support.strategies import LARGER

EARLIER: dict[str, Callable[[Document], Held]] = {
    "KIP-615": kip_615,
    "KAFKA-9987": kafka_9987,
}

# Ten partitions for three: a, with the least id of those that have more than three,
# may keep four; b has two too many, one more than a.
STOLEN = rebalance(
    {"t": 10},
    {
        "a": member(["t"], {"t": [0, 1, 2, 3]}, 1),
        "b": member(["t"], {"t": [4, 5, 6, 7, 8]}, 1),
        "c": member(["t"], None, 1),
    },
)
FRESH = rebalance({"t": 4, "u": 4}, {m: member(["t", "u"]) for m in ("a", "b")})


def shipped(document: Document) -> Held:
    return assigned("constrained-sticky", document, ClaimRule.CURRENT_GENERATION)


@pytest.mark.parametrize("earlier", EARLIER)
@shared_by(len(EARLIER))
@example(document=STOLEN)
@given(document=layable(LARGER).map(with_equal_subscriptions))
def test_loads_and_how_much_stays_are_as_before(
    earlier: str, document: Document
) -> None:
    if not document["members"]:
        return
    now, then = shipped(document), EARLIER[earlier](document)
    assert faults(document, then) == []
    assert sorted(map(load, now.values())) == sorted(map(load, then.values()))
    owned = believed(document, current_only=True)
    kept = [
        sum(len(set(flat(held[m])) & set(flat(owned[m]))) for m in held)
        for held in (now, then)
    ]
    assert kept[0] == kept[1]


def test_the_lowest_numbers_stay_and_the_first_keeps_more() -> None:
    """Since KAFKA-12464 nothing is taken twice; before, c took the lowest of a."""
    assert shipped(STOLEN) == {
        "a": {"t": [0, 1, 2, 3]},
        "b": {"t": [4, 5, 6]},
        "c": {"t": [7, 8, 9]},
    }
    for earlier in EARLIER.values():
        assert earlier(STOLEN) == {
            "a": {"t": [1, 2, 3]},
            "b": {"t": [4, 5, 6, 7]},
            "c": {"t": [0, 8, 9]},
        }


def test_what_nobody_owns_goes_around_topic_by_topic() -> None:
    """KIP-615 fills a member in one go, with number 0 of every topic first."""
    around = {"a": {"t": [0, 2], "u": [0, 2]}, "b": {"t": [1, 3], "u": [1, 3]}}
    assert shipped(FRESH) == around
    assert kafka_9987(FRESH) == around
    in_one_go = {"a": {"t": [0, 1], "u": [0, 1]}, "b": {"t": [2, 3], "u": [2, 3]}}
    assert kip_615(FRESH) == in_one_go


def test_by_number_before_topic_since_kafka_16277() -> None:
    """Before, a member kept all of its first topics; now, some of each."""
    members = {
        "a": member(["t", "u"], {"t": [0, 1], "u": [0, 1]}, 1),
        "b": member(["t", "u"], None, 1),
    }
    document = rebalance({"t": 2, "u": 2}, members)
    assert shipped(document)["a"] == {"t": [0], "u": [0]}
    for earlier in EARLIER.values():
        assert earlier(document)["a"] == {"t": [0, 1]}
