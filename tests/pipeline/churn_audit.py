"""The audit of the recording that ships, without Spark, for the tests of many modules.

It takes about 10 seconds of CPU. Every test that uses it is heavy.
"""

from __future__ import annotations

import fcntl
import os
import shutil

import pytest

from pipeline.audit import AuditSummary
from tests.pipeline.local_audit import local_audit, read_summary
from tests.support.wire import RECORDINGS

CLUSTER = "churn"


@pytest.fixture(scope="session")
def churn_audit(tmp_path_factory: pytest.TempPathFactory) -> AuditSummary:
    """Audit once, whatever the number of processes that run tests."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    out, complete = shared / "churn-audit", shared / "churn-audit.complete"
    with (shared / "churn-audit.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not complete.exists():
            shutil.rmtree(out, ignore_errors=True)
            local_audit([RECORDINGS / "churn"], out, cluster=CLUSTER)
            complete.touch()
    return read_summary(out)
