"""Rows of ``episodes``, each judged as one step between two stable states."""

from __future__ import annotations

from typing import Any, Final

from pipeline.cases import REST, Case, Episode
from pipeline.judging.case_rows import day, moment

Row = dict[str, Any]

OF_ANSWER: Final = (
    "moves",
    "moves_least",
    "moves_least_kip54",
    "kip54_score_least",
    "assignment",
)
AT_REST: Final = (
    "needless_lag",
    "verdict",
    "kip54_score",
    "dec_min_balanced",
    "kip54_balanced",
    "at_optimum",
    "at_kip54_optimum",
)
"""Columns that apply only to a group in a stable state."""


def episode_row(row: Row, case: Case, text: str, owned: int, actual: Row) -> Row:
    """Return the row of an episode, whose stable state after is that of the case.

    Parameters
    ----------
    row : dict
        The case's row of ``rebalances``.
    text : str
        The last members, with their owned partitions at the stable state before:
        rebalance/1.
    owned : int
        Partitions owned then.
    actual : dict
        Columns of ``answers`` of the stable state after, as an answer to ``text``.
    """
    episode = case.episode
    assert episode is not None  # noqa: S101  # the callers have looked
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
        "instance": text,
        **{name: actual[name] for name in OF_ANSWER},
        **_of_episode(episode),
        **({name: actual[name] for name in AT_REST} if episode.ended == REST else {}),
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
        "unowned_unknown": episode.unowned_unknown,
    }
