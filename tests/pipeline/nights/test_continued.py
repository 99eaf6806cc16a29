"""Nights of a history find the cases of one audit of the whole.

Reaches into `pipeline.nights.continued` to compare it with a single reconstruction.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from random import Random
from typing import Any

import pyarrow as pa

from pipeline.audit.stages import reconstruct_batches
from pipeline.case_table import case_at
from pipeline.cases import Case, unpack
from pipeline.nights.case_digests import LASTED
from pipeline.nights.continued import continued_batches
from pipeline.rows import (
    CARRIED,
    CASE,
    CASES,
    KEPT,
    OPENED,
    QUARANTINED,
    READ,
    REPEATED,
    ROWS,
    UNREADABLE,
    Row,
)
from pipeline.table_bytes import from_bytes
from tests.pipeline.recorded import in_order
from tests.pipeline.test_whole_groups import drawn_rows
from tests.support import amount

Found = dict[str, Case]


def cases_of(rows: Iterable[Row]) -> Found:
    """Return the cases in rows of a reconstruction, by their names."""
    found: list[Case] = []
    for row in rows:
        if row["what"] == CASE:
            found.append(unpack(row["value"]))
        elif row["what"] == CASES:
            table = from_bytes(row["value"])
            found += [case_at(table, place) for place in range(len(table))]
    names = [case.rebalance_id for case in found]
    assert len(names) == len(set(names))
    return dict(zip(names, found, strict=True))


def batches_of_rows(rows: list[Row]) -> Iterator[pa.RecordBatch]:
    yield from pa.Table.from_pylist(rows, ROWS).to_batches(7)


def listed(batches: Iterable[pa.RecordBatch]) -> list[Row]:
    return [row for batch in batches for row in batch.to_pylist()]


def at_one_time(rows: Iterable[Row]) -> list[Row]:
    """Return rows of which those at one offset have the time of the first."""
    times: dict[tuple[int | None, int | None], int | None] = {}
    return [
        row
        | {
            "at": times.setdefault(
                (row["source_partition"], row["source_offset"]), row["at"]
            )
        }
        for row in rows
    ]


def loose(case: Case | None, is_damaged: bool) -> Case | None:
    """Return a case without fields that can differ (``docs/nightly.md``).

    Counts without a time are those of the records that are kept. The last offset of a
    partition is kept even if it cannot be read, and the one before it is not.
    """
    if case is None:
        return None
    case = replace(case, undated_sizes=None)
    if not is_damaged:
        return case
    members = {
        name: replace(member, last_commit_at=None)
        for name, member in (case.members or {}).items()
    }
    return replace(case, committed=None, members=members)


def quarantined(rows: Iterable[Row]) -> Counter[Any]:
    """Count quarantine by group, kind, reason, and numbers."""
    found: Counter[Any] = Counter()
    for row in rows:
        if row["what"] in QUARANTINED:
            key = row["what"], row["group_id"], row["record"], row["reason"]
            found[key] += row["records"]
    return found


def counted(rows: Iterable[Row], what: str) -> int:
    return sum(row["records"] for row in rows if row["what"] == what)


class Nights:
    """A store of a history: final and open cases, and the carried records."""

    def __init__(self) -> None:
        self.final: Found = {}
        self.open: Found = {}
        self.carried: list[Row] = []
        self.quarantined: Counter[Any] = Counter()
        self.counts: Counter[str] = Counter()

    def add(self, rows: list[Row]) -> None:
        """Add the records of a night."""
        given = in_order([*self.carried, *rows])
        found = listed(continued_batches(batches_of_rows(given)))
        carried = [
            row
            for packed in found
            if packed["what"] in (CARRIED, OPENED)
            for row in from_bytes(packed["value"]).to_pylist()
        ]
        opened = {row["record"] for row in carried if row["what"] == OPENED}
        cases = cases_of(found) | self.kept(found)
        assert self.open.keys() <= cases.keys(), "an open case is lost"
        assert opened <= cases.keys(), "an open case is not yielded"
        assert not self.final.keys() & cases.keys(), "a case is final, and found again"
        self.final |= {name: case for name, case in cases.items() if name not in opened}
        self.open = {name: cases[name] for name in opened}
        self.carried = carried
        self.quarantined += quarantined(found)
        for what in (READ, REPEATED):
            self.counts[what] += counted(found, what)
        self.counts[KEPT] += counted(found, KEPT)

    def kept(self, rows: Iterable[Row]) -> Found:
        """Return open cases that are not found again, with what is new of them."""
        return {
            row["rebalance_id"]: replace(
                self.open[row["rebalance_id"]], **{name: row[name] for name in LASTED}
            )
            for table in rows
            if table["what"] == KEPT
            for row in from_bytes(table["value"]).to_pylist()
        }


def parts_of(rows: list[Row], rng: Random) -> list[list[Row]]:
    """Divide rows by time of reading: each partition at offsets of its own."""
    count = rng.choice((2, 2, 3, 5))
    offsets: dict[int | None, set[int]] = defaultdict(set)
    for row in rows:
        if row["source_offset"] is not None:
            offsets[row["source_partition"]].add(row["source_offset"])
    cuts = {
        partition: sorted(rng.choices(sorted(found), k=count - 1))
        for partition, found in offsets.items()
    }
    parts: list[list[Row]] = [[] for _ in range(count)]
    for row in rows:
        places = cuts.get(row["source_partition"], [])
        offset = row["source_offset"]
        number = 0 if offset is None else sum(cut <= offset for cut in places)
        parts[number].append(row)
    return parts


def check_nights(seed: int) -> Counter[str]:
    rng = Random(seed)  # noqa: S311
    rows = [dict.fromkeys(ROWS.names) | row for row in drawn_rows(rng)]
    rows = at_one_time(row for row in rows if row["source_partition"] is not None)
    whole = listed(reconstruct_batches(batches_of_rows(rows)))
    nights = Nights()
    for part in parts_of(rows, rng):
        nights.add(part)
    expected = cases_of(whole)
    found = nights.final | nights.open
    is_damaged = any(row["what"] == UNREADABLE for row in whole)
    others = {
        (found.get(name) or expected[name]).group_id
        for name in found.keys() | expected.keys()
        if loose(found.get(name), is_damaged) != loose(expected.get(name), is_damaged)
    }
    changed = (nights.quarantined - quarantined(whole)) + (
        quarantined(whole) - nights.quarantined
    )
    others |= {group_id for _, group_id, *_ in changed}
    protocols = {case.protocol for case in expected.values() if case.group_id in others}
    assert protocols <= {"consumer"}, others
    for what in (READ, REPEATED):
        assert nights.counts[what] == counted(whole, what), what
    return Counter(
        groups=len({row["group_id"] for row in rows}),
        others=len(others),
        cases=len(expected),
        open=len(nights.open),
        records=len(rows),
        carried=len(nights.carried),
        kept=nights.counts[KEPT],
    )


def test_nights_of_drawn_groups() -> None:
    counts: Counter[str] = Counter()
    for seed in amount.seeds(amount.share(20, 20)):
        try:
            counts += check_nights(seed)
        except Exception as error:
            error.add_note(f"seed {seed}")
            raise
    assert 0 < counts["open"] < counts["cases"] / 2
    assert counts["kept"] > 0
    # Of the new protocol, if no coordinator writes such records (docs/nightly.md).
    assert counts["others"] <= counts["groups"] / 50
