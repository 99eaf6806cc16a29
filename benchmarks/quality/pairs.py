"""Paired differences: two assignors on the same instances."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from benchmarks.peers import OURS as PEERS
from benchmarks.quality.intervals import mean_of, resampled_means
from benchmarks.quality.measures import Measured, rounded, scale_of
from benchmarks.quality.study_subjects import OURS, StudySubject
from rebalance import Bools, Int64

Row = dict[str, Any]

REFERENCE: Final = ("kafka-clients", "sticky")
"""Client and assignor with which every other one is compared, of its newest version."""
ELSE: Final = (OURS, "sticky")
"""The same if no jars are installed."""
DIFFERENCES: Final = ("valid", "optimal", "spread_gap", "moves_gap")


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyPair:
    """Two assignors to compare, the first minus the second.

    Attributes
    ----------
    kind : str
        ``reference``, ``version`` (newer minus older), or ``ours`` (of this project
        minus the one that it follows).
    """

    kind: str
    first: str
    second: str


def reference_of(subjects: Sequence[StudySubject]) -> StudySubject:
    """Return the assignor with which every other one is compared."""
    for wanted in (REFERENCE, ELSE):
        for subject in subjects:
            if (subject.client, subject.assignor) == wanted:
                return subject
    return subjects[0]


def pairs_of(subjects: Sequence[StudySubject]) -> Iterator[StudyPair]:
    """Yield the pairs; versions of a client are listed from the newest."""
    reference = reference_of(subjects)
    for subject in subjects:
        if subject != reference:
            yield StudyPair(kind="reference", first=subject.name, second=reference.name)
    last: dict[tuple[str, str], StudySubject] = {}
    for subject in subjects:
        place = subject.client, subject.assignor
        newer = last.get(place)
        if newer is not None:
            yield StudyPair(kind="version", first=newer.name, second=subject.name)
        last[place] = subject
    yield from _with_peers(subjects)


def _with_peers(subjects: Sequence[StudySubject]) -> Iterator[StudyPair]:
    """Yield ours with Kafka's of the same algorithm, of the newest version."""
    ours = {peer.assignor: peer for peer in subjects if peer.client == OURS}
    seen: set[str] = set()
    for subject in subjects:
        server = "server-" if subject.client == "group-coordinator" else ""
        kafka = server + subject.assignor
        is_kafka = server or subject.client == "kafka-clients"
        peer = ours.get(PEERS.get(kafka, ""))
        if is_kafka and peer is not None and kafka not in seen:
            seen.add(kafka)
            yield StudyPair(kind="ours", first=peer.name, second=subject.name)


def compared(
    pair: StudyPair,
    first: Mapping[str, Measured],
    second: Mapping[str, Measured],
    partitions: Mapping[str, float],
) -> tuple[dict[str, Row], Row]:
    """Return the paired differences by family, and in total.

    An assignor that answered fewer instances answered a prefix of the same order, so
    that equal positions are equal instances. Differences of shares are over instances
    that neither refused, those of means over instances that both answered validly.
    """
    found: dict[str, Row] = {family: {} for family in first if family in second}
    resamples: dict[str, list[Any]] = {name: [] for name in DIFFERENCES}
    for family, row in found.items():
        ours, theirs = first[family], second[family]
        size = min(len(ours.categories), len(theirs.categories))
        applies = ours.applies[:size] & theirs.applies[:size]
        best = [side.shares["optimal"][:size] & applies for side in (ours, theirs)]
        row["n"] = int(applies.sum())
        row["better"] = int((best[0] & ~best[1]).sum())
        row["worse"] = int((best[1] & ~best[0]).sum())
        for name in DIFFERENCES:
            values = _differences(ours, theirs, name, applies)
            if not values.size:
                continue
            seed = f"{pair.first} - {pair.second}/{name}/{family}"
            scale = scale_of(name, partitions[family])
            drawn = scale * resampled_means(values, seed=seed)
            resamples[name].append(drawn)
            interval = rounded(mean_of([drawn]))
            row[name] = [int(values.sum()), int(values.size), *interval]
    total = {
        name: rounded(mean_of(drawn)) for name, drawn in resamples.items() if drawn
    }
    counts = {
        key: sum(row[key] for row in found.values()) for key in ("n", "better", "worse")
    }
    return found, counts | total


def _differences(ours: Measured, theirs: Measured, name: str, applies: Bools) -> Int64:
    """Return the differences of one measure, instance by instance."""
    size = applies.size
    if name in ours.shares:
        values = ours.shares[name][:size].astype(np.int64)
        return (values - theirs.shares[name][:size])[applies]
    both = ours.counts[name][:size] & theirs.counts[name][:size]
    return (ours.means[name][:size] - theirs.means[name][:size])[both]
