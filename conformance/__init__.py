"""Corpus of scenarios from the field, and a check of assignors against them."""

from conformance.corpus import corpus, corpus_documents, play
from conformance.expectations import unmet
from conformance.scenario import (
    AS_IT_STANDS,
    EVERYONE,
    OPTIMUM,
    Expectation,
    Scenario,
    Step,
    parse_scenario,
)
from conformance.schema import scenario_schema
from conformance.shapes import SHAPES, unusual_shapes

__all__ = [
    "AS_IT_STANDS",
    "EVERYONE",
    "OPTIMUM",
    "SHAPES",
    "Expectation",
    "Scenario",
    "Step",
    "corpus",
    "corpus_documents",
    "parse_scenario",
    "play",
    "scenario_schema",
    "unmet",
    "unusual_shapes",
]
