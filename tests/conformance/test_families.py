"""Families: readable, the same for a seed, and each with what it is named for."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

import verify
from conformance.runs import FAMILIES, Family, drive
from rebalance import parse_rebalance
from tests.conformance.fault import (
    has_left_claims,
    has_lost_claims,
    has_older_claims,
    has_racks,
    has_rival_claims,
    is_mixed,
)
from tests.conformance.subjects import Scripted, optimal
from tests.support.shapes import Document, claims_of, member, rebalance

SMALL = [family for name, family in FAMILIES.items() if name != "large"]
DRAWS = 40


def drawn(family: Family) -> list[Document]:
    return [family.first(7, index) for index in range(DRAWS)]


@pytest.mark.parametrize("name", FAMILIES)
def test_draws_are_documents_and_repeat(name: str) -> None:
    family = FAMILIES[name]
    for index in range(DRAWS if name != "large" else 2):
        document = family.first(7, index)
        parse_rebalance(json.dumps(document))
        assert document["group"] == name
        assert document["members"]
        assert family.first(7, index) == document
        assert family.first(8, index) != document


@pytest.mark.parametrize("name", FAMILIES)
def test_later_steps_claim_the_last_answer(name: str) -> None:
    family = FAMILIES[name]
    if family.steps == 1:
        return
    document = family.first(7, 0)
    held = drive(Scripted(optimal), document).held
    assert held is not None
    after = family.after(document, held, seed=7, index=0, step=1)
    parse_rebalance(json.dumps(after))
    for member_id, topic, number in claims_of(after):
        assert number in held[member_id][topic]


def test_families_have_what_they_are_named_for() -> None:
    """Most draws have it; a small draw can lack it."""
    has: dict[str, Callable[[Document], bool]] = {
        "fresh": lambda d: not any(m.get("owned") for m in d["members"].values()),
        "joiners": lambda d: sum("owned" in m for m in d["members"].values()) == 1,
        "claims": lambda d: any(m.get("owned") for m in d["members"].values()),
        "stale": has_rival_claims,
        "empty": lambda d: any(
            not set(m["subscription"]) & set(d["topics"]) for m in d["members"].values()
        ),
        "deleted": has_lost_claims,
        "left": lambda d: any(
            set(m.get("owned", {})) - set(m["subscription"])
            for m in d["members"].values()
        ),
        "racks": lambda d: any("rack" in m for m in d["members"].values()),
        "static": lambda d: any("instance_id" in m for m in d["members"].values()),
        "shares": is_share_of_one_generation,
        "switched": has_left_claims,
        "generations": lambda d: has_rival_claims(d) and has_older_claims(d),
        "zones": lambda d: is_mixed(d) and has_racks(d),
        "restarted": is_mixed,
        "swarm": is_mixed,
    }
    for name, holds in has.items():
        found = sum(map(holds, drawn(FAMILIES[name])))
        assert found >= DRAWS // 2, (name, found)


def is_share_of_one_generation(document: Document) -> bool:
    """Return whether loads are near-balanced, claims agree, and subscriptions differ.

    A member can have less if others claim all partitions of its topics.
    """
    members = document["members"]
    if (
        has_rival_claims(document)
        or has_left_claims(document)
        or not is_mixed(document)
    ):
        return False
    holders = [member for member in members.values() if "owned" in member]
    held = {
        m: member.get("owned", {}) for m, member in members.items() if "owned" in member
    }
    claimed = {t for claims in held.values() for t in claims}
    figures = verify.judge(
        document
        | {
            "topics": {t: document["topics"][t] for t in claimed},
            "members": {m: members[m] for m in held},
        },
        {"members": held},
    )["figures"]
    least, most = min(figures["loads"]), max(figures["loads"])
    dates = {holder["generation"] for holder in holders}
    return len(dates) == 1 and (figures["kip54_balanced"] or most - least <= 3)


def test_churn_begins_at_an_optimum() -> None:
    """With the members that stayed, most claims are still all kept by the optimum."""
    kept = owned = 0
    for document in drawn(FAMILIES["churn"]):
        outcome = drive(Scripted(optimal), document)
        assert outcome.figures is not None
        kept += outcome.figures["kept"]
        owned += outcome.figures["kept"] + outcome.figures["moves"]
    assert kept > 0.8 * owned


def test_chains_need_chains() -> None:
    """The state of some chains is KIP-54 balanced and not dec-min."""
    found = 0
    for document in drawn(FAMILIES["chains"]):
        held = {m: member.get("owned", {}) for m, member in document["members"].items()}
        figures = verify.judge(document, {"members": held})["figures"]
        is_weak = figures["kip54_balanced"] and not figures["dec_min_balanced"]
        found += bool(is_weak)
    assert found


@pytest.mark.parametrize("family", SMALL, ids=lambda family: family.name)
def test_draws_differ(family: Family) -> None:
    assert len({json.dumps(document) for document in drawn(family)}) > DRAWS * 3 // 4


def test_no_member_of_a_share_claims_twice_or_outside_its_subscription() -> None:
    for document in drawn(FAMILIES["shares"]):
        assert not has_left_claims(document)
        assert not has_rival_claims(document)


def test_generations_start_again_while_the_leader_lives() -> None:
    family = FAMILIES["restarted"]
    assert family.keeps_leader
    restarted = left = 0
    for index in range(DRAWS):
        document = family.first(7, index)
        held = drive(Scripted(optimal), document).held
        assert held is not None
        after = family.after(document, held, seed=7, index=index, step=1)
        restarted += newest(after) < newest(document)
        left += has_left_claims(after)
    assert restarted == DRAWS
    assert left >= DRAWS // 2


def newest(document: Document) -> int:
    return max(
        int(member.get("generation", -1)) for member in document["members"].values()
    )


def test_a_configuration_of_the_swarm_has_its_features_in_all_draws() -> None:
    """Draws i and i + 64 have the same features, and other seeds have others."""
    family = FAMILIES["swarm"]
    racks: dict[int, set[int]] = {}
    for seed in (1, 2):
        racks[seed] = set()
        for configuration in range(family.configurations):
            has = {
                any("racks" in topic for topic in document["topics"].values())
                for document in (
                    family.first(seed, configuration + i * family.configurations)
                    for i in range(3)
                )
            }
            assert len(has) == 1
            if has == {True}:
                racks[seed].add(configuration)
        assert 4 <= len(racks[seed]) <= 32
    assert racks[1] != racks[2]


@pytest.mark.parametrize(
    "name", ["shares", "switched", "generations", "zones", "restarted", "swarm"]
)
def test_bug_a_member_claimed_a_partition_twice(name: str) -> None:
    """A claim that went to another member was added to one that it had."""
    family = FAMILIES[name]
    for index in range(200):
        parse_rebalance(json.dumps(family.first(11, index)))


def test_bug_a_later_generation_without_claims_makes_claims_old() -> None:
    """Only members with claims counted, so a finding in `generations` had no name."""
    document = rebalance(
        {"t": 1, "u": 1},
        {
            "a": member(["t", "u"], owned={"t": [0]}),
            "b": member(["t"], generation=1),
        },
    )
    assert has_older_claims(document)
    document["members"]["a"]["generation"] = 1
    assert not has_older_claims(document)
