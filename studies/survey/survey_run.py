"""Survey many assignors, several at a time; each is stored as soon as it is done.

The finished work of one assignor is kept in a working folder, under a digest of the
plan without its date: a run that was interrupted continues where it was, on another day
too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import orjson

from conformance.clients import ClientAssignor, MissingClientError
from conformance.findings import external_of
from conformance.runs import NoSubject, Subject, in_workers
from rebalance import OutsideError
from studies.survey.assignor_survey import SurveyPlan, survey_assignor
from studies.survey.confirmed_hangs import close_all
from studies.survey.record_files import record_file, write_records, write_whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Surveyed:
    """Result of one assignor.

    Attributes
    ----------
    rebalances : int
    problem : str or None
        Why it was not surveyed: it is missing, or does not answer at all.
    """

    spec: str
    rebalances: int = 0
    problem: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyTask:
    """One assignor to survey into a file of its own."""

    client: ClientAssignor
    plan: SurveyPlan
    part: Path


def survey(
    clients: Sequence[ClientAssignor],
    plan: SurveyPlan,
    *,
    folder: Path,
    parts: Path,
    workers: int = 1,
) -> Iterator[Surveyed]:
    """Survey assignors; write a file per client version, once all of it is done.

    Yields in the order of ``clients``, which has to be grouped by client version. A
    client version of which an assignor is missing or fails is not written.

    Parameters
    ----------
    folder : Path
        Where the files of `record_file` are written.
    parts : Path
        Where the records of each assignor are kept until then, and afterwards.
    """
    folder.mkdir(parents=True, exist_ok=True)
    parts.mkdir(parents=True, exist_ok=True)
    tasks = [
        SurveyTask(client=client, plan=plan, part=parts / _part_name(client, plan))
        for client in clients
    ]
    done = in_workers(_Ending(), _surveyed, tasks, workers=workers)
    complete: list[Path] = []
    version: tuple[str, str] | None = None
    for task, result in zip(tasks, done, strict=True):
        place = task.client.client, task.client.version
        complete = complete if place == version else []
        version = place
        if result.problem is None:
            complete.append(task.part)
        if len(complete) == sum((c.client, c.version) == place for c in clients):
            write_records(record_file(folder, *place), _lines(complete))
        yield result


def _lines(parts: Sequence[Path]) -> list[bytes]:
    return [line for part in parts for line in part.read_bytes().splitlines()]


def _surveyed(_subject: Subject, task: SurveyTask) -> Surveyed:
    client, part = task.client, task.part
    if not part.exists():
        try:
            external = external_of(client, seconds=task.plan.seconds)
            records = survey_assignor(
                external, task.plan, cooperative=client.cooperative
            )
            lines = [
                orjson.dumps(record.model_dump(mode="json", exclude_none=True))
                for record in records
            ]
        except MissingClientError as missing:
            return Surveyed(spec=client.spec, problem=str(missing))
        except (OSError, OutsideError) as error:
            return Surveyed(spec=client.spec, problem=f"not surveyed: {error}")
        write_whole(part, b"".join(line + b"\n" for line in lines))
    counted = map(orjson.loads, part.read_bytes().splitlines())
    rebalances = sum(record.get("rebalances", 0) for record in counted)
    return Surveyed(spec=client.spec, rebalances=rebalances)


def _part_name(client: ClientAssignor, plan: SurveyPlan) -> str:
    what = asdict(plan) | {"date": None}
    digest = hashlib.sha256(orjson.dumps([client.spec, what])).hexdigest()
    return f"{client.spec.replace('/', '.')}.{digest[:12]}.jsonl"


class _Ending(NoSubject):
    """It ends the processes that a task has started, if those did not end."""

    def close(self) -> None:
        close_all()
