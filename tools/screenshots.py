"""Take the pictures of the pages in headless Chromium: ``python -m tools.screenshots``.

Both pages are written anew from the recording in this repository. Viewport, scale,
language, time zone, and color scheme are fixed; fonts are the machine's, so the bytes
of a picture differ between machines.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from playwright.sync_api import Browser, FloatRect, Page, sync_playwright

from tools.browser import find

ROOT: Final = Path(__file__).resolve().parent.parent
RECORDING: Final = "recordings/churn"
WIDTH: Final = 1280
"""Width of every picture, px; one pixel of the page is one of the picture."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Screenshot:
    """A picture, the page that it shows, and the command that writes the page.

    Attributes
    ----------
    picture
        File in ``docs/images``.
    command
        Arguments of ``assignor-oracle``; `page` is relative to its ``{out}``.
    last
        Selector of the last element that the picture shows completely.
    first
        Selector of its first element; absent: the top of the page.
    """

    picture: str
    command: tuple[str, ...]
    page: str
    last: str
    first: str | None = None


AUDIT: Final = Screenshot(
    picture="audit.png",
    command=("audit", RECORDING, "--out", "{out}/audit"),
    page="audit/index.html",
    last="section[aria-labelledby=clients] ul.legend",
)
ADVICE: Final = replace(
    AUDIT,
    picture="advice.png",
    first="#gain",
    last="#group-table tbody tr:nth-child(5)",
)
REBALANCE: Final = Screenshot(
    picture="rebalance.png",
    command=(
        *("explain", "--from", RECORDING, "--group", "orders-range"),
        *("--generation", "20", "--html", "{out}/rebalance.html"),
    ),
    page="rebalance.html",
    last="table.holdings tbody tr:nth-child(3)",
)
SCREENSHOTS: Final = (AUDIT, ADVICE, REBALANCE)
MARGIN: Final = 10
"""Space above the first element, px."""
_CODES: Final = {"audit": {0}, "explain": {0, 1}}
"""Exit codes of a written page: ``explain`` has 1 for an answer that is not the best.
"""


def write_page(shot: Screenshot, out: Path) -> Path:
    """Write the page of a picture into a folder; return its file.

    Raises
    ------
    RuntimeError
        If the command fails.
    """
    arguments = [part.replace("{out}", str(out)) for part in shot.command]
    ran = subprocess.run(
        [sys.executable, "-m", "oracle", *arguments],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode not in _CODES[shot.command[0]]:
        raise RuntimeError(f"{' '.join(shot.command)}: {ran.stderr.strip()}")
    return out / shot.page


def taken(browser: Browser, shot: Screenshot, page: Path) -> bytes:
    """Return the picture of a page, from its top to the last element, as PNG."""
    context = browser.new_context(
        viewport={"width": WIDTH, "height": 800},
        device_scale_factor=1,
        color_scheme="light",
        reduced_motion="reduce",
        locale="en-US",
        timezone_id="UTC",
    )
    try:
        opened = context.new_page()
        opened.goto(page.as_uri())
        top = _edge(opened, shot.first, "top") - MARGIN if shot.first else 0
        height = _edge(opened, shot.last, "bottom") - top
        area: FloatRect = {"x": 0, "y": top, "width": WIDTH, "height": height}
        return opened.screenshot(full_page=True, clip=area, animations="disabled")
    finally:
        context.close()


def _edge(page: Page, selector: str, side: str) -> int:
    """Return the place of an element's edge, px from the top of the page."""
    found = page.locator(selector).first.evaluate(
        "(one, side) => Math.ceil(one.getBoundingClientRect()[side] + window.scrollY)",
        side,
    )
    return int(found)


def screenshots(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Write the pages into a folder; yield the name and bytes of every picture."""
    browser = find()
    if browser is None:
        raise RuntimeError("no browser: make browser")
    commands = {shot.command: shot for shot in SCREENSHOTS}
    pages = {command: write_page(shot, folder) for command, shot in commands.items()}
    with sync_playwright() as playwright:
        # The sandbox needs rights that root in a container lacks; the pages are ours.
        started = playwright.chromium.launch(
            executable_path=str(browser), args=["--no-sandbox"]
        )
        for shot in SCREENSHOTS:
            yield shot.picture, taken(started, shot, pages[shot.command])
        started.close()


def main() -> int:
    """Write the pictures into ``docs/images``."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            for name, png in screenshots(Path(folder)):
                (ROOT / "docs" / "images" / name).write_bytes(png)
                print(f"screenshots: docs/images/{name}, {len(png):,} bytes")
    except RuntimeError as error:
        print(f"screenshots: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
