"""Comparison of all assignors with the optimum on one rebalance: comparison/1."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from pipeline.evaluation import (
    KIP54,
    KNOWN,
    OPTIMUM,
    AssignorAnswer,
    Evaluation,
    Failure,
    Least,
    least_of,
)
from rebalance import ClaimRule, Rebalance

Document = dict[str, Any]

FORMAT: Final = "comparison/1"


def comparison_of(
    rebalance: Rebalance,
    claim_rule: str,
    actual: Mapping[str, Any] | None = None,
    *,
    assignors: Collection[str] = KNOWN,
) -> Document:
    """Compare assignors on one rebalance, and the actual assignment, if it is known.

    Parameters
    ----------
    actual : mapping or None
        The assignment by the group's leader or coordinator: the arguments of
        `pipeline.evaluation.Evaluation.actual`.
    assignors : collection of str
        As `pipeline.evaluation.selection` returns them. Without KIP-54's optimum, which
        may need a solver, every ``kip54_gap`` is None.

    Returns
    -------
    dict
        ``comparison/1``: group, id, ``peak_lag_bound`` (lower bound in records; None
        without lag), and ``answers``: the optimum, that of KIP-54, ``actual``, then
        heuristics. An answer has ``assignor`` and ``applies``. If it applies, it has
        verdict, figures, and ``gap`` to the optimum; otherwise ``refused``.

    Raises
    ------
    InstanceError
        If the document is not a consistent instance.
    """
    evaluation = Evaluation(rebalance, ClaimRule(claim_rule))
    least, listed = _listed(evaluation, actual, assignors)
    identity = {"group": rebalance.group, "id": rebalance.id}
    return {
        "format": FORMAT,
        **{key: value for key, value in identity.items() if value is not None},
        "peak_lag_bound": evaluation.peak_lag_bound,
        "answers": [_answer(answer, least) for answer in listed],
    }


def _listed(
    evaluation: Evaluation,
    actual: Mapping[str, Any] | None,
    assignors: Collection[str],
) -> tuple[Least, list[AssignorAnswer]]:
    """Return the optima's figures, and all answers in the order of the document."""
    answers = dict(map(_named, evaluation.answers(assignors)))
    optimum, kip54 = answers.pop(OPTIMUM), answers.pop(KIP54, None)
    least = least_of(optimum, kip54, by_capacity=evaluation.by_capacity)
    listed = [optimum] if kip54 is None else [optimum, kip54]
    if actual is not None:
        listed.append(evaluation.actual(**actual))
    return least, [*listed, *answers.values()]


def _named(found: AssignorAnswer | Failure) -> tuple[str, AssignorAnswer]:
    if isinstance(found, Failure):
        raise found.error
    return found.assignor, found


def _answer(answer: AssignorAnswer, least: Least) -> Document:
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
