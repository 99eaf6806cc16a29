"""Judge cases: from rows of the sources to rows of the tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from pipeline.cases import SNAPSHOT, Case, Held, unpack
from pipeline.evaluation import DEFAULT, KIP54, OPTIMUM, DisagreementError
from pipeline.judging.case_rows import day, key_of, member_rows, moment, rebalance_row
from pipeline.judging.episode_rows import episode_row
from pipeline.judging.instances import Posed, World, pose, pose_before
from pipeline.judging.outcome import Actual, Outcome, Question
from pipeline.judging.repeats import Repeats
from pipeline.judging.snapshot_rows import snapshot_row
from pipeline.judging.topic_names import with_names
from pipeline.sources.given_subscriptions import with_given_subscriptions
from pipeline.sources.rows import CASE, FAILED, Row
from rebalance import ClaimRule, DocumentError

Result = tuple[str, Row]
"""Name of a table, and a row of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings of all cases of an audit; ``assignors`` as `evaluation.selection`."""

    cluster: str
    world: World
    claim_rule: ClaimRule
    assignors: tuple[str, ...] = DEFAULT


def judge_rows(
    rows: Iterable[Row], settings: Settings, repeats: Repeats | None = None
) -> Iterator[Result]:
    """Judge cases, and pass on rows of quarantine."""
    repeats = repeats or Repeats()
    for row in rows:
        if row["what"] == CASE:
            yield from judge_case_safely(unpack(row["value"]), settings, repeats)
        else:
            yield "quarantine", quarantined(row, settings.cluster)


def judge_case_safely(
    case: Case, settings: Settings, repeats: Repeats | None = None
) -> Iterator[Result]:
    """Judge a case; its failure does not affect other cases."""
    try:
        case = with_names(case, settings.world.names)
        case = with_given_subscriptions(case, settings.world.subscriptions)
        posed = pose(case, settings.world)
    except Exception as error:  # noqa: BLE001  # reported in quarantine
        yield _failed(case, None, _reason("instance", error), settings)
        return
    try:
        judged = _snapshot if case.owned_from == SNAPSHOT else _judged
        results = list(judged(case, posed, settings, repeats or Repeats()))
    except DisagreementError as error:
        raise DisagreementError(f"rebalance {case.rebalance_id}: {error}") from error
    except DocumentError as error:
        yield _failed(case, None, _reason("instance", error), settings)
        return
    except Exception as error:  # noqa: BLE001  # likewise
        yield _failed(case, posed, _reason("judge", error), settings)
        return
    yield from results


def _snapshot(
    case: Case, posed: Posed, settings: Settings, repeats: Repeats
) -> Iterator[Result]:
    """Judge a state; no assignor is run, because there is no rebalance."""
    actual = Actual(held=_held(case), assignor=case.client_assignor, cooperative=False)
    question = _question(posed, settings, actual, ())
    outcome = repeats.outcome_of(posed.plain, question)
    yield "snapshots", snapshot_row(case, posed, outcome, settings.cluster)
    for member in member_rows(case, posed, settings.cluster):
        yield "members", member


def _judged(
    case: Case, posed: Posed, settings: Settings, repeats: Repeats
) -> Iterator[Result]:
    actual = None
    if case.members is not None:
        actual = Actual(
            held=_held(case),
            assignor=case.client_assignor,
            cooperative=case.cooperative,
        )
    question = _question(posed, settings, actual, settings.assignors)
    outcome = repeats.outcome_of(posed.plain, question)
    row = rebalance_row(case, posed, outcome, settings.cluster)
    yield "rebalances", row
    for member in member_rows(case, posed, settings.cluster):
        yield "members", member
    shared = _shared(row)
    for answer in outcome.answers:
        yield "answers", shared | answer
    for one in outcome.failures:
        yield _failed(case, posed, _reason(one.assignor, one.error), settings)
    if case.episode is not None and outcome.actual is not None:
        try:
            yield "episodes", _episode(case, row, outcome, settings, repeats)
        except DisagreementError:
            raise
        except Exception as error:  # noqa: BLE001  # likewise
            yield _failed(case, posed, _reason("episode", error), settings)


def _episode(
    case: Case, row: Row, outcome: Outcome, settings: Settings, repeats: Repeats
) -> Row:
    """Judge an episode of several rounds as if it had been one step."""
    text, episode = row["instance"], case.episode
    if episode is not None and episode.rounds > 1:
        posed = pose_before(case, episode.before or {}, settings.world)
        actual = Actual(
            held=_held(case), assignor=case.client_assignor, cooperative=False
        )
        optima = tuple(one for one in settings.assignors if one in (OPTIMUM, KIP54))
        question = _question(posed, settings, actual, optima)
        outcome, text = repeats.outcome_of(posed.plain, question), posed.text
    answer = outcome.actual
    assert answer is not None  # noqa: S101  # the caller has looked
    return episode_row(row, case, text, outcome.owned, answer)


def _question(
    posed: Posed, settings: Settings, actual: Actual | None, assignors: tuple[str, ...]
) -> Question:
    return Question(
        claim_rule=settings.claim_rule,
        assignors=assignors,
        actual=actual,
        lag_known=posed.lag_known,
        max_partitions=posed.max_partitions,
    )


def _held(case: Case) -> dict[str, Held]:
    members = case.members or {}
    return {name: member.assigned or {} for name, member in members.items()}


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
        "instance": None if posed is None else posed.text,
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
