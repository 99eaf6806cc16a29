"""A front as a front/1 document.

```
{"format": "front/1", "group": ..., "id": ...,
 "objective": "balance" | "peak-lag", "balance": "none" | ..., "measure": ...,
 "scale": ...,                     values are in units of 1 ÷ scale; absent: 1
 "complete": true | false,         every point is proved, and none is missing
 "points": [{"moves": k, "value": v, "bound": b, "status": "optimal" | "feasible",
             "proof": {...}, "assignment": {"format": "assignment/1", ...}}],
 "open": [{"from": k, "to": k, "bound": b}],
 "reason": ...}
```

Of a point that is ``optimal`` it is proved that nothing within its moves has less, and
that no fewer moves reach it. Between ``from`` and ``to`` moves something better may be
found, though nothing below the bound. Absent parts are left out.

Each assignment can be judged by itself. Its policy is the balance, the objective or
measure, and its moves as the budget, ``none; kip54-score; max-moves=3``; it is
``optimal`` once nothing within this budget has less.
"""

from __future__ import annotations

from typing import Any, Final

from rebalance import Instance, figures_of
from rebalance import document_of as document_of_assignment
from rebalance.documents import CertificateDocument, ObjectiveDocument
from solver.exact import solve as solve_core
from solver.pareto.front import Front, Point
from solver.policy import dec_min
from solver.result import Status

FORMAT: Final = "front/1"


def document_of(instance: Instance, front: Front) -> dict[str, Any]:
    """Write a front as plain JSON values."""
    shown = None
    if front.balance == str(dec_min):  # terms may speak of its levels
        shown = solve_core(instance).require_certificate().to_document(instance)
    whole = {
        "format": FORMAT,
        "group": instance.group,
        "id": instance.id,
        "objective": front.objective,
        "balance": front.balance,
        "measure": None if front.measure is None else front.measure.value,
        "scale": None if front.scale == 1 else front.scale,
        "complete": front.is_complete,
        "points": [_point(instance, front, point, shown) for point in front.points],
        "open": [
            {"from": run.first, "to": run.last, "bound": run.bound}
            for run in front.open
        ]
        or None,
        "reason": front.reason,
    }
    return {key: value for key, value in whole.items() if value is not None}


def _point(
    instance: Instance, front: Front, point: Point, shown: CertificateDocument | None
) -> dict[str, Any]:
    return {
        "moves": point.moves,
        "value": point.value,
        "bound": point.bound,
        "status": (Status.OPTIMAL if point.is_proved else Status.FEASIBLE).value,
        "proof": point.proof.model_dump(exclude_none=True),
        "assignment": _assignment(instance, front, point, shown),
    }


def _assignment(
    instance: Instance, front: Front, point: Point, shown: CertificateDocument | None
) -> dict[str, Any]:
    """Write the assignment as an answer of its own: the least within its moves."""
    of = front.objective if front.measure is None else front.measure.value
    is_least = point.bound == point.value
    answer = document_of_assignment(
        instance,
        point.assignment,
        assignor="oracle",
        figures=figures_of(instance, point.assignment),
        certificate=shown,
    )
    level = ObjectiveDocument.model_construct(
        of=of,
        value=point.value,
        bound=point.bound,
        scale=None if front.scale == 1 else front.scale,
        proof=point.proof,
    )
    told = {
        "status": (Status.OPTIMAL if is_least else Status.FEASIBLE).value,
        "policy": f"{front.balance}; {of}; max-moves={point.moves}",
        "objectives": [level],
        "reason": None if is_least else front.reason,
    }
    return answer.model_copy(update=told).model_dump(exclude_none=True)
