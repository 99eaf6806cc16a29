"""The corpus: scenarios from KIPs, tickets, and threads, one JSON file each.

The files are in ``conformance/corpus/``, named after their scenarios.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any, NamedTuple

from conformance.scenario import Scenario, Step, parse_scenario
from rebalance import AssignmentDocument, Rebalance, parse_json


class Scene(NamedTuple):
    """A step with the assignor's answer; None if it refused."""

    step: Step
    rebalance: Rebalance
    assignment: AssignmentDocument | None


def corpus() -> tuple[Scenario, ...]:
    """Return the packaged scenarios, by name."""
    return tuple(
        parse_scenario(file.read_bytes(), source=file.name) for file in _files()
    )


def corpus_documents() -> Iterator[dict[str, Any]]:
    """Yield the packaged scenarios as they are written, by name."""
    for file in _files():
        yield parse_json(file.read_bytes())


def _files() -> list[Traversable]:
    folder = resources.files("conformance") / "corpus"
    files = [file for file in folder.iterdir() if file.name.endswith(".json")]
    return sorted(files, key=lambda file: file.name)


def play(
    scenario: Scenario, answer: Callable[[Rebalance], AssignmentDocument | None]
) -> Iterator[Scene]:
    """Run an assignor on the readable steps, with the claims of its last answer.

    ``answer`` returns None if the assignor refuses; the next step is then unchanged.
    """
    previous: AssignmentDocument | None = None
    for generation, step in enumerate(scenario.steps):
        if step.unreadable is None:
            rebalance = step.after(previous, generation)
            previous = answer(rebalance)
            yield Scene(step, rebalance, previous)
