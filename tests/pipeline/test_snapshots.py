"""Snapshots: what describe text proves, and what records of the same group add."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import assume, given

from pipeline.cases import NOT_REPORTED, REPORTED, SNAPSHOT, Case
from pipeline.describe.group_case import case_of
from pipeline.describe.record_states import with_record_states
from pipeline.judging.instances import ClusterFacts
from pipeline.records import GroupMember, GroupMetadata
from tests.pipeline.cluster_facts import UNKNOWN, usual_settings
from tests.pipeline.describe.describe_text import MEMBERS, members, read, state, table
from tests.pipeline.groups import Log, group, member
from tests.pipeline.judging.judged_cases import judge_case_rows
from tests.pipeline.local_reading import cases_of, read_paths
from tests.pipeline.recorded import facts_of, facts_with, reconstructed
from tests.pipeline.test_sources import jsonl
from tests.support.strategies import rebalances_with_assignments
from tests.support.wire import RECORDINGS, TESTS
from verify import judge

Row = dict[str, Any]
DESCRIBE = TESTS / "data/churn-describe"


def rows_in(*paths: Path) -> list[Row]:
    """Read and reconstruct sources, as one task of an audit does."""
    found = reconstructed(read_paths(paths))
    return list(with_record_states(found, facts_of(found).names))


def cases_in(*paths: Path) -> list[Case]:
    return cases_of(rows_in(*paths))


def judged(case: Case, facts: ClusterFacts = UNKNOWN) -> tuple[Row, list[Row]]:
    """Return the rows of a snapshot and of its members; there are no others."""
    (name, row), *others = judge_case_rows(case, usual_settings(facts))
    assert name == "snapshots", row
    assert {other for other, _ in others} <= {"members"}
    return row, [member_row for _, member_row in others]


def snapshots_in(*paths: Path, given: dict[str, int] | None = None) -> dict[str, Row]:
    rows = rows_in(*paths)
    facts = facts_with(given or {}, rows)
    states = [case for case in cases_of(rows) if case.owned_from == SNAPSHOT]
    return {case.rebalance_id: judged(case, facts)[0] for case in states}


@cache
def churn() -> tuple[dict[str, Row], dict[str, Row]]:
    """Return the snapshots of the recording, from text alone and with its records."""
    sizes = orjson.loads((RECORDINGS / "churn/topics.json").read_bytes())
    alone = snapshots_in(DESCRIBE, given=sizes)
    return alone, snapshots_in(DESCRIBE, RECORDINGS / "churn", given=sizes)


@pytest.mark.heavy
def test_what_text_proves_is_true_by_the_records() -> None:
    alone, both = churn()
    assert alone.keys() == both.keys()
    refuted = 0
    for name, row in alone.items():
        assert (row["subscriptions"], row["state_of"]) == (NOT_REPORTED, None)
        assert row["verdict"] == "unknown", name
        for balance in ("kip54_balanced", "dec_min_balanced"):
            assert row[balance] in (None, False)
            if row[balance] is False and both[name]["state_of"]:
                assert both[name][balance] is False, name
                refuted += 1
    assert refuted == 12


@pytest.mark.heavy
def test_snapshots_that_equal_subscriptions_would_call_unbalanced() -> None:
    """Half of them are balanced by the records, so it is never a verdict."""
    alone, both = churn()
    assert len(alone) == 38
    called = {k for k, row in alone.items() if row["balanced_if_equal"] is False}
    assert {alone[name]["dec_min_balanced"] for name in called} == {None}
    balanced = {name for name in called if both[name]["dec_min_balanced"]}
    assert (len(called), len(balanced)) == (10, 5)


@pytest.mark.heavy
def test_a_state_of_the_records_is_found_with_its_subscriptions() -> None:
    _, both = churn()
    found = {name: row for name, row in both.items() if row["state_of"]}
    assert len(found) == 33
    assert sum("/next-" in name for name in found) == 7  # of the new protocol
    rebalances = {
        case.rebalance_id: case
        for case in cases_in(RECORDINGS / "churn")
        if case.owned_from != SNAPSHOT
    }
    for row in found.values():
        assert rebalances[row["state_of"]].group_id == row["group_id"]
        assert (row["at_rest"], row["members_listed"]) == ("records", "all")
        assert (row["verdict"] == "valid") == (row["subscriptions"] == REPORTED)
    # These states are those of two rebalances, before and after a subscription changed.
    unsure = {n for n, row in found.items() if row["subscriptions"] == NOT_REPORTED}
    assert unsure == {
        "churn-describe/describe-1.txt/mix-coop",
        "churn-describe/members-2.txt/next-uniform",
    }


@pytest.mark.heavy
def test_a_state_between_two_rebalances_is_not_judged() -> None:
    """Of five, no record says when; three lack a reader of some partitions."""
    alone, both = churn()
    between = {name for name, row in both.items() if row["state_of"] is None}
    assert between == {
        "churn-describe/describe-1.txt/nightly-batch",
        "churn-describe/describe-2.txt/feed-coop",
        "churn-describe/describe-2.txt/upgrade-726",
        "churn-describe/members-2.txt/feed-coop",
        "churn-describe/members-2.txt/search-sticky",
    }
    for name in between:
        row = both[name]
        assert (row["verdict"], row["dec_min_balanced"]) == ("unknown", None)
        assert row["undetermined"].startswith("no rebalance in the records")
        assert alone[name]["verdict"] == "unknown"


@pytest.mark.heavy
@given(rebalances_with_assignments())
def test_what_is_known_without_subscriptions_is_true(drawn: tuple[Row, Row]) -> None:
    """Compare with the same valid assignment under the subscriptions drawn."""
    document, assignment = drawn
    assume(len(document["members"]) > 0)
    for entry in document["members"].values():
        entry.pop("capacity", None)  # Kafka's members have none
    verdict = judge(document, assignment)
    assert verdict["verdict"] == "valid"
    row, people = judged(snapshot_of(assignment["members"]))
    assert row["verdict"] == "unknown"
    assert row["violations"] == []
    for balance in ("kip54_balanced", "dec_min_balanced"):
        assert row[balance] is None or row[balance] is verdict["figures"][balance]
        assert row[balance] is not True
    loads = verdict["figures"]["loads"]
    assert row["loads"] == loads
    is_even = max(loads, default=0) - min(loads, default=0) <= 1
    assert row["balanced_if_equal"] in (None, is_even)
    assert (row["balanced_if_equal"] is None) == (row["dec_min_balanced"] is False)
    assert all(
        participant["subscription"] is participant["owned"] is None
        for participant in people
    )


@pytest.mark.heavy
@given(rebalances_with_assignments(valid=False))
def test_violations_in_text_are_violations_indeed(drawn: tuple[Row, Row]) -> None:
    """A gap or a partition held twice is one under every subscription that fits."""
    document, assignment = drawn
    assume(assignment["members"].keys() & document["members"].keys())
    held = {
        name: {
            topic: sorted(set(numbers))
            for topic, numbers in member.items()
            if topic in document["members"].get(name, {}).get("subscription", ())
        }
        for name, member in assignment["members"].items()
        if name in document["members"]
    }
    row, _ = judged(snapshot_of(held))
    if row["verdict"] == "invalid":
        assert row["kip54_balanced"] is row["dec_min_balanced"] is None
        fits = judge(document, assignment | {"members": held})
        assert fits["verdict"] == "invalid"


def snapshot_of(held: Row) -> Case:
    """Return what text states about members that hold these partitions."""
    text = members(
        *(
            (name, sum(map(len, topics.values())), assignment_text(topics))
            for name, topics in held.items()
        )
    )
    (snapshot,), strays = read(members=text, state=state("Stable", len(held)))
    assert strays == []
    return case_of(snapshot)


def assignment_text(held: Row) -> str:
    parts = (f"{t}:{','.join(map(str, n))}" for t, n in held.items() if n)
    return ";".join(parts) or "-"


def test_only_one_member_subscribes_to_a_topic(tmp_path: Path) -> None:
    """Text alone: cannot be determined. With the group's records: balanced."""
    held: Row = {"a-1": {"t": [0, 1, 2, 3], "u": [0]}, "b-1": {"v": [0]}}
    topics = {"a-1": ["t", "u"], "b-1": ["v", "w"]}
    (tmp_path / "g.txt").write_text(
        members(
            *((m, 5 if m == "a-1" else 1, assignment_text(h)) for m, h in held.items())
        )
        + state("Stable", 2)
    )
    (alone,) = snapshots_in(tmp_path).values()
    assert (alone["verdict"], alone["dec_min_balanced"]) == ("unknown", None)
    log = Log().add(
        group(
            1, member("a-1", ["t", "u"], {"t": [0, 1, 2, 3], "u": [0]}), group_id="g"
        ),
        group(2, *(member(m, topics[m], held[m]) for m in held), group_id="g"),
    )
    (tmp_path / "r.jsonl").write_text(jsonl(log.records))
    (both,) = snapshots_in(tmp_path).values()
    assert (both["verdict"], both["dec_min_balanced"]) == ("valid", True)
    assert (both["state_of"], both["subscriptions"]) == ("0/1", REPORTED)


