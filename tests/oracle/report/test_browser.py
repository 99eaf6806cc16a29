"""The page in a browser: wide and narrow, light and dark, with nothing from outside."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from oracle.report import write_page
from tests.oracle.report.scenes import small_audit
from tests.oracle.report.test_escaping import audit_of

pytestmark = pytest.mark.heavy

WIDTHS = (1920, 1280, 800, 400, 320)
SCHEMES = ("light", "dark")

TOO_WIDE = """
() => {
  const root = document.documentElement;
  if (root.scrollWidth <= root.clientWidth) return [];
  return [...document.querySelectorAll("body *")]
    .filter((one) => one.getBoundingClientRect().right > root.clientWidth + 1)
    .map((one) => `${one.tagName} ${one.className} ${one.textContent.slice(0, 40)}`);
}
"""
TALL_HEADS = """
() => [...document.querySelectorAll("thead th")].flatMap((head) => {
  const text = document.createRange();
  text.selectNodeContents(head);
  const tops = [...text.getClientRects()].filter((box) => box.width)
    .map((box) => box.top).sort((a, b) => a - b);
  const lines = tops.filter((top, at) => !at || top > tops[at - 1] + 4).length;
  return lines > 3 ? [[head.textContent, lines]] : [];
})
"""
CONTRAST = """
() => {
  const canvas = document.createElement("canvas").getContext("2d",
    {willReadFrequently: true});
  const rgb = (colour) => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255)
    .map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const ratio = (a, b) => {
    const [dark, bright] = [light(a), light(b)].sort((x, y) => x - y);
    return (bright + 0.05) / (dark + 0.05);
  };
  const behind = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const colour = rgb(getComputedStyle(one).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return rgb("white");
  };
  const low = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const text = walker.currentNode.textContent.trim();
    if (!text || element.closest("svg") || !element.getClientRects().length) continue;
    const found = ratio(rgb(getComputedStyle(element).color), behind(element));
    if (found < 4.5) low.push([text.slice(0, 30), found.toFixed(2)]);
  }
  const style = getComputedStyle(document.documentElement);
  const value = (name) => rgb(style.getPropertyValue(name));
  const pairs = ["optimum", "needless", "unbalanced", "invalid", "open"]
    .concat([0, 1, 2, 3, 4, 5].map((shade) => `shade-${shade}`));
  for (const name of pairs) {
    const found = ratio(value(`--${name}`), value(`--on-${name}`));
    if (found < 4.5) low.push([name, found.toFixed(2)]);
  }
  return low;
}
"""


@pytest.fixture(scope="module", params=["small", "hostile"])
def address(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> str:
    hostile = "<img src=x onerror=alert(1)>'\"\u202e" + "x" * 400
    audit = small_audit() if request.param == "small" else audit_of(hostile)
    folder = tmp_path_factory.mktemp(request.param) / "audit"
    write_page(audit.write(folder), folder / "index.html", command="x" * 300)
    return (folder / "index.html").as_uri()


class Seen:
    """A page as it is shown, and what it did besides."""

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        self.trouble: list[str] = []
        page.on("console", lambda message: self.trouble.append(message.text))
        page.on("pageerror", lambda error: self.trouble.append(str(error)))
        page.on("dialog", lambda dialog: self.trouble.append(dialog.message))
        page.on("request", self._requested)
        page.goto(address)

    def _requested(self, request: Any) -> None:
        if not request.url.startswith("file:") or not request.url.endswith(
            "index.html"
        ):
            self.trouble.append(request.url)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_the_page_fits_is_quiet_and_can_be_read(
    browser: Browser, address: str, width: int, scheme: Any
) -> None:
    page = browser.new_page(
        viewport={"width": width, "height": 900}, color_scheme=scheme
    )
    seen = Seen(page, address)
    page.eval_on_selector_all("details", "all => all.forEach(one => one.open = true)")
    assert page.evaluate(TOO_WIDE) == []
    assert page.evaluate(TALL_HEADS) == []
    assert page.evaluate(CONTRAST) == []
    assert seen.trouble == []
    page.close()


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", [400, 1280])
def test_axe_finds_no_barrier(
    browser: Browser, address: str, width: int, scheme: Any
) -> None:
    """axe-core's rules for accessibility: WCAG 2, and its best practices."""
    # The page allows no script but its own; axe is one.
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme=scheme,
        bypass_csp=True,
    )
    page = context.new_page()
    page.goto(address)
    page.eval_on_selector_all("details", "all => all.forEach(one => one.open = true)")
    found = Axe().run(page).response
    assert len(found["passes"]) > 20
    assert [
        (violation["id"], violation["nodes"]) for violation in found["violations"]
    ] == []
    context.close()


def test_axe_finds_an_image_without_a_text(browser: Browser) -> None:
    page = browser.new_page()
    page.set_content("<main></main>")
    page.evaluate("document.querySelector('main').append(new Image(9, 9))")
    found = Axe().run(page).response["violations"]
    assert "image-alt" in {violation["id"] for violation in found}
    page.close()


@pytest.mark.parametrize(("width", "shown"), [(1280, "wide"), (400, "narrow")])
def test_one_of_the_two_drawings_is_shown(
    browser: Browser, address: str, width: int, shown: str
) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900})
    Seen(page, address)
    for variant in ("wide", "narrow"):
        for drawing in page.query_selector_all(f"figure .{variant}"):
            assert drawing.is_visible() == (variant == shown)
    page.close()


def test_dark_mode_has_dark_colors(browser: Browser, address: str) -> None:
    colours = {}
    for scheme in ("light", "dark"):
        page = browser.new_page(color_scheme=scheme)
        Seen(page, address)
        colours[scheme] = page.evaluate(
            "getComputedStyle(document.body).backgroundColor"
        )
        page.close()
    assert colours == {"light": "rgb(255, 255, 255)", "dark": "rgb(19, 23, 28)"}


def test_narrow_screens_keep_the_invalid_ones(browser: Browser, address: str) -> None:
    page = browser.new_page(viewport={"width": 400, "height": 900})
    Seen(page, address)
    heads = page.locator("#group-table thead th")
    assert "invalid" in [head.inner_text() for head in heads.all() if head.is_visible()]
    page.close()


def test_print_has_no_controls(browser: Browser, address: str) -> None:
    page = browser.new_page(viewport={"width": 800, "height": 900})
    Seen(page, address)
    controls = "input, select, button:not(.sort), nav a, .opening"
    assert any(control.is_visible() for control in page.locator(controls).all())
    page.emulate_media(media="print")
    assert not any(control.is_visible() for control in page.locator(controls).all())
    page.close()


def test_it_prints(browser: Browser, address: str, tmp_path: Path) -> None:
    page = browser.new_page()
    Seen(page, address)
    printed = page.pdf(path=tmp_path / "page.pdf", format="A4")
    assert printed.startswith(b"%PDF")
    page.close()
