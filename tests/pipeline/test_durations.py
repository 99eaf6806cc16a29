"""Durations are not known where the times of records go back."""

from __future__ import annotations

import json
from operator import itemgetter
from pathlib import Path

import pytest

from pipeline.history.stream import histories
from pipeline.history.unowned import Unowned
from pipeline.records.place import NO_TIME, Place
from tests.pipeline.audit_files import rows_of
from tests.pipeline.consumer_groups import FIRST
from tests.pipeline.consumer_groups import rows_of as rows_of_records
from tests.pipeline.groups import Log, group, member
from tests.pipeline.local_audit import local_audit
from tests.pipeline.local_reading import cases_of

TOPIC = ("t",)
TWO_ROUNDS = (
    group(1, member("a", TOPIC, {"t": [0, 1]}), assignor="cooperative-sticky"),
    group(
        2,
        member("a", TOPIC, {"t": [0]}, owns={"t": [0, 1]}, generation=1),
        member("b", TOPIC, {}),
        assignor="cooperative-sticky",
    ),
    group(
        3,
        member("a", TOPIC, {"t": [0]}, owns={"t": [0]}, generation=2),
        member("b", TOPIC, {"t": [1]}),
        assignor="cooperative-sticky",
    ),
)
DAYS_40 = 40 * 24 * 60 * 60_000


@pytest.mark.parametrize(
    ("waits", "expected", "lasted"),
    [
        ((0, 0), (1000, None), [1000, 1000, 0]),
        # The third record, the second, and 40 days between the two:
        ((0, -DAYS_40), (None, "clock-went-back"), [1000, None, None]),
        ((-DAYS_40, 0), (None, "clock-went-back"), [None, None, None]),
        ((-DAYS_40, DAYS_40), (None, "clock-went-back"), [None, None, 0]),
    ],
)
def test_durations_of_a_clock_that_goes_back(
    tmp_path: Path,
    waits: tuple[int, int],
    expected: tuple[int | None, str | None],
    lasted: list[int | None],
) -> None:
    log = Log().add(TWO_ROUNDS[0])
    for wait, record in zip(waits, TWO_ROUNDS[1:], strict=True):
        log.wait(wait).add(record)
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in log.records))
    summary = local_audit([path], tmp_path / "out", assignors=["optimum"])
    rows = {row["first_generation"]: row for row in rows_of(summary, "episodes")}
    found = rows[2]
    assert (found["unowned_partition_ms"], found["unowned_unknown"]) == expected
    rebalances = sorted(rows_of(summary, "rebalances"), key=itemgetter("generation"))
    assert [row["lasted_ms"] for row in rebalances] == lasted
    reasons = [row["lasted_unknown"] for row in rebalances]
    assert reasons == [None if ms is not None else "clock-went-back" for ms in lasted]
    (run,) = rows_of(summary, "run")
    counted = {} if expected[1] is None else {expected[1]: 1 + lasted.count(None)}
    assert dict(run["durations_unknown"]) == counted


@pytest.mark.parametrize("back", [False, True])
def test_durations_of_the_new_protocol(*, back: bool) -> None:
    rows = rows_of_records(*FIRST)
    if back:
        rows[-1]["at"] -= DAYS_40
    (case,) = cases_of(histories(rows))
    unknown = "clock-went-back" if back else None
    assert (case.reached_ms, case.reached_unknown) == (None if back else 1000, unknown)
    assert case.behind == 0


def test_first_reason_by_partition() -> None:
    """Several partitions get an owner at once, after times unknown for two reasons."""
    untimed = Place(source="s", partition=0, offset=0, at=None)
    back, later = (
        Place(source="s", partition=0, offset=offset, at=at, went_back=at == 1)
        for offset, at in ((1, 1), (2, 2))
    )
    all_of = list(range(20))
    unowned = Unowned()
    unowned.moved("a", {"t": all_of}, untimed)
    unowned.moved("a", {"t": all_of[1:]}, untimed)
    unowned.moved("a", {}, back)
    unowned.moved("b", {"t": all_of}, later)
    assert unowned.total.unknown == NO_TIME
