"""What is stated of an invalid assignment: claims, readers, finding, and numbers.

Reaches into `oracle.explanation` for the class of a statement, to compare it with the
documents.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

import verify
from oracle.explanation.improvement_records import Violated
from tests.references.naive_explanations import explained
from tests.support.amount import seeds, share
from tests.support.shapes import Document, member, rebalance
from tests.support.strategies import TINY, draw_assignment, seeded_rebalance

FINDINGS = Path(__file__).resolve().parents[3] / "docs" / "findings"
CLAIMED_TWICE = rebalance(
    {"t": 1, "u": 3},
    {
        "a": member(["t"], {"t": [0]}),
        "b": member(["t", "u"], {"t": [0], "u": [0]}, 1),
    },
)
LEFT = rebalance(
    {"t": 2, "u": 1},
    {
        "a": member(["t"], {"u": [0], "t": [7]}, 1),
        "b": member(["u"]),
        "c": member(["t"]),
    },
)
UNCLAIMED = rebalance({"t": 2, "u": 1}, {"a": member(["t"]), "b": member(["u"])})


@pytest.mark.parametrize(
    ("document", "members", "sentence"),
    [
        pytest.param(
            CLAIMED_TWICE,
            {"a": {"t": [0]}, "b": {"t": [0], "u": [0, 1, 2]}},
            "Invalid: assigned-twice, t:0, member b. Claims on t:0: b (generation 1), a"
            " (no generation). a and b read it at the same time: its records are"
            " processed twice. This is the pattern of"
            " docs/findings/double-claims-assigned-twice.md.",
            id="claimed-twice",
        ),
        pytest.param(
            LEFT,
            {"a": {"u": [0]}, "b": {}, "c": {"t": [0, 1]}},
            "Invalid: unsubscribed, u:0, member a. Claims on u:0: a (generation 1). a"
            " does not subscribe to the topic, so no member reads it. This is the"
            " pattern of docs/findings/left-topic-claims.md.",
            id="left-topic",
        ),
        pytest.param(
            LEFT,
            {"a": {"t": [7]}, "b": {"u": [0]}, "c": {"t": [0, 1]}},
            "Invalid: unknown-partition, t:7, member a. Claims on t:7: a (generation"
            " 1). The partition does not exist: there is nothing to read. This is the"
            " pattern of docs/findings/missing-partition-claims.md.",
            id="missing-partition",
        ),
        pytest.param(
            UNCLAIMED,
            {"a": {"t": [0]}, "b": {"t": [1]}},
            "Invalid: unassigned, u:0. No member claims u:0. No member reads it: its"
            " records wait until another rebalance. This is the pattern of"
            " docs/findings/leader-topics-only.md.",
            id="leader-topics",
        ),
        pytest.param(
            UNCLAIMED,
            {"a": {"t": [0, 1]}, "b": {"u": [0]}, "x": {}},
            "Invalid: unknown-member, member x. It is not in the group, so nobody reads"
            " its partitions.",
            id="unknown-member",
        ),
    ],
)
def test_the_cause_the_readers_and_the_finding(
    document: Document, members: Document, sentence: str
) -> None:
    found = explained(document, {"format": "assignment/1", "members": members})
    assert found.withdrawn == 0
    assert sentence in [statement.text for statement in found.statements]


def test_partitions_are_counted_as_on_the_page() -> None:
    """Two members too many have each of two partitions: four violations, two places."""
    document = rebalance({"t": 2}, {name: member(["t"]) for name in "abc"})
    members = {name: {"t": [0, 1]} for name in "abc"}
    found = explained(document, {"format": "assignment/1", "members": members})
    (one,) = found.statements
    assert isinstance(one, Violated)
    assert (one.count, one.partitions) == (4, 2)
    assert "(4 violations of this rule, on 2 partitions)" in one.text


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
