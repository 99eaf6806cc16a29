"""Columns of ``answers`` that state one verdict."""

from __future__ import annotations

from typing import Any

import orjson

from pipeline.evaluation.answers import AssignorAnswer
from pipeline.evaluation.least import Least

Row = dict[str, Any]


def answer_columns(answer: AssignorAnswer, least: Least, bound: int | None) -> Row:
    """Return the columns of one row that depend on the answer."""
    row: Row = {
        "assignor": answer.assignor,
        "applies": answer.refused is None,
        "refused": answer.refused,
        "kip54_score_least": least.kip54_score,
        "moves_least": least.moves,
        "moves_least_kip54": least.moves_kip54,
    }
    if answer.refused is not None:
        return row
    return row | _judged(answer, bound) | _compared(answer, least)


def _json_text(document: Row) -> str:
    """Write a document as JSON with sorted keys."""
    return orjson.dumps(document, option=orjson.OPT_SORT_KEYS).decode()


def _judged(answer: AssignorAnswer, bound: int | None) -> Row:
    """Return an answer's verdict; ``bound`` is on the peak lag, None without lag."""
    assignment, verdict = answer.judged()
    figures, proved = verdict["figures"], verdict["proved"]
    loads, known = figures["loads"], bound is not None
    return {
        "verdict": verdict["verdict"],
        "judged_by": answer.judged_by,
        "violations": [_violation(violation) for violation in verdict["violations"]],
        "loads": loads,
        "load_min": min(loads, default=None),
        "load_max": max(loads, default=None),
        "kip54_score": figures["kip54_score"],
        "kip54_balanced": figures["kip54_balanced"],
        "dec_min_balanced": figures["dec_min_balanced"],
        "evidence": _json_text(verdict["evidence"]) if verdict["evidence"] else None,
        "kept": figures["kept"],
        "moves": figures["moves"],
        "withheld": figures.get("withheld", 0),
        "peak_lag": figures["peak_lag"] if known else None,
        "peak_lag_bound": bound,
        "lag_spread": figures["lag_spread"] if known else None,
        "rack_mismatches": figures["rack_mismatches"],
        "status": answer.status,
        "proved_dec_min": proved["dec_min"],
        "proved_stickiness": proved["stickiness"],
        "proved_peak_lag": proved["peak_lag"] if known else None,
        "assignment": _json_text(assignment),
    }


def _compared(answer: AssignorAnswer, least: Least) -> Row:
    _, verdict = answer.judged()
    return {
        "at_optimum": least.is_optimum(verdict),
        "at_kip54_optimum": least.is_kip54_optimum(verdict),
    }


def _violation(found: dict[str, Any]) -> Row:
    return {name: found.get(name) for name in ("rule", "member", "topic", "partition")}
