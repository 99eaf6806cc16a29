"""The site is built without a warning, complete, and usable without a network.

The tests install the generator themselves (``requirements/docs.lock``), as `make site`
does, and fail if they cannot.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from conformance.findings import all_definitions
from heuristics import ASSIGNORS
from solver import NAMED
from tests.support.browsing import running_browser
from tools.site.build import SiteError, build_site, write_pages
from tools.site.environment import make_environment

pytestmark = pytest.mark.nightly(minutes=2)

FORMATS = (
    "assignment-1",
    "check-1",
    "comparison-1",
    "explanation-1",
    "finding-1",
    "front-1",
    "plan-1",
    "rebalance-1",
    "run-1",
    "scenario-1",
    "verdict-1",
)
WIDTHS = (1280, 400)
OF_THE_THEME = {"aria-required-attr", "landmark-unique", "scrollable-region-focusable"}
"""What axe-core finds on pages that Furo writes: captions of the navigation without a
level, two unnamed sidebars, and blocks of code that only a mouse can scroll."""
AXE_PAGES = (
    "index",
    "docs/audit",
    "docs/formats/verdict-1",
    "docs/notebooks/a-finding",
)
TOO_WIDE = "document.documentElement.scrollWidth > document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def site() -> Path:
    """Build the site, as `make site` does: warnings and broken links are errors."""
    return build_site().parent


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with running_browser() as started:
        yield started


@pytest.fixture
def offline(browser: Browser) -> Iterator[Page]:
    """Open a page without a network; nothing that it loads may be missing."""
    failed: list[str] = []
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.on("requestfailed", lambda request: failed.append(request.url))
    page.on("pageerror", lambda error: failed.append(str(error)))
    yield page
    context.close()
    assert failed == []


def test_there_is_a_page_for_each(site: Path) -> None:
    pages = [f"assignors/{name}" for name in ASSIGNORS]
    pages += [f"policies/{name}" for name in NAMED]
    pages += [f"findings/{definition.id}" for definition in all_definitions()]
    pages += [f"formats/{name}" for name in FORMATS]
    front = (site / "index.html").read_text(encoding="utf-8")
    for page in pages:
        assert (site / "docs" / f"{page}.html").is_file(), page
        assert f'href="docs/{page}.html"' in front, page


def test_notebooks_have_the_outputs_of_a_run(site: Path) -> None:
    page = (site / "docs" / "notebooks" / "a-finding.html").read_text(encoding="utf-8")
    assert "<caption>dec-min; stickiness: optimal</caption>" in page
    assert "unsubscribed" in page.split('class="cell_output', 1)[1]


def test_no_page_states_where_it_was_built(site: Path) -> None:
    root = str(Path(__file__).resolve().parents[2])
    assert root not in "".join(
        path.read_text(encoding="utf-8")
        for pattern in ("*.html", "*.js")
        for path in site.rglob(pattern)
    )


def test_pages_fit_the_window(site: Path, offline: Page) -> None:
    for path in sorted(site.rglob("*.html")):
        offline.goto(path.as_uri())
        for width in WIDTHS:
            offline.set_viewport_size({"width": width, "height": 900})
            assert not offline.evaluate(TOO_WIDE), (path.name, width)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_barrier_of_ours(
    site: Path, browser: Browser, scheme: Literal["light", "dark"]
) -> None:
    """axe-core's rules for accessibility, except what the theme violates everywhere."""
    context = browser.new_context(color_scheme=scheme)
    page = context.new_page()
    for name in AXE_PAGES:
        page.goto((site / f"{name}.html").as_uri())
        found = Axe().run(page).response
        assert len(found["passes"]) > 20
        ours = [
            violation
            for violation in found["violations"]
            if violation["id"] not in OF_THE_THEME
        ]
        assert [(violation["id"], violation["nodes"]) for violation in ours] == [], name
    # The same rules do find an image without a text.
    page.evaluate("document.querySelector('article').append(new Image(9, 9))")
    worse = Axe().run(page).response["violations"]
    assert "image-alt" in {violation["id"] for violation in worse}
    context.close()


def test_search_works_without_a_server(site: Path, offline: Page) -> None:
    offline.goto((site / "search.html").as_uri() + "?q=certificate")
    links = offline.locator("#search-results li a")
    links.first.wait_for()
    assert links.count() > 3


def source_of(folder: Path, page: str, *cells: str) -> Path:
    """Make the source of a site with two pages, the second a notebook."""
    folder.mkdir()
    front = f"# Front\n\n{page}\n\n```{{toctree}}\nnotebook.ipynb\n```\n"
    (folder / "index.md").write_text(front, encoding="utf-8")
    blank: dict[str, Any] = {"metadata": {}, "outputs": [], "execution_count": None}
    title = {"cell_type": "markdown", "metadata": {}, "source": "# Notebook", "id": "t"}
    code = [
        {"cell_type": "code", "source": cell, "id": f"c{place}", **blank}
        for place, cell in enumerate(cells)
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = {"cells": [title, *code], "metadata": {"kernelspec": kernel}}
    text = json.dumps({**notebook, "nbformat": 4, "nbformat_minor": 5})
    (folder / "notebook.ipynb").write_text(text, encoding="utf-8")
    return folder


def test_faults_of_pages_are_errors(tmp_path: Path) -> None:
    page = "[a](no-page.md) [b](#no-anchor) ![c](no-picture.png)"
    source = source_of(tmp_path / "source", page, "import rebalance", "1 / 0")
    with pytest.raises(SiteError) as raised:
        write_pages(make_environment(), source, tmp_path / "site")
    for fault in ("no-page.md", "no-anchor", "no-picture.png", "ZeroDivisionError"):
        assert fault in str(raised.value)
