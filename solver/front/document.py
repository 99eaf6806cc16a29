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
"""

from __future__ import annotations

from typing import Any, Final

from rebalance import Instance
from solver.answer import Status
from solver.front.front import Front, Point
from solver.outcome import Achieved, Outcome

FORMAT: Final = "front/1"


def document_of(instance: Instance, front: Front) -> dict[str, Any]:
    """Write a front as plain JSON values."""
    whole = {
        "format": FORMAT,
        "group": instance.group,
        "id": instance.id,
        "objective": front.objective,
        "balance": front.balance,
        "measure": None if front.measure is None else front.measure.value,
        "scale": None if front.scale == 1 else front.scale,
        "complete": front.is_complete,
        "points": [_point(instance, front, point) for point in front.points],
        "open": [
            {"from": run.first, "to": run.last, "bound": run.bound}
            for run in front.open
        ]
        or None,
        "reason": front.reason,
    }
    return {key: value for key, value in whole.items() if value is not None}


def _point(instance: Instance, front: Front, point: Point) -> dict[str, Any]:
    return {
        "moves": point.moves,
        "value": point.value,
        "bound": point.bound,
        "status": (Status.OPTIMAL if point.is_proved else Status.FEASIBLE).value,
        "proof": point.proof.model_dump(exclude_none=True),
        "assignment": _assignment(instance, front, point),
    }


def _assignment(instance: Instance, front: Front, point: Point) -> dict[str, Any]:
    """Write the assignment as an answer to its policy.

    Policies have no word for the measures of balance: there it answers the budget
    alone, and its figures tell the measure.
    """
    objectives = tuple(
        Achieved(
            of=level,
            value=point.value,
            bound=point.bound,
            scale=front.scale,
            proof=point.proof,
        )
        for level in point.policy.levels
    )
    is_met = all(one.is_proved for one in objectives)
    outcome = Outcome(
        policy=point.policy,
        status=Status.OPTIMAL if is_met else Status.FEASIBLE,
        assignment=point.assignment,
        objectives=objectives,
    )
    return outcome.to_document(instance).model_dump(exclude_none=True)
