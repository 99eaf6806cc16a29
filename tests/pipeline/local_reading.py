"""Read sources without Spark, as Spark's readers do in an audit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pipeline.sources.find import find_sources
from pipeline.sources.local_rows import read_found
from pipeline.sources.rows import Row

__all__ = ["read_found", "read_path", "read_paths"]


def read_path(path: Path, **options: Any) -> list[Row]:
    """Read a file or a folder."""
    return read_found(find_sources([path], **options))


def read_paths(paths: Sequence[Path]) -> list[Row]:
    """Read files and folders."""
    return read_found(find_sources(paths))
