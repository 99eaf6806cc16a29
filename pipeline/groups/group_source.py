"""Recognize a source of groups: an audit's folder, local files, a running cluster."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from pipeline.files import status_of
from pipeline.groups.audit_folder import is_audit, opened_audit
from pipeline.groups.moments import GroupRebalance, GroupSource, choose
from pipeline.time_window import ALL_TIMES, TimeWindow
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
    group_name: str | None = None,
    window: TimeWindow = ALL_TIMES,
    with_causes: bool = False,
) -> GroupRebalance:
    """Read a group, of which the name can be left out if there is only one.

    Without ``generation``, the last rebalance; the last snapshot, if there is none.
    ``source`` is as for `group_source`, ``config`` has the client settings for a
    running cluster, and ``group_name`` is the group of describe tables without a column
    GROUP. Only rebalances and snapshots in ``window`` count.

    Raises
    ------
    SourceError
        If there is no such source, group, or generation, or ``group_name`` does not
        apply to the source.
    OutsideError
        If a cluster does not answer.
    """
    found = group_source(
        source, config=config, max_partitions=max_partitions, group_name=group_name
    )
    return choose(found, group, generation, window, with_causes=with_causes)


def group_source(
    source: str,
    *,
    config: Path | None = None,
    max_partitions: int = MAX_PARTITIONS,
    group_name: str | None = None,
) -> GroupSource:
    """Open the folder of an audit, files of other sources, or ``HOST:PORT``.

    The modules of a source are imported here, so that an audit's folder is read
    quickly.
    """
    path = Path(source)
    exists = status_of(path) is not None
    if not exists and _SERVERS.fullmatch(source):
        _refuse_group_name(group_name, "a running cluster", source)
        return _live(source, config)
    if _URI.match(source):
        reason = "not on this machine: audit it, and pass the folder of the audit"
        raise SourceError(reason, source=source)
    if not exists:
        raise SourceError("no such file or folder", source=source)
    if is_audit(path):
        _refuse_group_name(group_name, "the folder of an audit", source)
        return opened_audit(path, max_partitions)
    from pipeline.groups.local_files import LocalFiles  # noqa: PLC0415

    return LocalFiles(path=path, max_partitions=max_partitions, group_name=group_name)


def _refuse_group_name(group_name: str | None, what: str, source: str) -> None:
    if group_name is not None:
        reason = (
            "--group-name is for describe texts that do not state their group; "
            f"{what} states the names of its groups: use --group"
        )
        raise SourceError(reason, source=source)


def _live(server: str, config: Path | None) -> GroupSource:
    from pipeline.groups.live_group import LiveGroups  # noqa: PLC0415
    from pipeline.live import ClientSettings, read_client_properties  # noqa: PLC0415

    settings = ClientSettings() if config is None else read_client_properties(config)
    return LiveGroups(name=server, settings=settings)
