"""Lag of needless moves: what consumers pay for them, in records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rebalance import AssignmentDocument, Instance, assignment_of


def needless_lag(
    instance: Instance, assignment: Mapping[str, Any], needless: int
) -> int:
    """Return the least lag of as many moved partitions as were moved needlessly.

    Which of its moves an assignment could have avoided is not determined, but their
    number is; at least this many records belong to them. ``assignment`` is a valid
    assignment/1, and ``needless`` are its moves beyond the fewest, at most its moves.
    """
    if instance.lag is None or needless <= 0:
        return 0
    document = AssignmentDocument.model_construct(members=assignment["members"])
    assignee = assignment_of(instance, document).assignee
    is_moved = (instance.owner >= 0) & (assignee != instance.owner)
    least = np.sort(instance.lag[is_moved])[:needless]
    return sum(least.tolist())
