"""Pairs of files of Kafka Connect's S3 sink: the values, and the keys of the same."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from pipeline.files import name_of
from pipeline.sources.sink_names import SinkPart, SinkRole, pair_of, sink_name
from pipeline.sources.source_file import SourceFile
from rebalance import SourceError

NO_KEYS: Final = (
    "values without their keys, which show the group: there is no file "
    "{stem}.keys.json, .avro, or .parquet in the same folder; set "
    "store.kafka.keys=true in the sink"
)


def paired(
    files: Sequence[SourceFile], uris: Iterable[str]
) -> tuple[list[SourceFile], list[SourceError]]:
    """Check that values have keys; return the files to read, and those without.

    Files of keys whose values are not there stay: they can be tombstones. Those of
    values that have their keys with them, or that were refused, are left out. ``files``
    are those that were recognized, ``uris`` the locations of all that were found.
    """
    if not any(file.sink for file in files):
        return list(files), []
    found: dict[tuple[str, SinkRole], SourceFile] = {}
    errors: list[SourceError] = []
    kept: list[SourceFile] = []
    for file in files:
        if file.sink is None:
            kept.append(file)
            continue
        role = file.sink.name.role
        first = found.setdefault((file.sink.pair, role), file)
        if first is not file:
            reason = f"another file has the {role.value} of these records: {first.name}"
            errors.append(SourceError(reason, source=file.name))
    values_there = {
        pair_of(uri, name)
        for uri in uris
        if (name := sink_name(uri)) is not None and name.role is SinkRole.VALUES
    }
    for (pair, role), file in found.items():
        has_values = (pair, SinkRole.VALUES) in found
        if role is SinkRole.VALUES and (pair, SinkRole.KEYS) not in found:
            reason = NO_KEYS.format(stem=name_of(pair))
            errors.append(SourceError(reason, source=file.name))
        elif role is SinkRole.VALUES or has_values or pair not in values_there:
            kept.append(file)
    return _with_ends(kept), errors


def _with_ends(files: list[SourceFile]) -> list[SourceFile]:
    """Add the start of the next file of the same partition to each."""
    starts: defaultdict[int, set[int]] = defaultdict(set)
    for sink in (file.sink for file in files):
        if sink is not None and sink.name.role is SinkRole.VALUES:
            starts[sink.name.partition].add(sink.name.start)
    ordered = {partition: sorted(found) for partition, found in starts.items()}
    return [
        file if file.sink is None else replace(file, sink=_with_end(file.sink, ordered))
        for file in files
    ]


def _with_end(part: SinkPart, starts: dict[int, list[int]]) -> SinkPart:
    there = starts.get(part.name.partition, [])
    after = bisect_right(there, part.name.start)
    return replace(part, until=there[after] if after < len(there) else None)
