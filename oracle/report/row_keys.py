"""Keys of rows: several columns as one text, to look rows up in another table."""

from __future__ import annotations

from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from oracle.summary import plain

_BETWEEN: Final = "\x1f"


def keys_of(*parts: str | pa.ChunkedArray) -> pa.Array:
    """Return a text per row that equals another one if all columns do."""
    columns = [part if isinstance(part, str) else plain(part) for part in parts]
    keys = pc.binary_join_element_wise(*columns, _BETWEEN)
    return keys.combine_chunks() if isinstance(keys, pa.ChunkedArray) else keys
