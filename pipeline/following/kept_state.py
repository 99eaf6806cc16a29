"""What a follower keeps in ``--out``, and whether its parts belong together.

``records/batch=N`` has the records of batch N of the stream as Parquet. It is written
in a hidden folder with a name of its own and then renamed, so that it is always whole,
and a Java process that outlives its killed parent for a moment cannot add to it. If the
batch is read again, it is replaced: every record is there once. ``checkpoint`` is
Spark's, and ``following.json`` names the cluster.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import orjson

from pipeline.files import (
    FileStore,
    HadoopStore,
    LocalStore,
    is_local,
    local_path,
    shown,
)
from pipeline.live import BEGIN_ANEW, ClusterIdentity
from pipeline.writing import as_output_error
from rebalance import OutputError

RECORDS_FOLDER: Final = "records"
CHECKPOINT: Final = "checkpoint"
IDENTITY: Final = "following.json"
FORMAT: Final = "following/1"
_BATCH: Final = "batch="


class KeptState:
    """The folders and files of a follower below the URI of ``--out``."""

    def __init__(self, out: str, hadoop: Callable[[], HadoopStore]) -> None:
        self.out = out
        self.records = f"{out}/{RECORDS_FOLDER}"
        self.checkpoint = f"{out}/{CHECKPOINT}"
        self._identity = f"{out}/{IDENTITY}"
        self._hadoop = hadoop

    def batch(self, number: int) -> str:
        """Return the URI of a batch's folder."""
        return f"{self.records}/{_BATCH}{number}"

    def aside(self, number: int) -> str:
        """Return the URI of a new hidden folder to write a batch in."""
        return f"{self.records}/.{number}-{uuid.uuid4().hex}"

    def place(self, aside: str, number: int) -> None:
        """Put a batch that was written aside in place."""
        target = self.batch(number)
        self._delete(target)
        if is_local(self.out):
            local_path(aside).rename(local_path(target))
        else:
            self._hadoop().rename(aside, target)

    def clear(self) -> None:
        """Delete what a killed process has written aside."""
        with as_output_error(shown(self.out)):
            if self._store.is_folder(self.records):
                files = self._store.files(self.records)
                names = {entry.below[0] for entry in files if len(entry.below) > 1}
                for name in sorted(names):
                    if name.startswith("."):
                        self._delete(f"{self.records}/{name}")

    def check_cluster(self, found: ClusterIdentity, server: str) -> None:
        """Compare the cluster with the one that was followed before, or note it.

        Raises
        ------
        OutputError
            If it is another cluster, or its log of groups is another topic.
        """
        with as_output_error(shown(self.out)):
            before = self._read_identity()
            if before is None:
                self._write_identity(_document(found, server))
                return
        where = shown(self.out)
        if before.get("cluster_id") != found.cluster:
            raise OutputError(
                f"follows cluster {before.get('cluster_id')} ({before.get('server')});"
                f" {server} is cluster {found.cluster}; {BEGIN_ANEW}",
                target=where,
            )
        topic = before.get("topic_id")
        if topic is not None and found.topic is not None and topic != found.topic:
            raise OutputError(
                f"__consumer_offsets of cluster {found.cluster} was deleted and created"
                f" again (topic {topic} is now {found.topic}); {BEGIN_ANEW}",
                target=where,
            )
        if topic is None and found.topic is not None:
            with as_output_error(where):
                self._write_identity(_document(found, server))

    def check_batches(self) -> int:
        """Return the number of committed batches, all of which have their folder.

        The batch after the last committed one can exist: it will be written again.
        Checkpoints have the last hundred commits, folders remain.

        Raises
        ------
        OutputError
            If records and checkpoint do not belong together.
        """
        with as_output_error(shown(self.out)):
            commits = set(self._numbers(self.checkpoint, "commits/", ""))
            folders = set(self._numbers(self.records, "", _BATCH))
        count = max(commits, default=-1) + 1
        expected = set(range(count))
        if folders - {count} != expected:
            raise OutputError(
                f"{RECORDS_FOLDER} and {CHECKPOINT} do not belong together;"
                f" {BEGIN_ANEW}",
                target=shown(self.out),
            )
        return count

    def _delete(self, folder: str) -> None:
        """Delete a folder, if it exists."""
        if is_local(self.out):
            with suppress(FileNotFoundError):
                shutil.rmtree(local_path(folder))
        else:
            self._hadoop().delete(folder)

    def _numbers(self, folder: str, below: str, prefix: str) -> Iterator[int]:
        """Yield the numbers in the names below a folder, if it exists."""
        store = self._store
        if store.is_folder(folder):
            for entry in store.files(folder):
                way = "/".join(entry.below)
                name = way.removeprefix(below).split("/")[0].removeprefix(prefix)
                if way.startswith(below + prefix) and name.isdecimal():
                    yield int(name)

    @property
    def _store(self) -> FileStore:
        return LocalStore() if is_local(self.out) else self._hadoop()

    def _read_identity(self) -> dict[str, Any] | None:
        if self._store.is_folder(self._identity) is None:
            return None
        with self._store.open(self._identity) as file:
            text = file.read()
        try:
            found = orjson.loads(text)
        except orjson.JSONDecodeError:
            found = None
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise OutputError(f"not {FORMAT}", target=shown(self._identity))
        return found

    def _write_identity(self, document: dict[str, str | None]) -> None:
        text = orjson.dumps(document, option=orjson.OPT_APPEND_NEWLINE)
        if is_local(self.out):
            target = local_path(self._identity)
            target.parent.mkdir(parents=True, exist_ok=True)
            aside = target.with_name(f".{IDENTITY}")
            aside.write_bytes(text)
            with aside.open("rb") as file:
                os.fsync(file.fileno())
            aside.replace(target)
            return
        with tempfile.TemporaryDirectory() as scratch:
            aside = Path(scratch) / IDENTITY
            aside.write_bytes(text)
            self._hadoop().make_folder(self.out)
            self._hadoop().upload(aside, self._identity)


def _document(found: ClusterIdentity, server: str) -> dict[str, str | None]:
    return {
        "format": FORMAT,
        "cluster_id": found.cluster,
        "topic_id": found.topic,
        "server": server,
    }
