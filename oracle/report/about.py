"""Metadata of an audit: time, place, programs, and how to run it again."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from pipeline.tables import read_manifest

OURS: Final = "assignor-oracle"
_VERSIONS: Final = ("python", "numpy", "pyarrow", "pyspark", "java")


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """Parts of ``audit.json`` as text; empty if absent."""

    version: str
    claim_rule: str
    offset_reset: str
    made_at: str
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
        machine=f"{machine['system']}, {machine['cores']} cores, {gibibytes} GiB",
        versions={name: str(versions[name]) for name in _VERSIONS if name in versions},
    )
