"""Shrinking by structure: no single step is left, and restarts find what is smaller.

Reaches into `conformance.shrinking` to compare its steps and its order of sizes with an
enumeration of all single steps by other code.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from hashlib import sha256
from itertools import product
from pathlib import Path
from random import Random

import orjson
import pytest

from conformance import unusual_shapes
from conformance.shrinking import reduce_rebalance
from conformance.shrinking.reduction import RESTART_TESTS
from conformance.shrinking.size_order import size_of
from conformance.shrinking.structural_steps import SIDEWAYS, STRUCTURE
from rebalance import parse_rebalance
from tests.references.sticky import Endless, General
from tests.support.amount import seeds
from tests.support.shapes import Document, claims_of, member, rebalance
from tests.support.strategies import seeded_rebalance

Holds = Callable[[Document], bool]


def canonical(document: Document) -> bytes:
    return orjson.dumps(document, option=orjson.OPT_SORT_KEYS)


def partitions_of(document: Document) -> list[int]:
    return [topic["partitions"] for topic in document["topics"].values()]


def members_merged(document: Document) -> Iterator[Document]:
    """Merge each two members, by other code than that of shrinking."""
    for kept, gone in product(document["members"], repeat=2):
        if kept == gone:
            continue
        copy = json.loads(json.dumps(document))
        one, other = copy["members"][kept], copy["members"].pop(gone)
        for topic in other["subscription"]:
            if topic not in one["subscription"]:
                one["subscription"].append(topic)
        if "owned" in one or "owned" in other:
            mine = one.setdefault("owned", {})
            for topic, numbers in other.get("owned", {}).items():
                mine[topic] = sorted(set(mine.get(topic, [])) | set(numbers))
        yield copy


def members_removed(document: Document) -> Iterator[Document]:
    for name in document["members"]:
        left = {m: member for m, member in document["members"].items() if m != name}
        yield document | {"members": left}


def last_partitions_removed(document: Document) -> Iterator[Document]:
    """Remove the last partition of one topic, or of two."""
    topics = [t for t, topic in document["topics"].items() if topic["partitions"]]
    for some in {tuple(sorted({t, u})) for t in topics for u in topics}:
        copy = json.loads(json.dumps(document))
        for topic in some:
            one = copy["topics"][topic]
            one["partitions"] -= 1
            end = one["partitions"]
            for field in ("lag", "racks"):
                if field in one:
                    del one[field][end:]
            for claimant in copy["members"].values():
                owned = claimant.get("owned", {})
                numbers = owned.get(topic, [])
                left = [n if n < end else n - 1 for n in numbers if n != end]
                owned.pop(topic, None)
                if left:
                    owned[topic] = left
        yield copy


def generations_dropped(document: Document) -> Iterator[Document]:
    stated = {member.get("generation") for member in document["members"].values()}
    for generation in stated - {None}:
        copy = json.loads(json.dumps(document))
        for entry in copy["members"].values():
            if entry.get("generation") == generation:
                del entry["generation"]
                entry.pop("owned", None)
        yield copy


def subscriptions_made_equal(document: Document) -> Iterator[Document]:
    for name, other in product(document["members"], repeat=2):
        copy = json.loads(json.dumps(document))
        copy["members"][name]["subscription"] = list(
            document["members"][other]["subscription"]
        )
        yield copy


STEPS = (
    members_removed,
    members_merged,
    last_partitions_removed,
    generations_dropped,
    subscriptions_made_equal,
)


def arbitrary(seed: int) -> Holds:
    """Return a property that holds of a third of all rebalances, without a pattern."""

    def holds(document: Document) -> bool:
        parse_rebalance(json.dumps(document))  # every candidate is a document
        digest = sha256(str(seed).encode() + canonical(document)).digest()
        return digest[0] % 3 == 0

    return holds


def test_no_single_step_is_left() -> None:
    """A smaller rebalance that holds is more than one step away, by brute force."""
    n_reduced = 0
    for seed in seeds(120):
        document = seeded_rebalance(seed)
        holds = arbitrary(seed)
        if not holds(document):
            continue
        found = reduce_rebalance(document, holds)
        assert found.is_minimal
        assert holds(found.rebalance)
        size = size_of(found.rebalance)
        assert size <= size_of(document)
        for step in STEPS:
            for candidate in step(found.rebalance):
                assert size_of(candidate) >= size or not holds(candidate), (
                    seed,
                    step.__name__,
                )
        n_reduced += size < size_of(document)
    assert n_reduced >= 10


WIDE = rebalance(
    {"t": 9, "u": 7, "v": 2},
    {
        "a": member(["t", "u"], {"t": [0, 1, 2]}, 3),
        "b": member(["t"], {"t": [3, 4]}, 3),
        "c": member(["u", "v"], {"u": [0, 1]}, 2),
        "d": member(["v"], {"v": [0]}, 2),
        "e": member(["t", "v"]),
    },
)


def merged_claims(document: Document) -> bool:
    """Five claims in all, whoever has them."""
    return len(claims_of(document)) >= 5


def difference_of_two(document: Document) -> bool:
    """Two topics whose sizes differ by exactly two: both shrink, or neither does."""
    sizes = partitions_of(document)
    return len(sizes) == 2 and min(sizes) >= 1 and max(sizes) - min(sizes) == 2


@pytest.mark.parametrize(
    ("holds", "document", "size"),
    [
        # What can be merged does not have to be removed.
        (merged_claims, WIDE, (1, 5, 1, 5)),
        (
            difference_of_two,
            WIDE | {"topics": {"t": {"partitions": 9}, "u": {"partitions": 7}}},
            (0, 4, 2, 0),
        ),
    ],
)
def test_structure_reaches_what_removals_do_not(
    holds: Holds, document: Document, size: tuple[int, ...]
) -> None:
    assert holds(document)
    found = reduce_rebalance(document, holds)
    assert found.is_minimal
    assert size_of(found.rebalance)[:4] == size


def sizes_apart(document: Document) -> bool:
    """A valley: it holds of small rebalances only if a name belongs to another."""
    members = document["members"]
    owners = [name for name in sorted(members) if members[name].get("owned")]
    if len(members) < 2 or len(owners) != 1:
        return False
    if owners[0] == min(members):
        return sum(partitions_of(document)) >= 2
    return sum(partitions_of(document)) >= 5


def test_a_restart_leaves_a_local_minimum() -> None:
    """The owner comes first by name in the smallest instance, and last in this one."""
    document = rebalance(
        {"t": 8}, {"x": member(["t"]), "y": member(["t"], {"t": [0]}, 1)}
    )
    alone = reduce_rebalance(document, sizes_apart, restarts=0)
    assert alone.is_minimal
    assert sum(partitions_of(alone.rebalance)) == 5
    found = reduce_rebalance(document, sizes_apart)
    assert found.is_minimal
    assert sum(partitions_of(found.rebalance)) == 2


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_restarts_never_make_it_larger(seed: int) -> None:
    for number in seeds(12):
        document = seeded_rebalance(number)
        holds = arbitrary(number + seed)
        if not holds(document):
            continue
        alone = reduce_rebalance(document, holds, restarts=0)
        more = reduce_rebalance(document, holds, seed=seed)
        assert size_of(more.rebalance) <= size_of(alone.rebalance)
        assert more.tests <= (1 + RESTART_TESTS) * alone.tests
        assert more.is_minimal


def test_the_same_seed_gives_the_same_bytes() -> None:
    def reduced(seed: int) -> bytes:
        return orjson.dumps(reduce_rebalance(WIDE, arbitrary(seed)).rebalance)

    seed = next(seed for seed in range(100) if arbitrary(seed)(WIDE))
    assert reduced(seed) == reduced(seed)


class _Clock:
    """Time that passes by one second per look at it."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        self.now += 1.0
        return self.now


