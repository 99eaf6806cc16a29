"""Lag of monitoring systems, as a side file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.files import LocalStore, Stores
from pipeline.sources.lag_metrics import (
    LagOfGroups,
    lag_of_groups,
    read_lag_metrics,
)
from rebalance import OracleError
from tests.examples import costly

STORES = Stores(LocalStore(), LocalStore)
EXPORTER = """\
# HELP kafka_consumergroup_lag Current Approximate Lag of a ConsumerGroup
# TYPE kafka_consumergroup_lag gauge
kafka_consumergroup_lag{consumergroup="billing",partition="0",topic="orders"} 12
kafka_consumergroup_lag{consumergroup="billing",partition="1",topic="orders"} -1
kafka_consumergroup_lag{consumergroup="g \\"q\\"",partition="0",topic="t"} 6.6e+08
kafka_consumergroup_lag_sum{consumergroup="billing",topic="orders"} 11
kafka_topic_partitions{topic="orders"} 2
"""
NAMES = st.text(st.characters(codec="utf-8"), max_size=4)
LAG_EXPORTER = (
    'kafka_consumergroup_group_lag{cluster_name="c",group="billing",'
    'topic="orders",partition="3",member_host="/h"} 7.0 1700000000000\n'
)


def read(text: str) -> LagOfGroups:
    return lag_of_groups(text.encode(), "lag.txt")


def burrow(*partitions: tuple[str, int, Any], group: str = "billing") -> str:
    listed = [
        {"topic": topic, "partition": number, "current_lag": lag, "status": "OK"}
        for topic, number, lag in partitions
    ]
    status = {"cluster": "c", "group": group, "partitions": listed, "totallag": 0}
    return json.dumps({"error": False, "message": "", "status": status})


def test_an_exporters_lag_is_read_and_no_commit_left_out() -> None:
    assert read(EXPORTER) == {
        "billing": {"orders": {0: 12}},
        'g "q"': {"t": {0: 660_000_000}},
    }


def test_the_other_exporter_has_other_labels() -> None:
    assert read(LAG_EXPORTER) == {"billing": {"orders": {3: 7}}}


def test_burrows_responses_are_read_line_by_line() -> None:
    text = burrow(("orders", 0, 4), ("orders", 1, 0)) + "\n\n" + burrow(group="idle")
    assert read(text + "\n" + burrow(("t", 0, 1), group="g")) == {
        "billing": {"orders": {0: 4, 1: 0}},
        "g": {"t": {0: 1}},
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("kafka_consumergroup_lag{consumergroup=", "lag.txt:1: no sample of lag"),
        (
            'kafka_consumergroup_lag{topic="t",partition="0"} 1',
            "lag.txt:1: no sample of lag",
        ),
        (EXPORTER.replace(" 12", " NaN"), "lag.txt:3: no sample of lag"),
        (EXPORTER.replace(" 12", " 1.5"), "lag.txt:3: no sample of lag"),
        (EXPORTER.replace(" 12", " +Inf"), "lag.txt:3: no sample of lag"),
        (EXPORTER.replace(" 12", " -2"), "lag.txt:3: a number out of range"),
        (EXPORTER.replace('"1"', '"0"').replace("-1", "13"), "lag.txt:4: a second lag"),
        ("kafka_topic_partitions 3\n", "lag.txt: no lag in it: expected kafka_cons"),
        ("", "lag.txt: no lag in it"),
        ("\n{", "lag.txt:2: $"),
        (burrow(("t", 0, -5)), "lag.txt:1: $.status.partitions[0].current_lag"),
        ('{"error": true}', "lag.txt:1: $.status: field required"),
    ],
)
def test_a_damaged_line_is_named(text: str, said: str) -> None:
    with pytest.raises(OracleError) as caught:
        read(text)
    assert str(caught.value).startswith(said)


def test_bytes_that_are_no_text_are_named() -> None:
    with pytest.raises(OracleError, match=r"lag\.txt: no UTF-8 text"):
        lag_of_groups(b"\xff", "lag.txt")


def test_files_are_read_together(tmp_path: Path) -> None:
    first, second = tmp_path / "a.prom", tmp_path / "b.json"
    first.write_text(EXPORTER)
    second.write_text(burrow(("payments", 0, 4)))
    found = read_lag_metrics([first, str(second)], STORES)
    assert found["billing"] == {"orders": {0: 12}, "payments": {0: 4}}
    second.write_text(burrow(("orders", 0, 4)))
    with pytest.raises(OracleError, match=r"b\.json: a second lag of group billing"):
        read_lag_metrics([first, second], STORES)
    with pytest.raises(OracleError, match=r"absent: unreadable: No such file"):
        read_lag_metrics([tmp_path / "absent"], STORES)


@costly()
@given(
    st.dictionaries(
        st.tuples(NAMES, NAMES, st.integers(0, 9)),
        st.integers(-1, 2**53),
        min_size=1,
    )
)
def test_any_names_and_lags_are_read_back(lags: dict[Any, int]) -> None:
    def quoted(text: str) -> str:
        return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")

    lines = [
        f'kafka_consumergroup_lag{{consumergroup="{quoted(group)}",'
        f'partition="{number}",topic="{quoted(topic)}"}} {lag}'
        for (group, topic, number), lag in lags.items()
    ]
    found = {
        (group, topic, number): lag
        for group, topics in read("\n".join(lines)).items()
        for topic, listed in topics.items()
        for number, lag in listed.items()
    }
    assert found == {place: lag for place, lag in lags.items() if lag >= 0}
