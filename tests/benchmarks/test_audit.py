"""The workload of `benchmarks.audit`, and its report."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import orjson
import pytest

from benchmarks.audit import REBALANCES, RECORDING, report
from benchmarks.multiplied import Shape, multiplied
from benchmarks.processes import Usage
from pipeline.cases import Case, unpack
from pipeline.history.stream import histories
from pipeline.rows import CASE, QUARANTINED
from tests.pipeline.local_reading import read_paths
from tests.pipeline.recorded import in_order


def cases_of(folder: Path) -> list[Case]:
    rows = in_order(read_paths([folder]))
    seen = list(histories(rows))
    quarantined = [row for row in seen if row["what"] in QUARANTINED]
    assert {row["record"] for row in quarantined} == {
        "generation"
    }  # as in the recording
    return [unpack(row["value"]) for row in seen if row["what"] == CASE]


@pytest.mark.heavy
def test_a_copy_differs_in_its_groups_alone(tmp_path: Path) -> None:
    multiplied(RECORDING, tmp_path / "m", Shape(copies=2))
    cases = cases_of(tmp_path / "m")
    assert len(cases) == 2 * REBALANCES
    assert len({case.rebalance_id for case in cases}) == len(cases)
    contents = Counter(orjson.dumps(case.members) for case in cases)
    assert all(number % 2 == 0 for number in contents.values())
    groups = {case.group_id for case in cases}
    assert {name[-7:] for name in groups} == {"-000000", "-000001"}


@pytest.mark.heavy
def test_distinct_copies_have_other_lags(tmp_path: Path) -> None:
    multiplied(RECORDING, tmp_path / "m", Shape(copies=2, distinct=True, days=2))
    cases = cases_of(tmp_path / "m")
    committed = [orjson.dumps(case.committed) for case in cases if case.committed]
    first = [case for case in cases if case.group_id.endswith("-000000")]
    known = {orjson.dumps(case.committed) for case in first if case.committed}
    assert len(set(committed)) > 1.9 * len(known)
    assert len({case.at // 86_400_000 for case in cases if case.at}) == 2


@pytest.mark.heavy
def test_a_skewed_workload_has_one_group_with_half_of_the_rebalances(
    tmp_path: Path,
) -> None:
    multiplied(RECORDING, tmp_path / "m", Shape(copies=2, skewed=True))
    cases = Counter(case.group_id for case in cases_of(tmp_path / "m"))
    (group, number), *_ = cases.most_common(1)
    assert group.endswith("-one")
    assert number / cases.total() == pytest.approx(0.5, abs=0.1)


def test_the_report_has_rates_per_cpu_second() -> None:
    usage = Usage(
        wall={"reading": 4.0, "judging": 8.0},
        python={"reading": 2.0, "judging": 5.0},
        java={"judging": 1.0},
        worker_bytes={"judging": 2**29},
    )
    rows = {"rebalances": 1200}
    lines = report({"rows": rows}, usage, table_bytes=2**21).splitlines()
    by_phase = {line.split()[0]: line.split()[1:] for line in lines}
    assert by_phase["reading"] == ["4.0", "2.0", "0.0", "600", "0"]
    assert by_phase["judging"] == ["8.0", "5.0", "1.0", "200", "512"]
    assert by_phase["all"] == ["12.0", "150"]
    assert lines[-1] == "tables: 2 MiB"