def test_the_time_limit_ends_restarts_but_not_the_result(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What the first descent has found stays minimal when a restart is cut."""
    whole = reduce_rebalance(WIDE, merged_claims, restarts=0)
    clock = _Clock()
    monkeypatch.setattr(time, "monotonic", clock.monotonic)
    cut = reduce_rebalance(WIDE, merged_claims, seconds=whole.tests + 4, early=1.0)
    assert cut.is_minimal
    assert cut.rebalance == whole.rebalance
    assert whole.tests < cut.tests <= whole.tests + 4
    late = reduce_rebalance(WIDE, merged_claims, seconds=7 * whole.tests)
    assert late == whole
    early = reduce_rebalance(WIDE, merged_claims, seconds=9 * whole.tests)
    assert early == reduce_rebalance(WIDE, merged_claims)
    short = reduce_rebalance(WIDE, merged_claims, seconds=3)
    assert not short.is_minimal
    assert merged_claims(short.rebalance)
    assert short.tests <= 3


def test_every_candidate_is_a_rebalance() -> None:
    for seed in seeds(20):
        document = seeded_rebalance(seed)
        for step in (*STRUCTURE, *SIDEWAYS):
            for candidate in step(document):
                parse_rebalance(json.dumps(candidate))


def test_sideways_steps_change_no_more_than_a_subscription() -> None:
    random = Random(1)  # noqa: S311
    for seed in seeds(20):
        document = seeded_rebalance(seed)
        for step in SIDEWAYS:
            candidates = list(step(document))
            for candidate in random.sample(candidates, min(5, len(candidates))):
                before, after = size_of(document), size_of(candidate)
                assert after[:2] == before[:2]
                assert after[3] == before[3]
                assert after[4] - before[4] in (0, 1)


DRAWN = Path(__file__).parents[1] / "data" / "shrinking" / "drawn-hang.json"
"""A rebalance of 9 members and 78 partitions, to which Kafka's sticky has no answer."""


@pytest.mark.heavy
def test_a_drawn_hang_loses_most_members_and_partitions() -> None:
    """What hangs is the slow walk of Kafka's sticky assignor, in place of Kafka."""

    def hangs(document: Document) -> bool:
        if not document["members"] or unusual_shapes(document):
            return False
        try:
            General(document, as_upstream=True, most_moves=400).build()
        except Endless:
            return True
        return False

    document = json.loads(DRAWN.read_text(encoding="utf-8"))
    assert hangs(document)
    found = reduce_rebalance(document, hangs, restarts=0)
    assert found.is_minimal
    assert hangs(found.rebalance)
    members, partitions, topics, *_ = size_of(found.rebalance)
    assert members <= 5
    assert partitions <= 26
    assert topics <= 3
