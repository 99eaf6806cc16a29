"""Recognize a source of groups: an audit's folder, local files, a running cluster."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from pipeline.groups.audit_folder import is_audit, opened_audit
from pipeline.groups.moments import GroupRebalance, GroupSource, choose
from rebalance import MAX_PARTITIONS, SourceError

_SERVERS: Final = re.compile(r"[^/\s,]+:[0-9]{1,5}(,[^/\s,]+:[0-9]{1,5})*")
_URI: Final = re.compile(r"(?!file:)[A-Za-z][A-Za-z0-9+.-]+:/")


def read_group(
    source: str,
    group: str | None = None,
    generation: int | None = None,
    *,
    config: Path | None = None,
    max_partitions: int = MAX_PARTITIONS,
) -> GroupRebalance:
    """Read a group, of which the name can be left out if there is only one.

    Parameters
    ----------
    source : str
        As for `group_source`.
    group, generation
        Without ``generation``, the last rebalance; the last snapshot, if there is none.
    config : Path or None
        Client settings, for a running cluster.

    Raises
    ------
    SourceError
        If there is no such source, group, or generation.
    OutsideError
        If a cluster does not answer.
    """
    found = group_source(source, config=config, max_partitions=max_partitions)
    return choose(found, group, generation)


def group_source(
    source: str, *, config: Path | None = None, max_partitions: int = MAX_PARTITIONS
) -> GroupSource:
    """Open the folder of an audit, files of other sources, or ``HOST:PORT``.

    What a source needs is imported here, so that an audit's folder is read quickly.
    """
    path = Path(source)
    if not path.exists() and _SERVERS.fullmatch(source):
        return _live(source, config)
    if _URI.match(source):
        reason = "not on this machine: audit it, and pass the folder of the audit"
        raise SourceError(reason, source=source)
    if not path.exists():
        raise SourceError("no such file or folder", source=source)
    if is_audit(path):
        return opened_audit(path, max_partitions)
    from pipeline.groups.local_files import LocalFiles  # noqa: PLC0415

    return LocalFiles(path=path, max_partitions=max_partitions)


def _live(server: str, config: Path | None) -> GroupSource:
    from pipeline.groups.live_group import LiveGroups  # noqa: PLC0415
    from pipeline.live import ClientSettings, read_client_properties  # noqa: PLC0415

    settings = ClientSettings() if config is None else read_client_properties(config)
    return LiveGroups(name=server, settings=settings)
