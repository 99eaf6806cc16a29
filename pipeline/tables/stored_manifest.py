"""Read ``audit.json`` of an audit's folder, and refuse those of other versions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from pipeline.tables.schemas import LAYOUT
from rebalance import SourceError

MANIFEST: Final = "audit.json"
PAGE: Final = "index.html"
"""The HTML page, next to the manifest."""
FORMAT: Final = "audit/1"
STORE_FORMAT: Final = "history/2"
STORE_STATE: Final = "store.json"
"""Format and state of a store of audits (`pipeline.nights`)."""


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest of an audit.

    Raises
    ------
    SourceError
        If it is missing or invalid, which means that the tables are incomplete, or if
        they are of another version than this program reads.
    """
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_bytes())
    except OSError as error:
        reason = f"no audit here: {error.strerror}"
        raise SourceError(reason.lower(), source=str(path), cause=error) from None
    except ValueError:
        raise SourceError("not JSON", source=str(path)) from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise SourceError(f"not of the format {FORMAT}", source=str(path))
    written = manifest.get("tables")
    if written != LAYOUT:
        reason = (
            f"tables of version {written or 'unknown'}, but this version of "
            f"assignor-oracle reads {LAYOUT}: audit the sources again"
        )
        raise SourceError(reason, source=str(path))
    return manifest
