"""The verdict: every violation, every figure, and what of it is proved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from verify import balance, certificate, figures, rules
from verify.answer import judge_answer
from verify.case import Case, Row, understand
from verify.read import read_assignment, read_rebalance
from verify.strict import Unreadable

Verdict = dict[str, Any]


def judge(
    instance: dict[str, Any],
    assignment: dict[str, Any],
    *,
    claim_rule: str = "newest-claim",
    cooperative: bool = False,
) -> Verdict:
    """Judge an ``assignment/1`` for a ``rebalance/1``, as `verify.read` returns them.

    Parameters
    ----------
    claim_rule : ``newest-claim`` or ``current-generation``
        Whose claims make owners.
    cooperative : bool
        Judge one round of cooperative rebalancing: what a claimant still holds may
        be withheld, and must not be given to anybody else.

    Returns
    -------
    dict
        ``verdict/1``: ``verdict`` (valid or invalid), ``violations``, ``figures``,
        ``evidence`` and ``proved``.

    Raises
    ------
    ValueError
        If there is no such claim rule.
    """
    case = understand(instance, claim_rule=claim_rule)
    return judge_case(case, assignment, cooperative=cooperative)


def judge_case(
    case: Case, assignment: dict[str, Any], *, cooperative: bool = False
) -> Verdict:
    """Judge one of many assignments for a case; see `judge`."""
    given = assignment["members"]
    rows = rules.rows_of(given)
    violations = rules.violations(case, given, rows, cooperative=cooperative)
    withheld = rules.withheld(case, rows) if cooperative else 0
    if violations:
        rows = figures.tidy(case, rows)
    complete = not violations and not withheld
    counted, evidence = _figures(case, rows, complete=complete)
    if cooperative:
        counted["withheld"] = withheld
    proved = _proved(case, rows, assignment, counted, evidence, complete=complete)
    stated, against = judge_answer(
        case, rows, assignment, counted, proved, complete=complete
    )
    evidence |= against
    _compare(assignment.get("figures", {}), counted, evidence)
    return {
        "format": "verdict/1",
        **({} if case.id is None else {"id": case.id}),
        "verdict": "invalid" if violations else "valid",
        "violations": violations,
        "figures": counted,
        **stated,
        "evidence": evidence,
        "proved": proved,
    }


def judge_texts(
    instance: str | bytes,
    assignment: str | bytes,
    *,
    claim_rule: str = "newest-claim",
    cooperative: bool = False,
) -> Verdict:
    """Judge two texts; what cannot be read is a verdict too, ``unreadable``."""
    try:
        first = read_rebalance(instance)
    except Unreadable as error:
        return unreadable(error, document="instance")
    try:
        second = read_assignment(assignment)
    except Unreadable as error:
        return unreadable(error, document="assignment", case_id=first.get("id"))
    return judge(first, second, claim_rule=claim_rule, cooperative=cooperative)


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


def _figures(
    case: Case, rows: Sequence[Row], *, complete: bool
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Count, and decide the balances with the evidence against them.

    Dec-min compares complete valid assignments, so nothing else is balanced by it.
    """
    loads = figures.loads_of(case, rows)
    lags = figures.lags_of(case, rows)
    in_play = [lags[name] for name in case.in_play]
    kept = figures.kept(case, rows)
    transfer = balance.refuting_transfer(case, rows, loads)
    chain = balance.refuting_chain(case, rows, loads) if complete else None
    counted = {
        "loads": sorted(loads.values(), reverse=True),
        "kept": kept,
        "moves": sum(map(len, case.owned.values())) - kept,
        "kip54_score": figures.kip54_score(loads),
        "kip54_balanced": transfer is None,
        "dec_min_balanced": complete and chain is None,
        "peak_lag": max(lags.values(), default=0),
        "lag_spread": max(in_play, default=0) - min(in_play, default=0),
        "rack_mismatches": figures.rack_mismatches(case, rows),
    }
    found = {"kip54_balanced": transfer, "dec_min_balanced": chain}
    return counted, {name: what for name, what in found.items() if what is not None}


def _proved(
    case: Case,
    rows: Sequence[Row],
    assignment: Mapping[str, Any],
    counted: Mapping[str, Any],
    evidence: dict[str, Any],
    *,
    complete: bool,
) -> dict[str, bool]:
    """Tell what is proved; where a proof was owed and fails, note why."""
    proved = {"dec_min": False, "stickiness": False, "peak_lag": False}
    if complete:
        proved["peak_lag"] = counted["peak_lag"] == certificate.peak_lag_bound(case)
    shown = assignment.get("certificate")
    if shown is None:
        owed = assignment.get("status") == "optimal" and "policy" not in assignment
        fails = {"fails": "absent"} if owed else None
    elif not complete:
        fails = {"fails": "incomplete"}
    else:
        fails = certificate.balance_fails(case, rows, shown)
        proved["dec_min"] = fails is None
        if fails is None:
            fails = certificate.stickiness_fails(case, shown, counted["kept"])
            proved["stickiness"] = fails is None
    if fails is not None and "policy" not in assignment:
        evidence["certificate"] = fails
    return proved


def _compare(
    claimed: Mapping[str, Any], counted: Mapping[str, Any], evidence: dict[str, Any]
) -> None:
    """Note the figures that the assignment states of itself and that are not so."""
    wrong = {
        name: {"claimed": claimed[name], "found": value}
        for name, value in counted.items()
        if name in claimed and claimed[name] != value
    }
    if wrong:
        evidence["figures"] = wrong
