"""JSON Schema of explanation/1."""

from __future__ import annotations

from typing import Any

from oracle.explanation.records import Explanation
from rebalance import document_schema


def explanation_schema() -> dict[str, Any]:
    """Return the JSON Schema of explanation/1 documents."""
    return document_schema(Explanation)
