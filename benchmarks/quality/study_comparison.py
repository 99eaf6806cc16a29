"""Compare two runs of a study: digests, and means with the intervals of the first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from benchmarks.quality.measures import MEANS, SHARES

Line = dict[str, Any]

SLACK: Final = 1e-6  # of rounding


def differences(before: Sequence[Line], after: Sequence[Line]) -> Iterator[str]:
    """Yield the figures that a rerun does not repeat.

    The instances of each family and seed have to be the same, and the records of
    deterministic assignors that answered equally many; the means and shares of the
    others have to lie within the intervals of the first run. Families and assignors
    that only one run has are not compared.
    """
    yield from _of_instances(before[0]["families"], after[0]["families"])
    rerun = {line["assignor"]: line for line in after if "assignor" in line}
    for line in before:
        again = rerun.get(line.get("assignor", ""))
        if again is None:
            continue
        for family, row in line["families"].items():
            other = again["families"].get(family)
            if other is None:
                continue
            place = f"{line['assignor']}, {family}"
            if line["deterministic"] and row["records"] == other["records"]:
                if row["digest"] != other["digest"]:
                    yield f"{place}: the records differ"
            else:
                yield from _outside(place, row, other)
        if line["families"].keys() == again["families"].keys():
            place = f"{line['assignor']}, total"
            yield from _outside(place, line["total"], again["total"])


def _of_instances(
    before: Mapping[str, Line], after: Mapping[str, Line]
) -> Iterator[str]:
    for family in before.keys() & after.keys():
        first, second = before[family]["digests"], after[family]["digests"]
        for seed in sorted(first.keys() | second.keys(), key=int):
            if first.get(seed) != second.get(seed):
                yield f"{family}, seed {seed}: the instances differ"


def _outside(place: str, before: Line, after: Line) -> Iterator[str]:
    for name in (*SHARES, *MEANS):
        if name not in before or name not in after:
            continue
        *_, low, high = before[name]
        mean = after[name][-3]
        if not low - SLACK <= mean <= high + SLACK:
            yield f"{place}: {name} {mean} is outside of {low} to {high}"
