"""Types of JSON Schema in words, with links to definitions on the same page."""

from __future__ import annotations

import json
from typing import Any, Final

from rebalance import INT64_MAX

Schema = dict[str, Any]

_WORDS: Final = {
    "string": "string",
    "integer": "integer",
    "boolean": "true or false",
    "number": "number",
    "null": "null",
}
_SOME: Final = "any value"
_UPPER: Final = {INT64_MAX, 2**31 - 1}
"""Largest integers of 64 and 32 bits, which every count of this size has."""


def type_of(schema: Schema) -> str:
    """Return the type of a value as Markdown, for a cell of a table."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    literals = [schema["const"]] if "const" in schema else schema.get("enum", [])
    choices = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
    words = [*map(_literal, literals), *map(type_of, choices)]
    return " or ".join(words) or _plain_type(schema)


def _plain_type(schema: Schema) -> str:
    kind = schema.get("type")
    if kind == "array":
        return f"list of {type_of(schema.get('items', {}))}{_length(schema)}"
    if kind == "object":
        return _mapping(schema)
    return _WORDS[kind] + _range(schema) if kind else _SOME


def _mapping(schema: Schema) -> str:
    values = schema.get("additionalProperties")
    if not isinstance(values, dict):
        return "object"
    keys = schema.get("propertyNames", {})
    return f"{type_of(keys) if 'enum' in keys else 'name'} → {type_of(values)}"


def _literal(value: object) -> str:
    return f"`{json.dumps(value)}`"


def _range(schema: Schema) -> str:
    """Return limits of a value, without those of every integer of its size."""
    least, most = schema.get("minimum"), schema.get("maximum")
    parts = []
    if least is not None and -least not in _UPPER:
        parts.append(f"≥ {least}")
    if most is not None and most not in _UPPER:
        parts.append(f"≤ {most}")
    if pattern := schema.get("pattern"):
        parts.append(f"matching `{pattern}`")
    return f" {', '.join(parts)}" if parts else ""


def _length(schema: Schema) -> str:
    least, most = schema.get("minItems"), schema.get("maxItems")
    if least is not None and least == most:
        return f", {least} entries"
    return f", at least {least}" if least else ""
