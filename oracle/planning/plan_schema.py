"""JSON Schema of plan/1."""

from __future__ import annotations

from typing import Any

from oracle.planning.plan_records import Plan
from rebalance import document_schema


def plan_schema() -> dict[str, Any]:
    """Return the JSON Schema of plan/1 documents."""
    return document_schema(Plan)
