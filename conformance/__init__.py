"""Corpus of scenarios from the field, and a check of assignors against them."""

from conformance.corpus import corpus, corpus_documents, play
from conformance.expectations import unmet
from conformance.scenario import Expectation, Scenario, Step, parse_scenario
from conformance.schema import scenario_schema

__all__ = [
    "Expectation",
    "Scenario",
    "Step",
    "corpus",
    "corpus_documents",
    "parse_scenario",
    "play",
    "scenario_schema",
    "unmet",
]
