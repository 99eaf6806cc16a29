"""Metadata of an audit: time, place, programs, and how to run it again."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from pipeline.groups import TimeWindow
from pipeline.tables import read_manifest

OURS: Final = "assignor-oracle"
_VERSIONS: Final = ("python", "numpy", "pyarrow", "pyspark", "java")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """The rebalances that were asked for: their times, groups, and how many others."""

    window: str
    groups: tuple[str, ...]
    left_out: int
    without_time: int


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """Parts of ``audit.json``; text is empty if absent."""

    version: str
    claim_rule: str
    offset_reset: str
    made_at: str
    chosen: Chosen
    machine: str
    versions: dict[str, str] = field(default_factory=dict)


def read_about(folder: Path) -> About:
    """Read the manifest of an audit.

    Raises
    ------
    SourceError
        As `read_manifest`.
    """
    manifest = read_manifest(folder)
    versions = manifest["versions"]
    machine = manifest["machine"]
    gibibytes = round(machine["memory_bytes"] / 2**30)
    return About(
        version=str(versions.get(OURS, "")),
        claim_rule=manifest["parameters"]["claim_rule"],
        offset_reset=manifest["parameters"]["auto_offset_reset"],
        made_at=manifest["finished"],
        chosen=_chosen(manifest),
        machine=f"{machine['system']}, {machine['cores']} cores, {gibibytes} GiB",
        versions={name: str(versions[name]) for name in _VERSIONS if name in versions},
    )


def _chosen(manifest: dict[str, Any]) -> Chosen:
    since, until, groups = map(manifest["parameters"].get, ("since", "until", "groups"))
    window = TimeWindow(
        since=since and datetime.fromisoformat(since),
        until=until and datetime.fromisoformat(until),
    )
    left_out = manifest.get("left_out", {})
    return Chosen(
        window=str(window),
        groups=tuple(groups or ()),
        left_out=sum(left_out.values()),
        without_time=left_out.get("no-time", 0),
    )
