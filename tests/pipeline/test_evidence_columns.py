"""Evidence from columns is the judge's, byte for byte.

Reaches into ``verify.balance`` and ``pipeline.evaluation`` to compare the kernels with
the judge's searches, also where partitions are withheld.
"""

from __future__ import annotations

from random import Random

import numpy as np
import orjson
import pytest
from hypothesis import example, given

import verify
from pipeline.evaluation import evidence_text
from pipeline.evaluation.evidence_columns import (
    first_transfer,
    shortest_chain,
)
from rebalance import Int32, Int64, instance_of, rebalance_of
from tests.support.amount import INSTANCES, seeds
from tests.support.shapes import (
    CHAIN,
    EQUAL_LEVEL_BLOCKS,
    LONG_CHAIN,
    SHAPES,
    TWO_LEVELS,
    Document,
    member,
    rebalance,
    shape,
)
from tests.support.strategies import (
    LARGER,
    draw_assignment,
    rebalances_with_assignments,
    seeded_rebalance,
)
from verify.balance import refuting_chain, refuting_transfer

Columns = tuple[Int32, Int64, Int64, Int32, Int64, Int32]


def as_claimed(document: Document) -> Document:
    members = document["members"].items()
    return {
        "members": {name: participant.get("owned", {}) for name, participant in members}
    }


def plain(document: Document) -> Document:
    """Return the rebalance without capacities, and lags, which could be too much."""
    members = {
        name: {key: value for key, value in member.items() if key != "capacity"}
        for name, member in document["members"].items()
    }
    topics = {
        name: {"partitions": topic["partitions"]}
        for name, topic in document["topics"].items()
    }
    return document | {"members": members, "topics": topics}


def withheld(rng: Random, assignment: Document) -> Document:
    """Return the assignment without some of its partitions."""
    kept = rng.choice((0.5, 0.8, 0.95))
    return {
        "members": {
            name: {t: [n for n in held[t] if rng.random() < kept] for t in held}
            for name, held in assignment["members"].items()
        }
    }


def columns_of(document: Document, assignment: Document) -> Columns:
    instance = instance_of(rebalance_of(document))
    assignee = np.full(instance.n_partitions, -1, np.int32)
    load = np.zeros(len(instance.members), np.int64)
    for m, name in enumerate(instance.members):
        for topic, numbers in assignment["members"].get(name, {}).items():
            first = instance.topic_offsets[instance.topics.index(topic)]
            assignee[[first + number for number in numbers]] = m
            load[m] += len(numbers)
    return (
        assignee,
        load,
        instance.topic_offsets,
        instance.member_class,
        instance.class_offsets,
        instance.class_topics,
    )


def with_a_class_of_nobody(columns: Columns) -> Columns:
    """Put a class of all topics, without members, before the others."""
    assignee, load, offsets, member_class, class_offsets, class_topics = columns
    every = np.arange(offsets.size - 1, dtype=np.int32)
    return (
        assignee,
        load,
        offsets,
        member_class + np.int32(1),
        np.r_[0, every.size + class_offsets],
        np.r_[every, class_topics],
    )


def agree(document: Document, assignment: Document) -> Document:
    """Compare the kernels with the judge's searches; return the evidence."""
    document = plain(document)
    case = verify.case_of(document)
    held = verify.columns_of(case, assignment["members"])
    loads = dict.fromkeys(case.wants, 0)
    for name in held.members:
        loads[name] += 1
    transfer = refuting_transfer(case, held, loads)
    chain = refuting_chain(case, held, loads)
    both = {"kip54_balanced": transfer, "dec_min_balanced": chain}
    evidence = {name: found for name, found in both.items() if found is not None}
    text = orjson.dumps(evidence, option=orjson.OPT_SORT_KEYS).decode()
    columns = columns_of(document, assignment)
    for same in (columns, with_a_class_of_nobody(columns)):
        found = evidence_text(
            first_transfer(*same),
            shortest_chain(*same),
            sorted(document["members"]),
            sorted(document["topics"]),
        )
        assert found == (text if evidence else None)
    verdict = verify.judge_case(case, assignment)
    if verdict["verdict"] == "valid":
        assert verdict["evidence"] == evidence
    return evidence


@given(rebalances_with_assignments(LARGER))
@example((CHAIN, as_claimed(CHAIN)))
@example((EQUAL_LEVEL_BLOCKS, as_claimed(EQUAL_LEVEL_BLOCKS)))
@example((TWO_LEVELS, {"members": as_claimed(TWO_LEVELS)["members"] | {"e": {}}}))
def test_evidence_is_the_judges(pair: tuple[Document, Document]) -> None:
    document, assignment = pair
    agree(document, assignment)
    agree(document, withheld(Random(0), assignment))  # noqa: S311


def test_seeds_have_evidence_of_every_sort() -> None:
    """Balanced in each sense or not, with chains of up to five members or more."""
    transfers, lengths = set(), set()
    for seed in seeds(INSTANCES // 4):
        rng = Random(seed)  # noqa: S311
        document = seeded_rebalance(seed, LARGER)
        assignment = draw_assignment(rng, document)
        for answer in (assignment, withheld(rng, assignment)):
            evidence = agree(document, answer)
            transfers.add("kip54_balanced" in evidence)
            lengths.add(len(evidence.get("dec_min_balanced", ())))
    assert transfers == {False, True}
    assert lengths >= {0, 2, 3, 4, 5}


@pytest.mark.parametrize("name", sorted(SHAPES))
def test_evidence_of_every_shape(name: str) -> None:
    """Members without topics, topics without partitions, and hostile names."""
    document = plain(shape(name))
    for seed in range(8):
        rng = Random(seed)  # noqa: S311
        assignment = draw_assignment(rng, document)
        agree(document, assignment)
        agree(document, withheld(rng, assignment))


def test_a_chain_of_eight() -> None:
    evidence = agree(LONG_CHAIN, as_claimed(LONG_CHAIN))
    assert evidence == {"dec_min_balanced": list("hbgcfdea")}


def test_a_giver_is_that_of_the_round_before() -> None:
    """In the last round, b passes on what c gave it, and learns a larger key from d."""
    wants = {"a": "tu", "b": "uvw", "c": "v", "d": "wx", "e": "x"}
    counts = {"t": 3, "u": 4, "v": 5, "w": 5, "x": 6}
    held = {"a": "t", "b": "u", "c": "v", "d": "w", "e": "x"}
    document = rebalance(counts, {name: member(list(t)) for name, t in wants.items()})
    given_out = {name: {t: [*range(counts[t])]} for name, t in held.items()}
    evidence = agree(document, {"members": given_out})
    assert evidence == {"dec_min_balanced": ["c", "b", "a"]}
