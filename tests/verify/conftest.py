"""A folder to write documents into."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.verify.commands import Files


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)
