"""Judge cases: from rows of the sources to rows of the tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from pipeline.cases import SNAPSHOT, Case, unpack
from pipeline.evaluation import (
    ACTUAL,
    DEFAULT,
    KIP54,
    OPTIMUM,
    Answer,
    Evaluation,
    Failure,
    Least,
    least_of,
)
from pipeline.judging.answer_rows import answer_row
from pipeline.judging.case_rows import day, key_of, member_rows, moment, rebalance_row
from pipeline.judging.episode_rows import episode_row, long_episode_row
from pipeline.judging.instances import Posed, World, pose
from pipeline.judging.snapshot_rows import snapshot_row
from pipeline.judging.topic_names import with_names
from pipeline.sources.rows import CASE, FAILED, Row
from rebalance import ClaimRule, to_json

Result = tuple[str, Row]
"""Name of a table, and a row of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings of all cases of an audit; ``assignors`` as `evaluation.selection`."""

    cluster: str
    world: World
    claim_rule: ClaimRule
    assignors: tuple[str, ...] = DEFAULT


def judge_rows(rows: Iterable[Row], settings: Settings) -> Iterator[Result]:
    """Judge cases, and pass on rows of quarantine."""
    for row in rows:
        if row["what"] == CASE:
            yield from judge_case_safely(unpack(row["value"]), settings)
        else:
            yield "quarantine", quarantined(row, settings.cluster)


def judge_case_safely(case: Case, settings: Settings) -> Iterator[Result]:
    """Judge a case; its failure does not affect other cases."""
    try:
        case = with_names(case, settings.world.names)
        posed = pose(case, settings.world)
    except Exception as error:  # noqa: BLE001  # reported in quarantine
        yield _failed(case, None, _reason("instance", error), settings)
        return
    try:
        evaluation = Evaluation(posed.document, settings.claim_rule)
        judged = _snapshot if case.owned_from == SNAPSHOT else _judged
        results = list(judged(case, posed, evaluation, settings))
    except Exception as error:  # noqa: BLE001  # likewise
        yield _failed(case, posed, _reason("judge", error), settings)
        return
    yield from results


def _snapshot(
    case: Case, posed: Posed, evaluation: Evaluation, settings: Settings
) -> Iterator[Result]:
    """Judge a state; no assignor is run, because there is no rebalance."""
    yield "snapshots", snapshot_row(case, posed, evaluation, settings.cluster)
    for member in member_rows(case, posed, settings.cluster):
        yield "members", member


def _judged(
    case: Case, posed: Posed, evaluation: Evaluation, settings: Settings
) -> Iterator[Result]:
    row = rebalance_row(case, posed, evaluation.instance, settings.cluster)
    yield "rebalances", row
    for member in member_rows(case, posed, settings.cluster):
        yield "members", member
    found = list(_answers(case, evaluation, settings))
    answered = {one.assignor: one for one in found if isinstance(one, Answer)}
    actual = answered.get(ACTUAL)
    least = least_of(
        answered.get(OPTIMUM), answered.get(KIP54), by_capacity=evaluation.by_capacity
    )
    bound = evaluation.peak_lag_bound if posed.lag_known else None
    shared = _shared(row)
    for one in found:
        if isinstance(one, Failure):
            yield _failed(case, posed, _reason(one.assignor, one.error), settings)
        else:
            yield "answers", answer_row(shared, one, least, bound)
    if case.episode is not None and actual is not None:
        try:
            yield "episodes", _episode(row, case, actual, least, settings)
        except Exception as error:  # noqa: BLE001  # likewise
            yield _failed(case, posed, _reason("episode", error), settings)


def _answers(
    case: Case, evaluation: Evaluation, settings: Settings
) -> Iterator[Answer | Failure]:
    members = case.members
    if members is not None:
        held = {name: member.assigned or {} for name, member in members.items()}
        assignor, cooperative = case.client_assignor, case.cooperative
        yield evaluation.actual(held, assignor=assignor, cooperative=cooperative)
    yield from evaluation.answers(settings.assignors)


def _episode(
    row: Row, case: Case, actual: Answer, least: Least, settings: Settings
) -> Row:
    if case.episode is not None and case.episode.rounds > 1:
        kip54 = KIP54 in settings.assignors
        return long_episode_row(
            row, case, settings.world, settings.claim_rule, kip54=kip54
        )
    return episode_row(row, case, actual, least)


_SHARED = (
    "cluster",
    "date",
    "rebalance_id",
    "group_id",
    "generation",
    "source",
    "client_assignor",
    "cooperative",
    "members",
    "partitions",
    "owned_from",
    "owned",
    "lag_known",
)


def _shared(row: Row) -> Row:
    return {name: row[name] for name in _SHARED}


def _reason(part: str, error: Exception) -> str:
    """Describe a failure in one line."""
    first = (str(error).splitlines() or [""])[0]
    return f"{part}: {type(error).__name__}: {first}"[:500]


def _failed(case: Case, posed: Posed | None, reason: str, settings: Settings) -> Result:
    key = key_of(case, settings.cluster)
    return "quarantine", {
        "cluster": key["cluster"],
        "date": key["date"],
        "kind": FAILED,
        "reason": reason,
        "group_id": case.group_id,
        "record": "snapshot" if case.owned_from == SNAPSHOT else "rebalance",
        "records": 1,
        "at": moment(case.at),
        "source": case.source,
        "source_partition": case.source_partition,
        "source_offset": case.source_offset,
        "instance": None if posed is None else to_json(posed.document).decode(),
    }


_KEPT = (
    "reason",
    "group_id",
    "record",
    "records",
    "source",
    "source_partition",
    "source_offset",
    "key",
    "value",
    "raw_bytes",
    "instance",
)


def quarantined(row: Row, cluster: str) -> dict[str, Any]:
    """Convert a worker's row to a row of ``quarantine``."""
    return {
        "cluster": cluster,
        "date": day(row["at"]),
        "kind": row["what"],
        "at": moment(row["at"]),
        **{name: row[name] for name in _KEPT},
    }
