"""Cases and quarantine of histories, as snapshots, and by both ways of reading."""

from __future__ import annotations

from random import Random

import pytest

from pipeline.cases import pack, unpack
from pipeline.history.stream import histories
from pipeline.rows import CASE
from tests.pipeline.classic_histories import CLASSIC
from tests.pipeline.consumer_groups import NAMES, rows_of
from tests.pipeline.consumer_histories import CONSUMER
from tests.pipeline.groups import GROUP
from tests.pipeline.same_histories import check
from tests.pipeline.told_rows import told
from tests.support.snapshots import FOLDER, check_snapshot

HISTORIES = CLASSIC | CONSUMER


def test_each_history_has_a_name_and_a_snapshot_of_its_own() -> None:
    assert len(HISTORIES) == len(CLASSIC) + len(CONSUMER)
    kept = {path.stem for path in (FOLDER / "histories").iterdir()}
    assert kept == {name.replace(" ", "-") for name in HISTORIES}


@pytest.mark.parametrize("name", HISTORIES)
def test_histories(name: str) -> None:
    rows = rows_of(*HISTORIES[name])
    check(rows, Random(0))  # noqa: S311
    found = list(histories(rows))
    check_snapshot(
        f"histories/{name}.txt", told(found, NAMES, source="s", group_id=GROUP)
    )
    for row in found:
        if row["what"] == CASE:
            assert pack(unpack(row["value"])) == row["value"]
