"""Differential runs: drive an assignor through rebalances and classify each outcome."""

from conformance.runs.categories import SAFETY, Category, Requirement
from conformance.runs.families import FAMILIES, Family
from conformance.runs.rounds import (
    MOST_ROUNDS,
    JudgedAnswer,
    Outcome,
    drive,
    next_generation,
    next_round,
)
from conformance.runs.subject import Subject

__all__ = [
    "FAMILIES",
    "MOST_ROUNDS",
    "SAFETY",
    "Category",
    "Family",
    "JudgedAnswer",
    "Outcome",
    "Requirement",
    "Subject",
    "drive",
    "next_generation",
    "next_round",
]
