"""The row of the table ``run``, taken from ``audit.json`` so that the two agree."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import pyarrow as pa

from pipeline.tables import RUN


def run_row(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row as in `RUN`; ``manifest`` is the content of ``audit.json``."""
    rows, quarantine = manifest["rows"], manifest["quarantine"]
    started = datetime.fromisoformat(manifest["started"])
    return {
        "cluster": manifest["parameters"]["cluster"],
        "date": started.date().isoformat(),
        "started": started,
        "finished": datetime.fromisoformat(manifest["finished"]),
        "rows_read": manifest["rows_read"],
        "rows_repeated": manifest["rows_repeated"],
        "rows_judged": rows["answers"] + rows["snapshots"],
        "rows_quarantined": sum(quarantine.values()),
        "quarantined": dict(quarantine),
        "rows": dict(rows),
        "durations_unknown": dict(manifest["durations_unknown"]),
        "seconds": dict(manifest["seconds"]),
        "tasks": manifest["spark"]["tasks"],
        "cores": manifest["spark"]["cores"],
        "master": manifest["parameters"]["master"],
        "versions": dict(manifest["versions"]),
    }


def run_table(manifest: Mapping[str, Any]) -> pa.Table:
    """Return the table ``run`` of one audit."""
    return pa.Table.from_pylist([run_row(manifest)], schema=RUN)
