"""Outliers: the rebalances with most harm, judged again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from markupsafe import Markup

from oracle.member_transfers import MemberTransfer, transfers_of
from oracle.report.assignment_diff import (
    AssignmentDiff,
    Held,
    Members,
    assignment_diff_of,
)
from oracle.report.flows import Flows, flows_of
from oracle.report.harm import gap_of
from oracle.report.judged_again import JudgedAgain, judged_again, judged_units
from oracle.report.load import Tables
from oracle.report.moves_drawing import drawing
from oracle.report.proof import Bound, Chain, bound_of, chain_of
from oracle.report.unit_times import named
from oracle.summary import INVALID, NEEDLESS, OPTIMUM, UNBALANCED, equals
from pipeline.groups import with_held
from rebalance import AssignmentDocument, Rebalance, instance_of
from solver import solve

Row = dict[str, Any]

OF_A_KIND: Final = 3
LARGEST_DRAWN: Final = 20_000  # partitions; a larger drawing is not readable


RULES: Final = {
    "unassigned": "assigned to no member, although a member subscribes",
    "unsubscribed": "assigned to a member that does not subscribe to the topic",
    "assigned-twice": "assigned to several members",
    "unknown-member": "assigned to a member that is not in the group",
    "unknown-partition": "assigned although it does not exist",
    "unrevoked": "assigned before its owner had revoked it",
}
"""Meaning of the judge's rules; other rules are shown by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """One rule, the partitions for which it was broken, and the first place.

    ``has_more`` states that there are further violations that the judge did not list.
    """

    words: str
    count: int
    has_more: bool
    member: str | None
    topic: str
    partition: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlier:
    """One rebalance of the history, compared with the optimum.

    ``balancing`` are the fewest transfers that balance an unbalanced assignment;
    ``diff`` compares the assignments, which only drawn ones need.
    """

    kind: str
    cluster: str = ""
    group: str
    assignor: str | None = None
    generation: int | None = None
    at: datetime | None = None
    loads: tuple[int, ...]
    loads_best: tuple[int, ...]
    moves: int
    diff: Callable[[], AssignmentDiff]
    flows: Flows
    chain: Chain | None
    bound: Bound
    broken: tuple[Broken, ...]
    balancing: tuple[MemberTransfer, ...] = ()

    @property
    def named(self) -> str:
        """Its time (UTC), and its generation."""
        return named(self.at, self.generation)

    @property
    def recorded(self) -> Markup:
        """Return the drawing of the moves."""
        return drawing(self.flows, self.flows.recorded)

    @property
    def optimum(self) -> Markup:
        """Return the drawing of the optimum's moves."""
        return drawing(self.flows, self.flows.best)


def worst_units(units: pa.Table) -> list[Row]:
    """Select the worst rebalances of each kind, worst first; rows of `client_units`."""
    return [
        row
        for kind in (INVALID, UNBALANCED, NEEDLESS)
        for row in _largest_gaps(units, kind)
    ]


def solved(tables: Tables, chosen: Sequence[Row], claim_rule: str) -> Iterator[Outlier]:
    """Yield rebalances, rows of `client_units`, judged again.

    Raises
    ------
    DisagreementError
        If a verdict is another one than that of the tables.
    """
    for unit, judged in zip(
        chosen, judged_units(tables, chosen, claim_rule), strict=True
    ):
        yield replace(
            _outlier(judged),
            kind=unit["outcome"],
            cluster=unit["cluster"],
            group=unit["group_id"],
            assignor=unit["client_assignor"],
            generation=unit["generation"],
            at=unit["at"],
        )


def _largest_gaps(units: pa.Table, kind: str) -> list[Row]:
    """Return the rebalances with the most harm, one per group.

    Groups are ranked by their largest gap, then by name; of equal gaps in one group,
    the earliest generation is taken.
    """
    small = pc.fill_null(pc.less_equal(units["partitions"], LARGEST_DRAWN), False)
    found = units.filter(pc.and_(equals(units["outcome"], kind), small))
    found = found.append_column("gap", pc.fill_null(_gap(found, kind), 0))
    grouped = found.group_by(["cluster", "group_id"], use_threads=False)
    groups = sorted(
        grouped.aggregate([("gap", "max")]).to_pylist(),
        key=lambda row: (-row["gap_max"], row["cluster"], row["group_id"]),
    )
    return [_earliest(found, group) for group in groups[:OF_A_KIND]]


