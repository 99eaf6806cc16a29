"""Gaps in groups of the new protocol: what is missing is reported, not made up."""

from __future__ import annotations

import pytest

from pipeline.history.consumer_history import NO_MEMBERS, NO_PREVIOUS, NOT_IN_SOURCE
from pipeline.sources.rows import MISSING, UNREADABLE
from tests.pipeline.consumer_groups import (
    FIRST,
    JOIN,
    AnyRecord,
    complete,
    epoch,
    has,
    new_member,
    owned,
    rebuild,
    target,
)
from tests.pipeline.groups import GROUP, START_MS
from tests.pipeline.records.consumer_writers import consumer_key, consumer_value


def test_a_gap_in_the_epochs_is_reported() -> None:
    found = rebuild(
        *FIRST,
        epoch(5),
        target("a", {"t": [0]}),
        complete(5),
        epoch(6),
        target("a", {"t": [0, 1]}),
        complete(6),
    )
    assert found.reasons == [
        (MISSING, "epochs 3 to 4", NOT_IN_SOURCE),
        (MISSING, "epoch 5", NO_PREVIOUS),
    ]
    gap, fifth = found.quarantined
    assert (gap["records"], gap["source_offset"], gap["at"]) == (2, 5, START_MS + 5000)
    assert (fifth["source_offset"], fifth["group_id"]) == (7, GROUP)
    assert [case.generation for case in found.cases] == [2, 6]
    assert owned(found.cases[1]) == {"a": {"t": [0]}}


def test_a_source_that_begins_in_the_middle() -> None:
    found = rebuild(*JOIN, new_member("c"), epoch(4), target("c", {}), complete(4))
    assert found.reasons == [
        (MISSING, "epochs 1 to 2", NOT_IN_SOURCE),
        (MISSING, "epoch 3", NO_MEMBERS),
        (MISSING, "epoch 4", NO_MEMBERS),
    ]
    assert found.cases == []


def test_an_epoch_that_goes_back_is_a_gap() -> None:
    again = new_member("a"), epoch(2), target("a", {"t": [0, 1]}), complete(2)
    found = rebuild(*FIRST, *JOIN, *again)
    assert [case.generation for case in found.cases] == [2, 3]
    assert (MISSING, "epoch 2", NO_PREVIOUS) in found.reasons


@pytest.mark.parametrize(
    ("lost", "missing"),
    [
        (0, [NO_MEMBERS, NO_PREVIOUS]),
        (2, [NO_MEMBERS, NO_PREVIOUS]),
        (1, [NO_MEMBERS, NOT_IN_SOURCE, NO_PREVIOUS]),
    ],
    ids=["member", "target", "epoch"],
)
def test_a_missing_record_of_an_epoch(lost: int, missing: list[str]) -> None:
    records: list[AnyRecord] = [
        new_member("a"),
        epoch(2),
        target("a", {"t": [0]}),
        complete(2),
    ]
    del records[lost]
    rest: tuple[AnyRecord, ...] = (
        new_member("a"),
        target("a", {"t": [0]}),
        epoch(3),
        complete(3),
        epoch(4),
        complete(4),
    )
    found = rebuild(*records, *rest)
    assert [reason for _, _, reason in found.reasons] == missing
    assert [case.generation for case in found.cases] == [4]


def test_an_unreadable_record_leaves_a_gap() -> None:
    value = consumer_value(JOIN[2], version=1)
    fourth = epoch(4), target("a", {"t": [0, 1]}), complete(4)
    fifth = epoch(5), target("a", {"t": [0]}), complete(5)
    bad = consumer_key(JOIN[2]), value
    found = rebuild(*FIRST, *JOIN[:2], bad, *JOIN[3:], *fourth, *fifth)
    assert found.reasons == [
        (UNREADABLE, None, "at byte 0: value: version 1, not 0"),
        (MISSING, "epoch 3", NO_MEMBERS),
        (MISSING, "epoch 4", NO_PREVIOUS),
    ]
    assert found.quarantined[0]["source_offset"] == 7
    assert [case.generation for case in found.cases] == [2, 5]


@pytest.mark.parametrize("numbers", [[-1], [1, 1]])
def test_impossible_partitions_are_refused(numbers: list[int]) -> None:
    found = rebuild(*FIRST, has("a", {"t": numbers}), epoch(3), complete(3))
    (kind, _, reason), (missing, _, why) = found.reasons
    assert (kind, missing, why) == (UNREADABLE, MISSING, NO_PREVIOUS)
    assert "partition" in reason
