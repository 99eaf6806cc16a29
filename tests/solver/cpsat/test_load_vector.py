"""The objective ``load`` on restricted sets of assignments, against enumeration.

Reaches into `solver.cpsat` to compare one objective with enumeration.
"""

from __future__ import annotations

import pytest

from solver import Limits, Status, cpsat, parse_policy
from solver.cpsat import load_vector
from tests.references.brute import Brute
from tests.solver.routes import instance
from tests.support.shapes import CHAIN, TWO_LEVELS, Document, member, rebalance

# All owned by a, b and c. With four moves the sum of squares is least where five are
# left on one: the search has to compare (5, 4, 4, 0 ...) with (4, 4, 4 ...).
HEAPS = rebalance(
    {"t": 9, "u": 6, "v": 3},
    {
        "a": member(["t", "u"], {"t": list(range(9))}),
        "b": member(["u", "v"], {"u": list(range(6))}),
        "c": member(["v"], {"v": [0, 1, 2]}),
        "d": member(["t", "v"]),
    },
)


@pytest.mark.parametrize("document", [HEAPS, CHAIN, TWO_LEVELS])
@pytest.mark.parametrize("budget", range(5))
@pytest.mark.parametrize("batch", [1, 2**29])
def test_load_within_a_budget(
    document: Document, budget: int, batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One threshold per run, and many at once, result in the same vector."""
    monkeypatch.setattr(load_vector, "BATCH_MAX", batch)
    text = f"none; load, stickiness; max-moves={budget}"
    outcome = cpsat.solve(instance(document), parse_policy(text), limits=Limits())
    assert outcome.status is Status.OPTIMAL
    best = Brute(document).best(text)
    assert best is not None
    found = [objective.value for objective in outcome.objectives]
    assert found == [tuple(best[0]), best[1]]  # type: ignore[arg-type]
