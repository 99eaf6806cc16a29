"""Sentences state the scope of a bound, and compare loads only where loads differ.

Reaches into `oracle.explanation` to falsify the scope of a record, and to compare it
with what the judge then refuses.
"""

from __future__ import annotations

import pytest

from oracle.explanation import Explanation, bound_terms
from oracle.explanation.bound_records import Certified
from tests.references.naive_explanations import Naive, explained
from tests.support.shapes import Document, member, rebalance

ALONE = rebalance({"t": 2}, {"a": member(["t"], {"t": [0, 1]}, 1), "b": member(["t"])})
RACKS = rebalance(
    {"t": {"partitions": 2, "racks": [["x"], ["y"]]}},
    {
        "a": {**member(["t"], {"t": [0, 1]}, 1), "rack": "y"},
        "b": {**member(["t"]), "rack": "x"},
    },
)
PROVED = "the certificate proves it, and the judge has checked it."
ADDED = "the partitions add at least this, each with the member that is best for it."
PRICED = (
    "prices per topic and member prove it (docs/bounds.md), and the judge has checked"
    " them."
)


def texts(found: Explanation) -> list[str]:
    assert found.withdrawn == 0
    return [statement.text for statement in found.statements]


@pytest.mark.parametrize(
    ("document", "policy", "sentence"),
    [
        (
            ALONE,
            "none; stickiness, load",
            "No allowed assignment as good in stickiness has a load below 2, 0: "
            + PROVED,
        ),
        (
            ALONE,
            "none; stickiness, load; max-moves=1",
            "No allowed assignment as good in stickiness has a load below 2, 0: "
            + PROVED,
        ),
        (
            RACKS,
            "none; stickiness, rack",
            "No allowed assignment as good in stickiness has a rack below 1: " + ADDED,
        ),
        (
            RACKS,
            "per-topic; stickiness, rack",
            "No allowed assignment has a stickiness below 1: " + PRICED,
        ),
        (
            RACKS,
            "per-topic; rack, stickiness",
            "No allowed assignment as good in rack has a stickiness below 1: " + PRICED,
        ),
        (
            ALONE,
            "dec-min; rack, stickiness",
            "No allowed assignment as good in rack has a stickiness below 1: " + PROVED,
        ),
    ],
)
def test_bug_a_bound_holds_among_the_best_of_the_objectives_before(
    document: Document, policy: str, sentence: str
) -> None:
    assert texts(explained(document, None, policy))[-1] == sentence


def test_a_bound_outside_its_scope_is_withdrawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Loads 1, 1 are allowed: the judge does not prove 2, 0 without a scope."""

    def unscoped(**parts: object) -> object:
        return Certified.model_validate({**parts, "after": []})

    monkeypatch.setattr(bound_terms, "Certified", unscoped)
    found = explained(ALONE, None, "none; stickiness, load")
    assert (found.statements, found.withdrawn) == ([], 1)


def test_the_best_value_of_an_objective_has_a_scope() -> None:
    given = {"format": "assignment/1", "members": {"a": {"t": [0, 1]}, "b": {}}}
    lag = rebalance(
        {"t": {"partitions": 2, "lag": [5, 5]}},
        {"a": member(["t"]), "b": member(["t"])},
    )
    assert texts(explained(lag, given, "none; stickiness, peak-lag"))[0] == (
        "The peak-lag is 10; the best of an allowed assignment as good in stickiness"
        " is 5."
    )


def test_bug_levels_are_not_loads() -> None:
    """Both a and c hold 3 partitions in some balanced assignment."""
    document = rebalance(
        {"t": 7, "u": 5},
        {
            "a": member(["t", "u"], {"u": [0]}, 1),
            "b": member(["t"]),
            "c": member(["u"]),
            "d": member(["u"]),
        },
    )
    found = texts(explained(document))
    assert found[0] == (
        "All 7 partitions of topic t can only go to a and b. The other topic of these"
        " members, u, goes to members that hold at most as many partitions even so. So"
        " 4, 3 is the most even."
    )
    assert found[2] == (
        "a cannot keep u:0 (1 partition): balance requires that the topic goes to c and"
        " d, which hold at most as many partitions even so."
    )
    naive = Naive(document)
    pairs = [(loads["a"], loads["c"]) for loads in map(naive.loads, naive.balanced())]
    assert (3, 3) in pairs
    assert all(mine >= other for mine, other in pairs)


@pytest.mark.parametrize(
    ("lag", "bound"),
    [
        (
            [10, 1],
            "10 ÷ 2: one partition alone has this lag, with the largest capacity",
        ),
        ([10, 10], "20 ÷ 2: with less, the members could not hold the 2 partitions"),
    ],
)
def test_a_bound_of_capacities_is_not_called_a_lag(lag: list[int], bound: str) -> None:
    document = rebalance(
        {"t": {"partitions": 2, "lag": lag}},
        {"a": member(["t"], capacity=2), "b": member(["t"], capacity=1)},
    )
    (text,) = texts(explained(document, None, "none; peak-lag"))
    assert text.startswith(f"No allowed assignment has a peak-lag below {bound}")


def test_a_bound_of_a_topic_is_not_called_one_of_all_members() -> None:
    document = rebalance(
        {"t": {"partitions": 2, "lag": [10, 10]}},
        {"a": member(["t"]), "b": member(["t"])},
    )
    (text,) = texts(explained(document, None, "per-topic; topic-peak-lag"))
    assert text == (
        "No allowed assignment has a topic-peak-lag below 10: this is the mean of the"
        " lag of topic t over the members that can receive it, rounded up."
    )
