"""The summary of a study, one JSON object per line (quality/1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import orjson
import pyarrow.parquet as pq

from benchmarks.quality.answering import (
    digest_of_parts,
    digest_of_records,
    record_file,
)
from benchmarks.quality.intervals import RESAMPLES
from benchmarks.quality.measures import Measured, measured, summarized
from benchmarks.quality.pairs import StudyPair, compared, pairs_of, reference_of
from benchmarks.quality.parquet_files import metadata_of
from benchmarks.quality.study_instances import (
    digest_of_all,
    digests_of_seeds,
    instance_file,
)
from benchmarks.quality.study_plan import StudyPlan
from benchmarks.quality.study_subjects import StudySubject

Line = dict[str, Any]

FORMAT: Final = "quality/1"


def summary_of(
    plan: StudyPlan,
    subjects: Sequence[StudySubject],
    folder: Path,
    *,
    version: str,
    date: str,
) -> Iterator[Line]:
    """Yield the lines: the study, each assignor, each pair.

    Parameters
    ----------
    subjects : sequence of StudySubject
        Those that answered every family.
    folder : Path
        Where the instances and the records are.
    """
    about = {name: _instances(instance_file(folder, name)) for name in plan.names}
    partitions = {name: row["partitions"] for name, row in about.items()}
    reference = reference_of(subjects).name if subjects else None
    yield {
        "format": FORMAT,
        "version": version,
        "date": date,
        **_planned(plan),
        "reference": reference,
        "instances": digest_of_all({f: row["digests"] for f, row in about.items()}),
        "families": about,
    }
    columns: dict[str, dict[str, Measured]] = {}
    for subject in subjects:
        files = {f: record_file(folder, subject.name, f) for f in plan.names}
        columns[subject.name] = {f: measured(file) for f, file in files.items()}
        yield _answered(subject, columns[subject.name], files, partitions)
    for pair in pairs_of(subjects):
        yield _compared(pair, columns, partitions)


def _compared(
    pair: StudyPair,
    columns: dict[str, dict[str, Measured]],
    partitions: dict[str, float],
) -> Line:
    """Return the line of a pair."""
    first, second = columns[pair.first], columns[pair.second]
    found, total = compared(pair, first, second, partitions)
    return {
        "pair": pair.kind,
        "first": pair.first,
        "second": pair.second,
        "total": total,
        "families": found,
    }


def _answered(
    subject: StudySubject,
    columns: dict[str, Measured],
    files: dict[str, Path],
    partitions: dict[str, float],
) -> Line:
    """Return the line of an assignor."""
    found, total = summarized(subject.name, columns, partitions)
    for family, file in files.items():
        found[family]["digest"] = digest_of_records(file)
        found[family]["took"] = metadata_of(file)["took"]
    return {
        **_named(subject),
        "records": digest_of_parts(row["digest"] for row in found.values()),
        "total": total,
        "families": found,
    }


def _planned(plan: StudyPlan) -> Line:
    return {
        "seeds": plan.seeds,
        "count": plan.count,
        "seconds": plan.seconds,
        "family_seconds": plan.family_seconds,
        "resamples": RESAMPLES,
    }


def _named(subject: StudySubject) -> Line:
    return {
        "assignor": subject.name,
        "client": subject.client,
        "version": subject.version,
        "name": subject.assignor,
        "language": subject.language,
        "cooperative": subject.cooperative,
        "deterministic": subject.deterministic,
    }


def write_summary(file: Path, lines: Sequence[Line]) -> None:
    """Write a summary."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))


def read_summary(file: Path) -> list[Line]:
    """Read a summary.

    Raises
    ------
    OSError
        If the file cannot be read.
    """
    return [orjson.loads(line) for line in file.read_bytes().splitlines()]


def _instances(file: Path) -> Line:
    columns = ["members", "partitions"]
    table = pq.read_table(file, columns=columns)
    size = table.num_rows
    means = {
        name: round(sum(table[name].to_pylist()) / max(size, 1), 6) for name in columns
    }
    return {"instances": size, **means, "digests": digests_of_seeds(file)}
