"""Every published assignor on one rebalance, beside the optimum; all of it judged."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from heuristics import ASSIGNORS
from oracle.against import (
    KIP54,
    ByKip54,
    Document,
    Optimum,
    by_kip54,
    optimum_of,
    plain,
)
from rebalance import ClaimRule, Rebalance, document_of, instance_of, to_json
from solver.limits import Limits
from verify import judge, peak_lag_bound, understand
from verify import read_rebalance as read_for_judge

FORMAT: Final = "comparison/1"
KIP54_EFFORT: Final = 10.0
"""How long the search for the best by KIP-54 may take; see `solver.limits.Limits`."""


def comparison_of(rebalance: Rebalance, claim_rule: str) -> Document:
    """Compare on one rebalance.

    Returns
    -------
    dict
        ``comparison/1``: group, id, ``peak_lag_bound`` (records; no assignment is below
        it; None without lag) and ``answers``, the optimum first. An answer has
        assignor, ``applies`` and, if it does, verdict, figures and ``gap`` to the
        optimum; else ``refused``.

    Raises
    ------
    InstanceError
        If the document is no sound instance.
    """
    instance = read_for_judge(to_json(rebalance))
    best = optimum_of(instance, claim_rule)
    sticky = by_kip54(instance, claim_rule, Limits(effort=KIP54_EFFORT))
    case = understand(instance, claim_rule=claim_rule)
    return {
        "format": FORMAT,
        **{key: instance[key] for key in ("group", "id") if key in instance},
        "peak_lag_bound": peak_lag_bound(case),
        "answers": [
            _of_program("optimum", best.assignment, best.verdict, best, sticky),
            _of_program(KIP54, sticky.assignment, sticky.verdict, best, sticky),
            *_of_heuristics(rebalance, instance, best, sticky, claim_rule),
        ],
    }


def _of_program(
    name: str, assignment: Document, verdict: Document, best: Optimum, sticky: ByKip54
) -> Document:
    shown = {key: verdict[key] for key in ("verdict", "figures", "proved")}
    return {
        "assignor": name,
        "applies": True,
        "status": assignment["status"],
        **shown,
        **_gaps(verdict, best, sticky),
    }


def _gaps(verdict: Document, best: Optimum, sticky: ByKip54) -> Document:
    return {"gap": best.gap(verdict["figures"]), "kip54_gap": sticky.gap(verdict)}


def _of_heuristics(
    rebalance: Rebalance,
    instance: Document,
    best: Optimum,
    sticky: ByKip54,
    claim_rule: str,
) -> Iterator[Document]:
    columns = instance_of(rebalance, claim_rule=ClaimRule(claim_rule))
    for name, assignor in ASSIGNORS.items():
        reason = assignor.refuses(columns)
        if reason is not None:
            yield {"assignor": name, "applies": False, "refused": reason}
            continue
        answer = document_of(columns, assignor.assign(columns), assignor=name)
        verdict = judge(instance, plain(answer), claim_rule=claim_rule)
        shown = {key: verdict[key] for key in ("verdict", "figures")}
        gaps = _gaps(verdict, best, sticky)
        yield {"assignor": name, "applies": True, **shown, **gaps}
