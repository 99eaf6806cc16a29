"""Comparisons of drawn audits equal a slow one."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from random import Random

import pytest

from oracle.audit_diff import AuditDiff, diff_of_audits
from rebalance import SourceError
from tests.oracle.audit_diff.drawn_tables import (
    EPOCH,
    drawn_audit,
    written,
)
from tests.oracle.audit_diff.slow_comparison import (
    ORDER,
    Row,
    figures_between,
    gone_between,
    joined_rows,
    verdicts,
)
from tests.support import amount


def split_of(folder: Path, rng: Random) -> tuple[AuditDiff, int, int, int] | None:
    """Compare the first part of a drawn audit with the whole, as of two nights."""
    whole = drawn_audit(rng)
    end, split = 100, rng.randrange(10, 100)
    new = written(whole, folder / "new", end)
    until = (EPOCH + timedelta(milliseconds=split)).isoformat()
    old = written(whole, folder / "old", end, until=until)
    times = [at for row in joined_rows(new) if (at := row["begin"]) is not None]
    if not times or min(times) >= split:
        with pytest.raises(SourceError, match="no rebalance with a time"):
            diff_of_audits(old, new)
        return None
    return diff_of_audits(old, new), min(times), split, end + 1


@pytest.mark.parametrize("part", range(2))
def test_drawn_audits(part: int, tmp_path: Path) -> None:
    compared = 0
    count = amount.share(100, 500)
    for seed in amount.seeds(count, first=part * count):
        folder = tmp_path / str(seed)
        found = split_of(folder, Random(seed))  # noqa: S311
        if found is None:
            continue
        compared += 1
        check(joined_rows(folder / "new"), *found)
    assert compared > count // 2


def check(rows: list[Row], diff: AuditDiff, begin: int, split: int, end: int) -> None:
    """Compare each list of a comparison with the slow one."""
    old = figures_between(rows, begin, split)
    new = figures_between(rows, split, end)
    changed = [("worse", row) for row in diff.worse]
    changed += [("better", row) for row in diff.better]
    assert {row.group: (row.by, kind) for kind, row in changed} == verdicts(
        old, new, (split - begin, end - split)
    )
    for _, row in changed:
        for figures, expected in ((row.old, old), (row.new, new)):
            of_group = figures.model_dump()
            assert +expected[row.group] == {n: c for n, c in of_group.items() if c}
    begun = [(row["begin"], row) for row in rows if row["begin"] is not None]
    known = {row["group_id"] for at, row in begun if at < split}
    assert {row.group for row in diff.new_groups} == {
        group
        for group, sums in new.items()
        if group not in known and any(sums[name] for name in ORDER)
    }
    assert {row.group for row in diff.gone} == gone_between(rows, split, end)
    assert {row.rebalance_id for row in diff.invalid} == {
        row["rebalance_id"]
        for at, row in begun
        if row["verdict"] != "valid" and at >= split
    }
