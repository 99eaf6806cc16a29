"""The verdict: violations, figures, evidence, and proofs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from verify import balance, certificate, figures, rules
from verify.case import Case, case_of
from verify.columns import Columns, columns_of
from verify.handover import policy
from verify.schema import Unreadable

Verdict = dict[str, Any]


def judge(
    instance: dict[str, Any],
    assignment: dict[str, Any],
    *,
    claim_rule: str = "newest-claim",
    cooperative: bool = False,
) -> Verdict:
    """Judge an ``assignment/1`` for a ``rebalance/1``; return a ``verdict/1``.

    Parameters
    ----------
    claim_rule : ``newest-claim`` or ``current-generation``
    cooperative : judge one round of cooperative rebalancing, in which partitions that a
        claimant still holds may be withheld, and must not be assigned to another member
    """
    case = case_of(instance, claim_rule=claim_rule)
    return judge_case(case, assignment, cooperative=cooperative)


def judge_case(
    case: Case, assignment: dict[str, Any], *, cooperative: bool = False
) -> Verdict:
    """Judge one of many assignments for a case; see `judge`."""
    given = assignment["members"]
    columns = columns_of(case, given)
    broken, more = rules.violations(case, given, columns, cooperative=cooperative)
    withheld = rules.withheld(case, columns) if cooperative else 0
    complete = not broken and not withheld
    loads = figures.loads_of(case, columns)
    valid = not broken
    counted, evidence = _figures(
        case, columns, loads, is_valid=valid, complete=complete
    )
    if cooperative:
        counted["withheld"] = withheld
    shown = assignment.get("certificate") if complete else None
    checked = (
        None if shown is None else certificate.checked(case, columns, shown, loads)
    )
    proved, fails = _proved(case, assignment, counted, checked, complete=complete)
    if fails is not None and "policy" not in assignment:
        evidence["certificate"] = fails
    measured = (case, columns, loads, assignment, counted, proved, checked)
    try:
        if "policy" in assignment:
            stated, against = policy.judge_stated(*measured, complete=complete)
        else:
            stated, against = _judge_unstated(assignment, counted, proved)
    except Unreadable as error:  # the policy cannot divide by these capacities
        return unreadable(error, document="instance", case_id=case.id)
    return {
        **_validity(case, broken, more),
        "figures": counted,
        **stated,
        "evidence": evidence | against | _wrong_figures(assignment, counted),
        "proved": proved,
    }


def _validity(
    case: Case, broken: list[dict[str, Any]], more: dict[str, int]
) -> dict[str, Any]:
    """Return the first fields of a verdict: whether all rules are kept."""
    return {
        "format": "verdict/1",
        **({} if case.id is None else {"id": case.id}),
        "verdict": "invalid" if broken else "valid",
        "violations": broken,
        **({"more_violations": more} if more else {}),
    }


def _wrong_figures(
    assignment: dict[str, Any], counted: dict[str, Any]
) -> dict[str, Any]:
    """Return the figures that an assignment states wrongly, as evidence."""
    claimed = assignment.get("figures", {})
    wrong = {
        name: {"claimed": claimed[name], "found": value}
        for name, value in counted.items()
        if name in claimed and claimed[name] != value
    }
    return {"figures": wrong} if wrong else {}


def unreadable(
    error: Unreadable, *, document: str, case_id: str | None = None
) -> Verdict:
    """Return the verdict on a pair of which one document cannot be read."""
    culprit = {"document": document, "path": error.path, "reason": error.reason}
    return {
        "format": "verdict/1",
        **({} if case_id is None else {"id": case_id}),
        "verdict": "unreadable",
        "violations": [],
        "figures": {},
        "evidence": {"unreadable": culprit},
        "proved": {"dec_min": False, "stickiness": False, "peak_lag": False},
    }


def is_proved(verdict: Verdict) -> bool:
    """Return whether a verdict finds the claimed status proved (``--require``)."""
    return "status" in verdict and verdict["status"]["found"] == "proved"


def _figures(
    case: Case,
    columns: Columns,
    loads: Mapping[str, int],
    *,
    is_valid: bool,
    complete: bool,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Count, and decide the balances by evidence.

    KIP-54 balance is of valid assignments (None of others), dec-min balance of those
    that are also complete.
    """
    lags = figures.lags_of(case, columns)
    in_play = [lags[name] for name in case.in_play]
    kept = figures.count_kept(case, columns)
    transfer = balance.refuting_transfer(case, columns, loads) if is_valid else None
    chain = balance.refuting_chain(case, columns, loads) if complete else None
    counted = {
        "loads": sorted(loads.values(), reverse=True),
        "kept": kept,
        "moves": case.owned_count - kept,
        "kip54_score": figures.kip54_score(loads),
        "kip54_balanced": transfer is None if is_valid else None,
        "dec_min_balanced": complete and chain is None,
        "peak_lag": max(lags.values(), default=0),
        "lag_spread": max(in_play, default=0) - min(in_play, default=0),
        "rack_mismatches": figures.rack_mismatches(case, columns),
    }
    found = {"kip54_balanced": transfer, "dec_min_balanced": chain}
    return counted, {name: what for name, what in found.items() if what is not None}


def _proved(
    case: Case,
    assignment: Mapping[str, Any],
    counted: Mapping[str, Any],
    checked: certificate.Checked | None,
    *,
    complete: bool,
) -> tuple[dict[str, bool], dict[str, Any] | None]:
    """Return the proofs and, where a certificate fails or lacks, the reason."""
    least = complete and counted["peak_lag"] == case.peak_lag_bound
    proved = {"dec_min": False, "stickiness": False, "peak_lag": least}
    shown = assignment.get("certificate")
    if shown is None:
        owed = assignment.get("status") == "optimal"
        return proved, {"fails": "absent"} if owed else None
    if checked is None:
        return proved, {"fails": "incomplete"}
    fails = checked.fails
    if fails is None:
        bound = certificate.kept_bound(case, shown, checked.cost)
        kept = counted["kept"]
        proved |= {"dec_min": True, "stickiness": bound == kept}
        if bound != kept:
            fails = {"fails": "bound", "kept": kept, "bound": bound}
    return proved, fails


def _judge_unstated(
    assignment: Mapping[str, Any],
    counted: Mapping[str, Any],
    proved: Mapping[str, bool],
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Judge the status of an assignment that states no policy: of dec-min, sticky."""
    against: dict[str, Any] = {}
    if "objectives" in assignment:
        against["objectives"] = {"fails": "policy"}
    status = assignment.get("status")
    if status in {"infeasible", "unknown"}:
        reason = {"reason": assignment["reason"]} if "reason" in assignment else {}
        against["status"] = {"claimed": status, **reason}
    if status != "optimal":
        return {}, against
    found = "proved" if proved["dec_min"] and proved["stickiness"] else "unproved"
    if not counted["dec_min_balanced"]:
        found = "refuted"
    return {"status": {"claimed": status, "found": found}}, against
