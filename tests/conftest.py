"""How much chance may try, what a failure prints of it, and what tests share.

``ORACLE_PROFILE`` names one of the profiles of Hypothesis below. No test of random
input fails for being slow: how long one takes is the benchmarks' business, and a busy
machine's.

Reaches into `pipeline.session` to share one session of Spark.
"""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from tests.support import amount, last_drawn

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from conformance.broker import Broker

settings.register_profile("fixed", deadline=None, max_examples=120, derandomize=True)
settings.register_profile("thorough", deadline=None, max_examples=500)
settings.register_profile(
    "sample", deadline=None, max_examples=20, derandomize=True, database=None
)
settings.load_profile(os.environ.get("ORACLE_PROFILE", "fixed"))

# A runner started in the background ignores SIGINT, and so would every process that
# a test starts and interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_report_header() -> str:
    """State what draws the same again."""
    profile = os.environ.get("ORACLE_PROFILE", "fixed")
    drawn = f"ORACLE_INSTANCES={amount.INSTANCES} ORACLE_FIRST_SEED={amount.FIRST_SEED}"
    return f"drawn: {drawn} ORACLE_PROFILE={profile}"


def pytest_collection_finish() -> None:
    """Look for garbage rarely, and not among eleven thousand tests: 8 % of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def pytest_runtest_setup() -> None:
    last_drawn.forget()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    call: pytest.CallInfo[None],
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Print the last rebalance that a failed test drew, and its seed."""
    report = yield
    if report.failed and call.when == "call" and (text := last_drawn.described()):
        report.sections.append(("last rebalance drawn", text))
    return report


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """The one session of this process; an audit on a ``local`` master runs in it."""
    from pipeline.session import spark_context, sql_session  # noqa: PLC0415

    session = sql_session(spark_context("local[2]"))
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def broker() -> Iterator[Broker]:
    """The one broker of this process: use groups and topics with names of your own."""
    from conformance.broker import running_broker  # noqa: PLC0415

    with running_broker(rack="r") as running:
        yield running
