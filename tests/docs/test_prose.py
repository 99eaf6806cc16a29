"""Prose wraps at 100 columns, links lead somewhere, and the glossary is sorted."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted({*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")})
COLUMNS = 100


def prose_lines(text: str) -> list[str]:
    """Return the lines of paragraphs and lists: no tables, code, headings, pictures.

    What a benchmark writes between its marks is left out.
    """
    text = re.sub(
        r"<!-- measured: start.*?measured: end -->", "", text, flags=re.DOTALL
    )
    lines = text.splitlines()
    found: list[str] = []
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        if token.type == "paragraph_open" and token.map is not None:
            found += lines[token.map[0] : token.map[1]]
    return [line for line in found if not line.startswith(("|", "!["))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_prose_wraps(page: Path) -> None:
    prose = prose_lines(page.read_text(encoding="utf-8"))
    assert [line for line in prose if len(line) > COLUMNS and " " in line.strip()] == []


def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub gives to the headings of a page."""
    tokens = MarkdownIt("commonmark").parse(page.read_text(encoding="utf-8"))
    pairs = pairwise(tokens)
    headings = [text.content for token, text in pairs if token.type == "heading_open"]
    plain = [re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings]
    return {heading.replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files_and_headings(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in link:
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name) if name else page
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target), link


def test_the_glossary_is_in_alphabetical_order() -> None:
    text = (ROOT / "docs" / "words.md").read_text(encoding="utf-8")
    terms = re.findall(r"^\| ([^|]+?) \|", text, re.MULTILINE)[2:]
    assert len(terms) > 50
    assert terms == sorted(terms, key=lambda term: term.split(", ")[0].lower())


def test_a_term_is_explained_once() -> None:
    text = (ROOT / "docs" / "words.md").read_text(encoding="utf-8")
    names = [
        name
        for terms in re.findall(r"^\| ([^|]+?) \|", text, re.MULTILINE)[2:]
        for name in terms.split(", ")
    ]
    assert len(set(names)) == len(names)