def _gap(units: pa.Table, kind: str) -> pa.ChunkedArray:
    """Return the harm; without known durations, partitions or Kafka's score."""
    if kind == INVALID:
        return gap_of(units["invalid_ms"], units["broken"])
    if kind == NEEDLESS:
        return pc.subtract(units["moves"], units["moves_least"])
    score = pc.subtract(units["kip54_score"], units["kip54_score_least"])
    return gap_of(units["imbalance_ms"], score)


def _earliest(units: pa.Table, group: Mapping[str, Any]) -> Row:
    """Return the first rebalance of a group with its largest gap."""
    flags = pc.equal(units["gap"], group["gap_max"])
    for name in ("cluster", "group_id"):
        flags = pc.and_(flags, equals(units[name], group[name]))
    order = [(name, "ascending") for name in ("generation", "drawn_id")]
    row: Row = units.filter(flags).sort_by(order).slice(0, 1).to_pylist()[0]
    return row


def outlier_of(
    instance_text: str,
    assignment_text: str,
    claim_rule: str,
    *,
    is_round: bool = False,
) -> Outlier:
    """Solve and judge one rebalance, of no cluster or assignor that is known."""
    judged = judged_again(instance_text, assignment_text, claim_rule, is_round=is_round)
    return _outlier(judged)


def _outlier(judged: JudgedAgain) -> Outlier:
    case = judged.case
    assignment, verdict = judged.given.judged()
    best, best_verdict = judged.best.judged()
    given, ideal = assignment["members"], best["members"]
    wrong = _places(verdict)
    kind = _kind(verdict, best_verdict)
    return Outlier(
        kind=kind,
        group=judged.instance["group"],
        loads=tuple(verdict["figures"]["loads"]),
        loads_best=tuple(best_verdict["figures"]["loads"]),
        moves=verdict["figures"]["moves"],
        diff=partial(assignment_diff_of, case, given, ideal, wrong),
        flows=flows_of(case, given, ideal, wrong),
        chain=chain_of(judged.instance, assignment, verdict),
        bound=bound_of(case, best, best_verdict),
        broken=_broken(verdict),
        balancing=_balancing(judged.document, given) if kind == UNBALANCED else (),
    )


def _balancing(document: Rebalance, given: Members) -> tuple[MemberTransfer, ...]:
    """Return the fewest transfers from the assignment to balanced loads."""
    held = AssignmentDocument.model_construct(members=given)
    instance = instance_of(with_held(document, held))
    best = solve(instance).assignment
    return () if best is None else tuple(transfers_of(instance, best))


def _kind(verdict: Mapping[str, Any], best: Mapping[str, Any]) -> str:
    """Return the outcome of an answer as `oracle.summary.outcome_columns`."""
    figures = verdict["figures"]
    if verdict["verdict"] != "valid":
        return INVALID
    if not figures["dec_min_balanced"]:
        return UNBALANCED
    return NEEDLESS if figures["moves"] > best["figures"]["moves"] else OPTIMUM


def _places(verdict: Mapping[str, Any]) -> set[Held]:
    return {
        (v.get("member"), v["topic"], v["partition"]) for v in verdict["violations"]
    }


def _broken(verdict: Mapping[str, Any]) -> tuple[Broken, ...]:
    """Count partitions by rule, the most frequent first; several members count once."""
    found = verdict["violations"]
    more = verdict.get("more_violations", {})
    places = {
        (violation["rule"], violation["topic"], violation["partition"])
        for violation in found
    }
    rules = Counter(rule for rule, _, _ in sorted(places))
    first = {violation["rule"]: violation for violation in reversed(found)}
    return tuple(
        Broken(
            words=RULES.get(rule, rule),
            count=count,
            has_more=rule in more,
            member=first[rule].get("member"),
            topic=first[rule]["topic"],
            partition=first[rule]["partition"],
        )
        for rule, count in rules.most_common()
    )
