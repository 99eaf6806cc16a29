"""Lag that a monitoring system reports, as side files: per group, topic, partition.

Accepted are Prometheus' text, and JSON: answers of Prometheus' HTTP API and of Burrow,
one or several after another, each on a line or on many.

The gaps of such a file are stated: partitions whose lag it reports as unknown,
partitions below the largest that it lists, and those that Burrow counts and does not
list. Their lag is never taken for 0.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from pipeline.files import Location, Stores
from pipeline.rows import MISSING, Row, quarantine_row
from pipeline.side_files.lag_samples import (
    METRICS,
    LagSample,
    is_api_answer,
    other_lag_of_line,
    sample_of_line,
    samples_of_api,
    samples_of_burrow,
)
from pipeline.side_files.sidecars import read_whole
from rebalance import DocumentError, SourceError, parse_json

LagOfGroups: TypeAlias = dict[str, dict[str, dict[int, int]]]
"""Group, topic, partition → records; partitions of unknown lag are absent."""

NO_COMMIT: Final = "the lag of partitions is reported as unknown: -1, NaN, or negative"
NOT_LISTED: Final = "partitions are not listed among those with lag"
NOT_COUNTED: Final = (
    "Burrow counts partitions that it does not list (.../lag lists all with a commit, "
    ".../status those with a problem)"
)
NAMED: Final = 5
"""Partitions of a topic that are named."""
_BLANK: Final = " \t\r\n"


@dataclass(frozen=True, slots=True)
class LagGap:
    """Partitions of a group whose lag a file does not state, and why.

    ``topic`` is None if only their number is known.
    """

    source: str
    group: str
    topic: str | None
    count: int
    first: tuple[int, ...]
    reason: str

    @property
    def where(self) -> str:
        """The partitions, as text."""
        if self.topic is None:
            return f"{self.count} partitions"
        return named_partitions(self.topic, self.first, self.count)

    def __str__(self) -> str:
        """One line for the user."""
        place = f"no lag of group {self.group}, {self.where}"
        return f"{self.source}: {place}: {self.reason}"


def named_partitions(topic: str, numbers: Sequence[int], count: int) -> str:
    """Name the first of ``count`` partitions of a topic: ``t 0, 1 and 7 more``."""
    shown = numbers[:NAMED]
    rest = count - len(shown)
    more = f" and {rest} more" if rest else ""
    return f"{topic} {', '.join(map(str, shown))}{more}"


@dataclass(slots=True)
class ReportedLag:
    """Lag from all files of metrics together, and its gaps."""

    lags: LagOfGroups = field(default_factory=dict)
    gaps: list[LagGap] = field(default_factory=list)


@dataclass(slots=True)
class _Read:
    """Samples so far: group and topic, then partition → records or None."""

    samples: dict[tuple[str, str], dict[int, int | None]] = field(default_factory=dict)
    sources: dict[tuple[str, str], str] = field(default_factory=dict)
    gaps: list[LagGap] = field(default_factory=list)

    def add(self, sample: LagSample, source: str, line: int | None) -> None:
        place = sample.group, sample.topic
        self.sources.setdefault(place, source)
        lags = self.samples.setdefault(place, {})
        known = lags.get(sample.partition)
        if known is None:
            lags[sample.partition] = sample.records
        elif sample.records is not None and sample.records != known:
            shown = f"{sample.topic} {sample.partition}"
            reason = f"a second lag of group {sample.group}, {shown}"
            raise SourceError(reason, source=source, line=line)


def read_lag_metrics(paths: Sequence[Location], stores: Stores) -> ReportedLag:
    """Read files of metrics together.

    Raises
    ------
    SourceError, DocumentError
        If a file cannot be read, or contains no lag of a partition; if a line or a JSON
        value is damaged, or contradicts another. Its place is named.
    """
    read = _Read()
    for path in paths:
        try:
            text = read_whole(path, stores).decode("utf-8")
        except UnicodeDecodeError as error:
            raise SourceError("no UTF-8 text", source=str(path)) from error
        is_json = text.lstrip(_BLANK).startswith(("{", "["))
        has_lag = (_add_json if is_json else _add_text)(read, text, str(path))
        if not has_lag:
            raise SourceError(_why_without_lag(text), source=str(path))
    return _report(read)


def gap_rows(gaps: Sequence[LagGap]) -> list[Row]:
    """Return one row of quarantine per gap."""
    return [
        quarantine_row(
            MISSING,
            f"lag: {gap.reason}",
            source=gap.source,
            raw=gap.where.encode(),
            group_id=gap.group,
            record="lag",
            records=gap.count,
        )
        for gap in gaps
    ]


def _add_text(read: _Read, text: str, source: str) -> bool:
    """Add the samples of Prometheus' text; return whether there were any."""
    found = False
    for number, line in enumerate(text.split("\n"), start=1):
        if (one := sample_of_line(line, source, number)) is not None:
            read.add(one, source, number)
            found = True
    return found


