"""The sentence on the causes of a rebalance."""

from __future__ import annotations

import pytest

from oracle.explanation import cause_text, silence_text
from pipeline.causes import KINDS, Cause, Silence

TEXTS = {
    Cause("started", 4): "the group had no members before, and has 4",
    Cause("returned", 1, ("b2",)): "1 member returned within 60 s, b2",
    Cause("left-briefly", 2, ("a", "b")): (
        "2 members left, and returned within 60 s afterwards, a and b"
    ),
    Cause("joined", 30, tuple("abcdefghij")): (
        "30 members joined, a, b, c, d and 26 other members"
    ),
    Cause("left", 1): "1 member left",
    Cause("resubscribed", 1, ("a",), ("t", "u")): (
        "1 member changed its subscription, a, by t and u"
    ),
    Cause("partitions-added", 1, (), ("t",)): "partitions of topic t were added",
    Cause("topics-appeared", 2, (), ("t", "u")): (
        "the assignment before had left out topics t and u"
    ),
    Cause("assignor-changed", 1): "the group selected another assignor",
    Cause("replaced", 1, ("i-2",)): "1 static member restarted, i-2",
    Cause("leader-changed", 1, ("b",)): "b leads now",
    Cause("round", 1): "it is a further round of a cooperative rebalance",
    Cause("restless", 1): (
        "none is recorded, members, subscriptions, assignor, leader, and partitions are"
        " those of the rebalance before"
    ),
    Cause("unknown", 1): "not known, the rebalance before is not in the source",
}


@pytest.mark.parametrize("cause", TEXTS)
def test_texts(cause: Cause) -> None:
    assert cause_text([cause]) == f"Cause: {TEXTS[cause]}."


def test_every_kind_has_a_text() -> None:
    assert [cause.kind for cause in TEXTS] == [*KINDS]


def test_several_causes_are_one_sentence() -> None:
    causes = [Cause("joined", 1, ("c",)), Cause("left", 1, ("b",))]
    assert cause_text(causes) == "Cause: 1 member joined, c; 1 member left, b."


def test_the_last_commit_of_a_member_that_is_gone() -> None:
    assert silence_text([Silence("b", 1, 45_101)]) == (
        "Last commit of b: 45.2 s before. From then on, its 1 partition had no reader"
        " for at most 45.2 partition-seconds, which the harm does not contain."
    )


def test_the_last_commits_of_several_members() -> None:
    assert silence_text([Silence("a", 2, 1_000), Silence("b", 3, 500_000)]) == (
        "Last commits of a and b: 1.0 to 500.0 s before. From then on, their 5"
        " partitions had no reader for at most 1,502.0 partition-seconds, which the"
        " harm does not contain."
    )
