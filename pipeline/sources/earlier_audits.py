"""Recognize files of earlier audits among the sources, so that they are skipped.

``--out`` can be a folder of the sources: the tables and the page there are no sources.
Nor is anything in the folder of a store (`pipeline.nights`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from pipeline.files import FileEntry, FileStore
from pipeline.tables import FORMAT, MANIFEST, PAGE, STORE_FORMAT, STORE_STATE, TABLES
from rebalance import is_device_failure


def without_audits(entries: Iterable[FileEntry], store: FileStore) -> list[FileEntry]:
    """Return the files of a folder that no audit has written.

    The place of an audit has its manifest; next to it are its page, and a folder per
    table. Other files there are sources.
    """
    found = list(entries)
    audits = {
        entry.below[:-1]
        for entry in found
        if entry.below
        and entry.below[-1] == MANIFEST
        and _has_format(entry, store, FORMAT)
    }
    stores = {
        entry.below[:-1]
        for entry in found
        if entry.below
        and entry.below[-1] == STORE_STATE
        and _has_format(entry, store, STORE_FORMAT)
    }
    return [
        entry
        for entry in found
        if not _is_of_an_audit(entry.below, audits)
        and not any(entry.below[: len(below)] == below for below in stores if below)
    ]


def _is_of_an_audit(below: tuple[str, ...], audits: set[tuple[str, ...]]) -> bool:
    last = len(below) - 1
    return any(
        below[:depth] in audits
        and part in ((MANIFEST, PAGE) if depth == last else TABLES)
        for depth, part in enumerate(below)
    )


def _has_format(entry: FileEntry, store: FileStore, name: str) -> bool:
    try:
        with store.open(entry.uri) as file:
            manifest = json.loads(file.read())
    except (OSError, ValueError, RecursionError) as error:
        if is_device_failure(error):
            raise
        return False
    return isinstance(manifest, dict) and manifest.get("format") == name
