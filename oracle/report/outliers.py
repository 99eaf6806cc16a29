"""Outliers: the rebalances with the largest gaps, solved and judged again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import pandas as pd

import verify
from oracle.report.assignment_diff import AssignmentDiff, Held, assignment_diff_of
from oracle.report.load import Tables, load_documents
from oracle.report.outcomes import INVALID, NEEDLESS, UNBALANCED
from oracle.report.proof import Bound, Chain, bound_of, chain_of
from pipeline.evaluation import ACTUAL, Evaluation
from rebalance import INT64_MAX, ClaimRule, parse_rebalance

OF_A_KIND: Final = 3
OF_A_GROUP: Final = 1
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
    """One rebalance of the history, compared with the optimum."""

    kind: str
    cluster: str
    group: str
    assignor: str | None
    generation: int | None
    loads: tuple[int, ...]
    loads_best: tuple[int, ...]
    moves: int
    diff: AssignmentDiff
    chain: Chain | None
    bound: Bound
    broken: tuple[Broken, ...]


def outliers_of(tables: Tables, units: pd.DataFrame, claim_rule: str) -> list[Outlier]:
    """Select and solve the worst rebalances of each kind, worst first."""
    chosen = pd.concat(
        [_largest_gaps(units, kind) for kind in (INVALID, UNBALANCED, NEEDLESS)]
    )
    documents = _documents(tables, chosen)
    return [
        _outlier(unit, *documents[unit["drawn_from"], unit["drawn_id"]], claim_rule)
        for unit in chosen.to_dict("records")
    ]


def _largest_gaps(units: pd.DataFrame, kind: str) -> pd.DataFrame:
    """Return the rebalances with the largest gaps, at most `OF_A_GROUP` per group."""
    found = units[(units["outcome"] == kind) & (units["partitions"] <= LARGEST_DRAWN)]
    needless = (found["moves"] - found["moves_least"]).fillna(0)
    uneven = (found["kip54_score"] - found["kip54_score_least"]).fillna(0)
    gap = {NEEDLESS: needless, UNBALANCED: uneven, INVALID: found["broken"]}[kind]
    keys = ["gap", "cluster", "group_id", "generation", "drawn_id"]
    ranked = found.assign(gap=gap).sort_values(
        keys, ascending=[False, True, True, True, True], kind="stable"
    )
    taken: Counter[tuple[str, str]] = Counter()
    rows: list[Hashable] = []
    for row, cluster, group in zip(
        ranked.index, ranked["cluster"], ranked["group_id"], strict=True
    ):
        if taken[cluster, group] < OF_A_GROUP and len(rows) < OF_A_KIND:
            taken[cluster, group] += 1
            rows.append(row)
    return ranked.loc[rows]


def _documents(
    tables: Tables, chosen: pd.DataFrame
) -> dict[tuple[str, str], tuple[str, str]]:
    """Read instance and assignment of each chosen unit, as text."""
    named = chosen.groupby("drawn_from")["drawn_id"].agg(list).to_dict()
    rounds, episodes = named.get("rebalances", []), named.get("episodes", [])
    folder = tables.folder
    columns = ["rebalance_id", "instance"]
    instances = load_documents(folder, "rebalances", "rebalance_id", rounds, columns)
    columns = ["rebalance_id", "assignor", "assignment"]
    answers = load_documents(folder, "answers", "rebalance_id", rounds, columns)
    actual = answers[answers["assignor"] == ACTUAL]
    columns = ["episode_id", "instance", "assignment"]
    whole = load_documents(folder, "episodes", "episode_id", episodes, columns)
    rows = actual.merge(instances, on="rebalance_id").to_dict("records")
    found = {("rebalances", row["rebalance_id"]): row for row in rows}
    found |= {("episodes", row["episode_id"]): row for row in whole.to_dict("records")}
    return {key: (row["instance"], row["assignment"]) for key, row in found.items()}


def _outlier(
    unit: Mapping[Hashable, Any],
    instance_text: str,
    assignment_text: str,
    claim_rule: str,
) -> Outlier:
    # The audit applied its size limit when it read the instance; none is needed here.
    instance = verify.read_rebalance(instance_text, max_partitions=INT64_MAX)
    assignment = verify.read_assignment(assignment_text)
    case = verify.understand(instance, claim_rule=claim_rule)
    is_round = bool(unit["cooperative"]) and unit["drawn_from"] == "rebalances"
    verdict = verify.judge_case(case, assignment, cooperative=is_round)
    document = parse_rebalance(instance_text, max_partitions=INT64_MAX)
    evaluation = Evaluation(document, ClaimRule(claim_rule), case=case)
    best, best_verdict = evaluation.optimum().judged()
    given, ideal = assignment["members"], best["members"]
    generation, assignor = unit["generation"], unit["client_assignor"]
    return Outlier(
        kind=unit["outcome"],
        cluster=unit["cluster"],
        group=unit["group_id"],
        assignor=None if pd.isna(assignor) else assignor,
        generation=None if pd.isna(generation) else int(generation),
        loads=tuple(verdict["figures"]["loads"]),
        loads_best=tuple(best_verdict["figures"]["loads"]),
        moves=verdict["figures"]["moves"],
        diff=assignment_diff_of(evaluation.instance, given, ideal, _places(verdict)),
        chain=chain_of(instance, assignment, verdict),
        bound=bound_of(case, best, best_verdict),
        broken=_broken(verdict),
    )


def _places(verdict: Mapping[str, Any]) -> set[Held]:
    return {
        (v.get("member"), v["topic"], v["partition"]) for v in verdict["violations"]
    }


def _broken(verdict: Mapping[str, Any]) -> tuple[Broken, ...]:
    """Count partitions by rule, the most frequent first; several members count once."""
    found = verdict["violations"]
    more = verdict.get("more_violations", {})
    places = {(one["rule"], one["topic"], one["partition"]) for one in found}
    rules = Counter(rule for rule, _, _ in sorted(places))
    first = {one["rule"]: one for one in reversed(found)}
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
