"""Table of transfers: which member gives which partitions to which other."""

from __future__ import annotations

from collections.abc import Sequence

from oracle.cli.printing.parts import Cell, Sheet
from oracle.cli.printing.tables import NAME_SHOWN, partitions_text, table_of
from oracle.names import abridged
from oracle.transfers import Transfer


def transfer_table(transfers: Sequence[Transfer], title: str = "Transfers") -> Sheet:
    """Lay out transfers, one row per pair of members; lag if it is stated."""
    has_lag = any(transfer.lag is not None for transfer in transfers)
    columns = (
        "from",
        "to",
        "count",
        *(["lag (records)"] if has_lag else []),
        "partitions",
    )
    rows = [_row(transfer, has_lag=has_lag) for transfer in transfers]
    return table_of(title, columns, rows)


def _row(transfer: Transfer, *, has_lag: bool) -> tuple[Cell, ...]:
    return (
        None if transfer.giver is None else abridged(transfer.giver, NAME_SHOWN),
        None if transfer.receiver is None else abridged(transfer.receiver, NAME_SHOWN),
        transfer.count,
        *([transfer.lag] if has_lag else []),
        partitions_text(transfer.partitions),
    )
