"""Instances that are stated of cases: partition counts, and lag."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pipeline.cases import Case
from pipeline.judging.instance_batch import instance_of_case
from pipeline.judging.instances import ClusterFacts
from pipeline.judging.partition_counts import CountSources
from pipeline.known_counts import KnownCounts
from pipeline.side_files.lag_metrics import LagOfGroups
from pipeline.side_files.sidecars import LogsFile
from rebalance import (
    DocumentError,
    OffsetReset,
    rebalance_of,
    to_json,
)
from tests.pipeline.cluster_facts import UNKNOWN, always, facts
from tests.pipeline.groups import GROUP, group, member, replay
from tests.pipeline.judging.judged_cases import document_case, only_case
from tests.support.shapes import CHAIN, LAG

FACTS = facts({"t": 4, "u": 2})


def lags(case: Case, facts: ClusterFacts) -> dict[str, list[int] | None]:
    return {
        name: t.lag for name, t in instance_of_case(case, facts).document.topics.items()
    }


def test_a_case_has_the_size_limit_of_instances() -> None:
    counts = {"t": 2, "u": 2}
    with pytest.raises(DocumentError, match="above the limit 3"):
        _ = instance_of_case(only_case(), facts(counts, max_partitions=3)).document
    assert instance_of_case(only_case(), facts(counts, max_partitions=4)).document


def test_partition_counts_are_given_or_lower_bounds() -> None:
    case = only_case()
    counts = CountSources(dated=always({"t": 4}), shown=always({"t": 9, "u": 2}))
    instance = instance_of_case(case, ClusterFacts(counts=counts))
    sizes = {name: t.partitions for name, t in instance.document.topics.items()}
    assert sizes == {"t": 4, "u": 2}
    assert instance.partition_counts == "lower-bound"
    assert instance_of_case(case, FACTS).partition_counts == "lower-bound"  # of "gone"
    assert (
        instance_of_case(case, facts({"t": 4, "u": 2, "gone": 1})).partition_counts
        == "given"
    )


def test_lag_counts_from_the_committed_offset_to_the_end() -> None:
    logs = {
        "t": {0: (0, 100), 1: (0, 100), 2: (90, 100), 3: (50, 100)},
        "u": {0: (0, 7), 1: (0, 0)},
    }
    case = only_case(("t", 0, 30), ("t", 1, 100), ("t", 2, 10), ("u", 0, 7))
    known = facts({"t": 4, "u": 2}, logs=LogsFile(ends=logs))
    assert lags(case, known) == {"t": [70, 0, 10, 50], "u": [0, 0]}
    instance = instance_of_case(case, known)
    assert (instance.lag_known, instance.lag_basis) == (True, "end-of-recording")


def test_log_ends_of_another_log_are_not_used() -> None:
    """The log was truncated, the topic created again, or the ends are older."""
    case = only_case(("t", 0, 101), ("u", 0, 1))
    logs = {"t": {0: (0, 100)}, "u": {0: (0, 1)}}
    known = facts({"t": 1, "u": 1}, logs=LogsFile(ends=logs))
    assert lags(case, known) == {"t": None, "u": [0]}
    at = case.at
    assert at is not None
    read = replace(known, logs=LogsFile(ends=logs, at=at))
    assert lags(case, read) == {"t": None, "u": [0]}
    read = replace(known, logs=LogsFile(ends=logs, at=at - 1))
    assert lags(case, read) == {"t": None, "u": None}
    again = KnownCounts({"u": ((at, 1), (at + 1, 0))})
    counts = replace(known.counts, shown=again)
    assert lags(case, replace(known, counts=counts)) == {"t": None, "u": None}


@pytest.mark.parametrize(
    ("reset", "untouched"), [("earliest", 50), ("latest", 0), ("none", 50)]
)
def test_where_nothing_is_committed_the_reset_decides(
    reset: str, untouched: int
) -> None:
    logs = {"t": {0: (0, 100), 1: (50, 100)}, "u": {0: (0, 0)}}
    known = facts(
        {"t": 2, "u": 1}, logs=LogsFile(ends=logs), offset_reset=OffsetReset(reset)
    )
    assert lags(only_case(("t", 0, 30)), known) == {"t": [70, untouched], "u": [0]}


def test_lag_of_a_topic_is_all_or_nothing() -> None:
    case = only_case(("t", 0, 30))
    logs = {"t": {0: (0, 100)}, "u": {0: (0, 1)}}
    known = facts({"t": 2, "u": 1}, logs=LogsFile(ends=logs))
    assert lags(case, known) == {"t": None, "u": [1]}
    instance = instance_of_case(case, known)
    assert (instance.lag_known, instance.lag_basis) == (False, None)


def test_no_log_ends_no_lag() -> None:
    assert lags(only_case(("t", 0, 1)), FACTS) == {"t": None, "u": None}


def test_monitored_lag_counts_where_log_ends_are_not_known() -> None:
    monitored = {GROUP: {"t": {0: 5, 1: 6}, "u": {0: 1}}, "other": {"u": {1: 1}}}
    case = only_case(("t", 0, 30), ("u", 0, 4))
    known = facts({"t": 2, "u": 1}, monitored=monitored)
    assert lags(case, known) == {"t": [5, 6], "u": [1]}
    assert instance_of_case(case, known).lag_basis == "monitored"
    with_ends = replace(known, logs=LogsFile(ends={"u": {0: (0, 9)}}))
    assert lags(case, with_ends) == {"t": [5, 6], "u": [5]}
    assert instance_of_case(case, with_ends).lag_basis == "monitored"
    assert instance_of_case(case, known).lag_missing is None


@pytest.mark.parametrize(
    ("monitored", "missing"),
    [
        ({GROUP: {"t": {0: 5, 1: 6}, "u": {0: 1}}}, "u 1"),
        ({GROUP: {"t": {0: 5, 1: 6}}}, "u 0, 1"),
        ({GROUP: {"t": {1: 6}}}, "t 0; u 0, 1"),
        ({"other": {"t": {0: 5}}}, None),
        ({}, None),
    ],
)
def test_what_monitored_lag_lacks_is_named(
    monitored: LagOfGroups, missing: str | None
) -> None:
    case = only_case(("t", 0, 30), ("u", 0, 4))
    instance = instance_of_case(case, facts({"t": 2, "u": 2}, monitored=monitored))
    assert not instance.lag_known
    assert instance.lag_missing == missing


def test_of_many_partitions_without_lag_some_are_named() -> None:
    case = only_case(("t", 0, 30), ("u", 0, 4))
    known = facts({"t": 20, "u": 1}, monitored={GROUP: {"t": {3: 1}, "u": {0: 1}}})
    assert instance_of_case(case, known).lag_missing == "t 0, 1, 2, 4, 5 and 14 more"


def test_lag_of_a_snapshot() -> None:
    (plain,) = replay(group(1, member("a", ["t"], {"t": [0, 1]})))
    case = document_case(CHAIN)
    case = Case(
        rebalance_id="r",
        group_id="g",
        source_kind="describe",
        source="s",
        owned_from="snapshot",
        members=plain.members,
        lag={"t": [(0, 5), (1, 6)]},
    )
    instance = instance_of_case(case, FACTS)
    assert instance.document.topics["t"].lag == [5, 6]
    assert instance.lag_basis == "snapshot"
    assert (
        instance_of_case(replace(case, least_sizes={"t": 3}), UNKNOWN).lag_basis is None
    )


def test_the_instance_of_a_document_is_the_document() -> None:
    instance = instance_of_case(document_case(CHAIN), FACTS)
    assert to_json(instance.document) == to_json(rebalance_of(CHAIN))
    assert (instance.partition_counts, instance.lag_known) == ("given", False)
    assert instance_of_case(document_case(LAG), FACTS).lag_basis == "given"
