"""The page of many groups in a browser: height, bytes, rows, links, 400 pixels.

CI has 33 groups, more than the page draws at once, and ``make test-nightly`` 3,000.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, ViewportSize

from benchmarks.large_audit import AuditSize, write_large_audit
from oracle.report import write_page
from oracle.report.facts import GROUPS_SHOWN
from pipeline.audit import AuditSummary
from tests.oracle.report.test_browser import CONTRAST, TOO_WIDE

pytestmark = pytest.mark.heavy

GROUPS = 33
MANY_GROUPS = 3_000
SCREEN: ViewportSize = {"width": 1280, "height": 980}
ACT = """
([name, value]) => {
  const table = document.getElementById("group-table");
  const acts = {
    search: () => {
      const input = document.querySelector("input[type=search]");
      input.value = value; input.dispatchEvent(new Event("input"));
    },
    sort: () => table.tHead.querySelectorAll("button")[value].click(),
    filter: () => {
      const select = document.querySelectorAll(".controls select")[1];
      select.value = value; select.dispatchEvent(new Event("change"));
    },
  };
  acts[name]();
}
"""
CLASSES = """
() => {
  const style = getComputedStyle(document.documentElement);
  const light = (name) => {
    const hex = style.getPropertyValue(name).trim();
    return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255)
      .map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
      .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  };
  return ["--optimum", "--needless", "--unbalanced", "--invalid"].map((name) => {
    const [low, high] = [light(name), light("--paper")].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  });
}
"""


@pytest.fixture(
    scope="module",
    params=[GROUPS, pytest.param(MANY_GROUPS, marks=pytest.mark.nightly)],
)
def path(
    request: pytest.FixtureRequest,
    churn_audit: AuditSummary,
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    folder = tmp_path_factory.mktemp("large")
    size = AuditSize(groups=request.param, rebalances=1)
    write_large_audit(Path(churn_audit.out), folder / "audit", size)
    write_page(folder / "audit", folder / "index.html")
    return folder / "index.html"


@pytest.fixture(scope="module")
def small(churn_audit: AuditSummary, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of eleven groups."""
    page = tmp_path_factory.mktemp("small") / "index.html"
    write_page(Path(churn_audit.out), page)
    return page


@pytest.fixture
def page(browser: Browser, path: Path) -> Iterator[Page]:
    shown = browser.new_page(viewport=SCREEN)
    shown.goto(path.as_uri())
    yield shown
    shown.close()


def rows(page: Page) -> list[list[str]]:
    """Return the cells of the first body of the table of groups.

    Without the names in rows of patterns: those that scripts draw have all of them.
    """
    found: list[list[str]] = page.evaluate(
        """[...document.getElementById('group-table').tBodies[0].rows].map((row) => {
            const copy = row.cloneNode(true);
            copy.querySelectorAll('details.fold > p').forEach((part) => part.remove());
            return [...copy.cells].map(
                (cell) => cell.textContent.replace(/\\s+/g, ' ').trim());
        })"""
    )
    return found


def test_the_page_is_small_and_short(page: Page, path: Path) -> None:
    assert path.stat().st_size <= 1_500_000
    height = page.evaluate("document.documentElement.scrollHeight")
    assert height / SCREEN["height"] <= 12


def test_search_sort_and_filter_draw_few_rows(page: Page) -> None:
    """Whatever the number of groups: so they are quick."""
    acts = {
        "search": ("sticky", "-1234", ""),
        "sort": (0, 4),
        "filter": ("7",),
    }
    for act, values in acts.items():
        for value in values:
            page.evaluate(ACT, [act, value])
            assert len(rows(page)) <= GROUPS_SHOWN < GROUPS


def test_groups_of_a_pattern_are_one_row_that_opens(page: Page) -> None:
    """With scripts, its names are links to the groups, which have rows of their own."""
    pattern = page.locator("details.fold", has_text="feed-coop-*")
    assert "groups" in pattern.locator("summary").inner_text()
    assert not pattern.locator("p").is_visible()
    pattern.locator("summary").click()
    pattern.get_by_role("link", name="feed-coop-1", exact=True).click()
    assert "target" in (page.locator("#group-feed-coop-1").get_attribute("class") or "")
    page.evaluate(ACT, ["search", "feed-coop-1"])
    assert {row[0].partition(" ")[0] for row in rows(page)} >= {"feed-coop-1"}
    assert page.locator("details.fold").count() == 0


