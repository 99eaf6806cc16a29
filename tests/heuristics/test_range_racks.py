"""Range for members and replicas with racks (KIP-881).

The examples are those of ``RangeAssignorTest`` (Kafka 4.0), named as there.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from random import Random

import pytest
from hypothesis import example, given

from tests.heuristics.routes import assigned, faults, layable, without_racks
from tests.references.heuristics import Held, size
from tests.references.range_racks import needs_racks, range_, takers
from tests.support import last_drawn
from tests.support.examples import costly
from tests.support.shapes import Document, member, rebalance
from tests.support.strategies import LARGER, Limits, seeded_rebalance

A_B_C = ["a", "b", "c"]


def spread(
    counts: dict[str, int], replicas: int, brokers: list[str], *, start: int = 0
) -> dict[str, Document]:
    """Lay replicas around the brokers, each topic from where the last one ended."""
    starts = accumulate(counts.values(), initial=start)
    return {
        topic: {
            "partitions": count,
            "racks": [
                sorted({brokers[(i + j + at) % len(brokers)] for j in range(replicas)})
                for i in range(count)
            ],
        }
        for (topic, count), at in zip(counts.items(), starts, strict=False)
    }


def group(
    topics: dict[str, Document], racks: list[str | None], wanted: list[list[str]]
) -> Document:
    members: Document = {}
    for i, (rack, topic_names) in enumerate(zip(racks, wanted, strict=True)):
        members[f"consumer{i}"] = member([t for t in topic_names if t in topics])
        if rack is not None:
            members[f"consumer{i}"]["rack"] = rack
    return rebalance(topics, members)


def read(listed: list[str]) -> Held:
    """Read what upstream's tests write: ``t1-0, t1-3, t2-1`` for each consumer."""
    held: Held = {}
    for i, line in enumerate(listed):
        mine = held.setdefault(f"consumer{i}", {})
        for partition in line.split(", "):
            topic, number = partition.rsplit("-", 1)
            mine.setdefault(topic, []).append(int(number))
    return held


UNEVEN = {"t1": 6, "t2": 7, "t3": 2}
ALL_UNEVEN = [["t1", "t2", "t3"]] * 3
WITHOUT_T2 = [*ALL_UNEVEN[:2], ["t1", "t3"]]
FIVES = {"t1": 5, "t2": 5, "t3": 5}


@pytest.mark.parametrize(
    ("counts", "wanted", "replicas", "brokers", "expected"),
    [
        pytest.param(
            UNEVEN,
            ALL_UNEVEN,
            1,
            A_B_C,
            [
                "t1-0, t1-3, t2-0, t2-3, t2-6",
                "t1-1, t1-4, t2-1, t2-4, t3-0",
                "t1-2, t1-5, t2-2, t2-5, t3-1",
            ],
            id="UniformSubscription-1",
        ),
        pytest.param(
            UNEVEN,
            ALL_UNEVEN,
            2,
            A_B_C,
            [
                "t1-0, t1-2, t2-0, t2-2, t2-3, t3-1",
                "t1-1, t1-3, t2-1, t2-4, t3-0",
                "t1-4, t1-5, t2-5, t2-6",
            ],
            id="UniformSubscription-2",
        ),
        pytest.param(
            UNEVEN,
            ALL_UNEVEN,
            3,
            ["a", "b"],
            [
                "t1-0, t1-1, t2-0, t2-1, t2-2, t3-0",
                "t1-2, t1-3, t2-3, t2-4, t3-1",
                "t1-4, t1-5, t2-5, t2-6",
            ],
            id="UniformSubscription-OneRackWithoutPartitions",
        ),
        pytest.param(
            UNEVEN,
            WITHOUT_T2,
            1,
            A_B_C,
            [
                "t1-0, t1-3, t2-0, t2-2, t2-3, t2-6",
                "t1-1, t1-4, t2-1, t2-4, t2-5, t3-0",
                "t1-2, t1-5, t3-1",
            ],
            id="NonEqualSubscription-1",
        ),
        pytest.param(
            UNEVEN,
            WITHOUT_T2,
            2,
            A_B_C,
            [
                "t1-0, t1-2, t2-0, t2-2, t2-3, t2-5, t3-1",
                "t1-1, t1-3, t2-1, t2-4, t2-6, t3-0",
                "t1-4, t1-5",
            ],
            id="NonEqualSubscription-2",
        ),
        pytest.param(
            FIVES,
            ALL_UNEVEN,
            1,
            A_B_C,
            [
                "t1-0, t1-1, t2-0, t2-1, t3-0, t3-1",
                "t1-2, t1-3, t2-2, t2-3, t3-2, t3-3",
                "t1-4, t2-4, t3-4",
            ],
            id="UniformPartitions-1",
        ),
        pytest.param(
            FIVES,
            WITHOUT_T2,
            1,
            A_B_C,
            [
                "t1-0, t1-1, t2-0, t2-1, t2-4, t3-0, t3-1",
                "t1-2, t1-3, t2-2, t2-3, t3-2, t3-3",
                "t1-4, t3-4",
            ],
            id="UniformPartitionsNonEqualSubscription-1",
        ),
        pytest.param(
            FIVES,
            WITHOUT_T2,
            2,
            A_B_C,
            [
                "t1-2, t2-0, t2-1, t2-3, t3-2",
                "t1-0, t1-3, t2-2, t2-4, t3-0, t3-3",
                "t1-1, t1-4, t3-1, t3-4",
            ],
            id="UniformPartitionsNonEqualSubscription-2",
        ),
    ],
)
def test_rack_aware_assignment_with(
    counts: dict[str, int],
    wanted: list[list[str]],
    replicas: int,
    brokers: list[str],
    expected: list[str],
) -> None:
    document = group(spread(counts, replicas, brokers), list(A_B_C), wanted)
    assert assigned("range", document) == read(expected)


