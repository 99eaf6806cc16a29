"""Rows of ``answers``: one verdict laid out in columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import orjson

from pipeline.evaluate.answers import Answered

Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Least:
    """What the optimum reaches; each is None unless the judge accepted its proof.

    ``kip54_score`` is None too where members state capacities: the score counts loads.

    ``moves_kip54`` is what the best by KIP-54's own balance reaches; None unless the
    engine settled that nothing moves fewer.
    """

    kip54_score: int | None = None
    moves: int | None = None
    moves_kip54: int | None = None


def least_of(
    optimum: Answered | None, by_kip54: Answered | None, *, by_capacity: bool
) -> Least:
    """Read the figures of a proved optimum, and of the best by KIP-54's balance."""
    moves_kip54 = _least_by_kip54(by_kip54)
    if optimum is None or optimum.verdict is None:
        return Least(moves_kip54=moves_kip54)
    figures, proved = optimum.verdict["figures"], optimum.verdict["proved"]
    balanced = optimum.verdict["verdict"] == "valid" and proved["dec_min"]
    sticky = balanced and proved["stickiness"]
    return Least(
        kip54_score=figures["kip54_score"] if balanced and not by_capacity else None,
        moves=figures["moves"] if sticky else None,
        moves_kip54=moves_kip54,
    )


def _least_by_kip54(answered: Answered | None) -> int | None:
    if answered is None or answered.verdict is None or answered.status != "optimal":
        return None
    figures = answered.verdict["figures"]
    met = answered.verdict["verdict"] == "valid" and figures["kip54_balanced"]
    return int(figures["moves"]) if met else None


def at_optimum(verdict: dict[str, Any], least: Least) -> bool | None:
    """Tell whether nothing is more even and nothing as even moves less.

    None while partitions are withheld, or when the optimum is not proved.
    """
    figures = verdict["figures"]
    if figures.get("withheld") or least.moves is None:
        return None
    return bool(
        verdict["verdict"] == "valid"
        and figures["dec_min_balanced"]
        and figures["moves"] == least.moves
    )


def at_kip54_optimum(verdict: dict[str, Any], least: Least) -> bool | None:
    """Tell whether nothing that is balanced by KIP-54's own words moves less.

    None while partitions are withheld, or when the least is not settled.
    """
    figures = verdict["figures"]
    if figures.get("withheld") or least.moves_kip54 is None:
        return None
    return bool(
        verdict["verdict"] == "valid"
        and figures["kip54_balanced"]
        and figures["moves"] == least.moves_kip54
    )


def answer_row(shared: Row, answered: Answered, least: Least, bound: int | None) -> Row:
    """Lay one answer out; ``shared`` has the columns that all answers share."""
    row = shared | {
        "assignor": answered.assignor,
        "applies": answered.refused is None,
        "refused": answered.refused,
        "kip54_score_least": least.kip54_score,
        "moves_least": least.moves,
        "moves_least_kip54": least.moves_kip54,
    }
    if answered.verdict is None or answered.text is None:
        return row
    return row | _judged(answered, answered.verdict, answered.text, least, bound)


def _judged(
    answered: Answered,
    verdict: dict[str, Any],
    text: bytes,
    least: Least,
    bound: int | None,
) -> Row:
    figures, proved = verdict["figures"], verdict["proved"]
    evidence = orjson.dumps(verdict["evidence"], option=orjson.OPT_SORT_KEYS)
    loads, known = figures["loads"], bound is not None
    return {
        "verdict": verdict["verdict"],
        "violations": [_violation(one) for one in verdict["violations"]],
        "loads": loads,
        "load_min": min(loads, default=None),
        "load_max": max(loads, default=None),
        "kip54_score": figures["kip54_score"],
        "kip54_balanced": figures["kip54_balanced"],
        "dec_min_balanced": figures["dec_min_balanced"],
        "evidence": evidence.decode() if verdict["evidence"] else None,
        "kept": figures["kept"],
        "moves": figures["moves"],
        "withheld": figures.get("withheld", 0),
        "peak_lag": figures["peak_lag"] if known else None,
        "peak_lag_bound": bound,
        "lag_spread": figures["lag_spread"] if known else None,
        "rack_mismatches": figures["rack_mismatches"],
        "at_optimum": at_optimum(verdict, least),
        "at_kip54_optimum": at_kip54_optimum(verdict, least),
        "status": answered.status,
        "proved_dec_min": proved["dec_min"],
        "proved_stickiness": proved["stickiness"],
        "proved_peak_lag": proved["peak_lag"] if known else None,
        "assignment": text.decode(),
    }


def _violation(found: dict[str, Any]) -> Row:
    return {name: found.get(name) for name in ("rule", "member", "topic", "partition")}
