"""A region contains all that its balance allows, and is no wider than stated.

Reaches into `verify.policy` to compare its load bounds with enumeration.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import example, given

import verify
from solver import solve
from tests.references.brute import Brute
from tests.solver.routes import instance
from tests.support.examples import shared_by
from tests.support.shapes import CHAIN, SHAPES, TWO_LEVELS, Document
from tests.support.strategies import SMALL, TINY, rebalances
from verify.certificate import Pool
from verify.policy.feasible_region import Region, even_limits, region_of
from verify.policy.notation import read_policy

BALANCES = ("dec-min", "per-topic", "none", "kip54", "spread=1")


def bare(document: Document) -> Document:
    """Return the document without what no region asks for."""
    about = {
        name: {"partitions": t["partitions"]} for name, t in document["topics"].items()
    }
    return document | {"topics": about}


def certificate_of(document: Document) -> Document:
    found: Document = (
        solve(instance(document))
        .require_certificate()
        .to_document(instance(document))
        .model_dump(exclude_none=True)
    )
    return found


def region(document: Document, balance: str) -> Region:
    case = verify.case_of(document)
    name = read_policy(balance).balance
    proof = certificate_of(document) if balance == "dec-min" else None
    return region_of(case, name, proof)


def held(loads: Mapping[tuple[str, str], int], pool: Pool, name: str) -> int:
    return sum(loads.get((name, topic), 0) for topic in pool.topics)


@pytest.mark.parametrize("balance", BALANCES)
@shared_by(len(BALANCES))
@given(rebalances(TINY))
@example(CHAIN)
@example(TWO_LEVELS)
@example(SHAPES["NOTHING"])
def test_what_is_allowed_is_in_the_region(balance: str, document: Document) -> None:
    brute, found = Brute(bare(document)), region(bare(document), balance)
    for tally in brute.balanced(read_policy(balance)):
        for name, topic in tally.loads:
            assert name in found.eligible[topic]
        for pool in found.pools:
            loads = {name: held(tally.loads, pool, name) for name in pool.limits}
            assert sum(loads.values()) == pool.units
            for name, (least, most) in pool.limits.items():
                assert least <= loads[name] <= most
    assert set(found.eligible) == {
        topic for pool in found.pools for topic in pool.topics
    }


@given(rebalances(SMALL))
def test_one_subscription_needs_no_certificate(document: Document) -> None:
    """Arithmetic and the certificate give the same region."""
    wanted = sorted(document["topics"])
    everybody = {
        m: v | {"subscription": wanted} for m, v in document["members"].items()
    }
    document = bare(document) | {"members": everybody}
    case = verify.case_of(document)
    by_sum = region_of(case, "dec-min")
    assert not by_sum.is_open or not by_sum.pools
    by_levels = region(document, "dec-min")
    assert by_sum == by_levels


def test_shares_by_capacity() -> None:
    """Keys: 1/4 2/4 3/4, then 4/4 before the two 1/1, which stand for each other."""
    weights = {"a": 4, "b": 1, "c": 1}
    assert even_limits(3, weights) == {"a": (2, 3), "b": (0, 0), "c": (0, 0)}
    assert even_limits(4, weights) == {"a": (3, 4), "b": (0, 0), "c": (0, 0)}
    assert even_limits(5, weights) == {"a": (4, 4), "b": (0, 1), "c": (0, 1)}
    assert even_limits(7, weights) == {"a": (4, 5), "b": (1, 1), "c": (1, 1)}


def test_without_certificate_levels_are_unknown() -> None:
    case = verify.case_of(CHAIN)
    assert region_of(case, "dec-min").is_open
    assert not region_of(case, "dec-min", certificate_of(CHAIN)).is_open
