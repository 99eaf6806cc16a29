"""Differential runs: drive an assignor through rebalances and classify each outcome."""

from conformance.runs.subject import Subject

__all__ = ["Subject"]