def test_search_sort_and_filter_find_the_rows(page: Page) -> None:
    before = rows(page)
    page.evaluate(ACT, ["search", "feed-coop-"])
    found = rows(page)
    shown = {row[0].partition(" ")[0] for row in found}
    assert all(name.startswith("feed-coop-") for name in shown)
    assert len(found) == len(shown) > 2
    page.evaluate(ACT, ["search", ""])
    assert rows(page) == before
    page.evaluate(ACT, ["sort", 6])
    invalid = [int(row[6]) for row in rows(page)]
    assert invalid == sorted(invalid, reverse=True)
    assert invalid[0] > 0
    page.evaluate(ACT, ["sort", 6])
    invalid = [int(row[6]) for row in rows(page)]
    assert invalid == sorted(invalid)
    assert invalid[0] == 0
    page.evaluate(ACT, ["filter", "8"])
    assert all(int(row[6]) for row in rows(page))


def test_scripts_draw_the_rows_as_they_were(page: Page) -> None:
    """Rows drawn by the script equal the ones that the page has without scripts."""
    html = "document.getElementById('group-table').tBodies[0].innerText"
    before = page.evaluate(html)
    page.evaluate(ACT, ["search", "nothing has this name"])
    assert rows(page) == []
    page.evaluate(ACT, ["search", ""])
    assert page.evaluate(html) == before


def test_a_link_leads_to_a_group_beyond_the_cap(page: Page, path: Path) -> None:
    """In a page that is loaded anew: a reload restores where it was scrolled to."""
    assert page.query_selector("#group-feed-coop-2") is None
    page.goto("about:blank")
    page.goto(path.as_uri() + "#group-feed-coop-2")
    target = page.query_selector("#group-feed-coop-2")
    assert target is not None
    assert "target" in (target.get_attribute("class") or "")
    box = target.bounding_box()
    assert box is not None
    assert -1 < box["y"] < SCREEN["height"]  # positions are fractions of pixels


def test_rows_remain_rows_at_400_pixels(browser: Browser, path: Path) -> None:
    page = browser.new_page(viewport={"width": 400, "height": 980})
    page.goto(path.as_uri())
    assert page.evaluate(TOO_WIDE) == []
    shown = page.evaluate(
        "[...document.querySelectorAll('table.rows tbody tr')]"
        ".filter((row) => row.getClientRects().length)"
        ".map((row) => [...row.cells].filter((one) => one.getClientRects().length)"
        ".map((one) => one.getBoundingClientRect().top))"
    )
    assert len(shown) > 40
    for tops in shown:
        assert len(tops) >= 2
        assert max(tops) - min(tops) < 1
    page.close()


@pytest.mark.parametrize("scripts", [True, False])
def test_rows_of_one_group_differ_at_400_pixels(
    browser: Browser, small: Path, scripts: bool
) -> None:
    """The assignor is below the name of a group that used several."""
    context = browser.new_context(
        viewport={"width": 400, "height": 980}, java_script_enabled=scripts
    )
    shown = context.new_page()
    shown.goto(small.as_uri())
    if scripts:
        shown.evaluate(ACT, ["search", "upgrade-726"])
    found = shown.evaluate(
        "[...document.getElementById('group-table').tBodies[0].rows]"
        ".map((row) => row.cells[0].firstElementChild.textContent.trim()"
        " + getComputedStyle(row.cells[0], '::after').content)"
    )
    named = {text for text in found if text.startswith("upgrade-726")}
    assert named == {'upgrade-726"cooperative-sticky"', 'upgrade-726"range"'}
    assert len(set(found)) == len(found)
    context.close()


def test_every_class_is_visible(page: Page) -> None:
    """Bars contrast with the paper by at least 3:1 (WCAG 1.4.11)."""
    schemes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
    for scheme in schemes:
        page.emulate_media(color_scheme=scheme)
        assert min(page.evaluate(CLASSES)) >= 3
        assert page.evaluate(CONTRAST) == []