CO_PARTITIONED = {"t1": 6, "t2": 6, "t3": 2, "t4": 2}


@pytest.mark.parametrize(
    ("wanted", "replicas", "brokers", "expected"),
    [
        pytest.param(
            [["t1", "t2"], ["t1", "t2"], ["t3", "t4"], ["t3", "t4"]],
            1,
            ["a", "b"],
            [
                "t1-0, t1-2, t1-4, t2-0, t2-2, t2-4",
                "t1-1, t1-3, t1-5, t2-1, t2-3, t2-5",
                "t3-1, t4-1",
                "t3-0, t4-0",
            ],
            id="pairs",
        ),
        pytest.param(
            [list(CO_PARTITIONED)] * 4,
            2,
            ["a", "b"],
            [
                "t1-0, t1-1, t2-0, t2-1, t3-0, t4-0",
                "t1-2, t1-3, t2-2, t2-3, t3-1, t4-1",
                "t1-4, t2-4",
                "t1-5, t2-5",
            ],
            id="all-on-all-racks",
        ),
        pytest.param(
            [list(CO_PARTITIONED)] * 4,
            1,
            ["a", "b"],
            [
                "t1-0, t1-2, t2-0, t2-2, t3-0, t4-0",
                "t1-1, t1-3, t2-1, t2-3, t3-1, t4-1",
                "t1-5, t2-5",
                "t1-4, t2-4",
            ],
            id="all",
        ),
        pytest.param(
            [list(CO_PARTITIONED)] * 4,
            1,
            A_B_C,
            [
                "t1-0, t1-3, t2-0, t2-3, t3-0, t4-0",
                "t1-1, t1-4, t2-1, t2-4, t3-1, t4-1",
                "t1-2, t2-2",
                "t1-5, t2-5",
            ],
            id="all-one-rack-without-members",
        ),
    ],
)
def test_rack_aware_assignment_with_co_partitioning(
    wanted: list[list[str]], replicas: int, brokers: list[str], expected: list[str]
) -> None:
    topics = spread(CO_PARTITIONED, replicas, brokers)
    document = group(topics, ["a", "b", "b", "a"], wanted)
    assert assigned("range", document) == read(expected)


@pytest.mark.parametrize(
    "names",
    [["consumer1", "consumer2", "consumer3"], ["consumer1", "consumer5", "consumer4"]],
)
def test_rack_aware_static_member_range_assignment_persistent(
    names: list[str],
) -> None:
    topics: dict[str, Document] = {}
    for topic in ("topic1", "topic2"):
        topics |= spread({topic: 5}, 2, A_B_C)
    members = {
        name: member(list(topics)) | {"instance_id": f"instance{i}", "rack": rack}
        for i, (name, rack) in enumerate(zip(names, A_B_C, strict=True))
    }
    assert assigned("range", rebalance(topics, members)) == {
        names[0]: {"topic1": [0, 2], "topic2": [0, 2]},
        names[1]: {"topic1": [1, 3], "topic2": [1, 3]},
        names[2]: {"topic1": [4], "topic2": [4]},
    }


