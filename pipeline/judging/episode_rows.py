"""Rows of ``episodes``, each judged as one step between two stable states."""

from __future__ import annotations

from typing import Any

from pipeline.cases import REST, Case, Episode
from pipeline.evaluation import Answer, Evaluation, Least, least_of
from pipeline.judging.answer_rows import json_text
from pipeline.judging.case_rows import day, moment
from pipeline.judging.instances import World, pose_before
from rebalance import ClaimRule, to_json

Row = dict[str, Any]


def episode_row(row: Row, case: Case, actual: Answer, least: Least) -> Row:
    """Return the row of an episode of one round, from its case.

    ``row`` is the case's row of ``rebalances``.
    """
    return _row(row, case, row["instance"], row["owned"], actual, least)


def long_episode_row(
    row: Row, case: Case, world: World, claim_rule: ClaimRule, *, kip54: bool
) -> Row:
    """Judge an episode of several rounds: the last members with their previous owners.

    The stable state after it is judged as if it had been reached in one step;
    ``kip54``: also compared with the KIP-54 optimum.
    """
    episode = case.episode
    assert episode is not None  # noqa: S101  # the caller has looked
    posed = pose_before(case, episode.before or {}, world)
    evaluation = Evaluation(posed.document, claim_rule)
    held = {name: m.assigned or {} for name, m in (case.members or {}).items()}
    actual = evaluation.actual(held, assignor=case.client_assignor, cooperative=False)
    owned = int((evaluation.instance.owner >= 0).sum())
    text = to_json(posed.document).decode()
    least = least_of(
        evaluation.optimum(),
        evaluation.kip54() if kip54 else None,
        by_capacity=evaluation.by_capacity,
    )
    return _row(row, case, text, owned, actual, least)


def _row(
    row: Row, case: Case, text: str, owned: int, actual: Answer, least: Least
) -> Row:
    episode = case.episode
    assert episode is not None  # noqa: S101  # the callers have looked
    assignment, verdict = actual.judged()
    figures = verdict["figures"]
    return {
        "cluster": row["cluster"],
        "date": day(episode.started_at),
        "group_id": case.group_id,
        "client_assignor": case.client_assignor,
        "cooperative": case.cooperative,
        "last_generation": case.generation,
        "last_rebalance_id": case.rebalance_id,
        "ended_at": moment(case.at),
        "members": row["members"],
        "partitions": row["partitions"],
        "owned": owned,
        "moves": figures["moves"],
        "moves_least": least.moves,
        "moves_least_kip54": least.moves_kip54,
        "kip54_score_least": least.kip54_score,
        "instance": text,
        "assignment": json_text(assignment),
        **_of_episode(episode),
        **(_at_rest(verdict, least) if episode.ended == REST else {}),
    }


def _of_episode(episode: Episode) -> Row:
    return {
        "episode_id": episode.episode_id,
        "source": episode.source,
        "first_generation": episode.first_generation,
        "started_at": moment(episode.started_at),
        "rounds": episode.rounds,
        "ended": episode.ended,
        "owned_from": episode.owned_from,
        "withheld": episode.withheld,
        "unowned_partition_ms": episode.unowned_partition_ms,
    }


def _at_rest(verdict: dict[str, Any], least: Least) -> Row:
    """Return the columns that apply only to a group in a stable state."""
    figures = verdict["figures"]
    return {
        "verdict": verdict["verdict"],
        "kip54_score": figures["kip54_score"],
        "dec_min_balanced": figures["dec_min_balanced"],
        "kip54_balanced": figures["kip54_balanced"],
        "at_optimum": least.is_optimum(verdict),
        "at_kip54_optimum": least.is_kip54_optimum(verdict),
    }
