"""Version prefix of a value, by the same rule for all records."""

from __future__ import annotations

from typing import Final

from rebalance import WireError
from rebalance.protocol import Cursor

NEWEST_VERSION: Final = 4


def value_version(value: Cursor, *, newest: int = NEWEST_VERSION) -> int:
    """Decode a value's version, 0 to ``newest``.

    Newer versions are not decoded: in the flexible encoding, Kafka adds tagged fields,
    and increases the version only if older readers must not read a record (KIP-915).

    Raises
    ------
    WireError
        If it is another version.
    """
    version = value.int16("value: version")
    if not 0 <= version <= newest:
        allowed = f"0 to {newest}" if newest else "0"
        reason = f"value: version {version}, not {allowed}"
        raise WireError(reason, offset=0)
    return version
