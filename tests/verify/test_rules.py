"""Every violation, and nothing else: against rules written one partition at a time."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import verify
from tests.references import naive_judge as naive
from tests.support.shapes import (
    CHAIN,
    DOUBLE_CLAIM,
    EMPTY_TOPIC,
    STALE_CLAIM,
    VANISHED,
    Document,
)
from tests.support.strategies import rebalances_with_assignments

NOBODY: Document = {"format": "assignment/1", "members": {}}
ANY = rebalances_with_assignments(valid=False)


def flat(violation: Document) -> tuple[str, ...]:
    keys = ("rule", "member", "topic", "partition")
    return tuple(str(violation[key]) for key in keys if key in violation)


@given(ANY, st.booleans())
@example((CHAIN, NOBODY), False)
@example((EMPTY_TOPIC, NOBODY), True)
@example((DOUBLE_CLAIM, NOBODY), True)
def test_violations(pair: tuple[Document, Document], cooperative: bool) -> None:
    """Differential: the same violations as one partition at a time."""
    verdict = verify.judge(*pair, cooperative=cooperative)
    found = [flat(violation) for violation in verdict["violations"]]
    assert set(found) == naive.violations(*pair, cooperative=cooperative)
    assert len(found) == len(set(found))
    assert verdict["verdict"] == ("invalid" if found else "valid")


@given(ANY)
def test_violations_come_in_order(pair: tuple[Document, Document]) -> None:
    found = verify.judge(*pair)["violations"]
    keys = [
        (v["rule"], v.get("topic", ""), v.get("partition", -1), v.get("member", ""))
        for v in found
    ]
    assert keys == sorted(keys)


@given(ANY)
def test_unrevoked_names_another_claimant(pair: tuple[Document, Document]) -> None:
    holders = naive.claimants(pair[0], "newest-claim")
    for violation in verify.judge(*pair, cooperative=True)["violations"]:
        if violation["rule"] == "unrevoked":
            rivals = holders[violation["topic"], violation["partition"]]
            assert violation["claimant"] == min(rivals - {violation["member"]})


@given(ANY, st.sampled_from(["newest-claim", "current-generation"]))
@example((STALE_CLAIM, NOBODY), "newest-claim")
@example((VANISHED, NOBODY), "newest-claim")
def test_withheld(pair: tuple[Document, Document], rule: str) -> None:
    instance, assignment = pair
    given_out = {tp for tps in naive.holds(assignment).values() for tp in tps}
    claimed = naive.claimants(instance, rule).keys() | naive.left(instance, rule)
    verdict = verify.judge(*pair, cooperative=True, claim_rule=rule)
    assert verdict["figures"]["withheld"] == len(claimed - given_out)
    assert "withheld" not in verify.judge(*pair)["figures"]
    unassigned = naive.served(instance) - given_out - claimed
    broken = [flat(violation)[1:] for violation in verdict["violations"]]
    listed = [place for place in broken if len(place) == 2]  # no member: unassigned
    assert sorted(listed) == sorted((t, str(n)) for t, n in unassigned)


def test_unknown_claim_rule() -> None:
    with pytest.raises(ValueError, match="claim rule 'oldest'"):
        verify.judge(CHAIN, NOBODY, claim_rule="oldest")
