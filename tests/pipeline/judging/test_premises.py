"""Premises of a verdict: partition counts as of the rebalance."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import orjson
import pytest

from pipeline.records import OffsetTombstone
from pipeline.side_files.sidecars import read_topics
from rebalance import DocumentError
from tests.pipeline.audit_files import rows_of
from tests.pipeline.groups import GROUP, Log, commit, group, member, replay
from tests.pipeline.local_audit import local_audit

MINUTE = 60_000
AT_ONCE = '{"from": "2023-11-14T22:13Z", "partitions": 2}'
AGE = 5 * MINUTE
TOPIC = ("t",)
ASSIGNORS = ["range", "roundrobin", "sticky", "cooperative-sticky"]


def audited(
    folder: Path, *logs: Log, topics: dict[str, Any] | None = None
) -> list[dict[str, Any]]:
    """Return verdict, partition count of t, its basis, and newer partitions."""
    source = folder / "source"
    source.mkdir()
    for number, log in enumerate(logs):
        lines = "".join(json.dumps(record) + "\n" for record in log.records)
        (source / f"{number}.jsonl").write_text(lines)
    if topics is not None:
        (source / "topics.json").write_text(json.dumps(topics))
    found = local_audit([source], folder / "out", assignors=["optimum"])
    verdicts = {
        row["rebalance_id"]: row["verdict"]
        for row in rows_of(found, "answers")
        if row["assignor"] == "actual"
    }
    return [
        {
            "group": row["group_id"],
            "verdict": verdicts[row["rebalance_id"]],
            "count": _count(row["instance"]),
            "basis": row["partition_counts"],
            "newer": row["newer_partitions"],
        }
        for row in rows_of(found, "rebalances")
    ]


DOCS = Path(__file__).parents[3] / "docs" / "audit.md"
HISTORIES = "test_histories::test_histories"
IDLE = "test_joined_tables::test_bug_a_group_with_an_idle_member_was_called_balanced"
GAP = "test_joined_tables::test_a_gap_is_judged_only_of_a_group_at_rest"
BETWEEN = "test_snapshots::test_a_state_between_two_rebalances_is_not_judged"
LOGGED = "test_leader_logs::test_what_follows_from_assignments_alone_is_judged"
ROWS = {
    "partition counts": (
        "test_premises::test_a_topic_that_grows",
        "test_premises::test_a_partition_that_was_known_must_be_assigned",
        "test_premises::test_topics_with_times",
        "test_premises::test_what_others_show_later_does_not_count",
        "test_premises::test_partitions_that_only_another_group_was_assigned",
        "test_topic_names::test_counts_of_kafka_4_0_are_recorded",
    ),
    "partition counts without a time": ("test_premises::test_a_topic_that_grows",),
    "metadata of the leader": (
        "test_premises::test_metadata_of_the_leader_can_be_older",
        "test_changing_topics::test_a_leader_with_older_metadata",
    ),
    "existence of a topic": (
        "test_premises::test_a_topic_that_was_deleted_and_created_again",
        "test_premises::test_offsets_that_expire_do_not_show_that_a_topic_was_deleted",
        "test_premises::test_a_subscription_before_the_topic_exists",
        "test_known_counts::test_an_id_of_the_same_name_begins_a_new_topic",
    ),
    "names of topic ids": (
        "test_topic_names::test_a_case_without_names_is_quarantined",
    ),
    "members, subscriptions, static ids, racks of members, assignor, leader": (
        "test_premises::test_all_of_a_member_is_as_of_its_generation",
        "test_compacted::test_what_compaction_removed_is_reported",
    ),
    "topics that a regular expression matches": (HISTORIES,),
    "owners before": (HISTORIES,),
    "committed offsets": (
        "test_stated_instances::test_where_nothing_is_committed_the_reset_decides",
        "test_premises::test_offsets_committed_later_do_not_count",
    ),
    "log ends": (
        "test_stated_instances::test_log_ends_of_another_log_are_not_used",
        "test_stated_instances::test_lag_counts_from_the_committed_offset_to_the_end",
    ),
    "durations (`reached_ms`, `unowned_partition_ms`)": (
        "test_durations::test_durations_of_a_clock_that_goes_back",
        "test_durations::test_durations_of_the_new_protocol",
    ),
    "time that a rebalance lasts (`until`, `lasted_ms`)": (
        HISTORIES,
        "test_lasting::test_times_that_are_not_known",
        "test_lasting::test_an_open_state_lasts_to_the_end_of_all_groups",
    ),
    "causes": (
        "test_causes::test_a_first_generation_after_nothing_known_started_the_group",
        "test_causes::test_after_a_gap_the_cause_is_unknown",
    ),
    "lag of a monitoring system": (
        "test_stated_instances::test_monitored_lag_counts_where_log_ends_are_not_known",
        "test_stated_instances::test_what_monitored_lag_lacks_is_named",
    ),
    "racks of partitions": (
        "test_premises::test_without_racks_of_partitions_no_mismatch_is_counted",
    ),
    "members of a describe text": (
        IDLE,
        "test_joined_tables::test_listed_members_can_refute_balance",
    ),
    "rest of a group in the log of its leader": (LOGGED,),
    "rest of a described group": (GAP, BETWEEN),
    "subscriptions of a described group": (
        "test_joined_tables::test_members_text_states_what_would_hold",
        "test_snapshots::test_what_is_known_without_subscriptions_is_true",
        "test_given_subscriptions::test_what_is_given_completes_a_state",
        "test_given_subscriptions::test_what_contradicts_a_state_is_not_used",
    ),
}
"""Tests of each row of the table of premises in docs/audit.md."""


def test_each_premise_of_the_docs_has_its_tests() -> None:
    section = DOCS.read_text().split("### Premises\n")[1].split("\n### ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")][2:]
    assert [line.split("|")[1].strip() for line in lines] == list(ROWS)
    for name in (name for names in ROWS.values() for name in names):
        module, test = name.split("::")
        found = Path(__file__).parents[1].rglob(f"{module}.py")
        assert any(f"\ndef {test}(" in path.read_text() for path in found), name


def _count(instance: str) -> int | None:
    topics = orjson.loads(instance)["topics"]
    return topics["t"]["partitions"] if "t" in topics else None


def one_member(
    generation: int, count: int, assignor: str = "range", group_id: str = GROUP
) -> Any:
    """Return a generation in which the only member has ``count`` partitions of t."""
    held = {"t": range(count)} if count else {}
    people = member("a", TOPIC, held)
    return group(generation, people, assignor=assignor, group_id=group_id)


def found(*fields: Any) -> dict[str, Any]:
    names = ("verdict", "count", "basis", "newer", "group")
    return dict(zip(names, (*fields, GROUP)[:5], strict=True))


def tombstone(partition: int, group_id: str = GROUP) -> OffsetTombstone:
    return OffsetTombstone(group_id=group_id, topic="t", partition=partition)


@pytest.mark.parametrize("assignor", ASSIGNORS)
@pytest.mark.parametrize("topics", [None, {"t": 5}])
def test_a_topic_that_grows(
    tmp_path: Path, assignor: str, topics: dict[str, int] | None
) -> None:
    log = Log().add(one_member(1, 2, assignor), one_member(2, 5, assignor))
    basis = "lower-bound" if topics is None else "given"
    assert audited(tmp_path, log, topics=topics) == [
        found("valid", 2, "lower-bound", 0),
        found("valid", 5, basis, 0),
    ]


def test_a_partition_that_was_known_must_be_assigned(tmp_path: Path) -> None:
    log = Log().add(one_member(1, 5), one_member(2, 3))
    assert audited(tmp_path, log) == [
        found("valid", 5, "lower-bound", 0),
        found("invalid", 5, "lower-bound", 0),
    ]


@pytest.mark.parametrize(
    ("waited", "expected"),
    [
        (0, found("valid", 2, "lower-bound", 3)),
        (AGE - 2000, found("valid", 2, "lower-bound", 3)),
        (AGE, found("invalid", 5, "lower-bound", 0)),
    ],
)
def test_metadata_of_the_leader_can_be_older(
    tmp_path: Path, waited: int, expected: dict[str, Any]
) -> None:
    """Another group has committed to the new partitions before."""
    other = Log(partition=1).add(commit("t", 0, 1, group_id="other"))
    other.add(commit("t", 4, 1, group_id="other"))
    log = Log().add(one_member(1, 2)).wait(waited + 1000).add(one_member(2, 2))
    assert audited(tmp_path, other, log) == [
        found("valid", 2, "lower-bound", 0),
        expected,
    ]


def test_what_others_show_later_does_not_count(tmp_path: Path) -> None:
    log = Log().add(one_member(1, 2))
    other = Log(partition=1).wait(1000).add(one_member(1, 5, group_id="other"))
    assert audited(tmp_path, other, log)[0] == found("valid", 2, "lower-bound", 0)


def test_topics_with_times(tmp_path: Path) -> None:
    """A count that is given for a time holds then, and the leader can be late."""
    dated = [
        {"from": "2023-11-14T22:13Z", "partitions": 2},  # START_MS is 20 s later
        {"from": "2023-11-14T22:14:00+00:00", "partitions": 5},
    ]
    log = Log().add(one_member(1, 2), one_member(2, 1))
    log.wait(MINUTE).add(one_member(3, 2))
    log.wait(AGE).add(one_member(4, 2), one_member(5, 5))
    assert audited(tmp_path, log, topics={"t": dated}) == [
        found("valid", 2, "given", 0),
        found("invalid", 2, "given", 0),
        found("valid", 2, "given", 3),
        found("invalid", 5, "given", 0),
        found("valid", 5, "given", 0),
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"t": []}', "$.t: "),
        ('{"t": [{"from": "2023-11-14", "partitions": 2}]}', "time zone"),
        ('{"t": [{"from": 5, "partitions": 2}]}', "ISO 8601"),
        ('{"t": [{"from": "soon", "partitions": 2}]}', "$.t[0].from"),
        ('{"t": [{"partitions": 2}]}', "$.t[0].from"),
        ('{"t": [{"from": "2023-11-14T22:13Z", "partitions": -1}]}', "partitions"),
        (f'{{"t": [{AT_ONCE}, {AT_ONCE}]}}', "$.t[1].from: not later"),
    ],
)
def test_damaged_times(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "topics.json"
    path.write_text(text)
    with pytest.raises(DocumentError) as error:
        read_topics(path)
    assert reason in str(error.value)


@pytest.mark.parametrize(
    ("topics", "expected"),
    [
        (None, found("invalid", 8, "lower-bound", 0)),
        ({"t": 4}, found("valid", 4, "given", 0)),
    ],
)
def test_partitions_that_only_another_group_was_assigned(
    tmp_path: Path, topics: dict[str, int] | None, expected: dict[str, Any]
) -> None:
    """Its assignor has assigned partitions that do not exist."""
    other = Log(partition=1).add(one_member(1, 8, group_id="other"))
    log = Log().wait(AGE).add(one_member(1, 4))
    rows = audited(tmp_path, other, log, topics=topics)
    assert [row for row in rows if row["group"] == GROUP] == [expected]


def test_a_topic_that_was_deleted_and_created_again(tmp_path: Path) -> None:
    """Kafka deletes the committed offsets of a topic with the topic."""
    log = Log().add(one_member(1, 4), *[commit("t", n, 7) for n in range(4)])
    log.wait(AGE).add(*[tombstone(n) for n in range(4)]).wait(AGE)
    log.add(one_member(2, 2), commit("t", 1, 1)).wait(AGE).add(one_member(3, 1))
    assert audited(tmp_path, log) == [
        found("valid", 4, "lower-bound", 0),
        found("valid", 2, "lower-bound", 0),
        found("invalid", 2, "lower-bound", 0),
    ]


def test_the_offsets_of_another_group_show_that_a_topic_was_deleted(
    tmp_path: Path,
) -> None:
    """The group itself commits nothing."""
    other = Log(partition=1).add(commit("t", 3, 1, group_id="other")).wait(MINUTE)
    other.add(tombstone(3, "other"))
    log = Log().add(one_member(1, 4)).wait(2 * MINUTE).add(one_member(2, 2))
    assert audited(tmp_path, other, log)[1] == found("valid", 2, "lower-bound", 0)


def test_offsets_that_expire_do_not_show_that_a_topic_was_deleted(
    tmp_path: Path,
) -> None:
    """Those of the group itself remain."""
    other = Log(partition=1).add(commit("t", 3, 1, group_id="other")).wait(MINUTE)
    other.add(tombstone(3, "other"))
    log = Log().add(one_member(1, 4), commit("t", 3, 1))
    log.wait(2 * MINUTE).add(one_member(2, 2))
    assert audited(tmp_path, other, log)[1] == found("invalid", 4, "lower-bound", 0)


def test_a_subscription_before_the_topic_exists(tmp_path: Path) -> None:
    log = Log().add(one_member(1, 0), one_member(2, 3))
    assert audited(tmp_path, log, topics={"t": 3}) == [
        found("valid", None, "lower-bound", 0),
        found("valid", 3, "given", 0),
    ]


def test_a_clock_that_goes_back(tmp_path: Path) -> None:
    """In the group's own order, partitions stay known; to others, only later ones."""
    log = Log().add(one_member(1, 4)).wait(-40 * 24 * 60 * MINUTE)
    log.add(one_member(2, 2))
    other = Log(partition=1).wait(-MINUTE).add(one_member(1, 2, group_id="other"))
    rows = audited(tmp_path, log, other)
    assert [(row["verdict"], row["count"]) for row in rows] == [
        ("invalid", 4), ("valid", 4), ("valid", 2),  # by day
    ]  # fmt: skip


