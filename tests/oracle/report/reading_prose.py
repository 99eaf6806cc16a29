"""Text of a page's sentences, in which names from the input are marked by ``⟨⟩``."""

from __future__ import annotations

from collections.abc import Iterator

from tests.oracle.report.html_reading import Element

N = r"(\d[\d,]*)"
NAME = "⟨([^⟩]*)⟩"


def text_of(element: Element, *, links: bool = False) -> str:
    """Return the text of an element, with names in ``⟨⟩``, and targets of links."""
    return " ".join("".join(_pieces(element, links)).split())


def _pieces(element: Element, links: bool) -> Iterator[str]:
    for piece in element.content:
        if isinstance(piece, str):
            yield piece
        elif piece.tag == "bdi":
            yield f"⟨{piece.attributes.get('title', piece.text)}⟩"
        else:
            yield from _pieces(piece, links)
            if links and piece.tag == "a":
                yield f" ({piece.attributes['href']})"


def number(text: str) -> int:
    return int(text.replace(",", ""))
