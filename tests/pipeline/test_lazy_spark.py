"""Who starts Spark stops it; a session that runs already goes on."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from pyspark import SparkContext
from pyspark.sql import SparkSession

from pipeline.audit import lazy_spark
from pipeline.audit.lazy_spark import Clock, LazySpark


class Spark:
    """Stands in for Spark, and counts what an audit does to it."""

    def __init__(self) -> None:
        self.levels: list[str] = []
        self.stopped = 0
        self.setLogLevel = self.levels.append
        self.master = "spark://host:7077"

    def stop(self) -> None:
        self.stopped += 1


@pytest.fixture
def context(monkeypatch: pytest.MonkeyPatch) -> Spark:
    found = Spark()
    monkeypatch.setattr(lazy_spark, "spark_context", lambda _: found)
    monkeypatch.setattr(lazy_spark, "java_of", lambda _: "Java 21")
    return found


@pytest.mark.parametrize("is_running", [False, True])
def test_an_audit_stops_the_spark_that_it_started(
    context: Spark, monkeypatch: pytest.MonkeyPatch, is_running: bool
) -> None:
    running = SimpleNamespace(sparkContext=context) if is_running else None
    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: running)
    with ExitStack() as stack:
        spark = LazySpark(stack, "local[1]", Path("out"), Clock())
        started, java = spark.start()
        assert started is cast("SparkContext", context)
        assert java == "Java 21"
        assert spark.start() == (started, java)
        assert context.stopped == 0
    assert context.stopped == (0 if is_running else 1)
    assert context.levels == ([] if is_running else ["OFF"])


def test_an_audit_that_needs_no_spark_starts_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started = list[str]()
    monkeypatch.setattr(lazy_spark, "spark_context", started.append)
    with ExitStack() as stack:
        LazySpark(stack, "local[1]", Path("out"), Clock())
    assert started == []