def test_records_without_times(tmp_path: Path) -> None:
    log = Log().add(one_member(1, 2), one_member(2, 4), one_member(3, 3))
    for record in log.records:
        del record["timestamp"]
    assert [(row["verdict"], row["count"]) for row in audited(tmp_path, log)] == [
        ("valid", 2), ("valid", 4), ("invalid", 4),
    ]  # fmt: skip


def test_all_of_a_member_is_as_of_its_generation() -> None:
    """What it states later, or stated before, does not count."""
    first, second = replay(
        group(1, member("a", ["t"], {"t": [0]}, instance_id="one")),
        group(
            2,
            member("b", ["t"], {}),
            member("a", ["u"], {"u": [0]}, instance_id="two"),
            assignor="roundrobin",
        ),
    )
    assert (first.leader, first.client_assignor) == ("a", "range")
    assert (second.leader, second.client_assignor) == ("b", "roundrobin")
    assert first.members is not None
    assert second.members is not None
    assert [
        (m.subscription, m.instance_id)
        for m in (first.members["a"], second.members["a"])
    ] == [(["t"], "one"), (["u"], "two")]
    assert second.members["a"].owned == {}  # another static member


def test_offsets_committed_later_do_not_count() -> None:
    first, second = replay(
        commit("t", 0, 5), one_member(1, 1), commit("t", 0, 9), one_member(2, 1)
    )
    assert first.committed == {"t": [(0, 5)]}
    assert second.committed == {"t": [(0, 9)]}


@pytest.mark.parametrize(("racks", "expected"), [(None, None), ([["x"]], 1)])
def test_without_racks_of_partitions_no_mismatch_is_counted(
    tmp_path: Path, racks: list[list[str]] | None, expected: int | None
) -> None:
    topic = {"partitions": 1} | ({} if racks is None else {"racks": racks})
    instance = {
        "format": "rebalance/1",
        "group": "g",
        "topics": {"t": topic},
        "members": {"a": {"subscription": ["t"], "rack": "y"}},
    }
    (tmp_path / "one.json").write_text(json.dumps(instance))
    out = tmp_path / "out"
    summary = local_audit([tmp_path / "one.json"], out, assignors=["optimum"])
    (row,) = rows_of(summary, "answers")
    assert row["rack_mismatches"] == expected
