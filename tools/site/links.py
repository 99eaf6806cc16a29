"""Check the built pages: links and anchors exist, and nothing is loaded from outside.

Links to other sites are not fetched. The files that a page loads (scripts, styles,
pictures) are in the site itself, so that it works without a network.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

_LOADED: Final = {"src", "srcset", "poster", "data"}
_SCHEMES: Final = {"http", "https", "mailto"}
_RELATIONS: Final = {"canonical", "next", "prev", "search", "index", "genindex"}
"""Relations of ``<link>`` that load nothing."""


@dataclass(slots=True)
class PageLinks(HTMLParser):
    """Links, anchors, and loaded files of a page."""

    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        HTMLParser.__init__(self)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect the names, links, and loaded files of an element."""
        found = {name: value or "" for name, value in attrs}
        self.anchors |= {found[name] for name in ("id", "name") if name in found}
        if "href" in found:
            is_loaded = tag == "link" and found.get("rel", "") not in _RELATIONS
            (self.loaded if is_loaded else self.links).append(found["href"])
        self.loaded += [found[name] for name in sorted(_LOADED & found.keys())]


def broken_links(site: Path) -> list[str]:
    """Return each broken link and each outside file, with the page that has it."""
    pages: dict[Path, PageLinks] = {}
    for path in sorted(site.rglob("*.html")):
        pages[path] = PageLinks()
        pages[path].feed(path.read_text(encoding="utf-8"))
    found = {
        f"{path.relative_to(site).as_posix()}: {fault}"
        for path, page in pages.items()
        for fault in _faults(path, page, pages)
    }
    return sorted(found)


def _faults(path: Path, page: PageLinks, pages: dict[Path, PageLinks]) -> Iterator[str]:
    for link in page.loaded:
        if urlsplit(link).scheme not in {"", "data"} or link.startswith("//"):
            yield f"loads {link}"
        elif not link.startswith("data:"):
            yield from _missing(path, link, pages)
    for link in page.links:
        if urlsplit(link).scheme not in _SCHEMES:
            yield from _missing(path, link, pages)


def _missing(path: Path, link: str, pages: dict[Path, PageLinks]) -> Iterator[str]:
    parts = urlsplit(link)
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    anchor = unquote(parts.fragment)
    if not target.is_file():
        yield f"no file {link}"
    elif anchor and target in pages and anchor not in pages[target].anchors:
        yield f"no anchor {link}"
