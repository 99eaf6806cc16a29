"""The first rebalance of every scenario of the corpus."""

from __future__ import annotations

from typing import Any

from conformance.corpus import corpus


def corpus_instances() -> dict[str, dict[str, Any]]:
    """Return the first rebalance of each scenario by its name, if it is readable.

    Later rebalances of a scenario depend on the assignor's answers.
    """
    first = {scenario.name: scenario.steps[0] for scenario in corpus()}
    return {
        name: step.rebalance for name, step in first.items() if step.unreadable is None
    }
