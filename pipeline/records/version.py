"""Version prefix of a value, by the same rule for offsets and groups."""

from __future__ import annotations

from typing import Final

from rebalance import WireError
from rebalance.protocol import Cursor

NEWEST_VERSION: Final = 4


def value_version(value: Cursor) -> int:
    """Decode a value's version, 0 to 4.

    Newer versions are not decoded: from version 4 on, Kafka adds tagged fields, and
    increases the version only if older readers must not read a record (KIP-915).

    Raises
    ------
    WireError
        If it is another version.
    """
    version = value.int16("value: version")
    if not 0 <= version <= NEWEST_VERSION:
        reason = f"value: version {version}, not 0 to {NEWEST_VERSION}"
        raise WireError(reason, offset=0)
    return version
