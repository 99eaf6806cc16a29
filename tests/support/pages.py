"""The fenced blocks of README and docs; a page is parsed once per process."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(ROOT.glob("docs/**/*.md")),
]


def blocks(kind: str, pages: Iterable[Path] = PAGES) -> list[tuple[str, int, str]]:
    """Return page, line and text of the fenced blocks of one kind."""
    return [
        (page.relative_to(ROOT).as_posix(), line, text)
        for page in pages
        for info, line, text in _fences(page)
        if info == kind
    ]


@cache
def _fences(page: Path) -> list[tuple[str, int, str]]:
    """Return kind, line and text of the fenced blocks of a page."""
    found = []
    for token in MarkdownIt().parse(page.read_text(encoding="utf-8")):
        if token.type == "fence" and token.info.split():
            assert token.map is not None
            found.append((token.info.split()[0], token.map[0] + 1, token.content))
    return found
