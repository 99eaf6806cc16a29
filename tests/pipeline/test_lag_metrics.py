"""Lag of monitoring systems, as a side file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.files import LocalStore, Stores
from pipeline.side_files.lag_metrics import ReportedLag, gap_rows, read_lag_metrics
from rebalance import OracleError
from tests.support.examples import costly
from tests.support.snapshots import check_snapshot

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


def sample(topic: str, partition: int, lag: int) -> str:
    text = LAG_EXPORTER.replace('"orders"', f'"{topic}"').replace(" 7.0", f" {lag}")
    return text.replace('partition="0"', f'partition="{partition}"')


ADDED_UP = "kminion_kafka_consumer_group_topic_lag"
TEXTS: dict[str, str] = {
    "an exporter": EXPORTER,
    "lag-exporter": LAG_EXPORTER,
    "klag": KLAG,
    "kminion": KMINION,
    "Burrow lists fewer than it counts": burrow(("t", 0, 4), counted=4),
    "an answer of Prometheus": api(
        series("7", __name__="kafka_consumergroup_lag", job="a"),
        series("1.234567e+06", 1),
        series("5", 2, __name__="kafka_consumergroup_current_offset"),
        series("NaN", 2),
    ),
    "partitions between those that are listed are missing": (
        sample("a", 9, 1) + sample("b", 0, -30) + sample("b", 3, 5)
    ),
    # What is damaged.
    "cut": "kafka_consumergroup_lag{consumergroup=",
    "no group": 'kafka_consumergroup_lag{topic="t",partition="0"} 1',
    "half a record": EXPORTER.replace(" 12", " 1.5"),
    "infinite": EXPORTER.replace(" 12", " +Inf"),
    "a negative partition": EXPORTER.replace('partition="0"', 'partition="-1"'),
    "a second lag": EXPORTER.replace('"1"', '"0"').replace("-1", "13"),
    "another metric": "kafka_topic_partitions 3\n",
    "nothing": "",
    "an answer without lag": api(),
    "half an object": "\n{",
    "no answers": "{}\n[7]",
    "an answer and a list": burrow() + "\n\n[7]",
    "nested too deeply": "[" * 100_000,
    "a negative lag of Burrow": burrow(("t", 0, -5)),
    "an error of Burrow": '{"error": true, "message": "no group"}',
    "an error of Prometheus": (
        '{"status": "error", "errorType": "bad_data", "error": "parse error"}'
    ),
    "a range of time": api(kind="matrix"),
    "no number": api(series("x")),
    "no data": '{"status": "success"}',
    "a sum over partitions": f'{ADDED_UP}{{group_id="g",topic_name="t"}} 9',
}


def told(report: Report, folder: Path, text: str) -> Iterator[str]:
    try:
        found = report(text)
    except OracleError as error:
        yield f"  {str(error).removeprefix(f'{folder}/')}\n"
    else:
        yield f"  {found.lags}\n"
        for gap, row in zip(found.gaps, gap_rows(found.gaps), strict=True):
            shown = {n: v for n, v in row.items() if v is not None and n != "source"}
            yield f"  {str(gap).removeprefix(f'{folder}/')}\n    {shown}\n"


def test_texts(report: Report, tmp_path: Path) -> None:
    lines = (
        line
        for name, text in TEXTS.items()
        for line in (f"{name}\n", *told(report, tmp_path, text))
    )
    check_snapshot("lag-metrics.txt", "".join(lines))


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


def test_another_file_can_state_what_one_lacks(report: Report) -> None:
    second = EXPORTER.replace("-1", "3").replace('"} 12', '"} NaN')
    assert report(EXPORTER, second) == report(second, EXPORTER)
    assert report(EXPORTER, second).lags["billing"] == {"orders": {0: 12, 1: 3}}
    assert report(EXPORTER, second).gaps == []


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
