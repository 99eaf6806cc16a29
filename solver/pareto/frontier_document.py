"""A Pareto frontier as a front/1 document.

```
{"format": "front/1", "group": ..., "id": ...,
 "objective": "balance" | "peak-lag", "balance": "none" | ...,
 "measure": "sum-of-squares",      of the objective balance
 "scale": ...,                     values are in units of 1 ÷ scale; absent: 1
 "complete": true | false,         every point is proved, and none is missing
 "points": [{"moves": k, "value": v, "bound": b, "status": "optimal" | "feasible",
             "kip54_score": s, "proof": {...},
             "assignment": {"format": "assignment/1", ...}}],
 "open": [{"from": k, "to": k, "bound": b}],
 "reason": ...}
```

A point is ``optimal`` if no assignment within its moves has a lower value and fewer
moves do not reach its value. From ``from`` to ``to`` moves, a value lower than the best
found may exist, but none below the bound. Absent parts are left out; only points of
balance have a ``kip54_score``.

Each assignment can be judged by itself, with the limit on moves in its policy:
``none; sum-of-squares; max-moves=3``. It is ``optimal`` if none within it is better.
"""

from __future__ import annotations

from typing import Any, Final

from rebalance import CertificateDocument, Instance, ObjectiveDocument, figures_of
from rebalance import document_of as document_of_assignment
from solver.engines import solve
from solver.pareto.frontier import Frontier, FrontierPoint
from solver.policy import dec_min
from solver.result import Status

FORMAT: Final = "front/1"
STATUS: Final = {True: Status.OPTIMAL.value, False: Status.FEASIBLE.value}


def document_of(instance: Instance, frontier: Frontier) -> dict[str, Any]:
    """Write a frontier as plain JSON values."""
    certificate = None
    if frontier.balance == str(dec_min):  # terms can rest on its levels
        certificate = solve(instance).require_certificate().to_document(instance)
    return _without_absent(
        {
            "format": FORMAT,
            "group": instance.group,
            "id": instance.id,
            "objective": frontier.objective,
            "balance": frontier.balance,
            "measure": frontier.measure,
            "scale": None if frontier.scale == 1 else frontier.scale,
            "complete": frontier.is_complete,
            "points": [
                _point(instance, frontier, point, certificate)
                for point in frontier.points
            ],
            "open": [
                {
                    "from": open_range.first,
                    "to": open_range.last,
                    "bound": open_range.bound,
                }
                for open_range in frontier.open
            ]
            or None,
            "reason": frontier.reason,
        }
    )


def _point(
    instance: Instance,
    frontier: Frontier,
    point: FrontierPoint,
    certificate: CertificateDocument | None,
) -> dict[str, Any]:
    """Write a point, with its assignment as the result of a policy of its own."""
    objective = ObjectiveDocument.model_construct(
        of=frontier.measure or frontier.objective,
        value=point.value,
        bound=point.bound,
        scale=None if frontier.scale == 1 else frontier.scale,
        proof=point.proof,
    )
    is_least = point.bound == point.value
    update = {
        "status": STATUS[is_least],
        "policy": f"{frontier.balance}; {objective.of}; max-moves={point.moves}",
        "objectives": [objective],
        "reason": None if is_least else frontier.reason,
        "certificate": certificate,
    }
    assignment = document_of_assignment(
        instance,
        point.assignment,
        assignor="oracle",
        figures=figures_of(instance, point.assignment),
    ).model_copy(update=update)
    return _without_absent(
        {
            "moves": point.moves,
            "value": point.value,
            "bound": point.bound,
            "status": STATUS[point.is_proved],
            "kip54_score": point.kip54_score,
            "proof": point.proof.model_dump(exclude_none=True),
            "assignment": assignment.model_dump(exclude_none=True),
        }
    )


def _without_absent(document: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if value is not None}
