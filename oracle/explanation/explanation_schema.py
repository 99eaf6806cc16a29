"""JSON Schema of explanation/1."""

from __future__ import annotations

from typing import Any

from conformance import StrictJsonSchema
from oracle.explanation.records import Explanation


def explanation_schema() -> dict[str, Any]:
    """Return the JSON Schema of explanation/1 documents."""
    schema = Explanation.model_json_schema(schema_generator=StrictJsonSchema)
    schema["required"] = ["format", *schema["required"]]
    return schema | {"title": "explanation/1"}
