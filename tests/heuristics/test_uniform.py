"""The coordinator's uniform assignor (KIP-848).

The examples are those of group-coordinator's tests of the two builders, whose member
ids are in order there too: they do not depend on the random topic ids, and hold for
Kafka 4.3 as well.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from heuristics import ASSIGNORS
from rebalance import figures_of
from solver import solve
from tests.heuristics.routes import (
    faults,
    fits,
    held_by,
    instance,
    layable,
    load,
    with_equal_subscriptions,
)
from tests.references.heuristics import Held, believed, most_kept_in_balance
from tests.references.uniform import uniform
from tests.support import last_drawn
from tests.support.shapes import CHAIN, NINE_TEN_ELEVEN, Document, member, rebalance
from tests.support.strategies import LARGER, TINY, seeded_rebalance

UNIFORM = ASSIGNORS["uniform"]


def agrees(document: Document) -> None:
    """Assert that it answers as the reference does, for equal subscriptions, too."""
    for comparable in (document, with_equal_subscriptions(document)):
        assert UNIFORM.refuses(instance(comparable)) is None
        held = held_by(UNIFORM, comparable)
        assert held == uniform(comparable)
        assert faults(comparable, held) == []


EQUAL = [
    pytest.param(
        {"t1": 3, "t3": 2},
        [member(["t1", "t3"])] * 2,
        # Until 4.0 the first had the one more; now who need not have it leaves it.
        [{"t1": [0, 1]}, {"t1": [2], "t3": [0, 1]}],
        id="FirstAssignmentTwoMembersTwoTopics",
    ),
    pytest.param(
        {"t3": 2},
        [member(["t3"])] * 3,
        [{}, {"t3": [0]}, {"t3": [1]}],
        id="FirstAssignmentNumMembersGreaterThanTotalNumPartitions",
    ),
    pytest.param(
        {"t1": 3, "t2": 3},
        [
            member(["t1", "t2"], {"t1": [0, 1], "t2": [0, 1]}),
            member(["t1", "t2"], {"t1": [2], "t2": [2]}),
        ],
        [{"t1": [0, 1], "t2": [0]}, {"t1": [2], "t2": [1, 2]}],
        id="GivenUnbalancedPrevAssignment",
    ),
    pytest.param(
        {"t1": 3, "t2": 3},
        [
            member(["t1", "t2"], {"t1": [0, 2], "t2": [0]}),
            member(["t1", "t2"], {"t1": [1], "t2": [1, 2]}),
            member(["t1", "t2"]),
        ],
        [{"t1": [0, 2]}, {"t1": [1], "t2": [1]}, {"t2": [0, 2]}],
        id="WhenOneMemberAddedAfterInitialAssignment",
    ),
    pytest.param(
        {"t1": 2, "t2": 2},
        [
            member(["t2"], {"t1": [0], "t2": [0]}),
            member(["t2"], {"t1": [1], "t2": [1]}),
        ],
        [{"t2": [0]}, {"t2": [1]}],
        id="WhenOneSubscriptionRemoved",
    ),
]

MIXED = [
    pytest.param(
        {"t1": 3, "t3": 6},
        [member(["t1", "t3"]), member(["t3"])],
        [{"t1": [0, 1, 2], "t3": [4]}, {"t3": [0, 1, 2, 3, 5]}],
        id="FirstAssignmentTwoMembersTwoTopics",
    ),
    pytest.param(
        {"t1": 2, "t3": 1},
        [member(["t3"]), member(["t3"]), member(["t1"])],
        [{"t3": [0]}, {}, {"t1": [0, 1]}],
        id="FirstAssignmentNumMembersGreaterThanTotalNumPartitions",
    ),
    pytest.param(
        {"t1": 6, "t2": 4, "t3": 4},
        [
            member(["t1"], {"t1": [0, 1, 2]}),
            member(["t1", "t2"], {"t1": [3], "t2": [0]}),
            member(
                ["t1", "t2", "t3"],
                {"t1": [4, 5], "t2": [1, 2, 3], "t3": [0, 1, 2, 3]},
            ),
        ],
        [
            {"t1": [0, 1, 2, 5]},
            {"t1": [3], "t2": [0, 1, 2, 3]},
            {"t1": [4], "t3": [0, 1, 2, 3]},
        ],
        id="GivenUnbalancedPrevAssignment",
    ),
    pytest.param(
        {"t1": 6, "t2": 5, "t3": 3, "t4": 3},
        [
            member(["t1", "t3"], {"t1": [0, 1, 2, 3], "t3": [0, 1]}),
            member(["t1", "t2", "t3", "t4"], {"t2": [0, 1, 2], "t4": [0, 1, 2]}),
        ],
        [
            {"t1": [0, 1, 2, 3, 4, 5], "t3": [0, 1, 2]},
            {"t2": [0, 1, 2, 3, 4], "t4": [0, 1, 2]},
        ],
        id="WhenPartitionsAreAddedForTwoMembers",
    ),
    pytest.param(
        {"t1": 6, "t2": 7},
        [
            member(["t1"], {"t1": [0, 2], "t2": [0]}),
            member(["t1", "t2"], {"t1": [1], "t2": [1, 2]}),
            member(["t1", "t2"]),
        ],
        [
            {"t1": [0, 2, 3, 4, 5]},
            {"t1": [1], "t2": [1, 2, 6]},
            {"t2": [0, 3, 4, 5]},
        ],
        id="WhenOneMemberAddedAndPartitionsAdded",
    ),
    pytest.param(
        {"t1": 3, "t2": 5},
        [
            member(["t1"], {"t1": [0, 2], "t2": [1, 3]}),
            member(["t1", "t2"], {"t1": [1], "t2": [0, 2, 4]}),
        ],
        [{"t1": [0, 1, 2]}, {"t2": [0, 1, 2, 3, 4]}],
        id="WhenOneSubscriptionRemoved",
    ),
]


@pytest.mark.parametrize(("counts", "members", "expected"), EQUAL + MIXED)
def test_upstream_example(
    counts: dict[str, int],
    members: list[Document],
    expected: list[dict[str, list[int]]],
) -> None:
    named = dict(zip("ABC", members, strict=False))
    held = held_by(UNIFORM, rebalance(counts, named))
    assert list(held.values()) == expected


# What it promises.


@settings(deadline=None)
@given(layable(TINY).map(with_equal_subscriptions))
def test_equal_subscriptions_keep_the_most_that_balance_allows(
    document: Document,
) -> None:
    held, owned = held_by(UNIFORM, document), believed(document)
    kept = sum(
        len(set(held[m].get(topic, ())) & set(numbers))
        for m in owned
        for topic, numbers in owned[m].items()
    )
    assert kept == most_kept_in_balance(document)


def test_equal_subscriptions_are_as_good_as_the_proved_optimum() -> None:
    for seed in range(60):
        plain = seeded_rebalance(seed, LARGER)
        document = last_drawn.note(with_equal_subscriptions(plain), seed)
        if not fits(document):
            continue
        for entry in document["members"].values():
            entry.pop("capacity", None)  # upstream knows none
        laid_out = instance(document)
        counted = figures_of(laid_out, UNIFORM.assign(laid_out))
        proved = figures_of(laid_out, solve(laid_out).require_assignment())
        assert (counted.loads, counted.kept) == (proved.loads, proved.kept)


def transfers_left(document: Document, held: Held) -> int:
    """Count single transfers that would even two loads (KIP-54)."""
    return sum(
        load(mine) - load(held[other]) > 1
        for mine in held.values()
        for topic in mine
        for other, about in document["members"].items()
        if topic in about["subscription"]
    )


def test_mixed_subscriptions_are_balanced_in_kip_54s_sense() -> None:
    for document in filter(fits, (seeded_rebalance(i, LARGER) for i in range(150))):
        assert transfers_left(document, held_by(UNIFORM, document)) == 0


# Known faults, kept.


def loads(held: Held) -> list[int]:
    return sorted((load(mine) for mine in held.values()), reverse=True)


def test_a_chain_is_not_seen() -> None:
    """Loads 2, 1, 1, 0 stay, though 1, 1, 1, 1 is possible; so do 11, 10, 9."""
    assert loads(held_by(UNIFORM, CHAIN)) == [2, 1, 1, 0]
    assert loads(held_by(UNIFORM, NINE_TEN_ELEVEN)) == [11, 10, 9]


def test_the_turns_end_at_sixteen() -> None:
    """Each pass moves partitions by one member: the upper half stays uneven."""
    rungs = 40
    counts = {f"t{i:02}": 60 for i in range(rungs)}
    members = {
        f"m{i:02}": member(
            [t for t in (f"t{i - 1:02}", f"t{i:02}") if t in counts],
            {f"t{i:02}": list(range(60))} if i < rungs else {},
            1,
        )
        for i in range(rungs + 1)
    }
    document = rebalance(counts, members)
    held = held_by(UNIFORM, document)
    assert faults(document, held) == []
    assert transfers_left(document, held) > 0
    assert [load(held[m]) for m in list(members)[: rungs - 16]] == [60] * (rungs - 16)


def test_it_moves_more_than_the_least() -> None:
    """u is evened first and moves u:2; t:0 alone, to C, would have given 2, 1, 1."""
    members = {
        "A": member(["t", "u"], {"t": [0], "u": [1, 2]}),
        "B": member(["u"]),
        "C": member(["t"]),
    }
    held = held_by(UNIFORM, rebalance({"t": 1, "u": 3}, members))
    assert held == {"A": {"u": [1]}, "B": {"u": [0, 2]}, "C": {"t": [0]}}


# Not copied.


def test_a_subscription_to_a_missing_topic_brings_nothing() -> None:
    """Upstream raises: ``PartitionAssignorException``."""
    members = {"A": member(["t", "gone"]), "B": member(["gone"]), "C": member([])}
    held = held_by(UNIFORM, rebalance({"t": 2}, members))
    assert held == {"A": {"t": [0, 1]}, "B": {}, "C": {}}


def test_members_that_differ_in_missing_topics_alone_count_as_equal() -> None:
    """Upstream assigns by load here, and A receives t:0 and t:2."""
    members = {"A": member(["t", "gone"]), "B": member(["t"])}
    held = held_by(UNIFORM, rebalance({"t": 3}, members))
    assert held == {"A": {"t": [0]}, "B": {"t": [1, 2]}}
