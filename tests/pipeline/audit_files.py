"""Sources of small audits, and what an audit has left in its folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipeline.audit import AuditSummary
from pipeline.audit.stage_progress import Progress
from pipeline.audit.stages import COUNTS
from pipeline.tables import RUN_TABLE, read_table
from tests.pipeline.groups import Log, group, member
from tests.support.shapes import CHAIN
from tests.support.wire import RECORDINGS, TESTS

FIRST_LOOK = RECORDINGS / "first-look"
HOSTILE = "<script>alert('é😀')</script>"
CLUSTER = "a/b c=é"
JUDGED_FILES = ".unfinished/*/judged-*/*.parquet"
"""Files of judged parts in an unfinished audit."""


def mixed_sources(folder: Path) -> Path:
    """Write a folder with every kind of source, with side files, and with damage.

    They state the partition counts of some topics, and the log ends of one.
    """
    folder.mkdir()
    (folder / "topics.json").write_text('{"orders": 6, "payments": 3}')
    ends = {str(number): {"earliest": 0, "latest": 100 * number} for number in range(6)}
    (folder / "offsets.json").write_text(json.dumps({"offsets": {"orders": ends}}))
    recorded = (FIRST_LOOK / "consumer_offsets.jsonl").read_text().splitlines()
    half = len(recorded) // 2
    recorded[7] = recorded[7][:40]
    (folder / "records-1.jsonl").write_text("\n".join(recorded[: half + 20]) + "\n")
    (folder / "records-2.jsonl").write_text("\n".join(recorded[half:]) + "\n")
    describe = (TESTS / "data/describe-4.3.1/all-groups.describe.txt").read_text()
    (folder / "all.describe.txt").write_text(describe)
    (folder / "cut.describe.txt").write_text(describe[: len(describe) // 2])
    documents = [orjson.dumps(CHAIN), b"{}", orjson.dumps(CHAIN | {"group": HOSTILE})]
    (folder / "documents.jsonl").write_bytes(b"\n".join(documents))
    (folder / "noise.bin").write_bytes(bytes(range(256)) * 4)
    return folder


def log_of(folder: Path, generations: int) -> Path:
    """Write the records of a group with so many generations."""
    path = folder / f"log-{generations}.jsonl"
    people = [member(name, ["t"], {"t": [n]}) for n, name in enumerate("ab")]
    log = Log().add(*[group(n, *people) for n in range(1, generations + 1)])
    path.write_text("".join(json.dumps(row) + "\n" for row in log.records))
    return path


def rows_of(summary: AuditSummary, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = read_table(Path(summary.out), name).to_pylist()
    return found


def manifest_of(summary: AuditSummary) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((Path(summary.out) / "audit.json").read_bytes())
    return found


def files_of(out: Path) -> dict[str, bytes]:
    """Return the files of an audit, except those that describe the run."""
    return {
        str(path.relative_to(out)): path.read_bytes()
        for path in sorted(out.rglob("*"))
        if path.is_file()
        and not {"audit.json", RUN_TABLE, ".unfinished"}
        & {*path.relative_to(out).parts}
    }


def tables_of(out: Path) -> dict[str, bytes]:
    """Return the files of the tables, but of the one that describes the run."""
    found = sorted(out.glob("[!.]*/**/*.parquet"))
    paths = [path for path in found if not path.is_relative_to(out / RUN_TABLE)]
    return {str(path.relative_to(out)): path.read_bytes() for path in paths}


def page_into(folder: Path) -> None:
    """Write a page that shows from which tables it was made."""
    clusters = read_table(folder, "answers").column("cluster").to_pylist()
    manifest = json.loads((folder / "audit.json").read_bytes())
    text = f"{clusters[0]} {manifest['rows']['answers']}"
    (folder / "index.html").write_text(text)


def interrupt_in(name: str) -> Progress:
    """Return what interrupts an audit in a phase."""

    def interrupt(phase: str, _done: int, _total: int) -> None:
        if phase == name:
            raise KeyboardInterrupt

    return interrupt


def judged_parts(out: Path) -> dict[Path, set[int]]:
    """Return the parts in each judged file of an unfinished audit.

    The first task of a continued audit writes a file even if none of its parts is left.
    """
    found = {
        path: set(pq.read_table(path, columns=["part"])["part"].to_pylist())
        for path in sorted(out.glob(JUDGED_FILES))
    }
    return {path: parts for path, parts in found.items() if parts}


def parts_to_judge(out: Path) -> list[int]:
    """Return the parts of an unfinished audit that have anything to judge."""
    for path in out.glob(".unfinished/*/cases-*/contents.json"):
        return [*range(len(json.loads(path.read_bytes())["parts"]))]
    tables = [  # of a remote audit
        pq.read_table(path, columns=["what", "part"])
        for path in out.glob(".unfinished/*/cases-*/*.parquet")
    ]
    rows = pa.concat_tables(tables)
    is_judged = pc.invert(pc.is_in(rows["what"], pa.array(COUNTS)))
    return sorted(set(rows["part"].filter(is_judged).to_pylist()))
