"""Comparison of all assignors with the optimum on one rebalance: comparison/1."""

from __future__ import annotations

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


def comparison_of(rebalance: Rebalance, claim_rule: str) -> Document:
    """Compare all assignors on one rebalance.

    Returns
    -------
    dict
        ``comparison/1``: group, id, ``peak_lag_bound`` (lower bound in records; None
        without lag), and ``answers``, the optimum first. An answer has ``assignor`` and
        ``applies``. If it applies, it has verdict, figures, and ``gap`` to the optimum;
        otherwise ``refused``.

    Raises
    ------
    InstanceError
        If the document is not a consistent instance.
    """
    evaluation = Evaluation(rebalance, ClaimRule(claim_rule))
    answers = dict(map(_named, evaluation.all_answers()))
    optimum, kip54 = answers.pop(OPTIMUM), answers.pop(KIP54)
    least = least_of(optimum, kip54, by_capacity=evaluation.by_capacity)
    identity = {"group": rebalance.group, "id": rebalance.id}
    return {
        "format": FORMAT,
        **{key: value for key, value in identity.items() if value is not None},
        "peak_lag_bound": evaluation.peak_lag_bound,
        "answers": [
            _answer(answer, least) for answer in (optimum, kip54, *answers.values())
        ],
    }


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
