"""The optimum to compare with: dec-min balance, then stickiness, with its proof."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rebalance import instance_of, plain_of, rebalance_of
from solver import Status, solve
from verify import Case, case_of, judge_case

Document = dict[str, Any]


def moves_bound(case: Case, loads: Sequence[int]) -> int:
    """Return a lower bound on the moves of every assignment with these loads.

    A member keeps at most its owned partitions, and at most its load. Whichever member
    has which load, the sum of min(owned, load) is largest if the member that owns the
    most has the largest load, and so on. All dec-min assignments have the same loads.

    Parameters
    ----------
    case : Case
    loads : sequence of int
        Load vector, largest first.
    """
    owned = dict.fromkeys(case.wants, 0)
    for (member, _), numbers in case.owned.items():
        owned[member] += len(numbers)
    pairs = zip(sorted(owned.values(), reverse=True), loads, strict=True)
    return sum(owned.values()) - sum(map(min, pairs))


def least_moves(rebalance: Document) -> int:
    """Return the fewest moves of a dec-min balanced assignment.

    Raises
    ------
    DocumentError
        If the document is not a rebalance/1.
    """
    (stickiness,) = solve(instance_of(rebalance_of(rebalance))).objectives
    assert stickiness.is_proved  # noqa: S101  # the exact core proves every answer
    assert isinstance(stickiness.value, int)  # noqa: S101
    return stickiness.value


def proved_optimum(rebalance: Document) -> Document:
    """Return the optimum as assignment/1, with figures and certificate."""
    instance = instance_of(rebalance_of(rebalance))
    return plain_of(solve(instance).to_document(instance))


def stated_optimum(rebalance: Document) -> Document:
    """Return one optimal assignment with its figures, as a report of a check states it.

    Returns
    -------
    dict
        ``status`` and ``policy``. With an assignment, ``members`` and the judge's
        ``figures`` of it. If it is not proved, ``objectives``: each with its value and
        the bound that no assignment is below; and the ``reason``.
    """
    instance = instance_of(rebalance_of(rebalance))
    result = solve(instance)
    stated: Document = {"status": result.status.value, "policy": str(result.policy)}
    if result.status is not Status.OPTIMAL:
        stated["objectives"] = [
            {
                "of": str(objective.of),
                "value": objective.value,
                "bound": objective.bound,
            }
            for objective in result.objectives
        ]
        stated["reason"] = result.reason
    if result.assignment is not None:
        members = plain_of(result.to_document(instance))["members"]
        judged = judge_case(case_of(rebalance), {"members": members})
        stated |= {"figures": judged["figures"], "members": members}
    return stated


def claim_optimum(rebalance: Document, *, generation: int = 1) -> None:
    """Let every member claim its partitions of the optimum; changes the document."""
    held = proved_optimum(rebalance)["members"]
    for name, member in rebalance["members"].items():
        member["owned"] = {t: sorted(ns) for t, ns in held[name].items() if ns}
        member["generation"] = generation
