"""JSON Schemas of strict pydantic models."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, JsonSchemaValue


class StrictJsonSchema(GenerateJsonSchema):
    """Schema generator: a field that can be absent cannot be null, as when reading."""

    def nullable_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of the value that is not null."""
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: Any) -> JsonSchemaValue:
        """State a default unless it is null, which stands for absence."""
        found = super().default_schema(schema)
        if found.get("default", 0) is None:
            del found["default"]
        return found

    def field_title_should_be_set(self, _: object) -> bool:
        """Omit titles that repeat the names of fields."""
        return False

    def generate(
        self, schema: Any, mode: JsonSchemaMode = "validation"
    ) -> JsonSchemaValue:
        """Generate the schema, with the dialect that it is written in."""
        return {"$schema": self.schema_dialect, **super().generate(schema, mode)}


def document_schema(kind: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON Schema of a document whose ``format`` has a default."""
    schema = kind.model_json_schema(schema_generator=StrictJsonSchema)
    schema["required"] = ["format", *schema["required"]]
    return schema | {"title": kind.model_fields["format"].default}
