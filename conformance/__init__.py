"""Scenarios from the field, and whether an assignor does as they expect."""

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
