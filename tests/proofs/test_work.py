"""Both judges stop at the same step: terms and certificates that count racks."""

from __future__ import annotations

import pytest

from tests.proofs.drawn_pairs import Pair
from tests.support.shapes import Document
from tests.verify.racked_groups import (
    answer_by_certificate,
    answer_by_terms,
    far_owners,
    numbered,
    own_racks,
)
from tools import verdicts

pytestmark = pytest.mark.heavy

BOTH: Document = {"stickiness": 1, "rack": 1}


def of_terms(
    group: Document, policy: str, count: int, most: int, **term: object
) -> Pair:
    """Return an answer whose terms have rising bounds: the last accepted is seen."""
    terms = [{"bound": number - most, **term} for number in range(count)]
    return group, answer_by_terms(group, policy, "rack", terms)


def listing(racks: int) -> Document:
    """Return a group of one partition, whose replicas list many racks."""
    group = own_racks(1)
    group["topics"]["t"]["racks"] = [numbered(racks, "r")]
    return group


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize(
    ("pair", "accepted"),
    [
        (of_terms(own_racks(5000), "none; rack", 3, 3, kind="separate"), 1),
        (
            of_terms(
                own_racks(5000),
                "per-topic; rack",
                3,
                3,
                kind="prices",
                weight={"rack": 1},
            ),
            1,
        ),
        (of_terms(listing(500_000), "none; rack", 110, 110, kind="separate"), 99),
    ],
    ids=["separate", "prices", "listed"],
)
def test_terms_that_are_within_the_limit(pair: Pair, accepted: int) -> None:
    ((found, odd),) = verdicts.compared([pair])
    assert odd == []
    (level,) = found["objectives"]
    terms = pair[1]["objectives"][0]["proof"]["terms"]
    assert level["bound"] == terms[accepted - 1]["bound"]


@pytest.mark.usefixtures("compiled")
def test_certificates_that_are_within_the_limit() -> None:
    """6,000 * 6,001 names are too many; those of all others are few."""
    proved = []
    for group in (own_racks(300), far_owners(300), far_owners(6000)):
        size = group["topics"]["t"]["partitions"]
        loads = [1] * size + [0] * (len(group["members"]) - size)
        mismatched = 0 if group["group"] == "own racks" else size
        policy = "none; stickiness + rack, load"
        values: list[object] = [mismatched, loads]
        pair = group, answer_by_certificate(group, policy, values, BOTH)
        ((found, odd),) = verdicts.compared([pair])
        assert odd == []
        proved.append([level["proved"] for level in found["objectives"]])
    assert proved == [[True, True], [True, True], [False, False]]