def _add_json(read: _Read, text: str, source: str) -> bool:
    """Add the samples of JSON values; return whether anything was told of lag."""
    found = False
    for line, value in _json_values(text, source):
        for answer in value if isinstance(value, list) else [value]:
            found |= _add_answer(read, answer, source, line)
    return found


def _add_answer(read: _Read, value: Any, source: str, line: int) -> bool:
    if not isinstance(value, dict):
        raise SourceError("no answer about lag", source=source, line=line)
    is_api = is_api_answer(value)
    if is_api:
        samples = [*samples_of_api(value, source, line)]
    else:
        samples, missing, group = samples_of_burrow(value, source, line)
        if missing:
            read.gaps.append(LagGap(source, group, None, missing, (), NOT_COUNTED))
    for sample in samples:
        read.add(sample, source, line)
    return bool(samples) or not is_api


def _json_values(text: str, source: str) -> Iterator[tuple[int, Any]]:
    """Yield the JSON values that follow one another, with the line of each."""
    decoder = json.JSONDecoder()
    at, line = 0, 1
    while True:
        start = at
        while at < len(text) and text[at] in _BLANK:
            at += 1
        line += text.count("\n", start, at)
        if at == len(text):
            return
        try:
            try:
                _, end = decoder.raw_decode(text, at)
            except (ValueError, RecursionError):
                end = len(text)
            value = parse_json(text[at:end])
        except DocumentError as error:
            raise error.at(source=source, line=line) from None
        yield line, value
        line += text.count("\n", at, end)
        at = end


def _why_without_lag(text: str) -> str:
    *names, last = METRICS
    expected = f"{', '.join(names)} or {last}, or Burrow's .../consumer/GROUP/lag"
    others = {other_lag_of_line(line) for line in text.split("\n")} - {None}
    there = f"; {min(filter(None, others))} is not per partition" if others else ""
    return f"no lag of a partition in it: expected {expected}{there}"


def _report(read: _Read) -> ReportedLag:
    """Separate the lags that are known from the gaps."""
    report = ReportedLag(gaps=read.gaps)
    for place, lags in read.samples.items():
        group, topic = place
        known = {number: lag for number, lag in lags.items() if lag is not None}
        if known:
            report.lags.setdefault(group, {})[topic] = known
        absent = max(lags) + 1 - len(lags)
        first = [
            number
            for number in range(min(max(lags) + 1, len(lags) + NAMED))
            if number not in lags
        ]
        unknown = sorted(lags.keys() - known.keys())
        for count, numbers, reason in (
            (len(unknown), unknown, NO_COMMIT),
            (absent, first, NOT_LISTED),
        ):
            if count:
                shown = tuple(numbers[:NAMED])
                source = read.sources[place]
                report.gaps.append(LagGap(source, group, topic, count, shown, reason))
    report.gaps.sort(key=lambda gap: (gap.group, gap.topic or "", gap.reason))
    return report
