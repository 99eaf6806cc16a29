"""Input of an audit: the sources that were found, and the facts in side files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pipeline.audit.request import AuditRequest
from pipeline.audit_writing import Tell, refuse_replaced
from pipeline.files import Location, Stores, name_of, shown
from pipeline.judging.evaluated import SAMPLE
from pipeline.judging.instances import ClusterFacts
from pipeline.judging.partition_counts import CountSources
from pipeline.side_files.given_subscriptions import read_subscriptions
from pipeline.side_files.lag_metrics import LagGap, read_lag_metrics
from pipeline.side_files.sidecars import LogsFile, read_offsets, read_topics
from pipeline.sources.find import FoundSources, find_sources
from pipeline.sources.record_format import RecordFormat, record_format
from pipeline.time_window import time_text

if TYPE_CHECKING:  # its clients take a while to load
    from pipeline.live import LiveSource

_GAPS_TOLD: Final = 10
"""Lines about gaps in lag; the table quarantine has all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SideFiles:
    """Files of partition counts, log ends, and subscriptions; None: there is none."""

    topics: Location | None
    offsets: Location | None
    subscriptions: Location | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditInput:
    """Everything that an audit reads, before it reads records."""

    request: AuditRequest
    found: FoundSources
    written: RecordFormat
    side_files: SideFiles
    facts: ClusterFacts

    def parameters(self, assignors: Sequence[str], judged_whole: int) -> dict[str, Any]:
        """Return the parameters on which the tables depend, as in ``audit.json``."""
        request, side = self.request, self.side_files
        return {
            "cluster": request.cluster,
            "claim_rule": request.claim_rule.value,
            "max_partitions": request.max_partitions,
            "assignors": list(assignors),
            "judged_whole": judged_whole,
            "judged_sample": f"1 of {SAMPLE}",
            "source_format": request.source_format,
            "columns": dict(self.written.names),
            "encoding": request.encoding,
            "group_name": request.group_name,
            "topics": _name_of(side.topics),
            "offsets": _name_of(side.offsets),
            "subscriptions": _name_of(side.subscriptions),
            "lag": [name_of(str(file)) for file in request.lag],
            "auto_offset_reset": request.offset_reset.value,
            "since": None if request.since is None else time_text(request.since),
            "until": None if request.until is None else time_text(request.until),
            "groups": list(request.groups),
        }


def found_input(
    request: AuditRequest, live: LiveSource | None, stores: Stores, tell: Tell
) -> AuditInput:
    """Find the sources and read the side files.

    Raises
    ------
    SourceError, DocumentError
        If there is no source, or a side file is invalid.
    OutputError
        If a file that is read has the place of one that is written.
    """
    written = record_format(request.columns, request.encoding)
    found = FoundSources(live=live)
    if request.sources or live is None:
        found = find_sources(
            request.sources,
            stores,
            source_format=request.source_format,
            written=written,
            group_name=request.group_name,
        )
        found.live = live
    beside = {name: shown(uri) for name, uri in found.side_files.items()}
    side = SideFiles(
        topics=request.topics or beside.get("topics.json"),
        offsets=request.offsets or beside.get("offsets.json"),
        subscriptions=request.subscriptions or beside.get("subscriptions.json"),
    )
    stated = [side.topics, side.offsets, side.subscriptions, *request.lag]
    files = [file for file in stated if file is not None]
    refuse_replaced(request.out, [*files, *(file.uri for file in found.files)])
    facts = _facts(request, found, side, stores)
    _tell_gaps(found.lag_gaps, tell)
    return AuditInput(
        request=request, found=found, written=written, side_files=side, facts=facts
    )


def _facts(
    request: AuditRequest, found: FoundSources, side: SideFiles, stores: Stores
) -> ClusterFacts:
    """Read the side files; a running cluster is read where they state nothing."""
    given = read_topics(side.topics, request.max_partitions, stores)
    at_end, names = given.at_end, given.names
    logs = read_offsets(side.offsets, stores)
    live = found.live
    if live is not None:
        at_end, names = live.counts | at_end, live.names | names
        logs = LogsFile(ends=live.ends) if side.offsets is None else logs
    reported = read_lag_metrics(request.lag, stores)
    found.lag_gaps = reported.gaps
    return ClusterFacts(
        counts=CountSources(at_end=at_end, dated=given.dated),
        names=names,
        logs=logs,
        monitored=reported.lags,
        subscriptions=read_subscriptions(side.subscriptions, stores),
        offset_reset=request.offset_reset,
        max_partitions=request.max_partitions,
    )


def _name_of(file: Location | None) -> str | None:
    return None if file is None else name_of(str(file))


def _tell_gaps(gaps: Sequence[LagGap], tell: Tell) -> None:
    for gap in gaps[:_GAPS_TOLD]:
        tell(str(gap))
    if (rest := len(gaps) - _GAPS_TOLD) > 0:
        tell(f"and {rest} more gaps in lag: see the table quarantine")
