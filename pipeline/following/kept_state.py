"""State that a follower keeps in ``--out``, and whether its parts belong together.

``records`` has the records of each batch of the stream once (`KeptBatches`).
``checkpoint`` is Spark's, and ``following.json`` names the cluster.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import orjson

from pipeline.audit_writing import as_output_error
from pipeline.files import FileStore, shown
from pipeline.following.batch_ranges import is_complete
from pipeline.following.kept_batches import KeptBatches
from pipeline.live import BEGIN_ANEW, ClusterIdentity
from rebalance import OutputError

RECORDS_FOLDER: Final = "records"
CHECKPOINT: Final = "checkpoint"
IDENTITY: Final = "following.json"
FORMAT: Final = "following/1"


class KeptState:
    """The folders and files of a follower below the URI of ``--out``."""

    def __init__(self, out: str, store: FileStore) -> None:
        self.out = out
        self.batches = KeptBatches(f"{out}/{RECORDS_FOLDER}", store)
        self.checkpoint = f"{out}/{CHECKPOINT}"
        self._identity = f"{out}/{IDENTITY}"
        self._store = store

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
        """Return the number of committed batches, all of which are kept.

        The batch after the last committed one can exist: it will be written again.

        Raises
        ------
        OutputError
            If records and checkpoint do not belong together.
        """
        count = self.count_committed()
        with as_output_error(shown(self.out)):
            ranges = self.batches.ranges()
        if not is_complete(ranges, count):
            raise OutputError(
                f"{RECORDS_FOLDER} and {CHECKPOINT} do not belong together;"
                f" {BEGIN_ANEW}",
                target=shown(self.out),
            )
        return count

    def count_committed(self) -> int:
        """Return the number of committed batches.

        Checkpoints have the last hundred commits only.
        """
        with as_output_error(shown(self.out)):
            return max(self._commits(), default=-1) + 1

    def _commits(self) -> Iterator[int]:
        commits = f"{self.checkpoint}/commits"
        if self._store.is_folder(commits):
            for entry in self._store.files(commits):
                if len(entry.below) == 1 and entry.below[0].isdecimal():
                    yield int(entry.below[0])

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
        self._store.make_folder(self.out)
        with self._store.here(self.out, ()) as here:
            temporary = here / f".{IDENTITY}"
            temporary.write_bytes(text)
            self._store.upload(temporary, self._identity)


def _document(found: ClusterIdentity, server: str) -> dict[str, str | None]:
    return {
        "format": FORMAT,
        "cluster_id": found.cluster,
        "topic_id": found.topic,
        "server": server,
    }
