"""JSON Schema of scenario/1, generated from the models that read it."""

from __future__ import annotations

from typing import Any, Final

from conformance.scenario import Scenario
from rebalance import Rebalance, StrictJsonSchema

_REFERENCES: Final = "#/$defs/{model}"


def scenario_schema() -> dict[str, Any]:
    """Return the schema; a step that is not ``unreadable`` contains a rebalance/1.

    A schema cannot state everything that the reader checks: the lengths of lag and rack
    lists, repeated keys, and that a step is unreadable where it says so.
    """
    schema = Scenario.model_json_schema(schema_generator=StrictJsonSchema)
    rebalance = Rebalance.model_json_schema(
        schema_generator=StrictJsonSchema, ref_template=_REFERENCES
    )
    del rebalance["$schema"]
    definitions = schema["$defs"]
    definitions |= rebalance.pop("$defs") | {"Rebalance": rebalance}
    rebalance["required"] = ["format", *rebalance["required"]]
    definitions["Step"] |= {
        "if": {"not": {"required": ["unreadable"]}},
        "then": {"properties": {"rebalance": {"$ref": "#/$defs/Rebalance"}}},
    }
    schema["$defs"] = dict(sorted(definitions.items()))
    return schema | {"title": "scenario/1"}