def record_states(tmp_path: Path, *generations: GroupMetadata) -> Row:
    """Return the snapshot of a, b with t 0, 1 next to these generations."""
    (tmp_path / "r.jsonl").write_text(jsonl(Log().add(*generations).records))
    names = (*MEMBERS[:2], "GROUP-INSTANCE-ID", *MEMBERS[2:])
    rows = [("g", "a", "x", "/h", "a", 1, "t:0"), ("g", "b", "", "/h", "b", 1, "t:1")]
    (tmp_path / "g.txt").write_text(table(names, rows))
    (row,) = snapshots_in(tmp_path).values()
    return row


def generation(number: int, *people: GroupMember) -> GroupMetadata:
    return group(number, *people, group_id="g")


def test_states_that_are_not_the_same(tmp_path: Path) -> None:
    a, b = member("a", ["t"], {"t": [0]}), member("b", ["t"], {"t": [1]})
    same = record_states(tmp_path, generation(1, a, b), generation(2, a))
    assert same["state_of"] == "0/0"
    for others in (
        (a,),
        (a, b, member("c", ["t"], {})),
        (member("a", ["t"], {"t": [1]}), member("b", ["t"], {"t": [0]})),
        (a, member("c", ["t"], {"t": [1]})),
    ):
        row = record_states(tmp_path, generation(1, *others))
        assert (row["state_of"], row["subscriptions"]) == (None, NOT_REPORTED)
    returned = member("a-2", ["t"], {"t": [0]}, instance_id="x")
    assert record_states(tmp_path, generation(1, returned, b))["state_of"] == "0/0"


def test_subscriptions_that_changed_without_a_trace_are_not_reported(
    tmp_path: Path,
) -> None:
    a, b = member("a", ["t"], {"t": [0]}), member("b", ["t"], {"t": [1]})
    wider = member("b", ["t", "u"], {"t": [1]})
    for people in ([(a, b), (a, wider)], [(a, b), (a, wider), (a, wider)]):
        row = record_states(
            tmp_path, *(generation(n, *who) for n, who in enumerate(people, start=1))
        )
        assert row["state_of"] == f"0/{len(people) - 1}"
        assert row["subscriptions"] == NOT_REPORTED
