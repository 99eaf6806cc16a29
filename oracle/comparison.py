"""Comparison of all assignors with the optimum on one rebalance: comparison/1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pipeline.evaluation import (
    KIP54,
    OPTIMUM,
    Answer,
    Evaluation,
    Failure,
    Least,
    least_of,
)
from rebalance import ClaimRule, Rebalance

Document = dict[str, Any]

FORMAT: Final = "comparison/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Actual:
    """What a group's leader, or the coordinator, assigned; ``members`` as in JSON."""

    members: Mapping[str, Mapping[str, list[int]]]
    assignor: str | None = None
    cooperative: bool = False


def comparison_of(
    rebalance: Rebalance, claim_rule: str, actual: Actual | None = None
) -> Document:
    """Compare all assignors on one rebalance, and what was assigned, if it is known.

    Returns
    -------
    dict
        ``comparison/1``: group, id, ``peak_lag_bound`` (lower bound in records; None
        without lag), and ``answers``: the optimum, that of KIP-54, ``actual``, the
        assignors. An answer has ``assignor`` and ``applies``. If it applies, it has
        verdict, figures, and ``gap`` to the optimum; otherwise ``refused``.

    Raises
    ------
    InstanceError
        If the document is not a consistent instance.
    """
    evaluation = Evaluation(rebalance, ClaimRule(claim_rule))
    answers = dict(map(_named, evaluation.all_answers()))
    optimum, kip54 = answers.pop(OPTIMUM), answers.pop(KIP54)
    least = least_of(optimum, kip54, by_capacity=evaluation.by_capacity)
    was = [] if actual is None else [_actual(evaluation, actual)]
    identity = {"group": rebalance.group, "id": rebalance.id}
    return {
        "format": FORMAT,
        **{key: value for key, value in identity.items() if value is not None},
        "peak_lag_bound": evaluation.peak_lag_bound,
        "answers": [
            _answer(answer, least)
            for answer in (optimum, kip54, *was, *answers.values())
        ],
    }


def _actual(evaluation: Evaluation, actual: Actual) -> Answer:
    return evaluation.actual(
        actual.members, assignor=actual.assignor, cooperative=actual.cooperative
    )


def _named(found: Answer | Failure) -> tuple[str, Answer]:
    if isinstance(found, Failure):
        raise found.error
    return found.assignor, found


def _answer(answer: Answer, least: Least) -> Document:
    if answer.refused is not None:
        return {
            "assignor": answer.assignor,
            "applies": False,
            "refused": answer.refused,
        }
    _, verdict = answer.judged()
    by_program = answer.status is not None
    return {
        "assignor": answer.assignor,
        "applies": True,
        **({"status": answer.status} if by_program else {}),
        "verdict": verdict["verdict"],
        "figures": verdict["figures"],
        **({"proved": verdict["proved"]} if by_program else {}),
        "gap": least.gap(verdict),
        "kip54_gap": least.kip54_gap(verdict),
    }
