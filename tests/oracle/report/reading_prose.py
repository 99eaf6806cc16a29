"""Text of a page's sentences, in which names from the input are marked by ``⟨⟩``."""

from __future__ import annotations

from collections.abc import Iterator

from tests.oracle.report.html_reading import Element

N = r"(\d[\d,]*)"
NAME = "⟨([^⟩]*)⟩"


def text_of(element: Element) -> str:
    """Return the text of an element, with names in ``⟨⟩``."""
    return " ".join("".join(_pieces(element)).split())


def _pieces(element: Element) -> Iterator[str]:
    for piece in element.content:
        if isinstance(piece, str):
            yield piece
        elif piece.tag == "bdi":
            yield f"⟨{piece.attributes.get('title', piece.text)}⟩"
        else:
            yield from _pieces(piece)


def number(text: str) -> int:
    return int(text.replace(",", ""))
