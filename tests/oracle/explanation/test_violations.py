"""What is stated of an invalid assignment: claims, readers, finding, and numbers.

Reaches into `oracle.explanation` for the class of a statement, to compare it with the
documents.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import verify
from oracle.explanation.improvement_records import Violated
from tests.references.naive_explanations import explained
from tests.support.amount import seeds, share
from tests.support.shapes import Document
from tests.support.strategies import TINY, draw_assignment, seeded_rebalance

FINDINGS = Path(__file__).resolve().parents[3] / "docs" / "findings"


def test_what_is_stated_agrees_with_the_documents() -> None:
    """Claims, holders and readers, looked up again; each finding has a page."""
    rules: set[str] = set()
    for seed in seeds(share(10, 20)):
        rng = Random(seed)  # noqa: S311
        document = seeded_rebalance(seed, TINY)
        members = draw_assignment(rng, document)["members"]
        for held in members.values():
            for topic in list(held):
                if rng.random() < 0.3:
                    del held[topic]
        names = sorted(members)
        for topic, about in document["topics"].items():
            if names and rng.random() < 0.3:
                held = members[rng.choice(names)].setdefault(topic, [])
                held.append(rng.randrange(about["partitions"] + 1))
        found = explained(document, {"format": "assignment/1", "members": members})
        assert found.withdrawn == 0
        broken = verify.judge(document, {"members": members})["violations"]
        assert (found.answer == "invalid") == bool(broken)
        if broken:
            named = {getattr(statement, "rule", "") for statement in found.statements}
            assert named == {violation["rule"] for violation in broken}
        for statement in found.statements:
            if isinstance(statement, Violated) and statement.topic is not None:
                _check(document, members, statement)
                rules.add(statement.rule)
    assert rules >= {"unassigned", "assigned-twice", "unknown-partition"}


def _check(document: Document, members: Document, violated: Violated) -> None:
    topic, group = violated.topic, document["members"]
    claims = {
        name: about.get("generation", -1)
        for name, about in group.items()
        if violated.partition in about.get("owned", {}).get(topic, [])
    }
    assert {claim.member: claim.generation for claim in violated.claims} == claims
    held = {m for m in members if violated.partition in members[m].get(topic, [])}
    assert set(violated.holders) == held
    if violated.rule != "unknown-partition":
        wanting = {m for m in held if topic in group[m]["subscription"]}
        assert set(violated.readers) == wanting
        assert ("read it at the same time" in violated.text) == (
            violated.rule == "assigned-twice" and len(wanting) > 1
        )
    assert violated.finding is None or (FINDINGS / f"{violated.finding}.md").is_file()