@pytest.mark.parametrize(
    ("replicas", "brokers", "racks"),
    [
        pytest.param(3, A_B_C, [None, None, None], id="no-consumer-rack"),
        pytest.param(3, A_B_C, ["", "", ""], id="empty-consumer-racks"),
        pytest.param(3, A_B_C, list(A_B_C), id="all-on-all-racks"),
        pytest.param(4, [*A_B_C, "d"], list(A_B_C), id="on-more-racks"),
        pytest.param(1, A_B_C, ["d", "e", "f"], id="no-rack-shared"),
        pytest.param(1, A_B_C, [None, "e", "f"], id="no-rack-shared-one-untold"),
        pytest.param(1, ["", "b"], ["", "", ""], id="an-empty-name-is-no-rack"),
    ],
)
@pytest.mark.parametrize("wanted", [ALL_UNEVEN, WITHOUT_T2])
def test_non_rack_aware_assignment(
    replicas: int, brokers: list[str], racks: list[str | None], wanted: list[list[str]]
) -> None:
    document = group(spread(UNEVEN, replicas, brokers), racks, wanted)
    assert assigned("range", document) == assigned("range", without_racks(document))


# Faults, kept.

ON_TWO_RACKS = {"t": {"partitions": 2, "racks": [["a"], ["b"]]}}


def test_a_member_without_rack_takes_partitions_in_the_rack_of_a_later_one() -> None:
    document = group(ON_TWO_RACKS, [None, "a"], [["t"], ["t"]])
    assert assigned("range", document) == read(["t-0", "t-1"])


def test_co_partitioned_topics_are_matched_for_another_topics_need() -> None:
    """All of u and v is on racks a and b; only t, which nobody shares, needs racks."""
    everywhere = {"partitions": 2, "racks": [["a", "b"]] * 2}
    topics = {"u": everywhere, "v": everywhere}
    wanted = [["u", "v"], ["u", "v"], ["t"]]
    racks: list[str | None] = ["c", "a", "a"]
    calm = assigned("range", group(topics, racks, wanted))
    assert calm == {**read(["u-0, v-0", "u-1, v-1"]), "consumer2": {}}
    stirred = assigned("range", group(topics | ON_TWO_RACKS, racks, wanted))
    assert stirred == read(["u-1, v-1", "u-0, v-0", "t-0, t-1"])


# Against the slow walk, and what holds whatever the racks are.


def with_more_racks(document: Document, seed: int) -> Document:
    """Draw more racks, and more topics of equal size."""
    rng = Random(seed)  # noqa: S311
    names = ["", "a", "b", "c", "d"][rng.randrange(2) : rng.randint(3, 5)]
    fixed = rng.randint(1, 9)
    topics = {}
    for topic, about in document["topics"].items():
        count = fixed if rng.randrange(2) else about["partitions"]
        racks = [rng.sample(names, rng.randrange(1, len(names))) for _ in range(count)]
        topics[topic] = {"partitions": count, "racks": racks}
    members = {
        m: member | ({"rack": rng.choice(names)} if rng.randrange(5) else {})
        for m, member in document["members"].items()
    }
    changed: Document = document | {"topics": topics, "members": members}
    last_drawn.note(changed, seed)
    return changed


def drawn(count: int) -> Iterator[Document]:
    limits = Limits(members=6, topics=5, partitions=9)
    for seed in range(count):
        yield with_more_racks(seeded_rebalance(seed, limits), seed)


def test_on_rebalances_with_many_racks() -> None:
    n_moved = 0
    for document in drawn(250):
        held = assigned("range", document)
        assert held == range_(document)
        assert faults(document, held) == []
        n_moved += held != assigned("range", without_racks(document))
    assert n_moved > 75


@costly()
@example(next(drawn(1)))
@given(layable(LARGER))
def test_quotas_hold_whatever_the_racks_are(document: Document) -> None:
    held = assigned("range", document)
    for topic in document["topics"]:
        everybody = takers(document, topic)
        counts = [len(held[m].get(topic, [])) for m in everybody]
        if everybody:
            share, n_extra = divmod(size(document, topic), len(everybody))
            assert sorted(counts, reverse=True) == [
                share + (i < n_extra) for i in range(len(everybody))
            ]


def test_equal_topics_of_equal_subscribers_are_co_partitioned() -> None:
    for document in drawn(250):
        held = assigned("range", document)
        seen: dict[tuple[int, ...], list[list[int]]] = {}
        for topic in document["topics"]:
            everybody = takers(document, topic)
            indices = sorted(document["members"])
            kind = (size(document, topic), *(indices.index(m) for m in everybody))
            split = [held[m].get(topic, []) for m in everybody]
            assert seen.setdefault(kind, split) == split


def test_racks_matter_in_enough_drawn_instances() -> None:
    needing = sum(any(needs_racks(d, t) for t in d["topics"]) for d in drawn(250))
    assert needing > 150
