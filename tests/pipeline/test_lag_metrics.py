"""Lag of monitoring systems, as a side file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.files import LocalStore, Stores
from pipeline.sources.lag_metrics import (
    NO_COMMIT,
    NOT_COUNTED,
    NOT_LISTED,
    ReportedLag,
    gap_rows,
    read_lag_metrics,
)
from rebalance import OracleError
from tests.support.examples import costly

Report: TypeAlias = Callable[..., ReportedLag]
"""Writes texts into files, and reads the lag in them."""

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
    'topic="orders",partition="0",member_host="/h"} 7.0 1700000000000\n'
)
KLAG = """\
klag_consumer_lag{consumer_group="billing",topic="orders",partition="0",client_id="c"} 7
klag_consumer_lag_sum{consumer_group="billing",topic="orders"} 9
"""
KMINION = """\
kminion_kafka_consumer_group_topic_partition_lag{group_id="billing",partition_id="0",\
topic_name="orders"} 7
kminion_kafka_consumer_group_topic_lag{group_id="billing",topic_name="orders"} 9
"""


@pytest.fixture
def report(tmp_path: Path) -> Report:
    def read(*texts: str) -> ReportedLag:
        paths = [tmp_path / f"lag-{number}" for number in range(len(texts))]
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text)
        return read_lag_metrics(paths, STORES)

    return read


def burrow(
    *partitions: tuple[str, int, Any], group: str = "billing", counted: int = 0
) -> str:
    listed = [
        {"topic": topic, "partition": number, "current_lag": lag, "status": "OK"}
        for topic, number, lag in partitions
    ]
    status: dict[str, Any] = {"cluster": "c", "group": group, "partitions": listed}
    status |= {"partition_count": counted, "maxlag": None, "totallag": 0}
    return json.dumps({"error": False, "message": "", "status": status})


def api(*series: tuple[dict[str, str], str], kind: str = "vector") -> str:
    result = [
        {"metric": metric, "value": [1700000000.5, lag]} for metric, lag in series
    ]
    data = {"resultType": kind, "result": result}
    return json.dumps({"status": "success", "data": data, "warnings": []})


def series(lag: str, partition: int = 0, **more: str) -> tuple[dict[str, str], str]:
    labels = {"consumergroup": "g", "topic": "t", "partition": str(partition)}
    return labels | more, lag


def test_an_exporters_lag_is_read_and_no_commit_left_out(report: Report) -> None:
    found = report(EXPORTER)
    assert found.lags == {
        "billing": {"orders": {0: 12}},
        'g "q"': {"t": {0: 660_000_000}},
    }
    (gap,) = found.gaps
    assert (gap.group, gap.where, gap.reason) == ("billing", "orders 1", NO_COMMIT)


@pytest.mark.parametrize("text", [LAG_EXPORTER, KLAG, KMINION])
def test_each_exporter_has_its_labels(report: Report, text: str) -> None:
    assert report(text) == ReportedLag({"billing": {"orders": {0: 7}}})


@pytest.mark.parametrize("indent", [None, 2])
def test_burrows_answers_are_read_one_after_another(
    report: Report, indent: int | None
) -> None:
    answers = [
        burrow(("orders", 0, 4), ("orders", 1, 0)),
        burrow(group="idle"),
        burrow(("t", 0, 1), group="g"),
    ]
    values = [json.loads(answer) for answer in answers]
    texts = [json.dumps(value, indent=indent) for value in values]
    lags = {"billing": {"orders": {0: 4, 1: 0}}, "g": {"t": {0: 1}}}
    for text in ("\n\n".join(texts), "".join(texts), json.dumps(values, indent=indent)):
        assert report(text) == ReportedLag(lags)


def test_what_burrow_counts_and_does_not_list_is_stated(report: Report) -> None:
    found = report(burrow(("t", 0, 4), counted=4))
    assert found.lags == {"billing": {"t": {0: 4}}}
    (gap,) = found.gaps
    assert (gap.topic, gap.count, gap.reason) == (None, 3, NOT_COUNTED)
    assert "lag-0: no lag of group billing, 3 partitions: Burrow counts" in str(gap)


def test_answers_of_prometheus_are_read(report: Report) -> None:
    named = series("7", __name__="kafka_consumergroup_lag", job="a")
    aggregated = series("1.234567e+06", 1)
    of_another = series("5", 2, __name__="kafka_consumergroup_current_offset")
    found = report(api(named, aggregated, of_another, series("NaN", 2)))
    assert found.lags == {"g": {"t": {0: 7, 1: 1_234_567}}}
    assert [(gap.where, gap.reason) for gap in found.gaps] == [("t 2", NO_COMMIT)]


def test_partitions_between_those_that_are_listed_are_missing(report: Report) -> None:
    def sample(topic: str, partition: int, lag: int) -> str:
        return (
            LAG_EXPORTER.replace('"orders"', f'"{topic}"')
            .replace('partition="0"', f'partition="{partition}"')
            .replace(" 7.0", f" {lag}")
        )

    text = sample("a", 9, 1) + sample("b", 0, -30) + sample("b", 3, 5)
    found = report(text)
    assert found.lags == {"billing": {"a": {9: 1}, "b": {3: 5}}}
    assert [(gap.where, gap.count, gap.reason) for gap in found.gaps] == [
        ("a 0, 1, 2, 3, 4 and 4 more", 9, NOT_LISTED),
        ("b 1, 2", 2, NOT_LISTED),
        ("b 0", 1, NO_COMMIT),
    ]
    assert [row["records"] for row in gap_rows(found.gaps)] == [9, 2, 1]
    (row, *_) = gap_rows(found.gaps)
    assert (row["what"], row["group_id"], row["record"]) == (
        "missing",
        "billing",
        "lag",
    )
    assert row["value"] == b"a 0, 1, 2, 3, 4 and 4 more"


def test_another_file_can_state_what_one_lacks(report: Report) -> None:
    second = EXPORTER.replace("-1", "3").replace('"} 12', '"} NaN')
    assert report(EXPORTER, second) == report(second, EXPORTER)
    assert report(EXPORTER, second).lags["billing"] == {"orders": {0: 12, 1: 3}}
    assert report(EXPORTER, second).gaps == []


METRICS_EXPECTED = (
    "lag-0: no lag of a partition in it: expected kafka_consumergroup_lag"
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("kafka_consumergroup_lag{consumergroup=", "lag-0:1: no sample of lag"),
        (
            'kafka_consumergroup_lag{topic="t",partition="0"} 1',
            "lag-0:1: no sample of lag",
        ),
        (EXPORTER.replace(" 12", " 1.5"), "lag-0:3: no sample of lag"),
        (EXPORTER.replace(" 12", " +Inf"), "lag-0:3: no sample of lag"),
        (EXPORTER.replace('partition="0"', 'partition="-1"'), "lag-0:3: no sample of"),
        (EXPORTER.replace('"1"', '"0"').replace("-1", "13"), "lag-0:4: a second lag"),
        ("kafka_topic_partitions 3\n", METRICS_EXPECTED),
        ("", METRICS_EXPECTED),
        (api(), METRICS_EXPECTED),
        ("\n{", "lag-0:2: $"),
        ("{}\n[7]", "lag-0:1: $.status: field required"),
        (burrow() + "\n\n[7]", "lag-0:3: no answer about lag"),
        ("[" * 100_000, "lag-0:1: $: not readable: nested too deeply"),
        (burrow(("t", 0, -5)), "lag-0:1: $.status.partitions[0].current_lag"),
        (
            '{"error": true, "message": "no group"}',
            "lag-0:1: an error of Burrow: no gr",
        ),
        (
            '{"status": "error", "errorType": "bad_data", "error": "parse error"}',
            "lag-0:1: an error of Prometheus: parse error",
        ),
        (api(kind="matrix"), "lag-0:1: lag over a range of time: ask for one moment"),
        (api(series("x")), "lag-0:1: $.data.result[0]: no sample of lag"),
        ('{"status": "success"}', "lag-0:1: $.data: field required"),
    ],
)
def test_what_is_damaged_is_named(
    report: Report, tmp_path: Path, text: str, said: str
) -> None:
    with pytest.raises(OracleError) as caught:
        report(text)
    assert str(caught.value).removeprefix(f"{tmp_path}/").startswith(said)


def test_a_metric_that_adds_partitions_up_is_named(report: Report) -> None:
    name = "kminion_kafka_consumer_group_topic_lag"
    with pytest.raises(OracleError, match=f"; {name} is not per partition"):
        report(f'{name}{{group_id="g",topic_name="t"}} 9')


def test_bytes_that_are_no_text_are_named(tmp_path: Path) -> None:
    (tmp_path / "lag.txt").write_bytes(b"\xff")
    with pytest.raises(OracleError, match=r"lag\.txt: no UTF-8 text"):
        read_lag_metrics([tmp_path / "lag.txt"], STORES)


def test_files_are_read_together(tmp_path: Path) -> None:
    first, second = tmp_path / "a.prom", tmp_path / "b.json"
    first.write_text(EXPORTER)
    second.write_text(burrow(("payments", 0, 4)))
    found = read_lag_metrics([first, str(second)], STORES)
    assert found.lags["billing"] == {"orders": {0: 12}, "payments": {0: 4}}
    second.write_text(burrow(("orders", 0, 4)))
    with pytest.raises(OracleError, match=r"b\.json:1: a second lag of group billing"):
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
def test_any_names_and_lags_are_read_back(
    tmp_path_factory: pytest.TempPathFactory, lags: dict[Any, int]
) -> None:
    def quoted(text: str) -> str:
        return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")

    lines = [
        f'kafka_consumergroup_lag{{consumergroup="{quoted(group)}",'
        f'partition="{number}",topic="{quoted(topic)}"}} {lag}'
        for (group, topic, number), lag in lags.items()
    ]
    path = tmp_path_factory.getbasetemp() / "any-lag"
    path.write_text("\n".join(lines), newline="")
    found = read_lag_metrics([path], STORES)
    known = {place: lag for place, lag in lags.items() if lag >= 0}
    assert known == {
        (group, topic, number): lag
        for group, topics in found.lags.items()
        for topic, listed in topics.items()
        for number, lag in listed.items()
    }
    last: dict[Any, int] = {}
    for group, topic, number in lags:
        last[group, topic] = max(number, last.get((group, topic), 0))
    below = sum(number + 1 for number in last.values())
    assert sum(gap.count for gap in found.gaps) == below - len(known)
