"""What the tests of clusters compare with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pipeline.cluster.commands import audited, command


@pytest.fixture(scope="session")
def expected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The audit by one thread on this machine."""
    return audited(command("local[1]"), tmp_path_factory.mktemp("clusters") / "local")
