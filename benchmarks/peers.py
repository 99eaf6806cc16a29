"""Kafka's names of assignors, and ours."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

OURS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "range": "range",
        "roundrobin": "round-robin",
        "sticky": "sticky",
        "cooperative-sticky": "cooperative-sticky",
        "server-range": "server-range",
        "server-uniform": "uniform",
    }
)
"""Our assignors by the names in `conformance.clients`."""
