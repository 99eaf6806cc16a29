"""The instances of a study: drawn once, each with its proved optimum and a digest.

Of each draw, the first rebalance is taken, because later ones depend on an answer.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

import verify
from benchmarks.quality.parquet_files import is_file_of, metadata_of, write_table
from benchmarks.quality.study_plan import StudyPlan
from conformance.runs import FILE, Subject, family_of
from rebalance import (
    DocumentError,
    OracleError,
    instance_of,
    plain_of,
    read_rebalances,
    rebalance_of,
)
from solver import solve

Document = dict[str, Any]

SCHEMA: Final = pa.schema(
    [
        ("family", pa.string()),
        ("seed", pa.int32()),
        ("index", pa.int32()),
        ("members", pa.int32()),
        ("partitions", pa.int32()),
        ("owned", pa.list_(pa.int32())),
        ("best_score", pa.int64()),
        ("best_spread", pa.int32()),
        ("best_moves", pa.int32()),
        ("document", pa.binary()),
    ]
)
AGAIN: Final = 50
"""Draws that are repeated before stored instances are used again."""


class UnprovedOptimumError(OracleError):
    """The judge does not confirm the certificate of an optimum."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyCase:
    """An instance with the figures of its optimum.

    Attributes
    ----------
    owned : list of int
        Owned partitions per member, largest first.
    best_score, best_spread, best_moves : int
        KIP-54's score, largest minus smallest load, and moves of the optimum.
    """

    seed: int
    index: int
    document: Document
    owned: list[int]
    best_score: int
    best_spread: int
    best_moves: int


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceTask:
    """One family to draw into a file."""

    plan: StudyPlan
    family: str
    file: Path


def instance_file(folder: Path, family: str) -> Path:
    """Return the file of a family's instances."""
    return folder / "instances" / f"{file_name(family)}.parquet"


def file_name(name: str) -> str:
    """Return a name without characters that folders and shells treat specially."""
    return "".join(c if c.isalnum() or c in "-_.@" else "_" for c in name)


def canonical(document: Document) -> bytes:
    """Return the bytes over which digests are computed: keys in order, no spaces."""
    return orjson.dumps(document, option=orjson.OPT_SORT_KEYS)


def draw_instances(_subject: Subject, task: InstanceTask) -> Path:
    """Draw the instances of a family, unless they are stored already.

    Raises
    ------
    OwnDrawError
        If a draw of a user's own family fails.
    DocumentError
        If a line of the given file is not a rebalance/1.
    UnprovedOptimumError
        If an optimum is not proved.
    """
    plan, family = task.plan, task.family
    key = {"family": family, "seeds": plan.seeds, "count": plan.count}
    key["first"] = digest_of(islice(_drawn(plan, family), AGAIN))
    if family != FILE and is_file_of(task.file, key):
        return task.file
    rows = [_row(family, *drawn) for drawn in _drawn(plan, family)]
    table = pa.Table.from_pylist(rows, schema=SCHEMA)
    write_table(task.file, table, key | {"digests": _digests(rows)})
    return task.file


def cases_of(file: Path) -> Iterator[StudyCase]:
    """Yield the instances of a file, in the order of the draws."""
    for batch in pq.ParquetFile(file).iter_batches(500):
        for row in batch.to_pylist():
            yield StudyCase(
                seed=row["seed"],
                index=row["index"],
                document=orjson.loads(row["document"]),
                owned=row["owned"],
                best_score=row["best_score"],
                best_spread=row["best_spread"],
                best_moves=row["best_moves"],
            )


def digests_of_seeds(file: Path) -> dict[str, str]:
    """Return the digest of the instances of each seed."""
    digests: dict[str, str] = metadata_of(file)["digests"]
    return digests


def digest_of_all(digests: Mapping[str, Mapping[str, str]]) -> str:
    """Return one digest of the digests by family and seed."""
    return hashlib.sha256(
        orjson.dumps(digests, option=orjson.OPT_SORT_KEYS)
    ).hexdigest()


def digest_of(drawn: Iterable[tuple[int, int, Document]]) -> str:
    """Return the SHA-256 of documents, one per line."""
    digest = hashlib.sha256()
    for _, _, document in drawn:
        digest.update(canonical(document) + b"\n")
    return digest.hexdigest()


def _drawn(plan: StudyPlan, family: str) -> Iterator[tuple[int, int, Document]]:
    if family == FILE:
        for index, found in enumerate(read_rebalances(str(plan.given))):
            if isinstance(found, DocumentError):
                raise found
            yield 0, index, plain_of(found)
        return
    draw = family_of(family).first
    for seed, index in plan.places():
        yield seed, index, draw(seed, index)


def _row(family: str, seed: int, index: int, document: Document) -> Document:
    """Solve an instance; the judge checks the certificate."""
    instance = instance_of(rebalance_of(document))
    best = plain_of(solve(instance).to_document(instance))
    case = verify.case_of(document)
    verdict = verify.judge_case(case, best)
    if not (verdict["proved"]["dec_min"] and verdict["proved"]["stickiness"]):
        raise UnprovedOptimumError(f"{family}/{seed}/{index}: {verdict['evidence']}")
    figures = verdict["figures"]
    owned = dict.fromkeys(case.wants, 0)
    for (member, _), numbers in case.owned.items():
        owned[member] += len(numbers)
    return {
        "family": family,
        "seed": seed,
        "index": index,
        "members": len(document["members"]),
        "partitions": sum(t["partitions"] for t in document["topics"].values()),
        "owned": sorted(owned.values(), reverse=True),
        "best_score": figures["kip54_score"],
        "best_spread": spread_of(figures["loads"]),
        "best_moves": figures["moves"],
        "document": canonical(document),
    }


def spread_of(loads: list[int]) -> int:
    """Return the largest minus the smallest of loads, which are largest first."""
    return loads[0] - loads[-1] if loads else 0


def _digests(rows: list[Document]) -> dict[str, str]:
    found: dict[str, Any] = {}
    for row in rows:
        digest = found.setdefault(str(row["seed"]), hashlib.sha256())
        digest.update(row["document"] + b"\n")
    return {seed: digest.hexdigest() for seed, digest in found.items()}
