"""Tables of a verdict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from oracle.cli.printing.answer_tables import name_of
from oracle.cli.printing.objective_tables import in_units
from oracle.cli.printing.parts import Cell, Part, Sheet, TextLine
from oracle.names import visible
from oracle.wording import loads_text

_FIGURES: Final = {
    "loads": "load × members",
    "moves": "moves",
    "kept": "kept",
    "withheld": "withheld",
    "kip54_score": "KIP-54 score",
    "kip54_balanced": "KIP-54 balanced",
    "dec_min_balanced": "dec-min balanced",
    "peak_lag": "peak lag (records)",
    "lag_spread": "lag spread (records)",
    "rack_mismatches": "rack mismatches",
}
_PROVED: Final = {
    "dec_min": "no assignment is more balanced",
    "stickiness": "no balanced assignment has fewer moves",
    "peak_lag": "no assignment has less peak lag",
}


def verdict_parts(
    verdict: Mapping[str, Any], *, unmet: str | None = None
) -> list[Part]:
    """Lay out one verdict: figures, violations, evidence, and proofs.

    ``unmet`` is a requirement (``--require``) that the verdict does not meet.
    """
    title = f"{name_of(verdict)} · {verdict['verdict']}"
    parts: list[Part] = []
    if verdict["figures"]:
        parts.append(_figures(title, verdict))
    else:
        parts.append(TextLine(title))
    if verdict["violations"]:
        parts.append(_violations(verdict["violations"]))
    for rule, count in verdict.get("more_violations", {}).items():
        parts.append(TextLine(f"{rule}: {count:,} more"))
    if "policy" in verdict:
        parts.append(_levels(verdict))
    parts += map(TextLine, _negative_gaps(verdict))
    for name, found in _evidence(verdict):
        parts.append(TextLine(f"{name}: {visible(str(found), limit=400)}"))
    if "status" in verdict:
        status = verdict["status"]
        claimed = visible(status["claimed"], limit=60)
        parts.append(TextLine(f"status: claimed {claimed}, found {status['found']}"))
    proved = [words for name, words in _PROVED.items() if verdict["proved"][name]]
    if proved:
        parts.append(TextLine(f"proved: {'; '.join(proved)}"))
    if unmet is not None:
        parts.append(TextLine(f"required: {unmet}, which is not met"))
    return [*parts, TextLine("")]


def _figures(title: str, verdict: Mapping[str, Any]) -> Part:
    against = verdict.get("against")
    columns = ["figure", "found"]
    if against is not None:
        columns += [f"{against['assignor']} ({against['status']})", "gap"]
    rows: list[list[Cell]] = []
    for name, words in _FIGURES.items():
        if name not in verdict["figures"]:
            continue
        row: list[Cell] = [words, _shown(verdict["figures"][name])]
        if against is not None:
            row += [
                _shown(against["figures"].get(name)),
                (against["gap"] or {}).get(name),
            ]
        rows.append(row)
    return Sheet(title, columns, rows)


def _levels(verdict: Mapping[str, Any]) -> Part:
    """Lay out the objectives of the policy: value, bound, and its basis."""
    policy, against = verdict["policy"], verdict.get("against")
    missed = [part for part in ("balance", "budget") if not policy[f"{part}_met"]]
    title = f"policy: {policy['of']}" + "".join(f" · {part} not met" for part in missed)
    if not verdict["objectives"]:
        return TextLine(title)
    columns = ["objective", "value", "bound", "rests on", "proved"]
    best: dict[str, Mapping[str, Any]] = {}
    if against is not None:
        columns += [f"{against['assignor']} ({against['status']})", "gap"]
        best = {objective["of"]: objective for objective in against["objectives"]}
    rows: list[list[Cell]] = []
    for objective in verdict["objectives"]:
        scale = objective.get("scale")
        row: list[Cell] = [
            objective["of"],
            in_units(objective["value"], scale),
            in_units(objective["bound"], scale) if "bound" in objective else None,
            _rests_on(objective),
            objective["proved"],
        ]
        if against is not None:
            other = best.get(objective["of"])
            gap = (against["gap"] or {}).get(objective["of"])
            row += [
                None if other is None else in_units(other["value"], scale),
                in_units(gap, scale) if gap else gap,
            ]
        rows.append(row)
    return Sheet(title, columns, rows)


def _negative_gaps(verdict: Mapping[str, Any]) -> Iterator[str]:
    """Explain each gap below 0: the optimum is best, but not in every figure."""
    gap = (verdict.get("against") or {}).get("gap") or {}
    if verdict["verdict"] == "invalid":
        why = "an assignment that violates a rule can have less than the optimum"
    elif "policy" in verdict:
        why = "it is worse in an objective that comes first"
    else:
        why = "it is less balanced, and the optimum puts balance before moves"
    scales = {
        objective["of"]: objective.get("scale")
        for objective in verdict.get("objectives", ())
    }
    for name, value in gap.items():
        if value < 0:
            less = in_units(value, scales.get(name))
            yield f"gap in {_FIGURES.get(name, name)} of {less}: {why}"


def _rests_on(level: Mapping[str, Any]) -> str:
    if "engine" not in level:
        return str(level["rests_on"])
    return f"{level['rests_on']} ({visible(level['engine'], limit=60)})"


def _evidence(verdict: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    yield from verdict["evidence"].items()
    for objective in verdict.get("objectives", ()):
        if "claimed" in objective:
            yield f"{objective['of']}, claimed", objective["claimed"]
        if "evidence" in objective:
            yield objective["of"], objective["evidence"]


def _violations(violations: list[Mapping[str, Any]]) -> Part:
    columns = ("rule", "member", "topic", "partition")
    rows = [
        tuple(visible(str(found[c]), limit=60) if c in found else None for c in columns)
        for found in violations
    ]
    return Sheet("violations", columns, rows)


def _shown(value: Any) -> Cell:
    if isinstance(value, list):
        return loads_text(value)
    found: Cell = value
    return found
