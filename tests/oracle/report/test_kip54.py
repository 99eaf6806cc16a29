"""The page's comparison with the KIP-54 optimum."""

from __future__ import annotations

from pathlib import Path

import pytest

from oracle.report import page_of
from oracle.report.facts import units_of
from oracle.report.kip54 import Kip54Row, kip54_of
from oracle.report.load import load
from tests.oracle.report.audits import Audit
from tests.oracle.report.html_reading import read_html
from tests.oracle.report.scenes import BEST, CHAINED, RESTLESS, even
from tests.support.shapes import CHAIN


def rows_by_name(folder: Path) -> dict[tuple[str | None, str | None], Kip54Row]:
    tables = load(folder)
    order = ("optimum", "kip54-sticky", "actual", "range")
    rows = kip54_of(tables, units_of(tables), order).rows
    return {(row.group and row.group[1], row.assignor): row for row in rows}


def test_kip54_balanced_answers_that_a_chain_would_improve_are_at_the_kip54_optimum(
    tmp_path: Path,
) -> None:
    audit = Audit()
    audit.rebalance(CHAIN, {"actual": CHAINED, "range": CHAINED})
    found = rows_by_name(audit.write(tmp_path))
    of_client = found["g", "sticky"]
    assert (of_client.judged, of_client.at_best, of_client.unbalanced) == (1, 1, 0)
    assert found[None, "range"].at_best == 1
    optimum = found[None, "optimum"]
    assert (optimum.at_best, optimum.needless_moves) == (0, 3)
    assert (None, "kip54-sticky") not in found
    assert (None, "actual") not in found


def test_needless_moves_are_counted_for_the_balanced(tmp_path: Path) -> None:
    audit = Audit()
    audit.rebalance(even("feed"), {"actual": RESTLESS, "range": BEST})
    audit.episode(even("feed"), RESTLESS, first=3, last=4)
    found = rows_by_name(audit.write(tmp_path))
    assert found["feed", "sticky"].needless_moves > 0
    assert found["feed", "sticky"].at_best == 0
    assert found[None, "range"].at_best == 1


@pytest.mark.heavy
def test_undecided_rebalances_are_omitted(tmp_path: Path) -> None:
    audit = Audit()
    audit.rebalance(CHAIN, {"actual": CHAINED})
    for row in audit.rows["answers"]:
        row |= {"at_kip54_optimum": None, "moves_least_kip54": None}
    folder = audit.write(tmp_path)
    assert rows_by_name(folder) == {}
    assert 'id="kip54"' not in page_of(folder)


@pytest.mark.heavy
def test_without_kip54_optima_the_page_leaves_the_comparison_out(
    tmp_path: Path,
) -> None:
    audit = Audit()
    audit.rebalance(CHAIN, {"actual": CHAINED})
    rows = audit.rows["answers"]
    rows[:] = [row for row in rows if row["assignor"] != "kip54-sticky"]
    for row in rows:
        row |= {"at_kip54_optimum": None, "moves_least_kip54": None}
    folder = audit.write(tmp_path)
    assert rows_by_name(folder) == {}
    assert 'id="kip54"' not in page_of(folder)


def test_the_page_states_the_kip54_result(tmp_path: Path) -> None:
    audit = Audit()
    audit.rebalance(CHAIN, {"actual": CHAINED})
    page = page_of(audit.write(tmp_path))
    assert 'id="kip54"' in page
    assert "Comparison with the KIP-54 optimum" in page


@pytest.mark.heavy
def test_groups_link_to_their_rows(tmp_path: Path) -> None:
    audit = Audit()
    audit.rebalance(CHAIN | {"group": "chain"}, {"actual": CHAINED})
    root = read_html(page_of(audit.write(tmp_path)))
    section = root.one("section", **{"aria-labelledby": "kip54"})
    links = [link.attributes["href"] for link in section.all("a")]
    assert links == ["#group-chain"]
