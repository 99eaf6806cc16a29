"""The fenced blocks of README and docs, parsed once per process."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parent.parent
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(ROOT.glob("docs/**/*.md")),
]


@cache
def fences() -> tuple[tuple[str, str, int, str], ...]:
    """Return kind, page, line and text of the fenced blocks of all pages."""
    return tuple(_fences())


def blocks(kind: str) -> list[tuple[str, int, str]]:
    """Return page, line and text of the fenced blocks of one kind."""
    return [(page, line, text) for name, page, line, text in fences() if name == kind]


def _fences() -> Iterator[tuple[str, str, int, str]]:
    for page in PAGES:
        for token in MarkdownIt().parse(page.read_text(encoding="utf-8")):
            if token.type == "fence" and token.info.split():
                assert token.map is not None
                name, line = page.relative_to(ROOT).as_posix(), token.map[0] + 1
                yield token.info.split()[0], name, line, token.content
