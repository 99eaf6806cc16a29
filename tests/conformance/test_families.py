"""Families: readable, the same for a seed, and each with what it is named for."""

from __future__ import annotations

import json

import pytest

import verify
from conformance.runs import FAMILIES, Family, drive
from rebalance import parse_rebalance
from tests.conformance.subjects import Scripted, optimal
from tests.shapes import Document

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
    for member, one in after["members"].items():
        for topic, numbers in one.get("owned", {}).items():
            assert set(numbers) <= set(held[member][topic])


def test_families_have_what_they_are_named_for() -> None:
    """Most draws have it; a small draw can lack it."""
    has = {
        "fresh": lambda d: not any(m.get("owned") for m in d["members"].values()),
        "joiners": lambda d: sum("owned" in m for m in d["members"].values()) == 1,
        "claims": lambda d: any(m.get("owned") for m in d["members"].values()),
        "stale": has_rivals,
        "empty": lambda d: any(
            not set(m["subscription"]) & set(d["topics"]) for m in d["members"].values()
        ),
        "deleted": lambda d: any(
            topic not in d["topics"] or max(ns) >= d["topics"][topic]["partitions"]
            for m in d["members"].values()
            for topic, ns in m.get("owned", {}).items()
        ),
        "left": lambda d: any(
            set(m.get("owned", {})) - set(m["subscription"])
            for m in d["members"].values()
        ),
        "racks": lambda d: any("rack" in m for m in d["members"].values()),
        "static": lambda d: any("instance_id" in m for m in d["members"].values()),
    }
    for name, holds in has.items():
        found = sum(map(holds, drawn(FAMILIES[name])))
        assert found >= DRAWS // 2, (name, found)


def has_rivals(document: Document) -> bool:
    members = document["members"].values()
    claims = [
        (t, n) for m in members for t, ns in m.get("owned", {}).items() for n in ns
    ]
    return len(claims) > len(set(claims))


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
        held = {m: one.get("owned", {}) for m, one in document["members"].items()}
        figures = verify.judge(document, {"members": held})["figures"]
        is_weak = figures["kip54_balanced"] and not figures["dec_min_balanced"]
        found += bool(is_weak)
    assert found


@pytest.mark.parametrize("family", SMALL, ids=lambda family: family.name)
def test_draws_differ(family: Family) -> None:
    assert len({json.dumps(one) for one in drawn(family)}) > DRAWS * 3 // 4
