"""Who starts Spark stops it; a session that runs already goes on."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from pyspark.sql import SparkSession

from pipeline.audit import lazy_spark
from pipeline.audit.lazy_spark import Clock, LazySpark


class Session:
    """Stands in for Spark, and counts what an audit does to it."""

    def __init__(self) -> None:
        self.levels: list[str] = []
        self.settings: dict[str, str] = {}
        self.stopped = 0
        self.sparkContext = SimpleNamespace(
            setLogLevel=self.levels.append, master="spark://host:7077"
        )
        self.conf = SimpleNamespace(set=self.settings.__setitem__)

    def newSession(self) -> Session:  # noqa: N802
        return self

    def stop(self) -> None:
        self.stopped += 1


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Session:
    found = Session()
    monkeypatch.setattr(lazy_spark, "spark_session", lambda _: found)
    monkeypatch.setattr(lazy_spark, "java_of", lambda _: "Java 21")
    return found


@pytest.mark.parametrize("is_running", [False, True])
def test_an_audit_stops_the_spark_that_it_started(
    session: Session, monkeypatch: pytest.MonkeyPatch, is_running: bool
) -> None:
    running = session if is_running else None
    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: running)
    with ExitStack() as stack:
        spark = LazySpark(stack, "local[1]", Path("out"), Clock())
        assert session.settings == {}
        started, java = spark.start()
        assert started is cast("SparkSession", session)
        assert java == "Java 21"
        assert spark.start() == (started, java)
        assert session.stopped == 0
    assert session.stopped == (0 if is_running else 1)
    assert session.levels == ([] if is_running else ["OFF"])
    assert session.settings["spark.sql.adaptive.enabled"] == "false"


def test_an_audit_that_needs_no_spark_starts_none(session: Session) -> None:
    with ExitStack() as stack:
        LazySpark(stack, "local[1]", Path("out"), Clock())
    assert (session.stopped, session.settings) == (0, {})
