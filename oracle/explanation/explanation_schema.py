"""JSON Schema of explanation/1."""

from __future__ import annotations

from typing import Any

from conformance import document_schema
from oracle.explanation.records import Explanation


def explanation_schema() -> dict[str, Any]:
    """Return the JSON Schema of explanation/1 documents."""
    return document_schema(Explanation)
