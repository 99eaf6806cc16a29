"""Units of counting: a rebalance from one stable state to the next.

An eager rebalance is one generation. A cooperative one takes several, because a
partition is revoked in one generation and assigned in the next; it is judged as a
whole.
"""

from __future__ import annotations

from typing import Final

import pandas as pd

from oracle.report.load import Tables
from oracle.report.outcomes import INVALID, outcome_of
from pipeline.evaluation import ACTUAL, KIP54, OPTIMUM

BESTS: Final = (OPTIMUM, KIP54)
"""Optima with which assignors are compared; they are no assignors."""
COLUMNS: Final = (
    "cluster",
    "group_id",
    "client_assignor",
    "cooperative",
    "generation",
    "members",
    "partitions",
    "broken",
    "moves",
    "moves_least",
    "kip54_score",
    "kip54_score_least",
    "kip54_balanced",
    "moves_least_kip54",
    "at_kip54_optimum",
    "outcome",
    "drawn_from",
    "drawn_id",
)
"""``drawn_from`` and ``drawn_id``: table and row that the page shows."""


def client_units(tables: Tables) -> pd.DataFrame:
    """Return the results of the recorded assignments: per rebalance, `COLUMNS`."""
    return pd.concat([_eager(tables.answers), _cooperative(tables)], ignore_index=True)


def assignor_units(answers: pd.DataFrame) -> pd.DataFrame:
    """Return the results of each assignor on each generation to which it applies.

    ``actual`` includes only eager generations: in a cooperative one, the client had to
    withhold partitions, and the other assignors do not.
    """
    taken = (answers["assignor"] != ACTUAL) | ~_cooperative_rows(answers)
    units = answers[taken & answers["applies"].fillna(False)].copy()
    units["outcome"] = outcome_of(units)
    return units


def _eager(answers: pd.DataFrame) -> pd.DataFrame:
    actual = (answers["assignor"] == ACTUAL) & ~_cooperative_rows(answers)
    units = answers[actual & answers["applies"].fillna(True)].copy()
    units["drawn_from"], units["drawn_id"] = "rebalances", units["rebalance_id"]
    units["outcome"] = outcome_of(units)
    return units[list(COLUMNS)]


def _cooperative(tables: Tables) -> pd.DataFrame:
    """Judge episodes by their final state; an invalid round makes them invalid."""
    episodes = tables.episodes
    units = episodes[_cooperative_rows(episodes)].copy()
    units["drawn_from"], units["drawn_id"] = "episodes", units["episode_id"]
    units["generation"] = units["last_generation"]
    units["broken"] = 0
    units["outcome"] = outcome_of(units)
    rounds = _broken_rounds(tables).reindex(units["episode_id"])
    is_broken = rounds["rebalance_id"].notna().to_numpy()
    for column in ("generation", "broken"):
        units.loc[is_broken, column] = rounds[column].to_numpy()[is_broken]
    units.loc[is_broken, "drawn_from"] = "rebalances"
    units.loc[is_broken, "drawn_id"] = rounds["rebalance_id"].to_numpy()[is_broken]
    units.loc[is_broken, "outcome"] = INVALID
    return units[list(COLUMNS)]


def _broken_rounds(tables: Tables) -> pd.DataFrame:
    """Return the first invalid round of each episode that has one."""
    answers = tables.answers
    broken = answers[
        (answers["assignor"] == ACTUAL)
        & _cooperative_rows(answers)
        & (answers["verdict"] != "valid").fillna(False)
    ]
    episode = tables.rebalances[["rebalance_id", "episode_id"]]
    found = broken.merge(episode, on="rebalance_id").sort_values("generation")
    return found.drop_duplicates("episode_id").set_index("episode_id")


def _cooperative_rows(rows: pd.DataFrame) -> pd.Series[bool]:
    return rows["cooperative"].fillna(False)
