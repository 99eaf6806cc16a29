"""Time of the page's search, in a browser: ``python -m benchmarks.page_search PAGE``.

Each query is typed into the field of the table of groups; printed are the milliseconds
until the script returns, and until the next frame is painted. The page of many groups
is that of `benchmarks.audit_page` with ``--keep``.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from tests.support.browsing import running_browser

QUERIES: Final = ("a", "s", "1", "ads", "feed-1", "no such group", "")
_TYPED: Final = """async (query) => {
  const field = document.querySelector("input[type=search]");
  const start = performance.now();
  field.value = query;
  field.dispatchEvent(new Event("input", {bubbles: true}));
  const returned = performance.now() - start;
  await new Promise((painted) => requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = painted;
    channel.port2.postMessage(0);
  }));
  return [returned, performance.now() - start];
}"""


def main() -> None:
    """Search for each query, and print the times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", type=Path, help="index.html of an audit")
    place = parser.parse_args().page.resolve().as_uri()
    with running_browser() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(place)
        for query in QUERIES:
            returned, painted = page.evaluate(_TYPED, query)
            print(f"{query!r:16} {returned:6.1f} ms, painted after {painted:6.1f} ms")


if __name__ == "__main__":
    main()
