"""Time of each rebalance: of its record, or of the last round of a cooperative one."""

from __future__ import annotations

from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc

from oracle.report.row_keys import keys_of


def with_times(units: pa.Table, rebalances: pa.Table, episodes: pa.Table) -> pa.Table:
    """Append ``at``, null if it is not known, to rows of `client_units`."""
    keys = pa.concat_arrays(
        [
            keys_of("rebalances", rebalances["cluster"], rebalances["rebalance_id"]),
            keys_of("episodes", episodes["cluster"], episodes["episode_id"]),
        ]
    )
    times = pa.chunked_array(
        [*rebalances["at"].chunks, *episodes["ended_at"].chunks],
        rebalances.schema.field("at").type,
    )
    drawn = keys_of(units["drawn_from"], units["cluster"], units["drawn_id"])
    return units.append_column("at", times.take(pc.index_in(drawn, keys)))


def named(at: datetime | None, generation: int | None) -> str:
    """Return the name of a rebalance in its group: its time, then its generation."""
    parts = [] if at is None else [f"{at:%Y-%m-%d %H:%M:%S} UTC"]
    if generation is not None:
        parts.append(f"generation {generation}")
    return ", ".join(parts)
