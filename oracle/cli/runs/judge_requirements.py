"""Requirements on a verdict beyond validity (``judge --require``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Verdict = Mapping[str, Any]


def is_kip54_balanced(verdict: Verdict) -> bool:
    """Return whether an assignment is KIP-54 balanced and withholds no partition."""
    figures = verdict["figures"]
    return bool(figures.get("kip54_balanced")) and not figures.get("withheld")


def is_at_optimum(verdict: Verdict) -> bool:
    """Return whether an assignment reaches the optimum that it was compared with.

    Without a policy: it is dec-min balanced and has no needless moves. With one: it
    meets balance and budget, and every objective has the optimum's value. False if the
    optimum is not proved, and while partitions are withheld.
    """
    against = verdict.get("against")
    if against is None or against["gap"] is None or verdict["figures"].get("withheld"):
        return False
    gap = against["gap"]
    if "policy" in verdict:
        return all(gap.get(objective["of"]) == 0 for objective in verdict["objectives"])
    return bool(verdict["figures"]["dec_min_balanced"]) and gap["moves"] == 0
