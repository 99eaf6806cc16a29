"""Corpus of scenarios from the field, and a check of assignors against them."""

from conformance.corpus import Scene, corpus, play
from conformance.expectations import unmet
from conformance.scenario import Expectation, Scenario, Step, parse_scenario

__all__ = [
    "Expectation",
    "Scenario",
    "Scene",
    "Step",
    "corpus",
    "parse_scenario",
    "play",
    "unmet",
]
