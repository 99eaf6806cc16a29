"""JSON Schema of plan/1."""

from __future__ import annotations

from typing import Any

from conformance import StrictJsonSchema
from oracle.planning.plan_records import Plan


def plan_schema() -> dict[str, Any]:
    """Return the JSON Schema of plan/1 documents."""
    schema = Plan.model_json_schema(schema_generator=StrictJsonSchema)
    schema["required"] = ["format", *schema["required"]]
    return schema | {"title": "plan/1"}
